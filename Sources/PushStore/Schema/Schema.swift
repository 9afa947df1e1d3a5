internal import Foundation
internal import GRDB

/// The tables of a store.
///
/// Ids are BLOBs of their UTF-8: compared byte by byte, and free to hold a NUL. Users and
/// conversations have numbers in the order in which their ids first appeared, which is the order in
/// which decisions are written. `is_declared` is a ``RecordState``.
enum Schema {
  /// "PFck": what SQLite calls the application's id, of a store whose pages have checksums.
  static let applicationID: Int32 = 0x5046_636b
  /// "PFst": of stores that earlier versions made, whose pages have none. Those versions must not
  /// write the others.
  static let plainID: Int32 = 0x5046_7374

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(sql: first)
      // With the tables, or a store whose maker was stopped in between would be taken for foreign.
      try db.execute(sql: "PRAGMA application_id = \(applicationID)")
      let identity = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) })
      try db.execute(
        sql: "INSERT INTO store (one, identity) VALUES (1, ?)", arguments: [identity])
    }
    migrator.registerMigration("displays") { db in try db.execute(sql: displays) }
    migrator.registerMigration("tokens") { db in try db.execute(sql: tokens) }
    // By which a group's threads are found; a store without it is only slower.
    migrator.registerMigration("threads") { db in
      try db.execute(
        sql: "CREATE INDEX threads ON conversations (parent) WHERE parent IS NOT NULL")
    }
    // Entries of before there were tokens get theirs, by which cursors are checked.
    migrator.registerMigration("cursors") { db in
      try db.execute(sql: "UPDATE feed SET token = random() WHERE token = 0")
    }
    migrator.registerMigration("operation") { db in
      for sql in [retention, feedIndices, sums, templates] { try db.execute(sql: sql) }
    }
    // By which conversations that are no groups are found; a store without it is only slower.
    migrator.registerMigration("kinds") { db in
      try db.execute(sql: "CREATE INDEX kinds ON conversations (kind) WHERE kind <> 'group'")
    }
    return migrator
  }

  /// A random number for each change. After an old copy of the store was restored, new changes
  /// reuse sequence numbers; the token tells a snapshot and the followers of the feed that the
  /// change is another one.
  private static let tokens = "ALTER TABLE feed ADD COLUMN token INTEGER NOT NULL DEFAULT 0"

  /// Times are milliseconds since 1970; levels `NotificationLevel.rawValue`; kinds
  /// `ConversationKind.rawValue`.
  private static let first = """
    CREATE TABLE store (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      identity BLOB NOT NULL
    ) STRICT;
    CREATE TABLE app (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      rules TEXT NOT NULL,
      time_zone TEXT NOT NULL,
      device_policy TEXT NOT NULL,
      advanced_push INTEGER NOT NULL,
      level INTEGER NOT NULL,
      message_notification INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE options (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE users (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      is_declared INTEGER NOT NULL DEFAULT 0,
      level INTEGER NOT NULL DEFAULT 0,
      quiet_start INTEGER,
      quiet_end INTEGER,
      quiet_span INTEGER,
      quiet_level INTEGER,
      quiet_zone TEXT,
      time_zone TEXT,
      muted_until INTEGER NOT NULL DEFAULT 0,
      type_levels TEXT,
      push_when_desktop_online INTEGER NOT NULL DEFAULT 0,
      local_information_missing INTEGER NOT NULL DEFAULT 0,
      local_handled_by_app INTEGER NOT NULL DEFAULT 0,
      has_devices INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE devices (
      user INTEGER NOT NULL,
      position INTEGER NOT NULL,
      id BLOB NOT NULL,
      kind TEXT NOT NULL,
      state TEXT NOT NULL,
      has_token INTEGER NOT NULL,
      notifier BLOB,
      background_since INTEGER,
      PRIMARY KEY (user, position)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE conversations (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      is_declared INTEGER NOT NULL DEFAULT 0,
      kind TEXT NOT NULL DEFAULT 'group',
      parent BLOB,
      level INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE channels (
      conversation INTEGER NOT NULL,
      channel BLOB NOT NULL,
      level INTEGER NOT NULL,
      PRIMARY KEY (conversation, channel)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE members (
      conversation INTEGER NOT NULL,
      user INTEGER NOT NULL,
      since INTEGER NOT NULL,
      PRIMARY KEY (conversation, user)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE member_settings (
      user INTEGER NOT NULL,
      conversation INTEGER NOT NULL,
      level INTEGER NOT NULL,
      muted_until INTEGER NOT NULL,
      PRIMARY KEY (user, conversation)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE member_channels (
      user INTEGER NOT NULL,
      conversation INTEGER NOT NULL,
      channel BLOB NOT NULL,
      level INTEGER NOT NULL,
      PRIMARY KEY (user, conversation, channel)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE feed (
      sequence INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      change TEXT NOT NULL,
      user BLOB,
      conversation BLOB,
      channel BLOB,
      device BLOB
    ) STRICT;
    CREATE INDEX feed_by_user ON feed (user) WHERE user IS NOT NULL;
    CREATE INDEX feed_for_all ON feed (sequence) WHERE user IS NULL AND conversation IS NULL;
    """
}
