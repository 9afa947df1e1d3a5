internal import Foundation
internal import GRDB
internal import PushModel

extension SettingsQueries {
  private func run(cached sql: String, _ numbers: Int64...) throws {
    var statement = try RepeatedStatement(cached: sql, db)
    for number in numbers { try statement.bind(number) }
    try statement.run()
  }

  private func run(_ sql: String, _ values: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: values)
  }

  // MARK: Conversations

  func write(_ id: Identifier, _ conversation: ConversationSettings) throws {
    let number = try number(conversation: id)
    if let parent = conversation.parent { _ = try self.number(conversation: parent) }
    try run(
      "UPDATE conversations SET is_declared = 1, kind = ?, parent = ?, level = ? WHERE number = ?",
      [
        conversation.kind.rawValue, conversation.parent?.bytes, conversation.level.rawValue, number,
      ])
    try run("DELETE FROM channels WHERE conversation = ?", [number])
    for (channel, level) in conversation.channels {
      try run(
        "INSERT INTO channels VALUES (?, ?, ?)", [number, channel.bytes, level.rawValue])
    }
  }

  private static let conversationColumns = "number, id, is_declared, kind, parent, level"

  /// Calls `body` with every conversation in the order of numbers; nil for one that is only named
  /// by members or as a parent.
  func forEachConversation(
    _ body: (Int64, Identifier, ConversationSettings?, RecordState) throws -> Void
  ) throws {
    var channels = try RepeatedStatement(
      db, "SELECT conversation, channel, level FROM channels ORDER BY conversation, channel")
    var channel = try channels.next()
    var conversations = try RepeatedStatement(
      db, "SELECT \(Self.conversationColumns) FROM conversations ORDER BY number")
    while let row = try conversations.next() {
      let number = try number(row, 0, "conversations.number")
      var levels: [Identifier: NotificationLevel] = [:]
      while let next = channel, try self.number(next, 0, "channels.conversation") == number {
        levels[try id(next, 1, "channels.channel")] = try level(next, 2, "channels.level")
        channel = try channels.next()
      }
      try body(
        number, try id(row, 1, "conversations.id"), try conversation(row, levels),
        try state(row, 2, "conversations.is_declared"))
    }
    if channel != nil {
      throw StoreError.damaged(path, reason: "channels.conversation names nothing")
    }
  }

  func conversation(_ id: Identifier) throws -> ConversationSettings? {
    var find = try RepeatedStatement(
      cached: "SELECT \(Self.conversationColumns) FROM conversations WHERE id = ?", db)
    try find.bind(id)
    return try find.first { row in
      var levels: [Identifier: NotificationLevel] = [:]
      var channels = try RepeatedStatement(
        cached: "SELECT channel, level FROM channels WHERE conversation = ?", db)
      try channels.bind(try number(row, 0, "conversations.number"))
      try channels.forEach {
        levels[try self.id($0, 0, "channels.channel")] = try level($0, 1, "channels.level")
      }
      return try conversation(row, levels)
    } ?? nil
  }

  private func conversation(
    _ row: StatementColumns, _ channels: [Identifier: NotificationLevel]
  ) throws -> ConversationSettings? {
    guard try state(row, 2, "conversations.is_declared") == .declared else { return nil }
    return ConversationSettings(
      kind: try kind(row, 3), parent: try parent(row, 4),
      level: try level(row, 5, "conversations.level"), channels: channels)
  }

  // MARK: Members

  /// - Parameter stored: the membership as it is stored, whose rows are written only where they
  ///   differ; nil if that is not known.
  func write(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings,
    replacing stored: StoredMember? = nil
  ) throws {
    let numbers =
      try stored?.numbers
      ?? (user: number(user: user), conversation: number(conversation: conversation))
    // A page that does not change is not written.
    if stored?.settings.since != member.since {
      try run(
        cached: """
          INSERT INTO members (conversation, user, since) VALUES (?, ?, ?)
            ON CONFLICT (conversation, user) DO UPDATE SET since = excluded.since WHERE since <> excluded.since
          """, numbers.conversation, numbers.user, member.since.milliseconds)
    }
    let openFields = try StoredMemberFields.text(of: member)
    if member.level.isSet || member.mutedUntil > .zero || openFields != nil {
      var insert = try RepeatedStatement(cached: Self.insertMemberSettings, db)
      try insert.bind(numbers.user, numbers.conversation, member, openFields)
      try insert.run()
    } else {
      try run(
        cached: "DELETE FROM member_settings WHERE user = ? AND conversation = ?", numbers.user,
        numbers.conversation)
    }
    if let stored, stored.settings.channels == member.channels { return }
    try run(
      cached: "DELETE FROM member_channels WHERE user = ? AND conversation = ?", numbers.user,
      numbers.conversation)
    for (channel, level) in member.channels {
      try run(
        "INSERT INTO member_channels VALUES (?, ?, ?, ?)",
        [numbers.user, numbers.conversation, channel.bytes, level.rawValue])
    }
  }

  /// Takes what ``RepeatedStatement/bind(_:_:_:_:)`` binds.
  static let insertMemberSettings = """
    INSERT OR REPLACE INTO member_settings (user, conversation, level, muted_until, open_fields)
      VALUES (?, ?, ?, ?, ?)
    """

  func remove(_ user: Identifier, of conversation: Identifier) throws {
    let numbers = (try number(user: user), try number(conversation: conversation))
    for table in ["members", "member_settings", "member_channels", "nicknames"] {
      try run(
        "DELETE FROM \(table) WHERE user = ? AND conversation = ?", [numbers.0, numbers.1])
    }
  }

  func member(_ user: Identifier, of conversation: Identifier) throws -> MemberSettings? {
    try storedMember(user, of: conversation)?.settings
  }

  /// Calls `body` with every member, by conversation and user: the numbers, and what is set.
  ///
  /// - Parameter settings: all rows of member_settings.
  /// - Returns: how many of these belong to no member; they have no effect.
  /// - Complexity: O(members), each table once in the order of its key.
  @discardableResult func forEachMember(
    _ settings: consuming MemberSettingRows,
    _ body: (_ user: Int64, _ conversation: Int64, MemberSettings) throws -> Void
  ) throws -> Int {
    var channels = try RepeatedStatement(
      db,
      """
      SELECT user, conversation, channel, level FROM member_channels
        ORDER BY conversation, user, channel
      """)
    var channel = try channels.next()
    var settings = settings
    var members = try RepeatedStatement(
      db, "SELECT conversation, user, since FROM members ORDER BY conversation, user")
    while let row = try members.next() {
      let conversation = try number(row, 0, "members.conversation")
      let user = try number(row, 1, "members.user")
      var member = settings.next(user, conversation)
      member.since = try instant(row, 2, "members.since")
      while let next = channel, try number(next, 0, "member_channels.user") == user,
        try number(next, 1, "member_channels.conversation") == conversation
      {
        member.channels[try id(next, 2, "member_channels.channel")] = try level(
          next, 3, "member_channels.level")
        channel = try channels.next()
      }
      try body(user, conversation, member)
    }
    if channel != nil {
      throw StoreError.damaged(path, reason: "member_channels.user names no member")
    }
    return settings.strayCount
  }
}

extension RepeatedStatement {
  /// Binds a row of member_settings.
  mutating func bind(
    _ user: Int64, _ conversation: Int64, _ member: borrowing MemberSettings, _ openFields: String?
  ) throws {
    try bind(user)
    try bind(conversation)
    try bind(Int64(member.level.rawValue))
    try bind(member.mutedUntil.milliseconds)
    try bind(text: openFields)
  }
}
