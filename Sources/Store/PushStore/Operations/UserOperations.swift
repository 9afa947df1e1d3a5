internal import Foundation
internal import GRDB
public import PushModel

/// What a user has set for one conversation, as a list of all of them tells it.
public struct ConversationLevel: Hashable, Sendable {
  /// The conversation's id.
  public let conversation: Identifier
  /// Its kind.
  public let kind: ConversationKind
  /// The own level, not the effective one (R-35).
  public let level: NotificationLevel
  /// Easemob's duration (E-6), or open rules' mute (O-10); zero for none.
  public let mutedUntil: Instant
  /// Whether it skips the user's mute and quiet windows (O-41).
  public let isImportant: Bool
  /// Whether the user follows the thread; nil where it is not written (O-1).
  public let isFollowing: Bool?
  /// RongCloud's own levels of an ultra group's channels (R-11).
  public let channels: [Identifier: NotificationLevel]

  /// An entry of the given parts; nothing is set by default.
  public init(
    conversation: Identifier, kind: ConversationKind, level: NotificationLevel = .unset,
    mutedUntil: Instant = .zero, isImportant: Bool = false, isFollowing: Bool? = nil,
    channels: [Identifier: NotificationLevel] = [:]
  ) {
    self.conversation = conversation
    self.kind = kind
    self.level = level
    self.mutedUntil = mutedUntil
    self.isImportant = isImportant
    self.isFollowing = isFollowing
    self.channels = channels
  }
}

extension StoreWrite {
  /// Writes the time zone of a user's window, nil for the app's (E-36, R-24). A user never declared
  /// is made.
  ///
  /// - Throws: ``StoreError/unknownTimeZone(_:)``.
  public mutating func setTimeZone(_ name: String?, of user: Identifier) throws {
    try check(zone: name)
    try change(user) { $0.timeZone = name }
  }
}

extension SettingsStore {
  /// All that a user has set for conversations, in the order in which those were first named; what
  /// inherits is left out, and so are chat rooms and threads of groups the user is no member of.
  ///
  /// For a device that starts: Easemob's `syncSilentModeConversationsFromServer`, RongCloud's
  /// status sync (R-36). Later changes are in ``announcements(to:on:after:limit:)``.
  ///
  /// - Parameters:
  ///   - now: leaves out durations that are over, and conversations of which nothing else is set;
  ///     nil leaves them in.
  ///   - conversation: the last one of the page before; nil for the first page.
  ///   - limit: so many conversations at most, at least 1.
  /// - Throws: ``StoreError/unknownConversation(_:)`` for a `conversation` that was never named.
  /// - Complexity: O(settings that the user has made), whatever the store holds.
  public func conversationLevels(
    of user: Identifier, at now: Instant? = nil, after conversation: Identifier? = nil,
    limit: Int = 1000
  ) throws -> [ConversationLevel] {
    precondition(limit > 0)
    return try read { queries in
      try queries.conversationLevels(
        of: user, at: now, behind: try queries.number(after: conversation), limit: limit)
    }
  }

  /// The conversations whose own level is none (R-35), in the order in which those were first
  /// named.
  ///
  /// RongCloud's `getBlockedConversationList`. Under Easemob they are what the old lists of groups
  /// and users without push held (E-15).
  ///
  /// - Parameters:
  ///   - kinds: only those of these types; nil for all.
  ///   - conversation: the last one of the page before; nil for the first page.
  ///   - limit: so many conversations at most, at least 1.
  /// - Throws: ``StoreError/unavailableKind(_:_:)``, or ``StoreError/unknownConversation(_:)`` for
  ///   a `conversation` that was never named.
  /// - Complexity: O(settings that the user has made), whatever the store holds.
  public func blockedConversations(
    of user: Identifier, kinds: [ConversationKind]? = nil, after conversation: Identifier? = nil,
    limit: Int = 1000
  ) throws -> [Identifier] {
    precondition(limit > 0)
    return try read { queries in
      for kind in kinds ?? [] { try queries.require(kind) }
      return try queries.blockedConversations(
        of: user, kinds: kinds ?? ConversationKind.allCases,
        behind: try queries.number(after: conversation), limit: limit)
    }
  }

  /// What one of a user's devices is notified of: changes of the user's settings behind a sequence
  /// number that another device made, or an administrator, the oldest first (E-13, R-36). After
  /// ``Change/user``, ``Change/member``, ``Change/imported`` and ``Change/advancedPush`` it reloads
  /// what it keeps.
  ///
  /// Easemob's *mute info changed*, RongCloud's push status sync.
  ///
  /// - Parameter device: the device that asks; nil for changes of all of them.
  /// - Throws: ``StoreError/unknownChange(_:_:)`` for a cursor of another feed.
  /// - Complexity: O(log feed + the user's entries behind `cursor`).
  public func announcements(
    to user: Identifier, on device: Identifier? = nil, after cursor: FeedCursor = .start,
    limit: Int = 1000
  ) throws -> [ChangeEvent] {
    precondition(limit > 0)
    return try read { queries in
      try queries.announcements(to: user, on: device, after: cursor, limit: limit)
    }
  }
}

// MARK: - Queries

