internal import Algorithms
internal import PushSupport
internal import Synchronization

/// The live versions and the retired pages that only they read.
///
/// When a version ends, the preceding live one inherits the retired pages that it reads; the others
/// are freed. So a version held for long keeps only pages that it reads.
final class PageReclaimer: Sendable {
  struct Entry {
    let generation: UInt64
    /// Pages that no later version reads.
    var retired: [UInt] = []
    var isGone = false
  }

  struct State {
    var entries: [Entry] = []
    var goneCount = 0
    /// The last version's tables, after ``close(_:_:)``.
    var last: Last?
  }

  // SAFETY: the writer hands them over and no longer uses them.
  struct Last: @unchecked Sendable {
    let tables: Tables
    let log: SettingsLog
  }

  let state = Lock(State())

  /// - Parameter retired: pages that only preceding versions read.
  func begin(_ generation: UInt64, retired: [UInt]) {
    state.withLock { state in
      if !state.entries.isEmpty {
        state.entries[state.entries.count - 1].retired += retired
      }
      state.entries.append(Entry(generation: generation))
      // A sweep visits all versions, so it waits until a quarter have ended.
      if state.goneCount * 4 >= state.entries.count { Self.sweep(&state) }
    }
  }

  /// Ends a version without readers. A later ``begin(_:retired:)`` frees its pages, not the thread
  /// of the last reader.
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

  /// Announces that no version follows; the tables are freed with the last one.
  func close(_ tables: Tables, _ log: SettingsLog) {
    let last = Last(tables: tables, log: log)
    state.withLock { state in
      state.last = last
      Self.sweep(&state)
    }
  }

  var sizes: (versions: Int, pages: Int) {
    state.withLock { state in
      (state.entries.count, state.entries.reduce(0) { $0 + $1.retired.count })
    }
  }

  private static func sweep(_ state: inout State) {
    if state.goneCount == 0 { return }
    state.goneCount = 0
    // Newest first: pages pass back as far as they are read.
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
