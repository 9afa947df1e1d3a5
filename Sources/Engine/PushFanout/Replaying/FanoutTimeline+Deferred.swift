public import PushModel
internal import PushSupport
internal import Synchronization

extension FanoutTimeline {
  /// The counts of a message, and of its suppressed decisions that would push later.
  ///
  /// A suppressed decision is deferred until the first later instant at which the same message,
  /// with the same settings, pushes. Whatever stops a message for all recipients never ends, and
  /// nothing is released after the message has expired (E-69).
  ///
  /// - Parameters:
  ///   - held: set to the number of deferred decisions by suppressed outcome.
  ///   - released: called with an instant in milliseconds since 1970 and the number of decisions
  ///     released then. Numbers for an instant are to be added, and may be negative.
  /// - Complexity: as for ``counts(_:)``, and O(distinct instants + schedules of the members +
  ///   members that changed since the conversation's last message).
  public func counts(
    _ message: Message, held: inout FanoutCounts, released: (Int64, Int) -> Void
  ) -> FanoutCounts {
    held = FanoutCounts()
    guard let deferring = deferring(message) else { return result.counts }
    if result.filter == nil, let conversation = deferring.conversation {
      addHeld(deferring, conversation, &held, released)
    } else {
      forEachHeld(deferring) { _, at, code in
        held.add(code, 1)
        released(at, 1)
      }
    }
    return result.counts
  }

  /// The counts of a message, and each suppressed decision that would push later.
  ///
  /// A suppressed decision is deferred until the first later instant at which the same message,
  /// with the same settings, pushes, unless it has expired by then (E-69).
  ///
  /// - Parameters:
  ///   - held: set to the number of deferred decisions by suppressed outcome.
  ///   - each: called with a recipient, the instant of release in milliseconds since 1970, and the
  ///     suppressed code, in the order of users.
  /// - Complexity: O(members).
  public func counts(
    _ message: Message, held: inout FanoutCounts, each: (UserIndex, Int64, UInt8) -> Void
  ) -> FanoutCounts {
    held = FanoutCounts()
    guard let deferring = deferring(message) else { return result.counts }
    forEachHeld(deferring) { rank, at, code in
      held.add(code, 1)
      each(result.member(at: rank), at, code)
    }
    return result.counts
  }

  /// A decided message, and what its deferred decisions depend on.
  private struct Deferring {
    let target: ConversationTarget
    /// Nil for a small one answered from the tables.
    let conversation: CachedConversation?
    let quiet: SchedulePhases
    let plan: MessagePlan
    /// By open rules.
    let message: OpenMessage?
    /// The last instant before the message expires.
    let limit: Int64
    /// Ranks mentioned by name, ascending, without the sender.
    let named: [Int]
  }

  private func deferring(_ message: Message) -> Deferring? {
    // Larger conversations keep what is found.
    decide(message, .small)
    guard result.memberCount > 0, let quiet = result.storage.quiet else { return nil }
    let conversation = result.storage.isFromTables ? nil : exactConversation()
    let target = ConversationTarget(
      result.conversation, channel: message.channel, engineVersion.tables)
    let plan = MessagePlan(message, target, engineVersion.tables)
    guard plan.uniform == nil else { return nil }
    let open = plan.openMessage(message, target, engineVersion.tables)
    var named: [Int] = []
    if open != nil {
      // All who do not get what their state says.
      named = result.correctedRanks
    } else if plan.namedClass != plan.messageClass, let mentions = plan.mentions {
      let tables = engineVersion.tables
      mentions.forEachUser(in: tables) { user in
        let rank = tables.rank(of: user, in: target.memberRow)
        if let rank, rank != result.sender { named.append(rank) }
      }
      if named.count > 1 { named = Set(named).sorted() }
    }
    deferred.prepare(quiet, engineVersion)
    return Deferring(
      target: target, conversation: conversation, quiet: quiet, plan: plan, message: open,
      limit: expiry(message), named: named)
  }

  /// Has keys of the result's version and instant: it is built again if the kept one has others.
  func exactConversation() -> CachedConversation? {
    guard let conversation = result.storage.conversation, let quiet = result.storage.quiet else {
      return nil
    }
    if result.stamp.isExact { return conversation }
    let reader = ConversationReader(version: engineVersion, now: result.instant, quiet: quiet)
    return CachedConversation.build(conversation.target, reader, threads: 1)
  }