extension SettingsQueries {
  /// The number of the last conversation of a page, behind which the next one begins.
  fileprivate func number(after conversation: Identifier?) throws -> Int64 {
    guard let conversation else { return 0 }
    let find = try db.cachedStatement(sql: "SELECT number FROM conversations WHERE id = ?")
    guard let number = try Int64.fetchOne(find, arguments: [conversation.bytes]) else {
      throw StoreError.unknownConversation(conversation)
    }
    return number
  }

  private func number(ofUser id: Identifier) throws -> Int64? {
    let find = try db.cachedStatement(sql: "SELECT number FROM users WHERE id = ?")
    return try Int64.fetchOne(find, arguments: [id.bytes])
  }

  /// A conversation that a user's record counts in: no chat room (E-1), and of a thread, the user
  /// is still a member of the parent.
  private static let counts = """
    c.kind <> 'room' AND (c.kind <> 'thread' OR EXISTS (
      SELECT 1 FROM conversations p JOIN members m ON m.conversation = p.number
      WHERE p.id = c.parent AND m.user = ?1))
    """

  /// The numbers of levels: the vendors', and those of other sets of classes.
  private static let isLevel = """
    (s.level BETWEEN 1 AND 5 OR s.level BETWEEN 513 AND 1022 AND s.level NOT IN (514, 516, 518))
    """

  fileprivate func conversationLevels(
    of user: Identifier, at now: Instant?, behind last: Int64, limit: Int
  ) throws -> [ConversationLevel] {
    guard let number = try number(ofUser: user) else { return [] }
    // A stored number that is no level counts as unset (R-8). Roles alone, which begin a text that has
    // no other fields, are not the user's.
    let find = try db.cachedStatement(
      sql: """
        SELECT c.number, c.id, c.kind, s.level, s.muted_until, s.open_fields
        FROM (
            SELECT conversation FROM member_settings WHERE user = ?1 AND conversation > ?2
            UNION
            SELECT conversation FROM member_channels WHERE user = ?1 AND conversation > ?2
          ) own
          JOIN conversations c ON c.number = own.conversation
          LEFT JOIN member_settings s ON s.user = ?1 AND s.conversation = own.conversation
        WHERE \(Self.counts) AND (\(Self.isLevel) OR s.muted_until > ?3
            OR s.open_fields < '{"roles' OR EXISTS (
            SELECT 1 FROM member_channels h
            WHERE h.user = ?1 AND h.conversation = c.number AND h.level BETWEEN 1 AND 5))
        ORDER BY own.conversation LIMIT ?4
        """)
    let found = try Row.fetchAll(
      find, arguments: [number, last, now?.milliseconds ?? 0, limit])
    let channels = try db.cachedStatement(
      sql: """
        SELECT channel, level FROM member_channels
        WHERE user = ? AND conversation = ? AND level BETWEEN 1 AND 5
        """)
    return try found.map { row in
      var levels: [Identifier: NotificationLevel] = [:]
      let conversation: Int64 = try get(row, 0, "conversations.number")
      for row in try Row.fetchAll(channels, arguments: [number, conversation]) {
        levels[try id(row, 0, "member_channels.channel")] = try level(
          row, 1, "member_channels.level")
      }
      let mutedUntil = try instant(
        self.find(row, 4, "member_settings.muted_until") ?? 0, "member_settings.muted_until")
      let fields: String? = try self.find(row, 5, "member_settings.open_fields")
      let more = try fields.map(memberFields)
      return ConversationLevel(
        conversation: try id(row, 1, "conversations.id"),
        kind: try known(
          ConversationKind(rawValue: get(row, 2, "conversations.kind")), "conversations.kind"),
        level: level(try self.find(row, 3, "member_settings.level") ?? 0),
        mutedUntil: mutedUntil > now ?? .zero ? mutedUntil : .zero,
        isImportant: more?.isImportant ?? false, isFollowing: more?.isFollowing, channels: levels)
    }
  }

  fileprivate func blockedConversations(
    of user: Identifier, kinds: [ConversationKind], behind last: Int64, limit: Int
  ) throws -> [Identifier] {
    guard let number = try number(ofUser: user) else { return [] }
    let names = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT c.id FROM member_settings s JOIN conversations c ON c.number = s.conversation
        WHERE s.user = ?1 AND s.conversation > ?2 AND s.level = ?3 AND \(Self.counts)
          AND c.kind IN (\(names))
        ORDER BY s.conversation LIMIT ?4
        """,
      arguments: [number, last, NotificationLevel.blocked.rawValue, limit])
    return try rows.map { try id($0, 0, "conversations.id") }
  }

  fileprivate func announcements(
    to user: Identifier, on device: Identifier?, after cursor: FeedCursor, limit: Int
  ) throws -> [ChangeEvent] {
    try check(cursor)
    let columns = Self.feedColumns
    let names = Change.allCases.filter(\.isAnnounced).map { "'\($0.rawValue)'" }
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT \(columns) FROM feed
        WHERE sequence > ?1 AND user = ?2 AND (?3 IS NULL OR device IS NOT ?3)
          AND change IN (\(names.joined(separator: ", ")))
        UNION ALL
        SELECT \(columns) FROM feed
        WHERE sequence > ?1 AND user IS NULL AND conversation IS NULL
          AND change IN ('\(Change.imported.rawValue)', '\(Change.advancedPush.rawValue)')
        ORDER BY sequence LIMIT ?4
        """, arguments: [cursor.sequence, user.bytes, device?.bytes, limit])
    return try rows.map(change)
  }
}
