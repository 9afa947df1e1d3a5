internal import PushRules
internal import QuietTime
internal import PushSupport

/// Works out the states of a conversation's members: from the users' classes of the moment where
/// there are some, one member at a time where there are none.
struct ConversationStates {
  let world: World
  /// How many threads may work on one conversation.
  let threads: Int

  /// Above this many members the work is cut into pieces of ``pieceSize`` for several threads.
  static let parallelSize = 1 << 15
  static let pieceSize = 1 << 14
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
      epoch: world.moment.epoch, usesMoment: usesMoment)
  }

  // MARK: Anew

  /// The states at an instant.
  ///
  /// - Complexity: O(members).
  /// - Parameter old: states of the conversation that no longer hold, whose list of special members
  ///   may.
  func build(
    _ target: Target, at now: Int64, pool: BufferPool, old: ConversationState? = nil
  ) -> ConversationState {
    let usesMoment = usesMoment(target, at: now)
    let source = source(target, usesMoment: usesMoment)
    let state = ConversationState(source, count: Int(target.memberRow.count), pool: pool)
    // In a thread, what is listed also holds the levels of the group's members, whose changes are
    // not counted.
    if target.kind != .thread, let old, let revision = old.specialRevision,
      revision == target.memberRow.specialRevision,
      old.validity.source.isSameMembership(source)
    {
      state.specials = old.specials
      state.specialRevision = revision
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
    let count = Int(target.memberRow.count)
    if isKnownUniquelyReferenced(&small), let state = small {
      state.reset(count: count)
      fill(state, target, at: now, usesMoment: usesMoment)
      return state
    }
    let state = ConversationState(
      source(target, usesMoment: usesMoment), count: count, capacity: Self.smallSize, pool: pool)
    small = state
    fill(state, target, at: now, usesMoment: usesMoment)
    return state
  }

  private func fill(
    _ state: ConversationState, _ target: Target, at now: Int64, usesMoment: Bool
  ) {
    let range = target.memberRow.range
    if range.count < Self.parallelSize || threads == 1 {
      fill(range, range.lowerBound, target, at: now, usesMoment, into: state)
    } else {
      let pieces = (range.count + Self.pieceSize - 1) / Self.pieceSize
      Parallel.perform(pieces, threads: threads) { piece in
        let start = range.lowerBound + piece * Self.pieceSize
        let end = min(start + Self.pieceSize, range.upperBound)
        fill(start..<end, range.lowerBound, target, at: now, usesMoment, into: state)
      }
    }
    state.validity.from = usesMoment ? world.moment.from : now
    state.validity.until = usesMoment ? world.moment.until : now + 1
    state.validity.logCount = world.moment.log.count
    addSpecials(target, at: now, to: state)
  }

  private func fill(
    _ piece: Range<Int>, _ start: Int, _ target: Target, at now: Int64, _ usesMoment: Bool,
    into state: ConversationState
  ) {
    if usesMoment {
      gather(piece, start, target, into: state)
    } else {
      resolve(piece, start, target, at: now, into: state)
    }
  }

  /// Which bits of a member's byte count: not the level of a group in its thread, if that is not to
  /// count, nor that of an ultra group in its channels (E-63, R-13).
  func levelMask(_ target: Target) -> UInt8 {
    switch target.kind {
    case .thread:
      world.tables.app.rules == .easemob && world.tables.app.easemob.threadScope != .ownOnly
        ? 0x0F : 0
    case .ultraGroup: coversChannel(target) ? 0x0F : 0
    default: 0x0F
    }
  }

  func coversChannel(_ target: Target) -> Bool {
    target.channel.isEmpty || world.tables.app.rongcloud.ultraConversationLevel == .wholeGroup
  }

  /// The states of a piece of the members, from the users' classes.
  private func gather(
    _ piece: Range<Int>, _ start: Int, _ target: Target, into state: ConversationState
  ) {
    let kind = Moment.place(of: target.kind, world.tables.app.rules)
    let mask = levelMask(target)
    let isPlain = mask == 0x0F && !target.memberRow.hasSpecials
    // Whether some members share a page of classes. Where few do, asking which costs more than
    // finding the page of each.
    let isDense = target.memberRow.range.count > world.moment.classes[kind].pageCount * 8
    var place = piece.lowerBound
    while place < piece.upperBound {
      let users = unsafe world.tables.memberUsers.stretch(
        from: place, limit: piece.upperBound - place)
      let members = unsafe world.tables.memberBytes.stretch(from: place, limit: users.count)
      let output = unsafe state.bytes + (place - start)
      if isDense && isPlain {
        unsafe gatherPlain(
          users, members, world.moment.classes[kind], target.rules.plainTable, into: output)
      } else {
        unsafe gather(
          users, members, mask, world.moment.classes[kind], target.rules.stateTable, into: output)
      }
      place += users.count
    }
  }

  /// The loop that everything else is there for: four loads and a store a member, and no rule.
  ///
  /// Members are sorted by user, so eight in a row mostly have their classes on one page.
  private func gatherPlain(
    _ users: UnsafeBufferPointer<UInt32>, _ members: UnsafeBufferPointer<UInt8>,
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
      let start = Int(first & ~inPage)
      while place &+ 8 <= count, unsafe users[place &+ 7] <= last {
        for step in 0..<8 {
          let user = unsafe Int(page[Int(users[place &+ step]) &- start])
          unsafe output[place &+ step] =
            unsafe states[Int(members[place &+ step]) &+ user &* 8]
        }
        place &+= 8
      }
      while place < count, unsafe users[place] <= last {
        let user = unsafe Int(page[Int(users[place]) &- start])
        unsafe output[place] = unsafe states[Int(members[place]) &+ user &* 8]
        place &+= 1
      }
    }
  }

  /// The same for members who are far apart, or special: these are put right afterwards.
  private func gather(
    _ users: UnsafeBufferPointer<UInt32>, _ members: UnsafeBufferPointer<UInt8>, _ mask: UInt8,
    _ classes: PagedTable<UInt8>, _ states: UnsafePointer<UInt8>,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let inPage = PagedTable<UInt8>.pageSize &- 1
    for place in 0..<users.count {
      let user = Int(unsafe users[place])
      let member = Int(unsafe members[place] & mask) &<< 8
      let page = unsafe classes.page(at: user)
      unsafe output[place] = unsafe states[member | Int(page[user & inPage])]
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
}
