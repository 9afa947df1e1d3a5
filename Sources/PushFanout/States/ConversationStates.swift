internal import Dispatch
internal import PushRules
internal import QuietTime

/// Works out the states of a conversation's members: from the users' classes of the moment where
/// there are some, one member at a time where there are none.
struct ConversationStates {
  let world: World
  /// How many threads may work on one conversation.
  let threads: Int

  /// Above this many members the work is cut into pieces of ``pieceSize`` for several threads.
  static let parallelSize = 1 << 18
  static let pieceSize = 1 << 16
  /// Up to so many members the states are worked out each time, which is no more work than looking
  /// them up.
  static let smallSize = 64

  /// A conversation, and what of it the state depends on.
  struct Target {
    let place: UInt32
    let row: ConversationRow
    let kind: ConversationKind
    /// Whose members the recipients are: the conversation's own, or a thread's group's.
    let members: UInt32
    let memberRow: ConversationRow
    /// The message's channel, in ultra groups.
    let channel: Identifier
    let rules: StateRules
  }

  /// The target of a message to a conversation.
  func target(_ place: UInt32, channel: Identifier) -> Target {
    let row = world.tables.conversations[Int(place)]
    let kind = ConversationKind(place: Int(row.kind))
    // A thread without a group has no recipients.
    let members = kind != .thread ? place : row.parent == 0 ? place : row.parent - 1
    var memberRow = kind == .thread ? world.tables.conversations[Int(members)] : row
    if kind == .thread, row.parent == 0 { memberRow.count = 0 }
    return Target(
      place: place, row: row, kind: kind, members: members, memberRow: memberRow,
      channel: kind == .ultraGroup ? channel : "", rules: world.tables.rules[kind])
  }

  /// Whether the moment can be used for a target at an instant.
  func usesMoment(_ target: Target, at now: Int64) -> Bool {
    world.moment.holds(at: now)
      && world.moment.hasClasses(Moment.place(of: target.kind, world.tables.app.rules))
  }

  func source(_ target: Target, usesMoment: Bool) -> ConversationState.Source {
    ConversationState.Source(
      conversation: target.place, channel: target.channel, revision: target.row.revision,
      parentRevision: target.memberRow.revision, appRevision: world.tables.appRevision,
      epoch: world.moment.epoch,
      usesMoment: usesMoment)
  }

  // MARK: Anew

  /// The states at an instant.
  ///
  /// - Complexity: O(members).
  ///
  /// - Parameter old: states of the conversation that no longer hold, whose list of special members
  ///   may.
  func build(
    _ target: Target, at now: Int64, pool: BufferPool, old: ConversationState? = nil
  ) -> ConversationState {
    let usesMoment = usesMoment(target, at: now)
    let source = source(target, usesMoment: usesMoment)
    let state = ConversationState(source, count: Int(target.memberRow.count), pool: pool)
    if let old, let revisions = old.specialRevisions, revisions == specialRevisions(target),
      old.validity.source.isSameMembership(source)
    {
      state.specials = old.specials
      state.specialRevisions = revisions
      state.events = old.events
    }
    fill(state, target, at: now, usesMoment: usesMoment)
    return state
  }

  /// The states of a conversation of few members, in memory that was used before.
  func build(
    _ target: Target, at now: Int64, pool: BufferPool, reusing small: inout ConversationState?
  ) -> ConversationState {
    let usesMoment = usesMoment(target, at: now)
    let source = source(target, usesMoment: usesMoment)
    let count = Int(target.memberRow.count)
    if isKnownUniquelyReferenced(&small), let state = small {
      state.reset(source, count: count)
      fill(state, target, at: now, usesMoment: usesMoment)
      return state
    }
    let state = ConversationState(source, count: count, capacity: Self.smallSize, pool: pool)
    small = state
    fill(state, target, at: now, usesMoment: usesMoment)
    return state
  }

  private func fill(
    _ state: ConversationState, _ target: Target, at now: Int64, usesMoment: Bool
  ) {
    let range = target.memberRow.range
    forEachPiece(range) { piece in
      if usesMoment {
        gather(piece, range.lowerBound, target, into: state)
      } else {
        resolve(piece, range.lowerBound, target, at: now, into: state)
      }
    }
    state.validity.from = usesMoment ? world.moment.from : now
    state.validity.until = usesMoment ? world.moment.until : now + 1
    state.validity.logCount = world.moment.log.count
    addSpecials(target, at: now, to: state)
  }

