package import PushRules

extension FanoutTimeline {
  /// The counts of a message, and which of its suppressed decisions would push later.
  ///
  /// A decision is asked again for the same message, with these settings, at later instants; it is
  /// released at the first at which it pushes. What stops a message for everybody never opens, and
  /// nothing is released once the message has expired (E-69).
  ///
  /// - Parameters:
  ///   - held: set to how often each suppressed outcome will push later.
  ///   - released: called with instants, in milliseconds, and how many are released then. The numbers
  ///     add up, and some are negative.
  /// - Complexity: as for ``counts(_:)``, and O(distinct instants); after a turn, O(members that
  ///   turned).
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

  /// The counts of a message, and each of its suppressed decisions that would push later.
  ///
  /// - Parameters:
  ///   - held: set to how often each suppressed outcome will push later.
  ///   - each: called with a recipient, the instant in milliseconds, and the code of the outcome that
  ///     is suppressed until then, in the order of users.
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

  /// The counts of a message; `hold` is called when some of its decisions may be held, with the table
  /// of when they push and the last instant at which one does.
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

  /// The last instant at which a message is not expired (E-69).
  private func expiry(_ message: Message) -> Int64 {
    guard engineVersion.tables.app.rules == .easemob else { return Int64.max }
    let sent = (message.sentAt ?? message.at).milliseconds
    let (age, isTooLong) = engineVersion.tables.app.easemob.expireSeconds
      .multipliedReportingOverflow(by: 1000)
    let (last, isTooLate) = sent.addingReportingOverflow(age)
    return isTooLong || isTooLate ? Int64.max : last
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
    // Whom the message singles out.
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

  /// Calls `body` with the rank, the instant and the code of each recipient who is held. With a filter
  /// each is asked for it (E-50); the devices of one do not change by themselves.
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
