internal import CPushSQLite
internal import GRDB
internal import PushContent
internal import PushFanout
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Makes writes durable, then visible.
final class Committer: Sendable {
  /// A write that waits for its commit.
  struct Job: Sendable {
    let now: Instant
    let device: Identifier?
    let body: @Sendable (inout StoreWrite) throws -> Void
    /// Called once; nil for a write that is durable and visible.
    let done: @Sendable ((any Error)?) -> Void
  }

  private let store: OpenStore
  /// nil for a store without an engine.
  private let fanout: Fanout?
  private let path: String
  /// Rings when something was committed.
  private let feedNotifier: ChangeFeedNotifier
  private let keeper: SnapshotKeeper?
  private let content: ContentFollower
  private let retention = Lock(AutomaticRetention())
  /// Set when store and engine differ.
  private let failure = Lock<StoreError?>(nil)

  init(
    _ store: OpenStore, _ fanout: Fanout?, _ feedNotifier: ChangeFeedNotifier,
    _ keeper: SnapshotKeeper?, _ content: ContentFollower
  ) {
    self.store = store
    self.fanout = fanout
    path = store.path
    self.feedNotifier = feedNotifier
    self.keeper = keeper
    self.content = content
  }

  /// Why a write was refused with all that its transaction has.
  private struct Refusal: Error {
    let error: any Error
  }

  /// Commits writes together, applies them to the engine, and resumes the waiting callers.
  func commit(_ jobs: [Job]) {
    if let error = failure.withLock({ $0 }) { return jobs.forEach { $0.done(error) } }
    var refused = [(any Error)?](repeating: nil, count: jobs.count)
    do {
      let (steps, words, last) = try store.pool.writeWithoutTransaction { db in
        var steps: [StoreWrite.Step] = []
        var words: ContentRenderer?
        var last: (sequence: Int64, token: Int64) = (0, 0)
        try Self.inTransaction(db) {
          var recorded: (sequence: Int64, token: Int64)?
          let spilled = Self.spilledPages(db)
          for (index, job) in jobs.enumerated() {
            var write = StoreWrite(
              SettingsQueries(db: db, path: path), at: job.now, from: job.device)
            if jobs.count > 1 { try Self.run("SAVEPOINT job", db) }
            do {
              if let device = job.device { try write.check(device) }
              try job.body(&write)
              steps += write.steps
              recorded = write.lastRecorded ?? recorded
            } catch let error as DatabaseError where error.isOfTheWhole {
              throw error
            } catch {
              guard jobs.count > 1, Self.spilledPages(db) == spilled else {
                throw Refusal(error: error)
              }
              try Self.run("ROLLBACK TO job", db)
              refused[index] = error
            }
            if jobs.count > 1 { try Self.run("RELEASE job", db) }
          }
          let queries = SettingsQueries(db: db, path: path)
          words = try content.next(steps, queries)
          last = try recorded ?? queries.lastEntry()
          if let now = jobs.last?.now {
            try retention.withLock {
              try $0.step(queries, last: last.sequence, snapshot: keeper?.written, at: now)
            }
          }
          try store.right?.check()
        }
        // What is committed to a file that has lost its name meanwhile is not found again.
        do { try store.right?.check() } catch StoreError.linked {}
        return (steps, words, last)
      }
      if let keeper {
        try keeper.follow(last.sequence, last.token) { () throws(FanoutError) in
          try apply(steps, words)
        }
      } else {
        try apply(steps, words)
      }
      feedNotifier.notify(last.sequence)
      keeper?.note(isLarge: steps.contains { $0.isLarge })
    } catch let error as FanoutError {
      // The store has what the engine could not take: it decides on what it had, and nothing more
      // is written until the store is reopened, which builds it from the tables.
      let error = StoreError.database(path, reason: "\(error)")
      failure.withLock { $0 = error }
      feedNotifier.fail(error)
      return jobs.forEach { $0.done(error) }
    } catch let refusal as Refusal {
      // Nothing of it was committed. The others are done again, each by itself.
      return jobs.count == 1 ? jobs[0].done(refusal.error) : jobs.forEach { commit([$0]) }
    } catch {
      let error = StoreFile.error(error, path)
      return jobs.forEach { $0.done(error) }
    }
    for (job, error) in zip(jobs, refused) { job.done(error) }
  }

  /// How many pages the connection has written to the log before their transactions ended, as its
  /// memory was too small for them. What such a transaction has written must not be taken back in
  /// part: SQLite 3.40 then writes frames without checksums, and when the log is recovered after a
  /// crash, that commit and all later ones are lost.
  private static func spilledPages(_ db: Database) -> Int32 {
    var (count, highest) = (0 as Int32, 0 as Int32)
    _ = unsafe sqlite3_db_status(
      db.sqliteConnection, SQLITE_DBSTATUS_CACHE_SPILL, &count, &highest, 0)
    return count
  }

  /// As GRDB's `inTransaction` and `inSavepoint`, which have SQLite compile their statements each
  /// time.
  private static func inTransaction(_ db: Database, _ body: () throws -> Void) throws {
    try run("BEGIN IMMEDIATE", db)
    do {
      try body()
      try run("COMMIT", db)
    } catch {
      // SQLite may have rolled back itself.
      if db.isInsideTransaction { try? run("ROLLBACK", db) }
      throw error
    }
  }

  private static func run(_ sql: String, _ db: Database) throws {
    var statement = try RepeatedStatement(cached: sql, db)
    try statement.run()
  }

  /// Has engine and renderer follow. Words come first: who decides on a version finds them.
  private func apply(
    _ steps: [StoreWrite.Step], _ words: ContentRenderer?
  ) throws(FanoutError) {
    guard let fanout else { return }
    func publish(_ version: UInt64) {
      if let words { content.renderer?.publish(words, version: version) }
    }
    guard steps.contains(where: { $0.isOfEngine }) else { return publish(fanout.settingsVersion) }
    try fanout.update(announcing: publish) { (update) throws(FanoutError) in
      for step in steps {
        switch step {
        case .record(let record): try update.set(record)
        case .memberRemoved(let user, let conversation):
          try update.removeMember(user, of: conversation)
        case .userRemoved(let id): try update.removeUser(id)
        case .advancedSettingsDeleted: try update.removeAdvancedSettings()
        case .conversationRemoved(let id): try update.removeConversation(id)
        case .renamed(.user(let id), let anonymous): try update.renameUser(id, to: anonymous)
        case .renamed(.conversation(let id), let anonymous):
          try update.renameConversation(id, to: anonymous)
        case .imported(let imported):
          if imported.replacesApp { try update.setApp(imported.settings.app) }
          try update.addRecords(of: imported.settings)
        case .display, .template: break
        }
      }
    }
  }
}

extension DatabaseError {
  /// Whether it concerns the whole transaction, not only one write of it.
  fileprivate var isOfTheWhole: Bool {
    switch resultCode {
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_BUSY, .SQLITE_READONLY,
      .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CANTOPEN:
      true
    default: false
    }
  }
}
