internal import GRDB
internal import PushModel

/// A membership as it is stored, with what a write of it needs to know of its conversation.
struct StoredMember {
  /// Those of the ids. What has a membership was not removed.
  let numbers: (user: Int64, conversation: Int64)
  let kind: ConversationKind
  let parent: Identifier?
  var settings: MemberSettings
}

extension SettingsQueries {
  /// A membership with all that is set for it, by one statement; nil for none.
  func storedMember(
    _ user: Identifier, of conversation: Identifier
  ) throws -> StoredMember? {
    var find = try RepeatedStatement(cached: Self.findMember, db)
    try find.bind(user)
    try find.bind(conversation)
    var found: StoredMember?
    try find.forEach { row in
      var member = try found ?? storedMember(row)
      if !row.isNull(7) {
        let channel = Identifier(try known(row.text(7), "member_channels.channel"))
        member.settings.channels[channel] = level(
          try known(row.number(8), "member_channels.level"))
      }
      found = member
    }
    return found
  }

  /// A row for each channel that the user has set, and one if there is none.
  private static let findMember = """
    SELECT m.user, m.conversation, c.kind, c.parent, m.since, s.level, s.muted_until,
      h.channel, h.level, s.open_fields
    FROM members m
      JOIN users u ON u.number = m.user JOIN conversations c ON c.number = m.conversation
      LEFT JOIN member_settings s ON s.user = m.user AND s.conversation = m.conversation
      LEFT JOIN member_channels h ON h.user = m.user AND h.conversation = m.conversation
    WHERE u.id = ? AND c.id = ?
    """

  private func storedMember(_ row: StatementColumns) throws -> StoredMember {
    var settings =
      try findText(row, 9, "member_settings.open_fields").map(memberFields)
      ?? MemberSettings()
    if !row.isNull(5) {
      settings.level = level(try known(row.number(5), "member_settings.level"))
      settings.mutedUntil = try instant(row, 6, "member_settings.muted_until")
    }
    settings.since = try instant(row, 4, "members.since")
    return StoredMember(
      numbers: (
        user: try known(row.number(0), "members.user"),
        conversation: try known(row.number(1), "members.conversation")
      ),
      kind: try kind(row, 2), parent: try parent(row, 3), settings: settings)
  }

  func kind(_ row: StatementColumns, _ index: Int32) throws -> ConversationKind {
    try known(
      row.text(index).flatMap { ConversationKind(rawValue: $0) }, "conversations.kind")
  }

  func parent(_ row: StatementColumns, _ index: Int32) throws -> Identifier? {
    row.isNull(index)
      ? nil : Identifier(try known(row.text(index), "conversations.parent"))
  }
}

/// Whether a row of an id has a record.
enum RecordState: Int64 {
  /// The id was only named, by a membership or as a parent.
  case named
  case declared
  /// What it was of is removed: nothing names it.
  case removed
}
