internal import PushModel
internal import QuietTime
internal import PushSupport

/// Computes the states of a conversation's members: from the version's users' classes when they are
/// valid, otherwise member by member.
struct ConversationStates {
  let version: EngineVersion
  /// The number of threads that may work on one conversation.
  let threads: Int

  /// From this many members on the work is split into pieces of ``pieceSize`` for several threads.
  static let parallelSize = 1 << 15
  static let pieceSize = 1 << 14
  /// Up to this many members states are recomputed for each message, which costs no more than a
  /// cache look-up.
  static let smallSize = 64

  /// A conversation, and what its states depend on.
  struct Target {
    let conversation: UInt32
    let row: ConversationRow
    let kind: ConversationKind
    /// The index of the conversation whose members are the recipients: the conversation itself, or
    /// a thread's parent.
    let members: UInt32
    let memberRow: ConversationRow
    /// The message's channel, in ultra groups.
    let channel: Identifier
    let rules: StateRules
  }

  /// The target of a message to a conversation.
  func target(_ conversation: UInt32, channel: Identifier) -> Target {
    let row = version.tables.conversations[Int(conversation)]
    let kind = ConversationKind(ordinal: Int(row.kind))
    // A thread without a parent has no recipients.
    let members = kind != .thread ? conversation : row.parent == 0 ? conversation : row.parent - 1
    var memberRow = kind == .thread ? version.tables.conversations[Int(members)] : row
    if kind == .thread, row.parent == 0 { memberRow.count = 0 }
    return Target(
      conversation: conversation, row: row, kind: kind, members: members, memberRow: memberRow,
      channel: kind == .ultraGroup ? channel : "", rules: version.tables.rules[kind])
  }

  /// Whether the version's users' classes are valid for a target at an instant.
  func usesUserClasses(_ target: Target, at now: Int64) -> Bool {
    version.userClasses.holds(at: now)
      && version.userClasses.hasClasses(
        UserClasses.tableIndex(for: target.kind, version.tables.app.rules))
  }

  func source(_ target: Target, usesUserClasses: Bool) -> ConversationState.Source {
    ConversationState.Source(
      conversation: target.conversation, channel: target.channel, revision: target.row.revision,
      parentRevision: target.memberRow.revision, appRevision: version.tables.appRevision,
      epoch: version.userClasses.epoch, usesUserClasses: usesUserClasses)
  }

  // MARK: Anew

  /// The states at an instant.
  ///
  /// - Complexity: O(members).
  /// - Parameter old: stale states of the conversation, whose list of overrides may still be valid.
  func build(
    _ target: Target, at now: Int64, pool: BufferPool, old: ConversationState? = nil
  ) -> ConversationState {
    let usesUserClasses = usesUserClasses(target, at: now)
    let source = source(target, usesUserClasses: usesUserClasses)
    let state = ConversationState(source, count: Int(target.memberRow.count), pool: pool)
    // A thread's list depends on the levels of the parent's members too, whose changes have no
    // revision.
    if target.kind != .thread, let old, let revision = old.overrideRevision,
      revision == target.memberRow.overrideRevision,
      old.validity.source.isSameMembership(source)
    {
      state.overrides = old.overrides
      state.overrideRevision = revision
      state.events = old.events
    }
    fill(state, target, at: now, usesUserClasses: usesUserClasses)
    return state
  }

  /// The states of a small conversation, in reused memory.
  func build(
    _ target: Target, at now: Int64, pool: BufferPool, reusing small: inout ConversationState?
  ) -> ConversationState {
    let usesUserClasses = usesUserClasses(target, at: now)
    let count = Int(target.memberRow.count)
    if isKnownUniquelyReferenced(&small), let state = small {
      state.reset(count: count)
      fill(state, target, at: now, usesUserClasses: usesUserClasses)
      return state
    }
    let state = ConversationState(
      source(target, usesUserClasses: usesUserClasses), count: count, capacity: Self.smallSize,
      pool: pool)
    small = state
    fill(state, target, at: now, usesUserClasses: usesUserClasses)
    return state
  }

  private func fill(
    _ state: ConversationState, _ target: Target, at now: Int64, usesUserClasses: Bool
  ) {
    let range = target.memberRow.range
    if range.count < Self.parallelSize || threads == 1 {
      fill(range, range.lowerBound, target, at: now, usesUserClasses, into: state)
    } else {
      let pieces = (range.count + Self.pieceSize - 1) / Self.pieceSize
      Parallel.perform(pieces, threads: threads) { piece in
        let start = range.lowerBound + piece * Self.pieceSize
        let end = min(start + Self.pieceSize, range.upperBound)
        fill(start..<end, range.lowerBound, target, at: now, usesUserClasses, into: state)
      }
    }
    state.validity.from = usesUserClasses ? version.userClasses.from : now
    state.validity.until = usesUserClasses ? version.userClasses.until : now + 1
    state.validity.logCount = version.userClasses.log.count
    applyOverrides(target, at: now, to: state)
    checkInDebugBuilds { state.checkInvariants(target.rules, .sample(version.number)) }
  }

