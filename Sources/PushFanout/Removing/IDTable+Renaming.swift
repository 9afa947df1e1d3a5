internal import PushModel

extension IDTable {
  /// Gives an index another id. Earlier versions keep the one before; this one finds it no more,
  /// and a snapshot has only records of ids that are found.
  ///
  /// - Precondition: the id is not in the table.
  /// - Complexity: O(ids), as all slots are rebuilt: shared ones are never changed.
  mutating func rename(_ index: UInt32, to id: Identifier, _ store: PageStore) {
    precondition(self.index(of: id) == nil, "an id that is in the table")
    let address = unsafe id.withUTF8 { unsafe add(record: $0, index) }
    addresses.set(Int(index), base.distance(to: address), store)
    let (slots, base) = (slots, base)
    self.slots.rebuild(addresses, base, store) { unsafe slots.hash(base.characters(at: $0)) }
    folded?.rebuild(addresses, base, store) {
      unsafe Self.foldedHash(base.characters(at: $0), of: slots)
    }
  }
}
