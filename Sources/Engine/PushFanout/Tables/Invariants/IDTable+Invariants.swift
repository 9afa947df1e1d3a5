extension IDTable {
  /// Stops the process unless ids are found; for untrusted mapped slots only counts are checked.
  ///
  /// - Complexity: O(ids) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ scope: InvariantScope, generation: UInt64) {
    entries.checkInvariants(scope, generation: generation)
    precondition(slots.used == count, "IDTable: \(slots.used) slots in use, \(count) ids")
    precondition(
      IDSlots.isPossible(slots.used, capacity: slots.capacity),
      "IDTable: \(slots.used) of \(slots.capacity) slots in use")
    precondition(
      (folded?.used ?? 0) <= count, "IDTable: more folded ids than ids")
    if mapping != nil { return }
    for index in scope.indices(below: count).lazy.map({ UInt32($0) }) {
      let id = unsafe characters(index)
      let found = unsafe self.index(of: id, hash: hash(id))
      precondition(
        found == index,
        "IDTable: id \(index) is found at \(found.map(String.init) ?? "no index")")
    }
  }
}
