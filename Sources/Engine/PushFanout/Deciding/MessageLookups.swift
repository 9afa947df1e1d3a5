internal import CPushKernels
package import PushModel

/// Messages of an array, read in place: copying one counts a dozen references.
///
/// SAFETY: valid as long as the array is not changed.
@safe package struct MessageList {
  /// Has the layout of a message, and cannot be copied.
  private struct Borrowed: ~Copyable {
    let message: Message
  }

  private let start: UnsafePointer<Borrowed>

  package init(_ start: UnsafePointer<Message>) {
    unsafe self.start = UnsafeRawPointer(start).assumingMemoryBound(to: Borrowed.self)
  }

  @inline(__always)
  package func withMessage(_ index: Int, _ body: (borrowing Message) -> Void) {
    unsafe Self.borrow(start[index], body)
  }

  @inline(__always)
  private static func borrow(_ borrowed: borrowing Borrowed, _ body: (borrowing Message) -> Void) {
    body(borrowed.message)
  }

  @inline(__always)
  func prefetch(_ index: Int) {
    for offset in stride(from: 0, to: MemoryLayout<Message>.stride, by: 64) {
      unsafe pk_prefetch(UnsafeRawPointer(start + index) + offset)
    }
  }

  @inline(__always)
  func ids(_ index: Int) -> (conversation: Identifier, sender: Identifier?) {
    unsafe (start[index].message.conversation, start[index].message.sender)
  }

  /// Milliseconds since the epoch.
  @inline(__always)
  func instant(_ index: Int) -> Int64 { unsafe start[index].message.at.milliseconds }

  @inline(__always)
  func mentions(_ index: Int) -> [Identifier]? { unsafe start[index].message.mentions }
}

/// Looks up several messages at a time, so that cache misses overlap.
struct MessageLookups {
  /// Messages at a time.
  static let count = 32

  private var hashes = InlineArray<64, UInt32>(repeating: 0)
  /// By message; ``IDTable/unknown`` for none.
  private(set) var conversations = InlineArray<32, UInt32>(repeating: IDTable.unknown)
  private(set) var senders = InlineArray<32, UInt32>(repeating: IDTable.unknown)

  /// - Precondition: at most ``count`` messages.
  mutating func find(
    _ messages: borrowing MessageList, _ indices: Range<Int>, _ version: EngineVersion,
    _ cache: ConversationCache
  ) {
    let lookup = MessageLookup(version)
    let (first, count) = (indices.lowerBound, indices.count)
    for index in 0..<count {
      let (conversation, sender) = messages.ids(first + index)
      let (room, user) = lookup.hashes(conversation, sender)
      hashes[index] = room
      hashes[Self.count + index] = user
      lookup.prefetchSlots(of: messages.mentions(first + index))
      messages.prefetch(first + index)
    }
    for index in 0..<count {
      lookup.prefetchIDs(hashes[index], hashes[Self.count + index], version.tables, cache)
      lookup.prefetchIDs(of: messages.mentions(first + index))
    }
    for index in 0..<count {
      let (conversation, sender) = messages.ids(first + index)
      conversations[index] = lookup.conversation(conversation, hashes[index])
      senders[index] = lookup.sender(sender, hashes[Self.count + index])
    }
    for index in 0..<count {
      lookup.prefetchEntry(
        conversations[index], senders[index], at: messages.instant(first + index), version.tables,
        cache)
    }
    cache.prefetchKeys(count) {
      (conversations[$0], version.tables.position(of: senders[$0]))
    }
  }
}

/// Looks up a message's ids in steps that prefetch for the next.
struct MessageLookup {
  private let rooms: IDLookup
  private let users: IDLookup

  @inline(__always)
  init(_ version: EngineVersion) {
    rooms = version.tables.conversationIDs.lookup
    users = version.tables.userIDs.lookup
  }

  @inline(__always)
  func hashes(_ conversation: Identifier, _ sender: Identifier?) -> (room: UInt32, user: UInt32) {
    let room = rooms.hash(conversation)
    rooms.slots.prefetch(room)
    guard let sender else { return (room, 0) }
    let user = users.hash(sender)
    users.slots.prefetch(user)
    return (room, user)
  }

  @inline(__always)
  func prefetchIDs(
    _ room: UInt32, _ user: UInt32, _ tables: Tables, _ cache: ConversationCache
  ) {
    if let conversation = rooms.prefetch(room) {
      tables.conversations.prefetchAmongMany(Int(conversation))
      cache.prefetchSlot(conversation)
    }
    users.prefetch(user)
    // Tables of names and users have the same seed.
    if !tables.nameLists.isEmpty, let name = tables.names.lookup.prefetch(user) {
      tables.nameLists.prefetchHolders(of: name)
    }
  }

  private static let mentionCount = 4

  /// First step for mentioned users: prefetches their slots.
  @inline(__always)
  func prefetchSlots(of mentions: [Identifier]?) {
    guard let mentions else { return }
    for id in mentions.prefix(Self.mentionCount) { users.slots.prefetch(users.hash(id)) }
  }

  /// Second step: prefetches ids, once the slots have arrived.
  @inline(__always)
  func prefetchIDs(of mentions: [Identifier]?) {
    guard let mentions else { return }
    for id in mentions.prefix(Self.mentionCount) { users.prefetch(users.hash(id)) }
  }

  /// ``IDTable/unknown`` for an id that never appeared.
  @inline(__always)
  func conversation(_ id: Identifier, _ hash: UInt32) -> UInt32 {
    rooms.index(of: id, hash: hash) ?? IDTable.unknown
  }

  /// ``IDTable/unknown`` for none.
  @inline(__always)
  func sender(_ id: Identifier?, _ hash: UInt32) -> UInt32 {
    guard let id else { return IDTable.unknown }
    return users.index(of: id, hash: hash) ?? IDTable.unknown
  }

  /// Prefetches a cache entry, members near the sender, and later starts of memberships.
  @inline(__always)
  func prefetchEntry(
    _ conversation: UInt32, _ sender: UInt32, at now: Int64, _ tables: Tables,
    _ cache: ConversationCache
  ) {
    if conversation == IDTable.unknown { return }
    let row = tables.conversations[Int(conversation)]
    if row.count == 0 { return }
    let isFromTables = row.count <= cache.readFromTablesLimit
    if !isFromTables {
      cache.prefetchEntry(conversation)
    } else if row.hasStart(after: now) {
      for index in stride(from: row.overrides.lowerBound, to: row.overrides.upperBound, by: 5) {
        tables.overrides.prefetch(index)
      }
      for slot in stride(from: row.range.lowerBound, to: row.range.upperBound, by: 64) {
        tables.packedMembers.prefetch(slot)
      }
    }
    if row.count <= 64 || isFromTables {
      for slot in stride(from: Int(row.start), to: Int(row.start + row.count), by: 16) {
        tables.memberUsers.prefetch(slot)
        if isFromTables { tables.memberKeys.prefetch(slot) }
      }
    } else {
      // Members are mostly spread at random: of 4,096, one in three is more than 32 ranks away.
      let rank = Int(Double(row.count) * tables.position(of: sender))
      for near in stride(from: max(rank - 32, 0), to: min(rank + 33, Int(row.count)), by: 16) {
        tables.memberUsers.prefetch(Int(row.start) + near)
      }
    }
  }
}
