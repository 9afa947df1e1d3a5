internal import PushSupport

/// One version of everything a decision depends on. It never changes, so any thread may read it.
///
/// SAFETY: its pages are freed by ``History``, when no version that reads them is left.
final class World: @unchecked Sendable {
  let tables: Tables
  let moment: Moment
  /// Counts the updates of the settings; the passing of time is none.
  let version: UInt64
  /// The last generation of pages it may read.
  let generation: UInt64
  /// What keeps its pages; nil for one that reads the pages of ``base``.
  private let history: History?
  private let base: World?

  init(
    _ tables: Tables, _ moment: Moment, version: UInt64, generation: UInt64, _ history: History
  ) {
    self.tables = tables
    self.moment = moment
    self.version = version
    self.generation = generation
    self.history = history
    base = nil
  }

  /// The same settings at another moment, whose pages somebody else frees.
  init(_ base: World, _ moment: Moment) {
    tables = base.tables
    self.moment = moment
    version = base.version
    generation = base.generation
    history = nil
    self.base = base
  }

  deinit { history?.end(generation) }
}

/// Which versions somebody still reads, and the pages that only they need.
///
/// A page that an update has replaced is needed by the versions from the one that made it to the one
/// before the update. When a version is gone, its pages that the version before it, of those still
/// there, does not need are freed, and that one gets the rest. So a version that is held for long
/// keeps what it reads itself, and not what came and went since.
final class History: Sendable {
  private struct Entry {
    let generation: UInt64
    /// Addresses of pages that no later version reads.
    var retired: [UInt] = []
    var isGone = false
  }

  private struct State {
    var entries: [Entry] = []
    var hasGone = false
    /// The tables of the last version, once no other can follow.
    var last: Last?
  }

  // SAFETY: handed over by the writer, which is no more.
  private struct Last: @unchecked Sendable {
    let tables: Tables
    let moment: Moment
  }

  private let state = Lock(State())

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
      guard let place = state.entries.lastIndex(where: { $0.generation == generation }) else {
        return
      }
      state.entries[place].isGone = true
      state.hasGone = true
      if state.last != nil { Self.sweep(&state) }
    }
  }

  /// Says that no version will follow.
  func close(_ tables: Tables, _ moment: Moment) {
    let last = Last(tables: tables, moment: moment)
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
    for place in state.entries.indices.reversed() where state.entries[place].isGone {
      let retired = state.entries[place].retired
      let before = place > 0 ? state.entries[place - 1].generation : 0
      for page in retired {
        if place > 0, PageStore.generation(of: page) <= before {
          state.entries[place - 1].retired.append(page)
        } else {
          PageStore.free(page)
        }
      }
    }
    state.entries.removeAll { $0.isGone }
    if state.entries.isEmpty, let last = state.last {
      last.tables.free()
      last.moment.free()
      state.last = nil
    }
  }
}
