import BenchSupport
import Foundation
import GRDBSQLite
import PushModel
import PushStore

/// The rows of an import, inserted by a plain SQLite program: prepared statements, one transaction, the
/// same tables, columns and order, and the rows ready in memory. What the store's import adds to that is
/// its own work: looking at records, numbers for ids, checksums of pages, checks of what belongs
/// together.
struct PlainImport {
  let world: StoreWorld

  private struct User {
    let id: [UInt8]
    let level: Int64
    let start, end: Int64?
    let zone: [UInt8]?
    let mutedUntil: Int64
  }

  /// Both, in turns, in files of the same folder.
  func measure(in folder: URL) throws {
    let settings = world.settings
    var ours: [Double] = []
    var plain: [Double] = []
    let rows = rows(of: settings)
    for round in 0..<3 {
      let path = folder.appending(path: "import-\(round)").path
      plain.append(try seconds { try insert(rows, into: path + ".plain") })
      ours.append(
        try seconds { try StoreImport(path).run(settings, at: .zero, replacingApp: true) })
      for ending in ["", ".plain"] { try FileManager.default.removeItem(atPath: path + ending) }
    }
    let ratios = zip(ours, plain).map { $0 / $1 }
    let ratio = ratios.sorted()[1]
    let (users, memberships) = (world.users, world.users * world.memberships)
    let records = users + memberships
    say(
      "insertion of \(users) users, \(memberships) memberships, against plain SQLite",
      "\(text(ratio)) times (\(ratios.map { text($0) }))", must: "<= 1.3", ratio <= 1.3)
    let best = (ours.min() ?? 1, plain.min() ?? 1)
    show(
      "\(text(best.0)) s and \(text(best.1)) s, \(Int(Double(records) / best.0)) and "
        + "\(Int(Double(records) / best.1)) records/s")
  }

  private struct Rows {
    var users: [User] = []
    var groups: [[UInt8]] = []
    var members: [(group: Int64, user: Int64)] = []
    var settings: [(user: Int64, group: Int64, level: Int64)] = []
  }

  private func rows(of settings: FanoutSettings) -> Rows {
    var rows = Rows()
    for place in 0..<UInt32(settings.userCount) {
      let user = settings.user(UserIndex(place))
      var interval: QuietInterval?
      if case .interval(let found) = user.quietHours { interval = found }
      rows.users.append(
        User(
          id: Array(settings.id(of: UserIndex(place)).text.utf8), level: Int64(user.level.rawValue),
          start: interval.map { Int64($0.startMinute) }, end: interval.map { Int64($0.endMinute) },
          zone: user.timeZone.map { Array($0.utf8) }, mutedUntil: user.mutedUntil.milliseconds))
    }
    for (place, id) in settings.conversationIDs.enumerated() {
      let group = Int64(place + 1)
      rows.groups.append(Array(id.text.utf8))
      for user in settings.members(of: id) {
        rows.members.append((group, Int64(user.rawValue) + 1))
        if let member = settings.member(user, of: id), member.level.isSet {
          rows.settings.append((Int64(user.rawValue) + 1, group, Int64(member.level.rawValue)))
        }
      }
    }
    rows.settings.sort { ($0.user, $0.group) < ($1.user, $1.group) }
    return rows
  }

  private static let tables = """
    PRAGMA cache_size = -262144;
    BEGIN;
    CREATE TABLE users (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
      is_declared INTEGER NOT NULL DEFAULT 0, level INTEGER NOT NULL DEFAULT 0,
      quiet_start INTEGER, quiet_end INTEGER, quiet_span INTEGER, quiet_level INTEGER,
      quiet_zone TEXT, time_zone TEXT, muted_until INTEGER NOT NULL DEFAULT 0, type_levels TEXT,
      push_when_desktop_online INTEGER NOT NULL DEFAULT 0,
      local_information_missing INTEGER NOT NULL DEFAULT 0,
      local_handled_by_app INTEGER NOT NULL DEFAULT 0,
      has_devices INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE conversations (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
      is_declared INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL DEFAULT 'group', parent BLOB,
      level INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE members (conversation INTEGER NOT NULL, user INTEGER NOT NULL,
      since INTEGER NOT NULL, PRIMARY KEY (conversation, user)) STRICT, WITHOUT ROWID;
    CREATE TABLE member_settings (user INTEGER NOT NULL, conversation INTEGER NOT NULL,
      level INTEGER NOT NULL, muted_until INTEGER NOT NULL,
      PRIMARY KEY (user, conversation)) STRICT, WITHOUT ROWID;
    """