  private func fill(
    _ piece: Range<Int>, _ start: Int, _ target: Target, at now: Int64, _ usesUserClasses: Bool,
    into state: ConversationState
  ) {
    if usesUserClasses {
      gather(piece, start, target, into: state)
    } else {
      resolve(piece, start, target, at: now, into: state)
    }
  }

  /// Computes the states of a range of member slots from the users' classes.
  private func gather(
    _ piece: Range<Int>, _ start: Int, _ target: Target, into state: ConversationState
  ) {
    let kind = UserClasses.tableIndex(for: target.kind, version.tables.app.rules)
    let mask = levelMask(target)
    let isPlain = mask == 0x0F && !target.memberRow.hasOverrides
    // Whether members share pages of classes. Where few do, grouping them costs more than finding
    // the page of each.
    let isDense = target.memberRow.range.count > version.userClasses.byKind[kind].pageCount * 8
    var index = piece.lowerBound
    while index < piece.upperBound {
      let users = unsafe version.tables.memberUsers.stretch(
        from: index, limit: piece.upperBound - index)
      let members = unsafe version.tables.packedMembers.stretch(from: index, limit: users.count)
      let output = unsafe state.bytes + (index - start)
      if isDense && isPlain {
        unsafe gatherPlain(
          users, members, version.userClasses.byKind[kind], target.rules.plainTable, into: output)
      } else {
        unsafe gather(
          users, members, mask, version.userClasses.byKind[kind], target.rules.stateTable,
          into: output)
      }
      index += users.count
    }
  }

  /// The hot loop: four loads and one store per member, no rules.
  ///
  /// Members are sorted by user, so eight consecutive ones mostly have their classes on one page.
  private func gatherPlain(
    _ users: UnsafeBufferPointer<UInt32>, _ members: UnsafeBufferPointer<UInt8>,
    _ classes: PagedTable<UInt8>, _ states: UnsafePointer<UInt8>,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let inPage = UInt32(PagedTable<UInt8>.pageSize - 1)
    let count = users.count
    var index = 0
    while index < count {
      let first = unsafe users[index]
      let page = unsafe UnsafePointer(classes.page(at: Int(first)))
      let last = first | inPage
      let start = Int(first & ~inPage)
      while index &+ 8 <= count, unsafe users[index &+ 7] <= last {
        for step in 0..<8 {
          let user = unsafe Int(page[Int(users[index &+ step]) &- start])
          unsafe output[index &+ step] =
            unsafe states[Int(members[index &+ step]) &+ user &* 8]
        }
        index &+= 8
      }
      while index < count, unsafe users[index] <= last {
        let user = unsafe Int(page[Int(users[index]) &- start])
        unsafe output[index] = unsafe states[Int(members[index]) &+ user &* 8]
        index &+= 1
      }
    }
  }

  /// The same for sparse members or a level mask. Members with overrides are corrected afterwards.
  private func gather(
    _ users: UnsafeBufferPointer<UInt32>, _ members: UnsafeBufferPointer<UInt8>, _ mask: UInt8,
    _ classes: PagedTable<UInt8>, _ states: UnsafePointer<UInt8>,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let inPage = PagedTable<UInt8>.pageSize &- 1
    for index in 0..<users.count {
      let user = Int(unsafe users[index])
      let member = Int(unsafe members[index] & mask) &<< 8
      let page = unsafe classes.page(at: user)
      unsafe output[index] = unsafe states[member | Int(page[user & inPage])]
    }
  }

  /// Computes the states of a range of member slots from each user's settings.
  private func resolve(
    _ piece: Range<Int>, _ start: Int, _ target: Target, at now: Int64,
    into state: ConversationState
  ) {
    let kind = UserClasses.tableIndex(for: target.kind, version.tables.app.rules)
    let mask = levelMask(target)
    let quiet = ScheduleBits(version, at: now)
    for index in piece {
      let user = version.tables.memberUsers[index]
      let bits = quiet[version.tables.schedules[Int(user)]]
      let value = version.tables.userClass(of: user, kind: kind, quiet: bits, at: now)
      let member = MemberClass(bits: version.tables.packedMembers[index] & mask)
      unsafe state.bytes[index - start] = target.rules.state(value, member)
    }
  }
}
