extension PagedMap {
  /// Stops the process unless keys are found and counted.
  ///
  /// - Parameter findsKeys: false for untrusted slots of a snapshot.
  /// - Complexity: O(slots) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ scope: InvariantScope, generation: UInt64, findsKeys: Bool) {
    precondition(
      Self.isPossible(count, slots: slots.count), "PagedMap: \(count) keys, \(slots.count) slots")
    slots.checkInvariants(scope, generation: generation)
    var used = 0
    for index in scope.indices(below: slots.count) where slots[index].key != 0 {
      used += 1
      precondition(
        !findsKeys || slotIndex(of: slots[index].key - 1) == index,
        "PagedMap: the key in slot \(index) is not found")
    }
    if case .all = scope {
      precondition(used == count, "PagedMap: \(used) slots in use, \(count) keys counted")
    }
  }
}
