/// The records of members in the order of first appearance, found by conversation and user.
///
/// - Memory: 24 to 36 bytes a record.
struct Memberships {
  struct Record: BitwiseCopyable {
    let conversation: UInt32
    let user: UInt32
    /// What it says, by ``RecordTexts``.
    var text: UInt32
  }

  private(set) var records: [Record] = []
  /// Open addressing with linear probing: the hash above, a record's index plus one below; 0 is
  /// empty. A probe that meets another record reads nothing but its hash.
  private var slots: [UInt64] = Array(repeating: 0, count: 1024)

  /// Adds a record, or replaces what the one of the same conversation and user says.
  ///
  /// - Returns: whether it was added.
  mutating func set(_ record: Record) -> Bool {
    let hash = Self.hash(record.conversation, record.user)
    let slot = find(record.conversation, record.user, hash)
    if slots[slot] > 0 {
      records[Self.index(slots[slot])].text = record.text
      return false
    }
    records.append(record)
    slots[slot] = UInt64(hash) << 32 | UInt64(records.count)
    if records.count * 3 > slots.count * 2 { grow() }
    return true
  }

  func contains(_ conversation: UInt32, _ user: UInt32) -> Bool {
    index(conversation, user) != nil
  }

  /// Where a record stands that is looked for; nil for none.
  func index(_ conversation: UInt32, _ user: UInt32) -> Int? {
    let slot = slots[find(conversation, user, Self.hash(conversation, user))]
    return slot == 0 ? nil : Self.index(slot)
  }

  private static func index(_ slot: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: slot)) - 1 }

  private func find(_ conversation: UInt32, _ user: UInt32, _ hash: UInt32) -> Int {
    let mask = slots.count - 1
    var position = Int(hash) & mask
    while slots[position] > 0 {
      if UInt32(truncatingIfNeeded: slots[position] >> 32) == hash {
        let record = records[Self.index(slots[position])]
        if record.conversation == conversation, record.user == user { break }
      }
      position = (position + 1) & mask
    }
    return position
  }

  private static func hash(_ conversation: UInt32, _ user: UInt32) -> UInt32 {
    let product = (UInt64(conversation) << 32 | UInt64(user)).multipliedFullWidth(
      by: 0x9E37_79B9_7F4A_7C15)
    return UInt32(truncatingIfNeeded: product.high ^ product.low)
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 2)
    let mask = slots.count - 1
    for slot in old where slot > 0 {
      var position = Int(slot >> 32) & mask
      while slots[position] > 0 { position = (position + 1) & mask }
      slots[position] = slot
    }
  }
}