  private func forEachPiece(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
    guard threads > 1, range.count >= Self.parallelSize else { return body(range) }
    let pieces = (range.count + Self.pieceSize - 1) / Self.pieceSize
    withoutActuallyEscaping(body) { body in
      // SAFETY: pieces write different bytes of the state, and read what nobody writes.
      nonisolated(unsafe) let body = body
      DispatchQueue.concurrentPerform(iterations: pieces) { piece in
        let start = range.lowerBound + piece * Self.pieceSize
        unsafe body(start..<min(start + Self.pieceSize, range.upperBound))
      }
    }
  }

  /// Which bits of a member's byte count: not the level of a group in its thread, if that is not to
  /// count, nor that of an ultra group in its channels (E-63, R-13).
  private func levelMask(_ target: Target) -> UInt8 {
    switch target.kind {
    case .thread:
      world.tables.app.rules == .easemob && world.tables.app.easemob.threadScope != .ownOnly
        ? 0x0F : 0
    case .ultraGroup: coversChannel(target) ? 0x0F : 0
    default: 0x0F
    }
  }

  private func coversChannel(_ target: Target) -> Bool {
    target.channel.isEmpty || world.tables.app.rongcloud.ultraConversationLevel == .wholeGroup
  }

  /// The states of a piece of the members, from the users' classes.
  private func gather(
    _ piece: Range<Int>, _ start: Int, _ target: Target, into state: ConversationState
  ) {
    let classes = world.moment.classes[Moment.place(of: target.kind, world.tables.app.rules)]
    let states = unsafe target.rules.stateTable
    let mask = levelMask(target)
    // Whether some members share a page of classes. Where few do, asking which costs more than
    // finding the page of each.
    let isDense = target.memberRow.range.count > classes.pageCount * 8
    unsafe world.tables.memberUsers.forEachStretch(piece) { (offset, users) -> Void in
      let place = piece.lowerBound + offset
      let members = unsafe world.tables.memberBytes.stretch(from: place, limit: users.count)
      let output = unsafe state.bytes + (place - start)
      if isDense {
        unsafe gather(users, members, mask, classes, states, into: output)
        return
      }
      for index in 0..<users.count {
        let user = Int(unsafe users[index])
        let member = Int(unsafe members[index] & mask) &<< 8
        let page = unsafe classes.page(at: user)
        unsafe output[index] =
          unsafe states[member | Int(page[user & (PagedTable<UInt8>.pageSize &- 1)])]
      }
    }
  }

  /// The loop that everything else is there for: four loads and a store a member, and no rule.
  ///
  /// Members are sorted by user, so eight in a row mostly have their classes on one page.
  private func gather(
    _ users: UnsafeBufferPointer<UInt32>, _ members: UnsafeBufferPointer<UInt8>, _ mask: UInt8,
    _ classes: PagedTable<UInt8>, _ states: UnsafePointer<UInt8>,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let inPage = UInt32(PagedTable<UInt8>.pageSize - 1)
    let count = users.count
    var place = 0
    while place < count {
      let first = unsafe users[place]
      let page = unsafe UnsafePointer(classes.page(at: Int(first)))
      let last = first | inPage
      while place &+ 8 <= count, unsafe users[place &+ 7] <= last {
        for step in 0..<8 {
          let user = Int(unsafe users[place &+ step] & inPage)
          let member = Int(unsafe members[place &+ step] & mask) &<< 8
          unsafe output[place &+ step] = unsafe states[member | Int(page[user])]
        }
        place &+= 8
      }
      while place < count, unsafe users[place] <= last {
        let user = Int(unsafe users[place] & inPage)
        let member = Int(unsafe members[place] & mask) &<< 8
        unsafe output[place] = unsafe states[member | Int(page[user])]
        place &+= 1
      }
    }
  }

  /// The states of a piece of the members, from what each user has set.
  private func resolve(
    _ piece: Range<Int>, _ start: Int, _ target: Target, at now: Int64,
    into state: ConversationState
  ) {
    let kind = Moment.place(of: target.kind, world.tables.app.rules)
    let mask = levelMask(target)
    let quiet = QuietNow(world, at: now)
    for place in piece {
      let user = world.tables.memberUsers[place]
      let bits = quiet[world.tables.schedules[Int(user)]]
      let value = world.tables.userClass(of: user, kind: kind, quiet: bits, at: now)
      let member = MemberClass(bits: world.tables.memberBytes[place] & mask)
      unsafe state.bytes[place - start] = target.rules.state(value, member)
    }
  }

  // MARK: Members with something kept beside

  private func specialRevisions(_ target: Target) -> ConversationState.SpecialRevisions {
    ConversationState.SpecialRevisions(
      own: target.row.specialRevision, parent: target.memberRow.specialRevision)
  }

