import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Goal: a table of ids is a dictionary from ids to the order in which they came, in every version
/// of it, also by lower case (E-47).
@Suite struct IDTableTests {
  /// Ids of which many have the same lower case, of 1 to 300 characters, short and not.
  private static func id(_ random: inout SeededGenerator) -> Identifier {
    let words = [
      "u", "U", "\u{3A3}", "\u{3C3}", "\u{3C2}", "\u{130}", "i\u{307}", "\u{39F}\u{3A3}",
      "\u{3BF}\u{3C2}", "\u{DF}", "\u{1E9E}", "e\u{301}", "\u{E9}", "\u{C9}", "-", "\u{1F600}",
    ]
    let length = random.pick([1, 1, 2, 2, 3, 7, 8, 12, 15, 16, 40, 300])
    var text = random.chance(50) ? random.pick(words) : "\(random.next() % 50)"
    while text.utf8.count < length {
      text += length < 40 ? random.pick(words) : random.pick(["x", "X"])
    }
    return Identifier(text)
  }

  /// What a version of a table must answer.
  struct Model {
    var ids: [Identifier] = []
    var indices: [Identifier: UInt32] = [:]

    mutating func insert(_ id: Identifier) -> UInt32 {
      if let index = indices[id] { return index }
      indices[id] = UInt32(ids.count)
      ids.append(id)
      return UInt32(ids.count - 1)
    }

    mutating func rename(_ index: Int, to id: Identifier) {
      indices[ids[index]] = nil
      indices[id] = UInt32(index)
      ids[index] = id
    }

    func difference(_ table: IDTable, _ probes: [Identifier], folds: Bool) -> String? {
      if table.count != ids.count { return "\(table.count) instead of \(ids.count)" }
      let found = ids.indices.map { table[UInt32($0)] }
      if let index = firstDifference(found, ids) { return "ids " + index }
      let indices = (ids + probes).map { table.index(of: $0) }
      if let index = firstDifference(indices, (ids + probes).map { self.indices[$0] }) {
        return "indices " + index
      }
      guard folds else { return nil }
      var byLower: [Identifier: [UInt32]] = [:]
      for (index, id) in ids.enumerated() {
        byLower[id.lowercased(), default: []].append(UInt32(index))
      }
      let lowered = (ids.suffix(200) + probes).map { $0.lowercased() }
      let folded = lowered.map { id in
        var indices: [UInt32] = []
        table.lookup.forEachIndex(loweredTo: id) { indices.append($0) }
        return indices.sorted()
      }
      return firstDifference(folded, lowered.map { byLower[$0] ?? [] }).map { "lower case " + $0 }
    }
  }

  @Test(.tags(.slow), .unlessFast, arguments: [true, false])
  func aTableIsADictionary(folds: Bool) {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let store = PageStore()
      var table = IDTable(folds: folds)
      var model = Model()
      var versions: [(IDTable, Model)] = []
      var retired: [UInt] = []
      if random.chance(50) { table.reserve(100, store) }
      for round in 0..<25 {
        let before = (table, model)
        for _ in 0..<random.pick([1, 5, 80]) {
          let id = Self.id(&random)
          #expect(table.insert(id, store) == model.insert(id), "seed \(seed)")
        }
        if random.chance(20) {
          let (index, id) = (Int.random(in: 0..<table.count, using: &random), Self.id(&random))
          if table.index(of: id) == nil {
            table.rename(UInt32(index), to: id, store)
            model.rename(index, to: id)
          }
        }
        if random.chance(40) {
          table.rollBack(to: before.0)
          store.rollBack()
          (table, model) = before
        } else {
          retired += store.commit()
        }
        versions.append((table, model))
        let probes = (0..<40).map { _ in Self.id(&random) }
        for (table, model) in [versions[0], versions[round / 2], (table, model)] {
          let difference = model.difference(table, probes, folds: folds)
          #expect(difference == nil, "seed \(seed), round \(round)")
        }
      }
      let (bytes, characters) = table.byteCounts
      #expect(bytes >= table.count * 16)
      #expect(characters > 0)
      for page in retired { PageStore.free(page) }
      table.free()
    }
  }

  /// Slots that an update which failed had filled are free again, however many such updates there
  /// are.
  @Test(arguments: [1, 100]) func failedInsertionsLeaveNoSlots(count: Int) {
    let store = PageStore()
    var table = IDTable(folds: true)
    for number in 0..<30 { _ = table.insert(Identifier("A\(number)"), store) }
    for page in store.commit() { PageStore.free(page) }
    for number in 0..<500 {
      let before = table
      for stray in 0..<count {
        _ = table.insert(Identifier("stray\(number).\(stray)"), store)
        _ = table.insert(Identifier("STRAY\(number).\(stray)"), store)
      }
      table.rollBack(to: before)
      store.rollBack()
      table = before
      let used = (0..<table.slots.capacity).count { table.slots.load($0) != 0 }
      #expect(used == 30)
      if used != 30 { return }
    }
    #expect(table.count == 30)
    #expect(table.index(of: "stray3.0") == nil)
    #expect(table.index(of: "A29") == 29)
    var found: [UInt32] = []
    table.lookup.forEachIndex(loweredTo: "stray7.0") { found.append($0) }
    table.lookup.forEachIndex(loweredTo: "a7") { found.append($0) }
    #expect(found == [7])
    table.free()
  }

  @Test func emptyIDsHaveAPlaceToo() {
    let store = PageStore()
    var table = IDTable(folds: false)
    #expect(table.index(of: "") == nil)
    #expect(table.insert("", store) == 0)
    #expect(table.insert("a", store) == 1)
    #expect(table.index(of: "") == 0)
    #expect(table[0] == "")
    for page in store.commit() { PageStore.free(page) }
    table.free()
  }
}
