extension IDTable {
  /// Stops the process unless the ids examined record their own index and are found by it.
  ///
  /// Of a mapped table only the slots' counts and the recorded indices are checked: look-ups in an
  /// untrusted snapshot may miss.
  ///
  /// - Complexity: O(ids) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ scope: InvariantScope, generation: UInt64) {
    addresses.checkInvariants(scope, generation: generation)
    precondition(slots.used == count, "IDTable: \(slots.used) slots in use, \(count) ids")
    precondition(
      IDSlots.isPossible(slots.used, capacity: slots.capacity),
      "IDTable: \(slots.used) of \(slots.capacity) slots in use")
    precondition(
      (folded?.used ?? 0) <= count, "IDTable: more folded ids than ids")
    for index in scope.indices(below: count) {
      let address = base.address(at: UInt64(addresses[index]))
      precondition(
        IDArena.index(at: address) == UInt32(index),
        "IDTable: id \(index) records index \(IDArena.index(at: address))")
      precondition(
        unsafe mapping != nil || self.index(of: characters(UInt32(index))) == UInt32(index),
        "IDTable: id \(index) is not found")
    }
  }
}
