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
    _ count: Int, _ version: EngineVersion, _ cache: ConversationCache,
    _ message: (Int) -> UnsafePointer<Message>
  ) {
    let (users, rooms) = (version.tables.userIDs.lookup, version.tables.conversationIDs.lookup)
    for index in 0..<count {
      let message = unsafe message(index)
      let room = unsafe rooms.slots.hash(message.pointee.conversation)
      rooms.slots.prefetchSlot(room)
      hashes[index] = room
      if let sender = unsafe message.pointee.sender {
        let user = users.slots.hash(sender)
        users.slots.prefetchSlot(user)
        hashes[Self.count + index] = user
      }
    }
    for index in 0..<count {
      rooms.slots.prefetchRecord(hashes[index], rooms.base)
      if unsafe message(index).pointee.sender != nil {
        users.slots.prefetchRecord(hashes[Self.count + index], users.base)
      }
    }
    for index in 0..<count {
      let message = unsafe message(index)
      let conversation = unsafe rooms.index(of: message.pointee.conversation) ?? Decider.unknown
      conversations[index] = conversation
      senders[index] = unsafe message.pointee.sender.flatMap { users.index(of: $0) }
        ?? Decider.unknown
      if conversation == Decider.unknown { continue }
      version.tables.conversations.prefetch(Int(conversation))
      cache.prefetchSlot(conversation)
    }
    for index in 0..<count where conversations[index] != Decider.unknown {
      cache.prefetchEntry(conversations[index])
      let row = version.tables.conversations[Int(conversations[index])]
      for slot in stride(from: Int(row.start), to: Int(row.start) + min(Int(row.count), 64), by: 16)
      {
        version.tables.memberUsers.prefetch(slot)
      }
    }
  }
}

/// What finding an id needs of a table, without references.
struct IDLookup {
  let slots: IDSlots
  let base: IDBase
  let count: Int

  @inline(__always)
  func index(of id: Identifier) -> UInt32? { slots.index(of: id, below: count, base) }
}

extension IDTable {
  var lookup: IDLookup { IDLookup(slots: slots, base: base, count: count) }
}
