internal import GRDB
internal import PushModel

/// What records that are only partial are completed with.
extension SettingsQueries: StoredRecords {
  func hasUsers(withDevicesOr fields: VendorFields) throws -> Bool {
    let columns = [
      (VendorFields.kindLevels, "type_levels IS NOT NULL"),
      (.pushWhenDesktopOnline, "push_when_desktop_online"),
      (.localNotification, "local_information_missing OR local_handled_by_app"),
      (UserSettings.openFields, "open_fields IS NOT NULL"),
    ]
    let condition = columns.reduce(into: "has_devices") { condition, column in
      if !column.0.isDisjoint(with: fields) { condition += " OR \(column.1)" }
    }
    return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM users WHERE \(condition))")
      ?? false
  }

  func forEachChannelLevel(
    _ body: (Identifier, Identifier, Identifier, NotificationLevel) throws -> Void
  ) throws {
    let channels = try Row.fetchCursor(
      db,
      sql: """
        SELECT u.id, c.id, s.channel, s.level FROM member_channels s
          JOIN users u ON u.number = s.user JOIN conversations c ON c.number = s.conversation
        """)
    while let row = try channels.next() {
      try body(
        id(row, 0, "users.id"), id(row, 1, "conversations.id"),
        id(row, 2, "member_channels.channel"), level(row, 3, "member_channels.level"))
    }
  }
}