  /// Puts the members with mutes, channel levels or a beginning right, and a thread's own settings.
  private func addSpecials(_ target: Target, at now: Int64, to state: ConversationState) {
    if state.specialRevisions == nil { listSpecials(target, in: state) }
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
    state.specialRevisions = specialRevisions(target)
    for rank in ranks {
      let user = world.tables.memberUsers[Int(row.start) + Int(rank)]
      let special = special(user, rank: Int(rank), target)
      state.specials.append(special)
      state.events += events(of: special)
    }
    state.events.sort { $0.at < $1.at }
  }

  private func events(
    of special: ConversationState.Special
  ) -> [ConversationState.Event] {
    [special.since, special.mutedUntil].filter { $0 > 0 }.map {
      ConversationState.Event(at: $0, rank: special.rank)
    }
  }

  private func userClass(_ user: UInt32, _ target: Target, at now: Int64) -> UserClass {
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

  // MARK: Onwards

  /// How much work it is to bring a state up to the moment, in members; nil when it cannot be.
  func distance(_ state: ConversationState, _ target: Target, at now: Int64) -> Int? {
    guard usesMoment(target, at: now), state.validity.source == source(target, usesMoment: true),
      state.validity.from <= now, state.validity.logCount <= world.moment.log.count
    else { return nil }
    return (world.moment.log.count - state.validity.logCount) * 16
  }

  /// Whether a state holds as it is.
  func isCurrent(_ state: ConversationState, _ target: Target, at now: Int64) -> Bool {
    let validity = state.validity
    guard validity.from <= now, now < validity.until else { return false }
    let usesMoment = usesMoment(target, at: now)
    return validity.logCount == world.moment.log.count
      && validity.source == source(target, usesMoment: usesMoment)
  }

  /// Brings a state up to the moment and an instant.
  ///
  /// - Precondition: ``distance(_:_:at:)`` is not nil, and nobody else holds the state.
  /// - Complexity: O(changes log members).
  func refresh(_ state: ConversationState, _ target: Target, at now: Int64) {
    for place in state.validity.logCount..<world.moment.log.count {
      let entry = world.moment.log[place]
      let conversation = UInt32(truncatingIfNeeded: entry)
      guard
        conversation == Moment.everywhere || conversation == target.place
          || conversation == target.members
      else { continue }
      let user = UInt32(truncatingIfNeeded: entry >> 32)
      guard let rank = world.tables.rank(of: user, in: target.memberRow) else { continue }
      set(rank, user, target, at: now, in: state, addsEvents: conversation != Moment.everywhere)
    }
    state.validity.logCount = world.moment.log.count
    var start = max(world.moment.from, state.validity.from)
    while state.eventCount < state.events.count, state.events[state.eventCount].at <= now {
      let event = state.events[state.eventCount]
      state.eventCount += 1
      start = max(start, event.at)
      let user = world.tables.memberUsers[Int(target.memberRow.start) + Int(event.rank)]
      set(Int(event.rank), user, target, at: now, in: state, addsEvents: false)
    }
    state.validity.from = start
    state.validity.until = world.moment.until
    if state.eventCount < state.events.count {
      state.validity.until = min(state.validity.until, state.events[state.eventCount].at)
    }
  }

  private func set(
    _ rank: Int, _ user: UInt32, _ target: Target, at now: Int64, in state: ConversationState,
    addsEvents: Bool
  ) {
    let special = special(user, rank: rank, target)
    if addsEvents {
      // The list of special members is no longer theirs; it is made anew when it is next needed.
      state.specialRevisions = nil
      let added = events(of: special)
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
    let member = special.memberClass(at: now)
    state.set(rank, target.rules.state(userClass(user, target, at: now), member), target.rules)
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

/// The bits of schedules at one instant, by the moment's bitmaps where they are of that day.
private struct QuietNow {
  private let world: World
  private let now: Int64
  private let isOfPlan: Bool

  init(_ world: World, at now: Int64) {
    self.world = world
    self.now = now
    isOfPlan = world.moment.plan.map { now / 86_400_000 == $0.day } ?? false
  }

  subscript(schedule: UInt32) -> UInt8 {
    if schedule == 0 { return 0 }
    if isOfPlan, let plan = world.moment.plan, Int(schedule) < plan.count {
      let second = Int(now / 1000 - plan.day * 86_400)
      return plan.isInside(schedule, second: second) ? world.tables.quietBits(schedule) : 0
    }
    guard let window = world.tables.scheduleTable.quiet(schedule).window,
      window.contains(utcSeconds: now / 1000)
    else { return 0 }
    return world.tables.quietBits(schedule)
  }
}

extension PagedTable {
  /// Calls `body` with each element of `range` and its place in it.
  func forEachStretchRank(_ range: Range<Int>, _ body: (Int, Element) -> Void) {
    unsafe forEachStretch(range) { (offset, elements) -> Void in
      for index in 0..<elements.count { body(offset + index, unsafe elements[index]) }
    }
  }
}
