internal import PushModel

/// Looks up the ids of several messages at a time, so that their cache misses overlap.
///
/// What is found is kept for deciding them; the rest of what deciding reads first is prefetched.
struct MessageLookups {
  /// How many messages are looked up at a time.
  static let count = 32

  private var hashes = InlineArray<64, UInt32>(repeating: 0)
  /// For each message, its conversation and its sender; ``Decider/unknown`` for none.
  private(set) var conversations = InlineArray<32, UInt32>(repeating: Decider.unknown)
  private(set) var senders = InlineArray<32, UInt32>(repeating: Decider.unknown)

  /// Looks up messages.
  ///
  /// - Precondition: at most ``count``.
  mutating func find(
    _ messages: borrowing Span<Message>, _ indices: Range<Int>, _ version: EngineVersion,
    _ cache: ConversationCache
  ) {
    let lookup = MessageLookup(version)
    let (first, count) = (indices.lowerBound, indices.count)
    for index in 0..<count {
      let (room, user) = lookup.hashes(messages[first + index])
      hashes[index] = room
      hashes[Self.count + index] = user
    }
    for index in 0..<count {
      lookup.prefetchRecords(
        messages[first + index], hashes[index], hashes[Self.count + index])
    }
    for index in 0..<count {
      conversations[index] = lookup.conversation(messages[first + index], hashes[index], cache)
      senders[index] = lookup.sender(messages[first + index], hashes[Self.count + index])
    }
    for index in 0..<count { lookup.prefetchEntry(conversations[index], senders[index], cache) }
    cache.prefetchWords(count) {
      (conversations[$0], lookup.position(of: senders[$0]))
    }
  }
}

/// Looks up the ids of one message in steps, each of which prefetches what the next one reads.
struct MessageLookup {
  private let rooms: IDLookup
  private let users: IDLookup
  private let version: EngineVersion

  @inline(__always)
  init(_ version: EngineVersion) {
    rooms = version.tables.conversationIDs.lookup
    users = version.tables.userIDs.lookup
    self.version = version
  }

  /// The hashes of the ids of the conversation and the sender.
  @inline(__always)
  func hashes(_ message: borrowing Message) -> (room: UInt32, user: UInt32) {
    let room = rooms.slots.hash(message.conversation)
    rooms.slots.prefetchSlot(room)
    guard let sender = message.sender else { return (room, 0) }
    let user = users.slots.hash(sender)
    users.slots.prefetchSlot(user)
    return (room, user)
  }

  @inline(__always)
  func prefetchRecords(_ message: borrowing Message, _ room: UInt32, _ user: UInt32) {
    rooms.slots.prefetchRecord(room, rooms.base)
    if message.sender != nil { users.slots.prefetchRecord(user, users.base) }
  }

  /// The index of the conversation; ``Decider/unknown`` for an id that never appeared.
  @inline(__always)
  func conversation(
    _ message: borrowing Message, _ hash: UInt32, _ cache: ConversationCache
  ) -> UInt32 {
    guard let conversation = rooms.index(of: message.conversation, hash: hash) else {
      return Decider.unknown
    }
    version.tables.conversations.prefetch(Int(conversation))
    cache.prefetchSlot(conversation)
    return conversation
  }

  /// The index of the sender; ``Decider/unknown`` for none.
  @inline(__always)
  func sender(_ message: borrowing Message, _ hash: UInt32) -> UInt32 {
    guard let sender = message.sender else { return Decider.unknown }
    return users.index(of: sender, hash: hash) ?? Decider.unknown
  }

  /// Prefetches a conversation's entry in the cache, and its members where the sender is looked
  /// for.
  @inline(__always)
  func prefetchEntry(_ conversation: UInt32, _ sender: UInt32, _ cache: ConversationCache) {
    if conversation == Decider.unknown { return }
    let row = version.tables.conversations[Int(conversation)]
    if row.count == 0 { return }
    let isOfTables = row.count <= cache.tableSize && version.tables.hasWords
    if !isOfTables { cache.prefetchEntry(conversation) }
    if row.count <= 64 || isOfTables {
      for slot in stride(from: Int(row.start), to: Int(row.start + row.count), by: 16) {
        version.tables.memberUsers.prefetch(slot)
        if isOfTables { version.tables.memberWords.prefetch(slot) }
      }
    } else {
      let rank = Int(Double(row.count) * position(of: sender))
      version.tables.memberUsers.prefetch(Int(row.start) + rank)
    }
  }

  /// About where a user stands among the members of a conversation, from 0 to 1.
  @inline(__always)
  func position(of user: UInt32) -> Double {
    min(Double(user) / Double(max(users.count, 1)), 1).nextDown.magnitude
  }
}

/// What finding an id needs of a table, without references.
struct IDLookup {
  let slots: IDSlots
  let base: IDBase
  let count: Int

  @inline(__always)
  func index(of id: Identifier, hash: UInt32) -> UInt32? {
    slots.index(of: id, hash: hash, below: count, base)
  }
}

extension IDTable {
  var lookup: IDLookup { IDLookup(slots: slots, base: base, count: count) }
}
