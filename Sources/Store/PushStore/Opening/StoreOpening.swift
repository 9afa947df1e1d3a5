internal import Foundation
internal import GRDB
internal import Glibc
internal import PushContent
internal import PushFanout
internal import PushModel
internal import QuietTime

/// How the engine of a store came about.
public enum StoreOpening: Hashable, Sendable, CustomStringConvertible {
  /// The snapshot was mapped, and the changes behind its number were read from the database.
  case snapshot(sequence: Int64, changes: Int64)
  /// All settings were read from the database; the text says why.
  case rebuilt(String)

  public var description: String {
    switch self {
    case .snapshot(let sequence, let changes):
      "snapshot of change \(sequence), \(changes) changes since"
    case .rebuilt(let reason): "the engine was built from the database: \(reason)"
    }
  }
}

/// Makes the engine of a store: from its snapshot, or from all that is stored.
struct StoreOpener {
  let reader: StoreReader
  let threads: Int?
  /// What is done with users whose time zone the system does not have.
  var unknownZones = UnknownZones.refuse

  struct Opened {
    let fanout: Fanout
    let opening: StoreOpening
    /// The last change that the engine follows, and its token.
    let last: Int64
    let token: Int64
  }

  /// - Throws: ``StoreError`` when the database cannot be read; a snapshot that cannot be used is
  ///   no error.
  func open() throws -> Opened { try open { _ in }.opened }

  /// The same, and what else is read as of the commit that the engine is of.
  func open<Value>(
    _ body: (SettingsQueries) throws -> Value
  ) throws -> (opened: Opened, value: Value) {
    let reason: String
    switch try mapped() {
    case .success(let fanout):
      // The changes since, as of one commit; nothing is gained when they are most of what there is.
      let found = try reader.read { queries -> Result<(opened: Opened, value: Value), Unusable> in
        do {
          return .success((try follow(fanout, queries), try body(queries)))
        } catch let error as Unusable {
          return .failure(error)
        }
      }
      switch found {
      case .success(let result): return result
      case .failure(let error): reason = error.reason
      }
    case .failure(let error): reason = error.reason
    }
    return try reader.read { queries in
      let last = try queries.lastSequence()
      let opened = Opened(
        fanout: try queries.fanout(threads: threads, unknownZones: unknownZones),
        opening: .rebuilt(reason), last: last, token: try queries.token(at: last))
      return (opened, try body(queries))
    }
  }

  /// The engine of the snapshot, without later changes.
  func mapped(attempts: Int = 10) throws -> Result<Fanout, Unusable> {
    let path = SnapshotKeeper.path(reader.store.file)
    guard FileManager.default.fileExists(atPath: path) else {
      return .failure(Unusable(reason: "there is no snapshot"))
    }
    let identity = try reader.read { try $0.identity() }
    var found: SnapshotIdentity?
    do throws(SnapshotError) {
      // Of which change it is, is judged by `follow`, with what the store has then.
      let info = try SnapshotInfo(path: path).identity
      found = info
      return .success(
        try Fanout(
          snapshot: path, identity: info.high == identity.high ? info : identity, threads: threads,
          unknownZones: unknownZones))
    } catch {
      // The writer of the store may have replaced it by another one meanwhile.
      if let found, attempts > 1, let now = try? SnapshotInfo(path: path).identity, now != found {
        return try mapped(attempts: attempts - 1)
      }
      return .failure(Unusable(reason: "\(error)", snapshotError: error))
    }
  }

  /// Brings the engine of a snapshot up to the last change.
  func follow(_ fanout: Fanout, _ queries: SettingsQueries) throws -> Opened {
    let sequence = Int64(clamping: fanout.snapshot?.sequence ?? .max)
    let last = try queries.lastSequence()
    if sequence > last {
      throw Unusable(
        reason: "the snapshot is of change \(sequence), the store ends at \(last): unless an older "
          + "copy was restored, the log with the changes since was lost; write them again, or "
          + "restore a backup", isWrong: true)
    }
    if try sequence < queries.feedLimit().cursor.sequence {
      throw Unusable(reason: "changes since the snapshot are not in the feed any more")
    }
    guard try queries.identity(at: sequence) == fanout.snapshot?.identity else {
      throw Unusable(
        reason: "the snapshot is of changes that the store does not have", isWrong: true)
    }
    let changes = last - sequence
    if changes > max(10_000, fanout.recordCount / 4) {
      throw Unusable(reason: "\(changes) changes since the snapshot")
    }
    guard try queries.knows(fanout) else {
      throw Unusable(reason: "the snapshot's users are not the store's", isWrong: true)
    }
    do {
      try queries.follow(fanout, after: sequence)
    } catch let error as FanoutError {
      throw Unusable(reason: "\(error)")
    }
    return Opened(
      fanout: fanout, opening: .snapshot(sequence: sequence, changes: changes), last: last,
      token: try queries.token(at: last))
  }

  /// Why a snapshot is of no use.
  struct Unusable: Error {
    let reason: String
    var snapshotError: SnapshotError?
    /// Whether it can only be so because the files were changed from outside.
    var isWrong = false

