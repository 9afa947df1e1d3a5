internal import Dispatch
internal import Foundation
internal import PushFanout
internal import PushSupport
internal import Synchronization

/// Writes a store's snapshot now and then, concurrently with decisions and writes.
///
/// A snapshot holds exactly the changes up to the sequence number in it; the token of that change
/// identifies it. When it is opened, every record that was changed later is read from the database.
final class SnapshotKeeper: Sendable {
  /// - Parameter file: that of a store, no symbolic link.
  static func path(_ file: String) -> String { file + ".snapshot" }

  /// A store of fewer records is read from the database faster than anybody waits.
  static let leastRecords = 10_000
  /// So many changes are left to be read at an opening, at least, until it is worth a snapshot.
  private static let leastChanges: Int64 = 16_384
  /// What a store that is closed may leave for the next opening.
  private static let changesAtEnd: Int64 = 1024

  private struct State {
    /// The last change that the engine follows.
    var last: Int64
    /// That of the snapshot; nil when there is none of use.
    var written: Int64?
    var isScheduled = false
    /// Snapshots may take a tenth of the time, not more.
    var notBefore = ContinuousClock.now
    var problem: SnapshotError?
    /// Whether an id was erased, of which names of devices may be left in the engine: snapshots are
    /// made from the database.
    var isErased = false
  }

  private let path: String
  private let store: OpenStore
  private let identity: SnapshotIdentity
  private let fanout: Fanout
  /// The last change that the engine follows, and its token. Held while the engine follows the next
  /// ones.
  private let followed: Lock<(last: Int64, token: Int64)>
  private let state: Lock<State>
  private let queue = DispatchQueue(label: "push-fanout.store.snapshot", qos: .utility)

  /// - Parameter identity: the store's own.
  init(_ store: OpenStore, _ identity: SnapshotIdentity, _ opened: StoreOpener.Opened) {
    self.store = store
    path = Self.path(store.file)
    self.identity = identity
    followed = Lock((opened.last, opened.token))
    fanout = opened.fanout
    var state = State(last: opened.last)
    if case .snapshot(let sequence, _) = opened.opening { state.written = sequence }
    self.state = Lock(state)
  }

  /// Removes what a process left behind that was killed while it wrote a snapshot. A snapshot
  /// itself stays, whatever it is of, until another replaces it: it may be the last copy of
  /// something.
  static func tidy(_ file: String) {
    let url = URL(fileURLWithPath: path(file))
    let folder = url.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(url.lastPathComponent + ".tmp-") {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  /// Removes the snapshot, once the one that is being written is complete, and what others have
  /// left.
  ///
  /// Snapshots that are asked for are made from the database from now on, and others not at all.
  func remove() throws {
    try queue.sync {
      state.withLock { state in
        state.written = nil
        state.isErased = true
      }
      try Self.remove(String(path.dropLast(Self.path("").utf8.count)))
    }
  }

  /// Removes the snapshot of a store.
  ///
  /// - Parameter file: that of a store, no symbolic link.
  static func remove(_ file: String) throws {
    tidy(file)
    do { try FileManager.default.removeItem(atPath: path(file)) } catch CocoaError.fileNoSuchFile {}
  }

  /// The change that the snapshot is of; nil when there is none of use.
  var written: Int64? { state.withLock { $0.written } }

  /// Why the last attempt to write one failed; nothing is lost by it.
  var problem: SnapshotError? { state.withLock { $0.problem } }

  /// Has the engine follow a commit.
  ///
  /// - Parameters:
  ///   - last: its last change.
  ///   - token: that change's.
  func follow(
    _ last: Int64, _ token: Int64, _ apply: () throws(FanoutError) -> Void
  ) throws(FanoutError) {
    try followed.withLock { (followed) throws(FanoutError) in
      try apply()
      followed = (last, token)
    }
  }

  /// Told after each commit that the engine follows.
  ///
  /// - Parameter isLarge: whether many records changed at once.
  func note(isLarge: Bool) {
    let last = followed.withLock { $0.last }
    let isWorthIt = state.withLock { state in
      state.last = last
      return isDue(state, isLarge: isLarge)
    }
    if isWorthIt { schedule() }
  }

  /// Writes one soon if there is none and the store is large.
  func begin() {
    let isDue = state.withLock { $0.written == nil }
    if isDue, fanout.recordCount >= Self.leastRecords { schedule() }
  }

  private func isDue(_ state: State, isLarge: Bool) -> Bool {
    let changes = state.last - (state.written ?? 0)
    // The cheapest first: this is asked at every commit.
    guard isLarge || changes >= Self.leastChanges, !state.isScheduled, !state.isErased else {
      return false
    }
    let records = fanout.recordCount
    guard records >= Self.leastRecords, state.notBefore <= .now else { return false }
    return isLarge || changes >= Int64(records / 512)
  }

  private func schedule() {
    state.withLock { $0.isScheduled = true }
    ThreadSupply.start(on: queue) {
      defer { self.state.withLock { $0.isScheduled = false } }
      // The error is kept, to be asked for.
      try? self.writeNow()
    }
  }

  /// Writes one, unless the one that is being written meanwhile has everything.
  ///
  /// - Throws: ``SnapshotError``; the last snapshot is then as it was.
  func write() throws {
    let before = state.withLock { $0.written }
    try queue.sync {
      let isDone = state.withLock { $0.written != before && $0.written == $0.last }
      if !isDone { try writeNow() }
    }
  }

  private func writeNow() throws(SnapshotError) {
    let start = ContinuousClock.now
    let sequence: Int64
    do throws(SnapshotError) {
      let version: FanoutVersion
      let token: Int64
      (version, sequence, token) = try source()
      do { try store.right?.check() } catch {
        throw SnapshotError(path: path, problem: .cannotWrite("\(error)"))
      }
      try version.writeSnapshot(
        to: path, identity: identity.of(token: token), sequence: UInt64(sequence))
      // It is made with mode 600; those who may read the store may read it too.
      FileAccess(of: store.inode).apply(to: path)
    } catch {
      state.withLock { state in
        state.problem = error
        // Not again and again into a full disk.
        state.notBefore = .now + .seconds(60)
      }
      throw error
    }
    state.withLock { state in
      state.written = sequence
      state.problem = nil
      state.notBefore = .now + (.now - start) * 9
    }
  }

  /// What is written, with its last change and that change's token.
  private func source() throws(SnapshotError) -> (FanoutVersion, Int64, Int64) {
    guard state.withLock({ $0.isErased }) else {
      return followed.withLock { (fanout.currentVersion, $0.last, $0.token) }
    }
    do {
      return try StoreReader(store).read { queries in
        let last = try queries.lastSequence()
        return (try queries.fanout(threads: nil).currentVersion, last, try queries.token(at: last))
      }
    } catch {
      throw SnapshotError(path: path, problem: .cannotWrite("\(error)"))
    }
  }

  /// Waits for the one that is being written, and leaves one behind that spares the next opening
  /// most of its work.
  func finish() {
    queue.sync {
      let isDue = state.withLock { state in
        !state.isErased && state.written.map { state.last - $0 >= Self.changesAtEnd } ?? true
      }
      if isDue, fanout.recordCount >= Self.leastRecords { try? writeNow() }
    }
  }
}
