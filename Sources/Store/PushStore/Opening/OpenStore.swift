internal import Foundation
internal import GRDB
internal import Glibc
internal import PushSupport
internal import Synchronization

/// The connections to a store, and what must outlive them: the descriptor of the file, and the
/// right to write.
final class OpenStore: Sendable {
  /// The path that was given, which errors name.
  let path: String
  /// The file that it leads to.
  let file: String
  /// nil for a store that is only read.
  let right: WriteRight?
  let inode: StoreInode
  private let connections: Lock<Connections>
  /// Whether SQLite's files of the log were made to read the store.
  private let madeLog: Bool
  /// Held while a file is read that others may change unseen.
  private let unseen = NSLock()

  private struct Connections {
    let pool: DatabasePool
    /// The file as it was when they were opened; nil where SQLite's locks keep others out.
    var status: FileStatus?
  }

  // MARK: Opening

  /// Opens a store to read it.
  init(reading path: String) throws {
    self.path = path
    file = try StoreName.file(path)
    inode = try StoreInode.open(file, path, forWriting: false)
    right = nil
    madeLog = StoreInode.status(file + "-wal") == nil && StoreInode.status(file + "-shm") == nil
    connections = Lock(try Self.connect(path, file, inode))
  }

  /// Opens a store to write it.
  ///
  /// - Parameter file: no symbolic link.
  init(writing path: String, file: String, _ right: WriteRight) throws {
    self.path = path
    self.file = file
    self.right = right
    inode = right.inode
    madeLog = false
    try Self.checkAccess(path, file)
    let pool = try StoreFile.errors(path) { [inode] in
      try StoreFile.retryingLocks {
        try Self.checkBeforeWriting(path, file, inode)
        let pool = try DatabasePool(
          path: PageChecksums.location(file),
          configuration: StoreFile.configuration(readonly: false))
        // Those of a backup, which is a store from now on.
        if try pool.read({ try SettingsQueries(db: $0, path: path).storedSums() }) != nil {
          try pool.write { try $0.execute(sql: "DELETE FROM sums") }
        }
        return pool
      }
    }
    connections = Lock(Connections(pool: pool))
  }

  deinit {
    // Before the descriptor, whose closing would drop their locks. Its last user closes it.
    try? pool.close()
    removeLog()
  }

  /// Removes the files of a log that was made to read the store: beside a backup they would stay. A
  /// connection that only reads does not remove them, and one that may write does, if it is the last.
  private func removeLog() {
    guard madeLog, StoreInode.status(file + "-shm") != nil, StoreName.size(file + "-wal") == 0,
      unsafe access(file, W_OK) == 0,
      let queue = try? DatabaseQueue(
        path: PageChecksums.location(file), configuration: StoreFile.configuration(readonly: false))
    else { return }
    try? queue.read { try begin($0) }
    try? queue.close()
  }

  /// Whether the file may be written, and files be made beside it; SQLite would only report that it
  /// cannot.
  private static func checkAccess(_ path: String, _ file: String) throws {
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    if unsafe access(file, W_OK) != 0 {
      throw StoreError.database(path, reason: "it cannot be written: \(SystemError.last.message)")
    }
    if unsafe access(folder, W_OK) != 0 {
      throw StoreError.database(
        path, reason: "its log cannot be made in \(folder): \(SystemError.last.message)")
    }
  }

  /// Before anything is written to a file: whether it is a store of this format.
  private static func checkBeforeWriting(
    _ path: String, _ file: String, _ inode: StoreInode
  ) throws {
    try StoreFile.checkHeader(inode, path, file)
    let queue = try DatabaseQueue(
      path: PageChecksums.location(file),
      configuration: StoreFile.configuration(readonly: true))
    try queue.read { try StoreFile.judge($0, inode, path: path, file: file) }
    try queue.close()
  }

  private static func connect(
    _ path: String, _ file: String, _ inode: StoreInode
  ) throws -> Connections {
    try StoreFile.errors(path) {
      do {
        return Connections(pool: try StoreFile.retryingLocks { try open(path, file, inode) })
      } catch let error as DatabaseError where error.isOfSharedMemory {
        // A folder that may not be written, or a full disk. The file alone can be read if all is in it.
        let status = try FileStatus(path, file, inode)
        guard status.logSize == 0 else {
          throw StoreError.database(
            path,
            reason:
              "its log \(file)-wal cannot be read, as \(file)-shm cannot be made (the disk is full, "
              + "or the folder may not be written); copy the file and its log elsewhere, and use that"
          )
        }
        let pool = try open(path, file, inode, "immutable=1")
        return Connections(pool: pool, status: status)
      }
    }
  }