    /// Whether something is wrong, and not only old or gone.
    var isFault: Bool {
      switch snapshotError?.problem {
      case nil: isWrong
      case .otherVersion, .unknownTimeZone, .otherTimeZoneData, .timeZoneData: false
      // The snapshot may be unreadable for a user who may read the store.
      case .cannotOpen: snapshotError.map { unsafe access($0.path, R_OK) == 0 } ?? true
      default: true
      }
    }
  }
}

extension SnapshotIdentity {
  /// A store's, at a change.
  func of(token: Int64) -> SnapshotIdentity {
    SnapshotIdentity(high: high, low: low ^ UInt64(bitPattern: token))
  }
}

extension SettingsQueries {
  /// Which store this is: drawn when it was made.
  func identity() throws -> SnapshotIdentity {
    let row = try known(Row.fetchOne(db, sql: "SELECT identity FROM store"), "store.identity")
    let bytes: Data = try get(row, 0, "store.identity")
    guard bytes.count == 16 else { throw StoreError.damaged(path, reason: "store.identity") }
    func number(_ bytes: Data) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return SnapshotIdentity(high: number(bytes.prefix(8)), low: number(bytes.suffix(8)))
  }

  /// What a snapshot is known by that has the changes up to a number, and nothing else.
  func identity(at sequence: Int64) throws -> SnapshotIdentity {
    try identity().of(token: token(at: sequence))
  }

  /// The number that was drawn for a change; 0 for none.
  func token(at sequence: Int64) throws -> Int64 {
    let find = try db.cachedStatement(sql: "SELECT token FROM feed WHERE sequence = ?")
    if let token = try Int64.fetchOne(find, arguments: [sequence]) { return token }
    let limit = try feedLimit().cursor
    return limit.sequence == sequence ? limit.token : 0
  }

  /// Whether the users of an engine can be the first ones of this store.
  fileprivate func knows(_ fanout: Fanout) throws -> Bool {
    guard fanout.userCount > 0 else { return true }
    let bytes = try Data.fetchOne(
      db, sql: "SELECT id FROM users WHERE number = ?", arguments: [fanout.userCount])
    return bytes == fanout.id(of: UserIndex(UInt32(fanout.userCount - 1))).bytes
  }

  /// Reads every changed record again, and puts it into an engine.
  ///
  /// - Complexity: O(changes).
  fileprivate func follow(_ fanout: Fanout, after sequence: Int64) throws {
    let changed = try Row.fetchCursor(
      db,
      sql: """
        SELECT DISTINCT CASE WHEN change IN ('imported', 'advancedPush') THEN change END,
          user, conversation FROM feed WHERE sequence > ?
        """,
      arguments: [sequence])
    try fanout.update { update in
      // First of all the new ids, in the order of their numbers.
      try forEachID("users", behind: fanout.userCount) { try update.intern(user: $0) }
      try forEachID("conversations", behind: fanout.conversationCount) {
        try update.intern(conversation: $0)
      }
      // What was removed first: what came again later has entries of its own.
      try followRemovals(&update, after: sequence)
      while let row = try changed.next() {
        if let change: String = try find(row, 0, "feed.change") {
          let what =
            change == Change.imported.rawValue
            ? "records were imported" : "advanced push was switched"
          throw StoreOpener.Unusable(reason: "\(what) since the snapshot")
        }
        let user = try findID(row, 1, "feed.user")
        let conversation = try findID(row, 2, "feed.conversation")
        switch (user, conversation) {
        case (nil, nil): try update.setApp(try app())
        case (let user?, nil):
          if let settings = try self.user(user) { try update.setUser(user, settings) }
        case (nil, let conversation?):
          if let settings = try self.conversation(conversation) {
            try update.setConversation(conversation, settings)
          }
        case (let user?, let conversation?):
          try follow(user, conversation, &update, fanout)
        }
      }
    }
  }

  private func followRemovals(_ update: inout FanoutUpdate, after sequence: Int64) throws {
    let removed = try Row.fetchCursor(
      db,
      sql: """
        SELECT DISTINCT user, conversation FROM feed
        WHERE sequence > ? AND change IN ('userRemoved', 'conversationRemoved')
        """, arguments: [sequence])
    while let row = try removed.next() {
      if let user = try findID(row, 0, "feed.user") { try update.removeUser(user) }
      if let conversation = try findID(row, 1, "feed.conversation") {
        try update.removeConversation(conversation)
      }
    }
  }

  private func forEachID(
    _ table: String, behind number: Int, _ body: (Identifier) throws -> Void
  ) throws {
    let rows = try Row.fetchCursor(
      db, sql: "SELECT id FROM \(table) WHERE number > ? ORDER BY number", arguments: [number])
    while let row = try rows.next() { try body(try id(row, 0, "\(table).id")) }
  }

  private func follow(
    _ user: Identifier, _ conversation: Identifier, _ update: inout FanoutUpdate, _ fanout: Fanout
  ) throws {
    if let member = try member(user, of: conversation) {
      try update.setMember(user, of: conversation, member)
    } else if fanout.member(user, of: conversation) != nil {
      do throws(FanoutError) {
        try update.removeMember(user, of: conversation)
      } catch .notAMember {
        // Gone already, with the user or the conversation, which were there again in between.
      }
    }
  }
}
