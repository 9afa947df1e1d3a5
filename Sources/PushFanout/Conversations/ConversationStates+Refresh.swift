internal import PushModel

/// Incremental updates of states.
extension ConversationStates {
  /// The estimated cost of refreshing a state, in members; nil when it has to be rebuilt.
  func distance(_ state: ConversationState, _ target: Target, at now: Int64) -> Int? {
    guard usesUserClasses(target, at: now),
      state.validity.source == source(target, usesUserClasses: true),
      state.validity.from <= now, state.validity.logCount <= version.userClasses.log.count
    else { return nil }
    return (version.userClasses.log.count - state.validity.logCount) * 16
  }

  /// Whether a state is valid as it is.
  func isCurrent(_ state: ConversationState, _ target: Target, at now: Int64) -> Bool {
    let validity = state.validity
    guard validity.from <= now, now < validity.until else { return false }
    let usesUserClasses = usesUserClasses(target, at: now)
    return validity.logCount == version.userClasses.log.count
      && validity.source == source(target, usesUserClasses: usesUserClasses)
  }

  /// Applies the changes since a state was computed.
  ///
  /// - Precondition: ``distance(_:_:at:)`` is not nil, and the state is uniquely referenced.
  /// - Complexity: O(changes log members).
  func refresh(_ state: ConversationState, _ target: Target, at now: Int64) {
    for index in state.validity.logCount..<version.userClasses.log.count {
      let entry = version.userClasses.log[index]
      let conversation = UInt32(truncatingIfNeeded: entry)
      guard
        conversation == UserClasses.everywhere || conversation == target.conversation
          || conversation == target.members
      else { continue }
      let user = UInt32(truncatingIfNeeded: entry >> 32)
      guard let rank = version.tables.rank(of: user, in: target.memberRow) else { continue }
      set(
        rank, user, target, at: now, in: state, addsEvents: conversation != UserClasses.everywhere)
    }
    state.validity.logCount = version.userClasses.log.count
    var start = max(version.userClasses.from, state.validity.from)
    while state.eventCount < state.events.count, state.events[state.eventCount].at <= now {
      let event = state.events[state.eventCount]
      state.eventCount += 1
      start = max(start, event.at)
      let user = version.tables.memberUsers[Int(target.memberRow.start) + Int(event.rank)]
      set(Int(event.rank), user, target, at: now, in: state, addsEvents: false)
    }
    state.validity.from = start
    state.validity.until = version.userClasses.until
    if state.eventCount < state.events.count {
      state.validity.until = min(state.validity.until, state.events[state.eventCount].at)
    }
    checkInDebugBuilds { state.checkInvariants(target.rules, .sample(version.number)) }
  }

  private func set(
    _ rank: Int, _ user: UInt32, _ target: Target, at now: Int64, in state: ConversationState,
    addsEvents: Bool
  ) {
    let overrides = overrides(of: user, rank: rank, target)
    if addsEvents {
      // The list of overrides is stale; it is rebuilt when next needed.
      state.overrideRevision = nil
      let added = events(of: overrides)
      for event in added where event.at <= now {
        state.validity.from = max(state.validity.from, event.at)
      }
      let coming = added.filter { $0.at > now }
      if !coming.isEmpty {
        state.events.removeSubrange(..<state.eventCount)
        state.eventCount = 0
        state.events.append(contentsOf: coming)
        state.events.sort { $0.at < $1.at }
      }
    }
    let member = overrides.memberClass(at: now)
    state.set(rank, target.rules.state(userClass(user, target, at: now), member), target.rules)
  }
}