  private static func open(
    _ path: String, _ file: String, _ inode: StoreInode, _ parameters: String...
  ) throws -> DatabasePool {
    try StoreFile.checkHeader(inode, path, file)
    let pool = try DatabasePool(
      path: PageChecksums.location(file, parameters),
      configuration: StoreFile.configuration(readonly: true))
    try pool.read { try StoreFile.judge($0, inode, path: path, file: file) }
    return pool
  }

  // MARK: Using

  var pool: DatabasePool { connections.withLock { $0.pool } }

  /// Reads, as of one commit.
  ///
  /// - Parameter canRepeat: whether `body` may be called again when the file was changed meanwhile
  ///   by a writer that no lock keeps out.
  /// - Throws: ``StoreError/changedMeanwhile(_:)`` when it was changed again.
  func read<Value>(canRepeat: Bool = true, _ body: (Database) throws -> Value) throws -> Value {
    try use(canRepeat: canRepeat) { try read($0, body) }
  }

  /// Reads with connections that are in use.
  func read<Value>(_ pool: DatabasePool, _ body: (Database) throws -> Value) throws -> Value {
    try pool.read { db in
      try begin(db)
      return try body(db)
    }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    guard connections.withLock({ $0.status == nil }) else { return try readNow(body) }
    do {
      return try await pool.read { db in
        try self.begin(db)
        return try body(db)
      }
    } catch { throw StoreFile.error(error, path) }
  }

  private func readNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try read(body)
  }

  /// Has the transaction read something, as it does not wait for every lock.
  private func begin(_ db: Database) throws {
    try StoreFile.retryingLocks { try db.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1") }
  }

  /// The same with all connections.
  func use<Value>(canRepeat: Bool = true, _ body: (DatabasePool) throws -> Value) throws -> Value {
    let (first, status) = connections.withLock { ($0.pool, $0.status) }
    guard status != nil else { return try StoreFile.errors(path) { try body(first) } }
    return try unseen.withLock {
      for attempt in 1...2 {
        let (pool, status) = connections.withLock { ($0.pool, $0.status) }
        let result = Result { try StoreFile.errors(path) { try body(pool) } }
        // What a closure returned for a file that was changed under it is invalid too.
        if try status == nil || status == FileStatus(path, file, inode) { return try result.get() }
        guard attempt == 1 else { break }
        let new = try Self.connect(path, file, inode)
        connections.withLock { $0 = new }
        try StoreFile.errors(path) { try pool.close() }
        if !canRepeat { break }
      }
      throw StoreError.changedMeanwhile(path)
    }
  }

  /// Ends the use of the store, with everything that was written moved from the log into the file,
  /// unless another process still reads it there.
  ///
  /// - Parameter keepingRight: whether other writers are still kept out.
  func close(keepingRight: Bool = false) throws {
    defer { if !keepingRight { right?.release() } }
    try StoreFile.errors(path) {
      // A file that meanwhile has another name is not touched.
      if let right, (try? right.check()) != nil {
        try pool.writeWithoutTransaction { db in
          // A reader that is in the way is no mistake: the log is part of the store.
          do {
            try right.rewriting { _ = try db.checkpoint(.truncate) }
          } catch let error as DatabaseError
            where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED
          {}
        }
      }
      // SQLite would copy into the store what its log does not have any more. The connections end with
      // the process.
      if right?.hasLostBytes == true { return }
      // Connections that only read first: the last one that writes removes the log.
      pool.releaseMemory()
      try pool.close()
      removeLog()
    }
    if right == nil { inode.close() }
  }
}

/// What can be seen of a file that others may change and no lock protects.
struct FileStatus: Equatable {
  private let key: StoreInode.Key
  private let numbers: [Int]
  /// SQLite's counter of changes.
  private let counter: [UInt8]
  /// How many bytes its log has.
  let logSize: Int

  /// - Throws: ``StoreError/missing(_:)``.
  init(_ path: String, _ file: String, _ inode: StoreInode) throws {
    guard let status = StoreInode.status(file) else { throw StoreError.missing(path) }
    key = StoreInode.Key(status)
    numbers = [
      Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
      status.st_ctim.tv_nsec,
    ]
    // https://www.sqlite.org/fileformat.html, 1.3
    counter = inode.bytes(24..<28)
    logSize = StoreName.size(file + "-wal")
  }
}
