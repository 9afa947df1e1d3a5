import TestSupport
import Testing

@testable import PushFanout

/// Goal: tables and maps in pages are arrays and dictionaries, and every version of them stays as it
/// was, until it is freed.
@Suite struct PagedTableTests {
  /// A version of a table, and what it holds.
  struct Version<Element: BitwiseCopyable & Equatable> {
    let table: PagedTable<Element>
    let array: [Element]

    var difference: String? {
      var ranks: [Element] = []
      table.forEachChunkElement(0..<table.count) { index, element in
        if index == ranks.count { ranks.append(element) }
      }
      return firstDifference(ranks, array)
        ?? firstDifference((0..<table.count).map { table[$0] }, array)
    }
  }

  @Test(arguments: [3, 400, 10_000])
  func aTableIsAnArray(size: Int) throws {
    for seed in seeds {
      try compare(seed, size, UInt8.self) { UInt8(truncatingIfNeeded: $0) }
      try compare(seed, size, UInt32.self) { UInt32(truncatingIfNeeded: $0) }
      try compare(seed, size, UInt64.self) { $0 }
      try compare(seed, size / 4, ConversationRow.self) {
        var row = ConversationRow()
        row.revision = UInt32(truncatingIfNeeded: $0)
        return row
      }
    }
  }

  private func compare<Element: BitwiseCopyable & Equatable>(
    _ seed: UInt64, _ size: Int, _ type: Element.Type, _ value: (UInt64) -> Element
  ) throws {
    var random = SeededGenerator(seed: seed)
    let store = PageStore()
    var table = PagedTable<Element>()
    var array: [Element] = []
    var versions: [Version<Element>] = []
    var retired: [UInt] = []
    for _ in 0..<15 {
      let before = Version(table: table, array: array)
      for _ in 0..<random.pick([0, 1, 30]) {
        change(&table, &array, size, store, &random, value)
      }
      let label = "seed \(seed), \(type), \(array.count)"
      if random.chance(30) {
        store.rollBack()
        (table, array) = (before.table, before.array)
        #expect(before.difference == nil, "\(label), taken back")
        continue
      }
      #expect(Version(table: table, array: array).difference == nil, "\(label)")
      retired += store.commit()
      if random.chance(30) { versions.append(Version(table: table, array: array)) }
      if let old = versions.randomElement(using: &random) {
        #expect(old.difference == nil, "\(label), an older version")
      }
    }
    let bytes = array.count * MemoryLayout<Element>.stride
    #expect(table.byteCount >= bytes)
    #expect(table.byteCount <= bytes * 2 + 8192)
    for page in retired { PageStore.free(page) }
    table.free()
  }

  private func change<Element: BitwiseCopyable & Equatable>(
    _ table: inout PagedTable<Element>, _ array: inout [Element], _ size: Int,
    _ store: PageStore, _ random: inout SeededGenerator, _ value: (UInt64) -> Element
  ) {
    let element = value(random.next())
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<2:
      table.removeAll(store)
      array.removeAll()
    case 2..<10:
      let count = array.count + Int.random(in: 0...size, using: &random)
      table.grow(to: count, repeating: element, store)
      array += [Element](repeating: element, count: count - array.count)
    case 10..<40:
      table.append(element, store)
      array.append(element)
    default:
      guard let index = array.indices.randomElement(using: &random) else { return }
      table.set(index, element, store)
      array[index] = element
    }
  }

  /// Each page is exactly as large as it says, and those of an update are its own.
  @Test func onePageOfAnUpdateIsCopiedOnce() {
    let store = PageStore()
    var table = PagedTable<UInt32>()
    table.grow(to: 100_000, repeating: 7, store)
    for page in store.commit() { PageStore.free(page) }
    let before = table
    table.set(5, 1, store)
    table.set(6, 2, store)
    let retired = store.commit()
    // A page, a node and the root.
    #expect(retired.count == 3)
    #expect(retired.allSatisfy { PageStore.generation(of: $0) == 1 })
    #expect([before[5], before[6], table[5], table[6], table[7]] == [7, 7, 1, 2, 7])
    for page in retired { PageStore.free(page) }
    table.free()
  }

  @Test(arguments: [10, 3000])
  func aMapIsADictionary(size: Int) {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let store = PageStore()
      var map = PagedMap()
      var dictionary: [UInt64: Int64] = [:]
      var versions: [(PagedMap, [UInt64: Int64])] = []
      var retired: [UInt] = []
      for round in 0..<20 {
        let before = (map, dictionary)
        for _ in 0..<random.pick([1, size / 2]) {
          // Neighbours, as keys of users are, and keys of conversations above.
          let key =
            random.chance(50) ? random.next() % UInt64(size) : (random.next() % 50) << 32 | 3
          if random.chance(35) {
            map.remove(key, store)
            dictionary[key] = nil
            continue
          }
          let value = Int64(truncatingIfNeeded: random.next() % 5)
          map.set(key, value, store)
          dictionary[key] = value
        }
        let label = "seed \(seed), round \(round)"
        if random.chance(30) {
          store.rollBack()
          (map, dictionary) = before
        } else {
          retired += store.commit()
        }
        versions.append((map, dictionary))
        for (map, dictionary) in [versions[0], versions[round / 2], (map, dictionary)] {
          let keys = Array(dictionary.keys).sorted()
          #expect(map.count == keys.count, "\(label)")
          let found = keys.map { map[$0] }
          #expect(firstDifference(found, keys.map { dictionary[$0] }) == nil, "\(label)")
          let slots = (0..<map.slots.count).count { map.slots[$0].key != 0 }
          #expect(slots == keys.count, "\(label)")
          #expect(map[UInt64(size) + 7] == dictionary[UInt64(size) + 7], "\(label)")
        }
      }
      for page in retired { PageStore.free(page) }
      map.free()
    }
  }
}

extension ConversationRow: Equatable {
  static func == (left: ConversationRow, right: ConversationRow) -> Bool {
    left.revision == right.revision && left.count == right.count && left.start == right.start
  }
}
