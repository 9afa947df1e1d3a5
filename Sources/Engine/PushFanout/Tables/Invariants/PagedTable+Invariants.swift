extension PagedTable {
  /// Stops the process unless nodes and pages exist, made by updates up to `generation`.
  ///
  /// - Complexity: O(pages) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ scope: InvariantScope, generation: UInt64) {
    guard let root = unsafe root else {
      precondition(count == 0 && nodeCapacity == 0, "PagedTable: \(count) elements, no root")
      return
    }
    precondition(
      nodeCount <= nodeCapacity, "PagedTable: \(nodeCount) nodes, room for \(nodeCapacity)")
    Self.check(UInt(bitPattern: root), generation)
    for page in scope.indices(below: pageCount) {
      let node = unsafe root[page >> 7]
      Self.check(UInt(bitPattern: node), generation)
      Self.check(unsafe UInt(bitPattern: node[page & 127]), generation)
    }
  }

  private static func check(_ page: UInt, _ generation: UInt64) {
    let made = PageStore.generation(of: page)
    precondition(
      made <= generation, "PagedTable: a page of update \(made) in a version of \(generation)")
  }
}
