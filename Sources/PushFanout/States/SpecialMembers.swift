internal import PushRules

/// Members with something kept beside: mutes, a beginning, levels of channels, a thread's own
/// settings.
extension ConversationStates {
  /// Puts the members with mutes, channel levels or a beginning right, and a thread's own settings.
  func addSpecials(_ target: Target, at now: Int64, to state: ConversationState) {
    guard target.memberRow.hasSpecials || target.kind == .thread else { return }
    if state.specialRevision == nil { listSpecials(target, in: state) }
    guard !state.specials.isEmpty else { return }
    let row = target.memberRow
    for special in state.specials {
      let user = world.tables.memberUsers[Int(row.start) + Int(special.rank)]
      unsafe state.bytes[Int(special.rank)] = target.rules.state(
        userClass(user, target, at: now), special.memberClass(at: now))
    }
    state.eventCount = state.events.partitioningIndex { $0.at > now }
    if state.eventCount > 0 {
      state.validity.from = max(state.validity.from, state.events[state.eventCount - 1].at)
    }
    if state.eventCount < state.events.count {
      state.validity.until = min(state.validity.until, state.events[state.eventCount].at)
    }
  }

  private func listSpecials(_ target: Target, in state: ConversationState) {
    let row = target.memberRow
    var ranks: [UInt32] = []
    if row.hasSpecials {
      world.tables.memberBytes.forEachStretchRank(row.range) { rank, byte in
        if MemberByte(bits: byte).isSpecial { ranks.append(UInt32(rank)) }
      }
    }
    if target.kind == .thread, target.row.parent != 0 {
      for place in target.row.range {
        if let rank = world.tables.rank(of: world.tables.memberUsers[place], in: row) {
          ranks.append(UInt32(rank))
        }
      }
    }
    state.specialRevision = row.specialRevision
    for rank in ranks {
      let user = world.tables.memberUsers[Int(row.start) + Int(rank)]
      let special = special(user, rank: Int(rank), target)
      state.specials.append(special)
      state.events += events(of: special)
    }
    state.events.sort { $0.at < $1.at }
  }

  func events(
    of special: ConversationState.Special
  ) -> [ConversationState.Event] {
    [special.since, special.mutedUntil].filter { $0 > 0 }.map {
      ConversationState.Event(at: $0, rank: special.rank)
    }
  }

  func userClass(_ user: UInt32, _ target: Target, at now: Int64) -> UserClass {
    let kind = Moment.place(of: target.kind, world.tables.app.rules)
    if world.moment.holds(at: now), world.moment.hasClasses(kind) {
      return UserClass(bits: world.moment.classes[kind][Int(user)])
    }
    return world.tables.userClass(of: user, kind: kind, at: now)
  }

  /// What decides the class of a member at any instant.
  func special(
    _ user: UInt32, rank: Int, _ target: Target
  ) -> ConversationState.Special {
    let byte = MemberByte(bits: world.tables.memberBytes[Int(target.memberRow.start) + rank])
    let key = Tables.key(target.members, user)
    var chain = [(byte, key)]
    if target.kind == .thread { chain = threadChain(user, byte, key, target) }
    var special = ConversationState.Special(
      rank: UInt32(rank), member: MemberClass(bits: 0), since: world.tables.since(byte, key),
      mutedUntil: 0)
    switch world.tables.app.rules {
    case .easemob:
      var level: UInt8 = 0
      for (byte, key) in chain {  // E-22, E-63
        special.mutedUntil = max(special.mutedUntil, world.tables.mute(byte, key))
        if level == 0 { level = byte.level }
      }
      special.member = MemberClass(bits: level)
    case .rongcloud:
      if let (own, ownKey) = chain.first {
        special.member = rongcloudClass(own, ownKey, target)
      }
    }
    return special
  }

  private func rongcloudClass(
    _ own: MemberByte, _ key: UInt64, _ target: Target
  ) -> MemberClass {
    guard target.kind == .ultraGroup else { return MemberClass(bits: own.level) }
    let channel = world.tables.channels(own, key)[target.channel] ?? .unset
    if channel.isSet { return MemberClass(bits: channel.rawValue + 5) }
    return MemberClass(bits: coversChannel(target) ? own.level : 0)
  }

  /// Whose settings count in a thread, the nearest first (E-63).
  private func threadChain(
    _ user: UInt32, _ byte: MemberByte, _ key: UInt64, _ target: Target
  ) -> [(MemberByte, UInt64)] {
    var own: [(MemberByte, UInt64)] = []
    if let rank = world.tables.rank(of: user, in: target.row) {
      let byte = MemberByte(bits: world.tables.memberBytes[Int(target.row.start) + rank])
      own = [(byte, Tables.key(target.place, user))]
    }
    guard world.tables.app.rules == .easemob else { return own }
    switch world.tables.app.easemob.threadScope {
    case .inheritParent: return own + [(byte, key)]
    case .parentOnly: return [(byte, key)]
    case .ownOnly: return own
    }
  }
}

extension Array {
  /// The place of the first element for which `belongs` holds, of elements sorted by it.
  fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
