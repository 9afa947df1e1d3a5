/// A map between integers, by linear probing; versions share unchanged pages.
///
/// - Memory: 16 bytes per slot; at least a third were in use at the map's largest.
struct PagedMap {
  struct Slot: BitwiseCopyable {
    /// The key plus 1; 0 if empty.
    var key: UInt64 = 0
    var value: Int64 = 0
  }

  var slots = PagedTable<Slot>()
  private(set) var count = 0

  init() {}

  /// - Precondition: ``isPossible(_:slots:)`` holds, with `count` slots in use.
  init(_ slots: PagedTable<Slot>, count: Int) {
    self.slots = slots
    self.count = count
  }

  /// Whether the counts are possible. Look-ups rely on an empty slot.
  static func isPossible(_ count: Int, slots: Int) -> Bool {
    slots == 0 ? count == 0 : slots & (slots - 1) == 0 && count * 8 <= slots * 5
  }

  var byteCount: Int { slots.byteCount }

  /// - Complexity: O(1) on average.
  subscript(key: UInt64) -> Int64? {
    guard slots.count > 0 else { return nil }
    let slot = slots[slotIndex(of: key)]
    return slot.key == 0 ? nil : slot.value
  }

  func prefetch(_ key: UInt64) {
    guard slots.count > 0 else { return }
    slots.prefetchAmongMany(Int(truncatingIfNeeded: Self.mix(key)) & (slots.count - 1))
  }

  mutating func set(_ key: UInt64, _ value: Int64, _ store: PageStore) {
    if (count + 1) * 8 > slots.count * 5 { grow(store) }
    let index = slotIndex(of: key)
    let slot = slots[index]
    if slot.key != 0, slot.value == value { return }
    if slot.key == 0 { count += 1 }
    slots.set(index, Slot(key: key + 1, value: value), store)
  }

  /// - Complexity: O(1) on average.
  mutating func remove(_ key: UInt64, _ store: PageStore) {
    guard slots.count > 0 else { return }
    let mask = slots.count - 1
    var hole = slotIndex(of: key)
    guard slots[hole].key != 0 else { return }
    // Later keys move up, but not before their search begins.
    var index = (hole + 1) & mask
    while slots[index].key != 0 {
      let first = Int(truncatingIfNeeded: Self.mix(slots[index].key - 1)) & mask
      if (index - first) & mask >= (index - hole) & mask {
        slots.set(hole, slots[index], store)
        hole = index
      }
      index = (index + 1) & mask
    }
    slots.set(hole, Slot(), store)
    count -= 1
  }

  mutating func removeAll(_ store: PageStore) {
    slots.removeAll(store)
    count = 0
  }

  func free(except mapped: Range<UInt> = 0..<0, madeAfter shared: UInt64 = PageStore.mapped) {
    slots.free(except: mapped, madeAfter: shared)
  }

  func slotIndex(of key: UInt64) -> Int {
    let mask = slots.count - 1
    var index = Int(truncatingIfNeeded: Self.mix(key)) & mask
    while true {
      let found = slots[index].key
      if found == 0 || found == key + 1 { return index }
      index = (index + 1) & mask
    }
  }

  private mutating func grow(_ store: PageStore) {
    var old = slots
    slots = PagedTable()
    slots.grow(to: max(256, old.count * 2), repeating: Slot(), store)
    for index in 0..<old.count {
      let slot = old[index]
      if slot.key != 0 { slots.set(slotIndex(of: slot.key - 1), slot, store) }
    }
    old.removeAll(store)
  }

  private static func mix(_ key: UInt64) -> UInt64 {
    let product = (key ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
  }
}
