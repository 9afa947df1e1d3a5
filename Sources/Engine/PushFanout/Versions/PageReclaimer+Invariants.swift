internal import PushSupport
internal import Synchronization

extension PageReclaimer {
  /// Stops the process unless versions ascend and no page is newer than its retirement.
  ///
  /// - Complexity: O(versions + retired pages) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ scope: InvariantScope) {
    state.withLock { state in
      let entries = state.entries
      precondition(
        state.last == nil || !entries.isEmpty, "PageReclaimer: closed, but the tables are not freed"
      )
      for index in scope.indices(below: entries.count) {
        let entry = entries[index]
        precondition(
          index == 0 || entries[index - 1].generation < entry.generation,
          "PageReclaimer: version \(entry.generation) follows one that is not older")
        // The next update may retire pages that it made itself.
        guard index + 1 < entries.count else { continue }
        let next = entries[index + 1].generation
        for page in scope.indices(below: entry.retired.count) {
          let made = PageStore.generation(of: entry.retired[page])
          precondition(
            made <= next,
            "PageReclaimer: version \(entry.generation) keeps a page of update \(made)")
        }
      }
      if case .all = scope {
        let pages = entries.flatMap(\.retired)
        precondition(Set(pages).count == pages.count, "PageReclaimer: a page is retired twice")
      }
    }
  }
}
