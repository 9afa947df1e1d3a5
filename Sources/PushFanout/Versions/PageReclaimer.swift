internal import Synchronization

/// Which versions somebody still reads, and the pages that only they need.
///
/// A page that an update has replaced is needed by the versions from the one that made it to the one
/// before the update. When a version is gone, its pages that the version before it, of those still
/// there, does not need are freed, and that one gets the rest. So a version that is held for long
/// keeps what it reads itself, and not what came and went since.
final class PageReclaimer: Sendable {
  struct Entry {
    let generation: UInt64
    /// Addresses of pages that no later version reads.
    var retired: [UInt] = []
    var isGone = false
  }

  struct State {
    var entries: [Entry] = []
    var hasGone = false
    /// The tables of the last version, once no other can follow.
    var last: Last?
  }

  // SAFETY: handed over by the writer, which is no more.
  struct Last: @unchecked Sendable {
    let tables: Tables
    let userClasses: UserClasses
  }

  let state = Mutex(State())

  /// Begins a version.
  ///
  /// - Parameter retired: pages of the version before, which this one does without.
  func begin(_ generation: UInt64, retired: [UInt]) {
    state.withLock { state in
      if !state.entries.isEmpty {
        state.entries[state.entries.count - 1].retired += retired
      }
      state.entries.append(Entry(generation: generation))
      if state.hasGone { Self.sweep(&state) }
    }
  }

  /// Ends a version: nobody reads it any more. What that frees is freed by the next that begins, so
  /// not by whoever was the last reader.
  func end(_ generation: UInt64) {
    state.withLock { state in
      guard let index = state.entries.lastIndex(where: { $0.generation == generation }) else {
        return
      }
      state.entries[index].isGone = true
      state.hasGone = true
      if state.last != nil { Self.sweep(&state) }
    }
  }

  /// Says that no version will follow.
  func close(_ tables: Tables, _ userClasses: UserClasses) {
    let last = Last(tables: tables, userClasses: userClasses)
    state.withLock { state in
      state.last = last
      Self.sweep(&state)
    }
  }

  /// How many versions somebody may read, and how many pages are kept for them alone.
  var sizes: (versions: Int, pages: Int) {
    state.withLock { state in
      (state.entries.count, state.entries.reduce(0) { $0 + $1.retired.count })
    }
  }

  private static func sweep(_ state: inout State) {
    state.hasGone = false
    // From the newest, so that pages go back from version to version as far as they are needed.
    for index in state.entries.indices.reversed() where state.entries[index].isGone {
      let retired = state.entries[index].retired
      let before = index > 0 ? state.entries[index - 1].generation : 0
      for page in retired {
        if index > 0, PageStore.generation(of: page) <= before {
          state.entries[index - 1].retired.append(page)
        } else {
          PageStore.free(page)
        }
      }
    }
    state.entries.removeAll { $0.isGone }
    if state.entries.isEmpty, let last = state.last {
      last.tables.free()
      last.userClasses.free()
      state.last = nil
    }
  }
}
