internal import GRDB

/// The tables of a store.
///
/// Ids are BLOBs of their UTF-8: compared byte by byte, and free to hold a NUL. Users and
/// conversations have numbers in the order in which their ids first appeared, which is the order in
/// which decisions are written. `is_declared` is a ``RecordState``. Names and nicknames are BLOBs of
/// UTF-8 too.
///
/// `app.quiet` and `open_fields` are JSON (``StoredMemberFields`` and others).
///
/// Times are milliseconds since 1970; levels `NotificationLevel.rawValue`; kinds
/// `ConversationKind.rawValue`.
enum Schema {
  /// "PFck": what SQLite calls the application's id.
  static let applicationID: Int32 = 0x5046_636b

  /// The number of the format, SQLite's `user_version`. Whatever changes the tables, the pages or
  /// what a value means gives it the next one: a store of another format is refused.
  static let format: Int32 = 4

  /// Makes the tables of a new store, and says which format they are of, in the transaction that is
  /// open.
  static func create(_ db: Database) throws { try db.execute(sql: script) }

  /// A compaction of the feed removes these and makes them again.
  static let feedIndices = """
    CREATE INDEX IF NOT EXISTS feed_by_user ON feed (user) WHERE user IS NOT NULL;
    CREATE INDEX IF NOT EXISTS feed_for_all ON feed (sequence)
      WHERE user IS NULL AND conversation IS NULL;
    """

  /// `feed.token` is a random number for each change. After an old copy of the store was restored,
  /// new changes reuse sequence numbers; the token tells a snapshot and the followers of the feed
  /// that the change is another one. `feed.old` and `feed.new` are words (``ChangedValues``). `sums`
  /// has rows in a backup only.
  private static let script = """
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
      message_notification INTEGER NOT NULL,
      quiet TEXT
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
      has_devices INTEGER NOT NULL DEFAULT 0,
      open_fields TEXT
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
      seen_at INTEGER,
      platform TEXT,
      token TEXT,
      fid TEXT,
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
      open_fields TEXT,
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
      device BLOB,
      token INTEGER NOT NULL,
      old TEXT,
      new TEXT
    ) STRICT;
    CREATE TABLE retention (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      sequence INTEGER NOT NULL,
      token INTEGER NOT NULL,
      keep_milliseconds INTEGER,
      keep_entries INTEGER,
      is_erasing INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE sums (
      name TEXT PRIMARY KEY,
      rows INTEGER NOT NULL,
      sum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE displays (
      user INTEGER PRIMARY KEY,
      name BLOB,
      style TEXT,
      language TEXT,
      template TEXT,
      offline_messages INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE remarks (
      user INTEGER NOT NULL,
      other BLOB NOT NULL,
      remark BLOB NOT NULL,
      PRIMARY KEY (user, other)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE nicknames (
      conversation INTEGER NOT NULL,
      user INTEGER NOT NULL,
      nickname BLOB NOT NULL,
      PRIMARY KEY (conversation, user)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE conversation_names (
      conversation INTEGER PRIMARY KEY,
      name BLOB NOT NULL
    ) STRICT;
    CREATE TABLE templates (
      name TEXT PRIMARY KEY,
      title BLOB NOT NULL,
      content BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- By which a group's threads are found.
    CREATE INDEX threads ON conversations (parent) WHERE parent IS NOT NULL;
    -- Whether there are any is asked by imports.
    CREATE INDEX removed_users ON users (number) WHERE is_declared = 2;
    CREATE INDEX removed_conversations ON conversations (number) WHERE is_declared = 2;
    -- By which conversations that are no groups are found.
    CREATE INDEX kinds ON conversations (kind) WHERE kind <> 'group';
    \(feedIndices)
    INSERT INTO store VALUES (1, randomblob(16));
    INSERT INTO retention VALUES (1, 0, 0, NULL, NULL, 0);
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(format);
    """
}
