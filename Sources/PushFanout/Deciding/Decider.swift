internal import PushModel

/// Decides messages on one version.
struct Decider {
  let version: EngineVersion
  let cache: StateCache
  let threads: Int

  /// Decides a message for every recipient.
  ///
  /// - Complexity: O(mentions log members); O(members) when the states are not cached or a device
  ///   filter is evaluated member by member.
  /// - Parameter conversation: its index; nil for one whose id never appeared.
  func decide(_ message: Message, in conversation: UInt32?, into result: inout FanoutResult) {
    // Release the last result's state, so that it can be mutated in place.
    result.state = nil
    if !result.corrections.isEmpty { result.corrections.removeAll(keepingCapacity: true) }
    result.sender = -1
    if result.filter != nil { result.filter = nil }
    result.engineVersion = version
    result.threads = threads
    result.instant = message.at.milliseconds
    guard let conversation else {
      result.row = ConversationRow()
      return
    }
    let states = ConversationStates(version: version, threads: threads)
    let target = states.target(conversation, channel: message.channel)
    let now = message.at.milliseconds
    let state =
      target.memberRow.count <= ConversationStates.smallSize
      ? states.build(target, at: now, pool: cache.pool, reusing: &result.small)
      : cache.state(target, at: now, states)
    let plan = MessagePlan(message, target, version.tables)
    result.row = target.memberRow
    result.state = state
    result.stateCount = target.rules.stateCount
    if let uniform = plan.uniform {
      result.messageClass = nil
      unsafe result.codes.set(version.tables.rules.codes(ofAll: uniform))
    } else {
      result.messageClass = plan.messageClass
      unsafe result.codes.set(target.rules.codes(plan.messageClass))
      correctNamed(plan, target, state, &result)
    }
    correctSender(message.sender, &result)
    result.sortCorrections()
    if let filter = plan.filter { apply(filter, target, state, &result) }
  }

  /// Corrects the outcomes of users mentioned by name.
  private func correctNamed(
    _ plan: MessagePlan, _ target: ConversationStates.Target, _ state: ConversationState,
    _ result: inout FanoutResult
  ) {
    guard let mentions = plan.mentions, !mentions.ids.isEmpty,
      plan.namedClass != plan.messageClass
    else { return }
    let named = unsafe target.rules.codes(plan.namedClass)
    var corrections: [FanoutResult.Correction] = []
    swap(&corrections, &result.corrections)
    mentions.forEachUser(in: version.tables) { user in
      guard let rank = version.tables.rank(of: user, in: target.memberRow) else { return }
      let code = unsafe named[Int(state.bytes[rank])]
      corrections.append(FanoutResult.Correction(rank: UInt32(rank), code: code))
    }
    swap(&corrections, &result.corrections)
  }

  /// The sender is not a recipient, even when mentioned.
  private func correctSender(_ sender: Identifier?, _ result: inout FanoutResult) {
    guard let sender, let user = version.tables.userIDs.index(of: sender),
      let rank = version.tables.rank(of: user, in: result.row)
    else { return }
    if !result.corrections.isEmpty { result.corrections.removeAll { $0.rank == UInt32(rank) } }
    result.sender = rank
  }

  /// E-50, member by member: a push that the filter admits to no device is filtered.
  private func apply(
    _ filter: DeviceFilter, _ target: ConversationStates.Target, _ state: ConversationState,
    _ result: inout FanoutResult
  ) {
    let filtered = Outcome(.suppress, .filtered).code
    let before = result
    result.filter = filter
    result.messageClass = nil
    result.corrections.removeAll(keepingCapacity: true)
    if !filter.lets(.default) {
      result.codes.change { if $0 & 1 != 0 { $0 = filtered } }
    }
    for rank in 0..<state.count where rank != result.sender {
      var code = before.code(of: rank)
      if code & 1 != 0 {
        let user = version.tables.memberUsers[Int(result.row.start) + rank]
        let targets = version.tables.targets(of: user, .push, filter, at: result.instant)
        if targets.isEmpty { code = filtered }
      }
      if code != result.codes[Int(unsafe state.bytes[rank])] {
        result.corrections.append(FanoutResult.Correction(rank: UInt32(rank), code: code))
      }
    }
  }

  /// Decides a message for one user only.
  ///
  /// - Returns: nil if the user is not a recipient.
  /// - Complexity: O(log members + devices).
  func decide(
    _ message: Message, for user: UInt32, note: (StateNote) -> Void = { _ in }
  ) -> Outcome? {
    let tables = version.tables
    guard let conversation = tables.conversationIDs.index(of: message.conversation) else {
      return nil
    }
    let states = ConversationStates(version: version, threads: 1)
    let target = states.target(conversation, channel: message.channel)
    guard let rank = tables.rank(of: user, in: target.memberRow),
      message.sender.flatMap({ tables.userIDs.index(of: $0) }) != user
    else { return nil }
    let now = message.at.milliseconds
    let member = states.overrides(of: user, rank: rank, target).memberClass(at: now)
    if member.isAbsent { return nil }
    let plan = MessagePlan(message, target, tables)
    if let uniform = plan.uniform { return uniform }
    let kind = UserClasses.tableIndex(for: target.kind, tables.app.rules)
    let value = tables.userClass(of: user, kind: kind, at: now)
    var isNamed = false
    plan.mentions?.forEachUser(in: tables) { if $0 == user { isNamed = true } }
    let index = isNamed ? plan.namedClass : plan.messageClass
    let outcome = StateRules.outcome(tables.app, target.kind, value, member, index, note)
    guard outcome.action == .push, let filter = plan.filter else { return outcome }
    let targets = tables.targets(of: user, .push, filter, at: now)
    return targets.isEmpty ? Outcome(.suppress, .filtered) : outcome
  }
}

extension FanoutResult {
  /// Sorts the corrections by rank and removes duplicates.
  mutating func sortCorrections() {
    guard corrections.count > 1 else { return }
    corrections.sort { $0.rank < $1.rank }
    var kept = 1
    for index in 1..<corrections.count
    where corrections[index].rank != corrections[kept - 1].rank {
      corrections[kept] = corrections[index]
      kept += 1
    }
    corrections.removeSubrange(kept...)
  }
}
