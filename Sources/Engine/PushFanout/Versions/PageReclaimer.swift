internal import Algorithms
internal import PushSupport
internal import Synchronization

/// The versions in use, and the retired pages that only they read.
///
/// A page replaced by an update is read by the versions from the one that made it up to the one
/// before the update. When a version ends, those of its retired pages that the preceding live
/// version does not read are freed, and that version inherits the rest. A version held for long
/// therefore keeps only the pages that it reads, not those made and replaced since.
final class PageReclaimer: Sendable {
  struct Entry {
    let generation: UInt64
    /// The addresses of pages that no later version reads.
    var retired: [UInt] = []
    var isGone = false
  }

  struct State {
    var entries: [Entry] = []
    var goneCount = 0
    /// The tables of the last version, after ``close(_:_:)``.
    var last: Last?
  }

  // SAFETY: handed over by the writer, which no longer uses them.
  struct Last: @unchecked Sendable {
    let tables: Tables
    let log: SettingsLog
  }

  let state = Lock(State())

  /// Begins a version.
  ///
  /// - Parameter retired: pages of the preceding version that this one does not read.
  func begin(_ generation: UInt64, retired: [UInt]) {
    state.withLock { state in
      if !state.entries.isEmpty {
        state.entries[state.entries.count - 1].retired += retired
      }
      state.entries.append(Entry(generation: generation))
      // A sweep looks at all versions; so it waits until a quarter of them have ended.
      if state.goneCount * 4 >= state.entries.count { Self.sweep(&state) }
    }
  }

  /// Ends a version that has no readers left. Its pages are freed when one of the next versions
  /// begins, not on the thread of the last reader.
  func end(_ generation: UInt64) {
    state.withLock { state in
      let index = state.entries.partitioningIndex { $0.generation >= generation }
      guard index < state.entries.count, state.entries[index].generation == generation else {
        return
      }
      state.entries[index].isGone = true
      state.goneCount += 1
      if state.last != nil { Self.sweep(&state) }
    }
  }

  /// Declares that no version will follow; the tables are freed with the last version.
  func close(_ tables: Tables, _ log: SettingsLog) {
    let last = Last(tables: tables, log: log)
    state.withLock { state in
      state.last = last
      Self.sweep(&state)
    }
  }

  /// The number of live versions, and of retired pages kept for them.
  var sizes: (versions: Int, pages: Int) {
    state.withLock { state in
      (state.entries.count, state.entries.reduce(0) { $0 + $1.retired.count })
    }
  }

  private static func sweep(_ state: inout State) {
    if state.goneCount == 0 { return }
    state.goneCount = 0
    // Newest first, so that pages are passed back from version to version as far as they are read.
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
      last.log.free()
      state.last = nil
    }
  }
}
