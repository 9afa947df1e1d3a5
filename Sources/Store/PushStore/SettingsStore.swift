internal import Dispatch
public import PushFanout
public import PushModel
internal import PushSupport
public import QuietTime
internal import Synchronization

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

  /// The path that the store was opened by.
  public let path: String
  private let opened: StoreOpener.Opened?
  /// Reads what is stored, for inspection, export and backup.
  public let reader: StoreReader
  private let store: OpenStore
  /// Rings after each commit.
  let feedNotifier = ChangeFeedNotifier()
  private let commits: Lock<GroupCommit<Committer.Job>?>
  let keeper: SnapshotKeeper?
  let content = ContentFollower()

  /// Opens a store, and its engine: by its snapshot, if there is one of use, and otherwise from the
  /// database. ``opening`` says which.
  ///
  /// A store that is opened to write also maintains its snapshot: one is written beside other work
  /// when there is none, when much has changed, and at the end.
  ///
  /// - Parameters:
  ///   - threads: how many threads the engine may use, nil for the cores that the process
  ///     may use.
  ///   - waiting: how long to wait while another process has the store open for writing.
  ///   - permissions: of a store that is made, and of what is made beside it later.
  ///   - commitInterval: how long writes wait at most for others that are committed together with
  ///     them, so that each costs less. They wait no longer when 32 writes wait, or when none has
  ///     been made for 5 ms (longer while they keep coming). A write after a pause is committed at
  ///     once.
  ///   - unknownZones: what the engine does with users whose time zone the system does not have: refuse
  ///     or ignore. The store is opened either way, and keeps the names.
  /// - Throws: ``StoreError``.
  /// - Complexity: O(settings): with a snapshot as fast as it is read from memory, and O(changes)
  ///   since it was written.
  public convenience init(
    _ path: String, _ access: Access = .write, threads: Int? = nil, waiting: Duration = .zero,
    permissions: StorePermissions = .owner, commitInterval: Duration = .zero,
    unknownZones: UnknownZones = .refuse
  ) throws {
    try self.init(
      OpenStore.open(path, access, waiting: waiting, permissions: permissions), threads: threads,
      withEngine: true, commitInterval: commitInterval, unknownZones: unknownZones)
  }

  /// - Parameter withEngine: whether there is a ``fanout``; for operations that do not decide.
  package convenience init(
    _ path: String, _ access: Access, threads: Int? = nil, waiting: Duration = .zero,
    permissions: StorePermissions = .owner, withEngine: Bool
  ) throws {
    try self.init(
      OpenStore.open(path, access, waiting: waiting, permissions: permissions), threads: threads,
      withEngine: withEngine)
  }

  init(
    _ store: OpenStore, threads: Int?, withEngine: Bool, commitInterval: Duration = .zero,
    unknownZones: UnknownZones = .refuse
  ) throws {
    self.store = store
    path = store.path
    reader = StoreReader(store)
    let isWriter = store.right != nil
    if isWriter {
      SnapshotKeeper.tidy(store.file)
      // Where a reader is in the way, the next opening finishes it.
      if try Erasing.isUnfinished(store) {
        do {
          try Erasing.finish(store) { try SnapshotKeeper.remove(store.file) }
        } catch StoreError.erasureUnfinished {}
      }
      try FeedCompaction.finish(store)
    }
    let (identity, last) = try reader.read { queries in
      (try queries.identity(), try queries.lastSequence())
    }
    opened =
      withEngine
      ? try StoreOpener(reader: reader, threads: threads, unknownZones: unknownZones).open() : nil
    feedNotifier.notify(opened?.last ?? last)
    commits = Lock(nil)
    guard isWriter else {
      keeper = nil
      return
    }
    keeper = opened.map { SnapshotKeeper(store, identity, $0) }
    let committer = Committer(store, opened?.fanout, feedNotifier, keeper, content)
    self.commits.withLock {
      $0 = GroupCommit(interval: commitInterval) { committer.commit($0) }
    }
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

  /// Does something with the store between two commits.
  func betweenCommits<Value>(_ body: (OpenStore) throws -> Value) throws -> Value {
    guard let commits = commits.withLock({ $0 }) else {
      throw store.right == nil ? StoreError.readOnly(path) : StoreError.closed(path)
    }
    return try commits.sync { try body(store) }
  }

  /// Writes a snapshot if the one that there is needs entries that the feed has no longer.
  func writeSnapshotIfBehindFeed() throws {
    let limit = try reader.startOfFeed().sequence
    if let keeper, let written = keeper.written, written < limit { try keeper.write() }
  }

  /// What is to be removed when the process ends while a snapshot is being written.
  public var temporarySnapshotNames: [String] {
    [Fanout.temporaryName(ofSnapshot: SnapshotKeeper.path(store.file))]
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
  ///   - body: changes the settings. It may be called again when another write of the same commit
  ///     was refused; nothing of the call before is in the store then.
  /// - Throws: what `body` throws; ``StoreError`` when it could not be made durable.
  public func write<Value: Sendable>(
    at now: Instant, from device: Identifier? = nil,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Value
  ) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Lock<Result<Value, any Error>?>(nil)
    write(at: now, from: device, body) { outcome in
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
      write(at: now, from: device, body) { continuation.resume(with: $0) }
    }
  }

  /// The same, for callers that have a loop of their own to go on in.
  ///
  /// - Parameter done: is called once, with what the other functions return or throw: on the thread
  ///   that commits, before it commits again. Writes of one commit are done together, in their
  ///   order.
  public func write<Value: Sendable>(
    at now: Instant, from device: Identifier? = nil,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Value,
    then done: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    guard let commits = commits.withLock({ $0 }) else {
      let isReadOnly = store.right == nil
      return done(.failure(isReadOnly ? StoreError.readOnly(path) : StoreError.closed(path)))
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

  /// Checks that what is written now is found under ``path``. Each write checks it by itself; this
  /// is for health checks.
  ///
  /// - Throws: ``StoreError/replaced(_:)`` when the file that was opened for writing was removed,
  ///   renamed or replaced, now or earlier, and ``StoreError/cut(_:)`` when its log was, or one of
  ///   them has lost bytes; ``StoreError/linked(_:names:)`` while it has several
  ///   names. Nothing for a store that was opened for reading.
  /// - Complexity: O(1): one system call.
  public func checkFile() throws { try store.right?.check() }

  // MARK: Reading

  /// Whether this process may write the store.
  var isWriter: Bool { store.right != nil }

  /// Reads the store as of one commit.
  func read<Value>(_ body: (SettingsQueries) throws -> Value) throws -> Value {
    try reader.read(body)
  }

  /// Entries of the change feed after a cursor, the oldest first.
  ///
  /// - Parameter user: only those that concern a user.
  /// - Throws: ``StoreError/unknownChange(_:_:)`` for a cursor of another feed,
  ///   ``StoreError/changesDropped(_:_:upTo:)`` for one behind which the feed was compacted: reload
  ///   everything.
  public func changes(
    after cursor: FeedCursor = .start, of user: Identifier? = nil, limit: Int = 1000
  ) throws -> [ChangeEvent] {
    try read { queries in try queries.changes(after: cursor, of: user, limit: limit) }
  }

  /// Waits for the writes under way, then ends this process's use of the store; later writes throw
  /// ``StoreError/closed(_:)``, and sequences of events end.
  public func close() throws {
    feedNotifier.close()
    guard let commits = commits.withLock({ $0.take() }) else {
      return isWriter ? () : try reader.close()
    }
    commits.sync {}
    keeper?.finish()
    try commits.sync { try store.close() }
  }
}