  private func expiry(_ message: Message) -> Int64 {
    guard let age = engineVersion.tables.app.expireMilliseconds else { return Int64.max }
    return (message.sentAt ?? message.at).milliseconds + age
  }

  private func addHeld(
    _ deferring: Deferring, _ conversation: CachedConversation, _ held: inout FanoutCounts,
    _ released: (Int64, Int) -> Void
  ) {
    let plan = deferring.plan
    let (members, counting) = followed(conversation, deferring.quiet)
    members.held(plan.messageClass, counting).forEach { at, code, count in
      guard at <= deferring.limit else { return }
      held.add(code, count)
      released(at, count)
    }
    for rank in deferring.named + [result.sender] where rank >= 0 {
      guard let (at, code) = release(of: rank, plan.messageClass, deferring) else { continue }
      held.add(code, -1)
      released(at, -1)
    }
    for rank in deferring.named {
      guard let (at, code) = release(ofNamed: rank, deferring) else { continue }
      held.add(code, 1)
      released(at, 1)
    }
  }

  /// - Complexity: O(transitions + members that changed since the conversation's last message);
  ///   O(members) the first time, and on another date.
  func followed(
    _ conversation: CachedConversation, _ quiet: SchedulePhases
  ) -> (members: FollowedMembers, counting: FollowedMembers.Counting) {
    let counting = FollowedMembers.Counting(
      timeline: self, conversation: conversation, quiet: quiet)
    if let known = conversation.guarded.withLock({ $0.observer as? FollowedMembers }) {
      known.follow(counting)
      return (known, counting)
    }
    let made = FollowedMembers(counting)
    conversation.guarded.withLock { $0.observer = made }
    return (made, counting)
  }

  private func release(
    of rank: Int, _ messageClass: Int, _ deferring: Deferring
  ) -> (at: Int64, code: UInt8)? {
    let found = deferred.release(
      of: rank, key(rank, deferring), deferring.target.ofStates, deferring.quiet, messageClass,
      at: result.instant, engineVersion)
    guard let found, found.at <= deferring.limit else { return nil }
    return found
  }

  /// The same for a member with classes that most do not have.
  private func release(ofNamed rank: Int, _ deferring: Deferring) -> (at: Int64, code: UInt8)? {
    guard let message = deferring.message else {
      return release(of: rank, deferring.plan.namedClass, deferring)
    }
    let found = deferred.release(
      ofNamed: rank, message, deferring.target, at: result.instant,
      MemberResolver(engineVersion))
    guard let found, found.at <= deferring.limit else { return nil }
    return found
  }

  /// Nil for a member with a mute or grace that has not ended.
  private func key(_ rank: Int, _ deferring: Deferring) -> MemberKey? {
    if let conversation = deferring.conversation {
      return conversation.hasLaterEvent(rank) ? nil : conversation.key(rank)
    }
    let resolver = MemberResolver(engineVersion)
    let user = result.memberUsers[Int(result.row.start) + rank]
    let key = resolver.storedKey(of: user, rank, deferring.target)
    let begins = deferring.target.memberRow.hasStart(after: result.instant)
    return begins
      ? key.map { _ in resolver.key(rank, deferring.target.ofStates, at: result.instant) } : key
  }

  /// A filter is evaluated for each (E-50), as devices do not change without an update.
  private func forEachHeld(_ deferring: Deferring, _ body: (Int, Int64, UInt8) -> Void) {
    var named = deferring.named[...]
    for rank in 0..<result.memberCount where rank != result.sender {
      let isNamed = named.first == rank
      if isNamed { named.removeFirst() }
      let found =
        isNamed
        ? release(ofNamed: rank, deferring)
        : release(of: rank, deferring.plan.messageClass, deferring)
      guard let (at, code) = found else { continue }
      if let filter = deferring.plan.filter {
        let user = result.member(at: rank).rawValue
        guard engineVersion.deviceReader.hasTarget(user, filter, at: result.instant) else {
          continue
        }
      }
      body(rank, at, code)
    }
  }
}
