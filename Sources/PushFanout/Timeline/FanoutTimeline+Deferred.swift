package import PushModel

extension FanoutTimeline {
  /// The counts of a message, and of its suppressed decisions that would push later.
  ///
  /// A suppressed decision is deferred until the first later instant at which the same message,
  /// with the same settings, pushes. What stops a message for all recipients never ends, and
  /// nothing is released after the message has expired (E-69).
  ///
  /// - Parameters:
  ///   - held: set to the number of deferred decisions by suppressed outcome.
  ///   - released: called with an instant in milliseconds and the number of decisions released
  ///     then. Numbers for the same instant are to be added, and may be negative.
  /// - Complexity: as for ``counts(_:)``, and O(distinct instants); after a transition, O(members
  ///   affected).
  package func counts(
    _ message: Message, held: inout FanoutCounts, released: (Int64, Int) -> Void
  ) -> FanoutCounts {
    var sum = FanoutCounts()
    let counts = counts(message) { planned, conversation, table, hold, limit in
      if planned.plan.filter == nil {
        add(planned, conversation, table, hold, limit, &sum, released)
      } else {
        forEachHeld(planned, conversation, table, hold, limit) { _, at, code in
          sum.add(code, 1)
          released(at, 1)
        }
      }
    }
    held = sum
    return counts
  }

  /// The counts of a message, and each suppressed decision that would push later.
  ///
  /// - Parameters:
  ///   - held: set to the number of deferred decisions by suppressed outcome.
  ///   - each: called with a recipient, the instant of release in milliseconds, and the code of the
  ///     suppressed outcome, in the order of users.
  /// - Complexity: O(members).
  package func counts(
    _ message: Message, held: inout FanoutCounts, each: (UserIndex, Int64, UInt8) -> Void
  ) -> FanoutCounts {
    var sum = FanoutCounts()
    let counts = counts(message) { planned, conversation, table, hold, limit in
      let start = Int(planned.target.memberRow.start)
      forEachHeld(planned, conversation, table, hold, limit) { rank, at, code in
        sum.add(code, 1)
        each(UserIndex(engineVersion.tables.memberUsers[start + rank]), at, code)
      }
    }
    held = sum
    return counts
  }

  /// The counts of a message. `hold` is called if decisions may be deferred, with the table of
  /// their instants and the last instant at which one may be released.
  private func counts(
    _ message: Message,
    hold: (TimelineMessage, TimelineConversation, DeferredPushTable, DeferralRules, Int64) -> Void
  ) -> FanoutCounts {
    move(to: message.at.milliseconds)
    guard let index = engineVersion.tables.conversationIDs.index(of: message.conversation) else {
      return FanoutCounts()
    }
    let states = ConversationStates(version: engineVersion, threads: 1)
    let target = states.target(index, channel: message.channel)
    let conversation = conversation(target, states)
    let planned = plan(message, target)
    if planned.plan.uniform == nil {
      let rules = DeferralRules(rules: target.rules, states: states, target: target)
      let table = conversation.deferredPushes(planned.plan.messageClass)
      table.refresh(conversation, self, rules)
      hold(planned, conversation, table, rules, expiry(message))
    }
    return counts(conversation, planned)
  }

  /// The last instant before a message expires.
  private func expiry(_ message: Message) -> Int64 {
    guard let age = engineVersion.tables.app.expireMilliseconds else { return Int64.max }
    return (message.sentAt ?? message.at).milliseconds + age
  }

  private func add(
    _ message: TimelineMessage, _ conversation: TimelineConversation, _ table: DeferredPushTable,
    _ hold: DeferralRules, _ limit: Int64, _ held: inout FanoutCounts,
    _ released: (Int64, Int) -> Void
  ) {
    for group in table.groups where group.at <= limit {
      held.add(group.code, group.count)
      released(group.at, group.count)
    }
    // Members that the message treats differently.
    for rank in message.named + [message.sender] where rank >= 0 {
      guard let (at, code) = table.release(of: rank), at <= limit else { continue }
      held.add(code, -1)
      released(at, -1)
    }
    for rank in message.named {
      guard let (at, code) = releaseOfNamed(rank, message, conversation, hold), at <= limit else {
        continue
      }
      held.add(code, 1)
      released(at, 1)
    }
  }

  private func releaseOfNamed(
    _ rank: Int, _ message: TimelineMessage, _ conversation: TimelineConversation,
    _ hold: DeferralRules
  ) -> (at: Int64, code: UInt8)? {
    let namedClass = message.plan.namedClass
    let code = unsafe hold.rules.codes(namedClass)[Int(conversation.states[rank])]
    guard DeferralRules.isSuppressed(code),
      let at = release(of: rank, namedClass, conversation, hold)
    else { return nil }
    return (at, code)
  }

  /// Calls `body` with the rank, instant and code of each deferred recipient. A filter is evaluated
  /// for each (E-50); devices do not change without an update.
  private func forEachHeld(
    _ message: TimelineMessage, _ conversation: TimelineConversation, _ table: DeferredPushTable,
    _ hold: DeferralRules, _ limit: Int64, _ body: (Int, Int64, UInt8) -> Void
  ) {
    var named = message.named[...]
    for rank in 0..<conversation.count where rank != message.sender {
      var found = table.release(of: rank)
      if named.first == rank {
        named.removeFirst()
        found = releaseOfNamed(rank, message, conversation, hold)
      }
      guard let (at, code) = found, at <= limit else { continue }
      if let filter = message.plan.filter, !lets(filter, rank, message.target) { continue }
      body(rank, at, code)
    }
  }
}
