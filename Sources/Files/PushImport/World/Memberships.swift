/// The records of members in the order of first appearance, found by conversation and user.
///
/// - Memory: 18 to 23 bytes a record.
struct Memberships {
  struct Record: BitwiseCopyable {
    let conversation: UInt32
    let user: UInt32
    /// What it says, by ``RecordTexts``.
    var text: UInt32
  }

  private(set) var records: [Record] = []
  /// Open addressing with linear probing: a record's index plus one; 0 is empty.
  private var slots: [UInt32] = Array(repeating: 0, count: 1024)

  /// Adds a record, or replaces what the one of the same conversation and user says.
  ///
  /// - Returns: whether it was added.
  mutating func set(_ record: Record) -> Bool {
    let slot = find(record.conversation, record.user)
    if slots[slot] > 0 {
      records[Int(slots[slot]) - 1].text = record.text
      return false
    }
    records.append(record)
    slots[slot] = UInt32(records.count)
    if records.count * 3 > slots.count * 2 { grow() }
    return true
  }

  func contains(_ conversation: UInt32, _ user: UInt32) -> Bool {
    slots[find(conversation, user)] > 0
  }

  /// Where a record stands that is looked for; nil for none.
  func index(_ conversation: UInt32, _ user: UInt32) -> Int? {
    let slot = slots[find(conversation, user)]
    return slot == 0 ? nil : Int(slot) - 1
  }

  private func find(_ conversation: UInt32, _ user: UInt32) -> Int {
    let mask = slots.count - 1
    var slot = Self.hash(conversation, user) & mask
    while slots[slot] > 0 {
      let record = records[Int(slots[slot]) - 1]
      if record.conversation == conversation, record.user == user { break }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private static func hash(_ conversation: UInt32, _ user: UInt32) -> Int {
    let product = (UInt64(conversation) << 32 | UInt64(user)).multipliedFullWidth(
      by: 0x9E37_79B9_7F4A_7C15)
    return Int(truncatingIfNeeded: product.high ^ product.low)
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 2)
    for index in old where index > 0 {
      let record = records[Int(index) - 1]
      slots[find(record.conversation, record.user)] = index
    }
  }
}
