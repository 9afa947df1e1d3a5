internal import Dispatch
internal import GRDB
public import PushFanout
public import PushRules
internal import PushSupport

/// Settings that survive crashes, and an engine that follows every change.
///
/// A write is acknowledged when it is durable, and is then visible to the next decision. Writes of
/// several callers are committed together; readers and deciders never wait for them.
///
/// One process writes at a time; others may read.
public final class SettingsStore: Sendable {
  /// So many bytes of UTF-8 an id has at most.
  public static let idLimit = 65_536

  /// How a store is opened.
  public enum Access: Sendable {
    /// To write; a store that is not there is made.
    case create
    /// To write.
    case write
    /// To read, also while another process writes. The engine is that of the opening.
    case read
  }

  public let path: String
  private let opened: StoreOpener.Opened?
  /// Reads what is stored, for inspection, export and backup.
  public let reader: StoreReader
  private let pool: DatabasePool
  private let lock: WriterLock?
  /// Rings after each commit.
  let bell = FeedBell()
  private let commits: Lock<GroupCommit<Committer.Job>?>
  private let keeper: SnapshotKeeper?

  /// Opens a store, and its engine: by its snapshot, if there is one of use, and otherwise from the
  /// database. ``opening`` says which.
  ///
  /// Who opens a store to write also sees to its snapshot: one is written beside other work when
  /// there is none, when much has changed, and at the end.
  ///
  /// - Parameter threads: how many threads the engine may use, nil for as many as there are cores.
  /// - Throws: ``StoreError``.
  /// - Complexity: O(settings): with a snapshot as fast as it is read from memory, and O(changes)
  ///   since it was written.
  public convenience init(_ path: String, _ access: Access = .write, threads: Int? = nil) throws {
    try self.init(path, access, threads: threads, withEngine: true)
  }

  /// - Parameter withEngine: whether there is a ``fanout``; for operations that do not decide.
  package init(
    _ path: String, _ access: Access, threads: Int? = nil, withEngine: Bool
  ) throws {
    self.path = path
    let file = try StoreFile.open(path, access)
    pool = file.pool
    reader = StoreReader(file.pool, path)
    lock = file.lock
    let (identity, last) = try reader.read { rows in
      if access != .read { try SnapshotKeeper.tidy(rows) }
      return (try rows.identity(), try rows.lastSequence())
    }
    opened = withEngine ? try StoreOpener(reader: reader, threads: threads).open() : nil
    bell.ring(opened?.last ?? last)
    commits = Lock(nil)
    guard access != .read else {
      keeper = nil
      return
    }
    keeper = opened.map { SnapshotKeeper(store: path, identity, $0) }
    let committer = Committer(file.pool, opened?.fanout, path, bell, keeper)
    self.commits.withLock { $0 = GroupCommit { committer.commit($0) } }
    keeper?.begin()
  }

  // MARK: The engine

  /// Decides on the settings of all acknowledged writes.
  public var fanout: Fanout {
    guard let opened else { preconditionFailure("a store that was opened without an engine") }
    return opened.fanout
  }

  /// How the engine came about.
  public var opening: StoreOpening {
    guard let opened else { preconditionFailure("a store that was opened without an engine") }
    return opened.opening
  }

  /// Writes the snapshot now, beside deciding and writing. It appears as `PATH.snapshot` when it is
  /// complete and on the disk, and replaces the one before.
  ///
  /// It need not be called; snapshots are written when they are worth it.
  ///
  /// - Throws: ``StoreError/readOnly(_:)``, or `SnapshotError` when it cannot be written; the one
  ///   before stays.
  /// - Complexity: O(settings).
  public func writeSnapshot() throws {
    guard let keeper else { throw StoreError.readOnly(path) }
    try keeper.write()
  }

  /// What is to be removed when the process ends while a snapshot is being written.
  public var temporarySnapshotNames: [String] {
    [Fanout.temporaryName(ofSnapshot: SnapshotKeeper.path(path))]
  }

  /// Why the last snapshot could not be written, nil when it could: as a snapshot is only there to
  /// open the store faster, nothing else fails with it.
  public var snapshotProblem: SnapshotError? { keeper?.problem }

  // MARK: Writing

  /// Changes settings: all changes of `body` become durable and visible together, or none does.
  ///
  /// - Parameters:
  ///   - now: when the write is made.
  ///   - device: the device of the user that writes, for the change feed: an id like any other.
  /// - Throws: what `body` throws; ``StoreError`` when it could not be made durable.
  public func write<Value: Sendable>(
    at now: Instant, from device: Identifier? = nil,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Value
  ) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Lock<Result<Value, any Error>?>(nil)
    try submit(at: now, from: device, body) { outcome in
      result.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    guard let result = result.withLock({ $0 }) else { throw StoreError.closed(path) }
    return try result.get()
  }

  /// The same, without blocking a thread.
  public func write<Value: Sendable>(
    at now: Instant, from device: Identifier? = nil,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try submit(at: now, from: device, body) { continuation.resume(with: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  private func submit<Value: Sendable>(
    at now: Instant, from device: Identifier?,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Value,
    _ done: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) throws {
    guard let commits = commits.withLock({ $0 }) else {
      throw lock == nil ? StoreError.readOnly(path) : StoreError.closed(path)
    }
    let value = Lock<Value?>(nil)
    commits.add(
      Committer.Job(now: now, device: device) { write in
        let made = try body(&write)
        value.withLock { $0 = made }
      } done: { [path] error in
        if let error { return done(.failure(error)) }
        guard let value = value.withLock({ $0 }) else {
          return done(.failure(StoreError.closed(path)))
        }
        done(.success(value))
      })
  }

  // MARK: Reading

  /// Whether this process may write the store.
  var isWriter: Bool { lock != nil }

  /// Reads the store as of one commit.
  func read<Value>(_ body: (Rows) throws -> Value) throws -> Value { try reader.read(body) }

  /// Entries of the change feed behind a sequence number, the oldest first.
  ///
  /// - Parameter user: only those that concern a user.
  public func changes(
    after sequence: Int64 = 0, of user: Identifier? = nil, limit: Int = 1000
  ) throws -> [ChangeEvent] {
    try read { rows in try rows.changes(after: sequence, of: user, limit: limit) }
  }

  /// Waits for the writes under way, then ends this process's use of the store; later writes throw
  /// ``StoreError/closed(_:)``, and sequences of events end.
  public func close() throws {
    bell.close()
    guard let commits = commits.withLock({ $0.take() }) else {
      return isWriter ? () : try reader.close()
    }
    defer { lock?.release() }
    commits.sync {}
    keeper?.finish()
    try commits.sync { try StoreFile.errors(path) { try StoreFile.close(pool) } }
  }
}