  private func insert(_ rows: Rows, into path: String) throws {
    let database = PlainDatabase(path)
    defer { database.close() }
    database.run(Self.tables)
    var user = database.prepare(
      "INSERT INTO users VALUES (?, ?, 1, ?, ?, ?, NULL, NULL, NULL, ?, ?, NULL, 0, 0, 0, 0)")
    for (place, row) in rows.users.enumerated() {
      user.bind(Int64(place + 1))
      user.bind(blob: row.id)
      user.bind(row.level)
      user.bind(row.start)
      user.bind(row.end)
      user.bind(text: row.zone)
      user.bind(row.mutedUntil)
      user.step()
    }
    var group = database.prepare("INSERT INTO conversations VALUES (?, ?, 0, 'group', NULL, 0)")
    for (place, row) in rows.groups.enumerated() {
      group.bind(Int64(place + 1))
      group.bind(blob: row)
      group.step()
    }
    var member = database.prepare("INSERT INTO members VALUES (?, ?, 0)")
    for row in rows.members {
      member.bind(row.group)
      member.bind(row.user)
      member.step()
    }
    var setting = database.prepare("INSERT INTO member_settings VALUES (?, ?, ?, 0)")
    for row in rows.settings {
      setting.bind(row.user)
      setting.bind(row.group)
      setting.bind(row.level)
      setting.step()
    }
    for var statement in [user, group, member, setting] { statement.end() }
    database.run("COMMIT")
  }
}

/// SQLite as it is out of the box.
@safe private struct PlainDatabase {
  private let handle: OpaquePointer?

  init(_ path: String) {
    var handle: OpaquePointer?
    require(unsafe sqlite3_open(path, &handle) == SQLITE_OK, "a database is opened")
    unsafe self.handle = handle
  }

  func run(_ sql: String) {
    require(unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql) runs")
  }

  func prepare(_ sql: String) -> PlainStatement {
    var statement: OpaquePointer?
    require(unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, sql)
    return unsafe PlainStatement(handle: statement)
  }

  func close() { unsafe sqlite3_close(handle) }
}

@safe private struct PlainStatement {
  let handle: OpaquePointer?
  private var place: Int32 = 0
  /// SQLITE_TRANSIENT, which Swift does not import.
  private static var copied: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  init(handle: OpaquePointer?) { unsafe self.handle = handle }

  mutating func bind(_ number: Int64?) {
    place += 1
    if let number {
      unsafe sqlite3_bind_int64(handle, place, number)
    } else {
      unsafe sqlite3_bind_null(handle, place)
    }
  }

  mutating func bind(blob bytes: [UInt8]) {
    place += 1
    unsafe sqlite3_bind_blob(handle, place, bytes, Int32(bytes.count), Self.copied)
  }

  mutating func bind(text bytes: [UInt8]?) {
    guard let bytes else { return bind(nil) }
    place += 1
    unsafe bytes.withUnsafeBytes { bytes in
      _ = unsafe sqlite3_bind_text(
        handle, place, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
        Self.copied)
    }
  }

  mutating func step() {
    place = 0
    require(unsafe sqlite3_step(handle) == SQLITE_DONE, "a row is inserted")
    unsafe sqlite3_reset(handle)
  }

  mutating func end() { unsafe sqlite3_finalize(handle) }
}
