internal import Foundation
internal import GRDB
internal import PushContent
internal import PushModel

/// How pushes look, as rows. It affects no decision, so the engine does not read it.
extension SettingsQueries {
  private func run(_ sql: String, _ values: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: values)
  }

  static func check(badge: UInt32) throws(SettingsWriteError) {
    guard badge <= RecipientDisplay.badgeLimit else { throw .badgeOutOfRange(Int64(badge)) }
  }

  func write(_ display: RecipientDisplay, ofUser number: Int64) throws {
    try run("DELETE FROM displays WHERE user = ?", [number])
    try run("DELETE FROM remarks WHERE user = ?", [number])
    guard display != RecipientDisplay() else { return }
    try run(
      "INSERT INTO displays VALUES (?, ?, ?, ?, ?, ?)",
      [
        number, display.name.map { Data($0.utf8) }, display.style?.rawValue, display.language?.text,
        display.template,
        Int64(display.offlineMessages),
      ])
    for (other, remark) in display.remarks {
      try run("INSERT INTO remarks VALUES (?, ?, ?)", [number, other.bytes, Data(remark.utf8)])
    }
  }

  func writeNickname(
    _ nickname: String?, ofUser user: Int64, in conversation: Int64
  ) throws {
    try run("DELETE FROM nicknames WHERE conversation = ? AND user = ?", [conversation, user])
    guard let nickname else { return }
    try run("INSERT INTO nicknames VALUES (?, ?, ?)", [conversation, user, Data(nickname.utf8)])
  }

  func writeName(_ name: String?, ofConversation number: Int64) throws {
    try run("DELETE FROM conversation_names WHERE conversation = ?", [number])
    guard let name else { return }
    try run("INSERT INTO conversation_names VALUES (?, ?)", [number, Data(name.utf8)])
  }

  /// What a user has set for how pushes look.
  func display(of id: Identifier) throws -> RecipientDisplay {
    let find = try db.cachedStatement(
      sql: """
        SELECT d.name, d.style, d.language, d.template, d.offline_messages
        FROM displays d JOIN users u ON u.number = d.user WHERE u.id = ?
        """)
    guard let row = try Row.fetchOne(find, arguments: [id.bytes]) else { return RecipientDisplay() }
    var display = try self.display(row, from: 0)
    let remarks = try db.cachedStatement(
      sql: """
        SELECT r.other, r.remark FROM remarks r JOIN users u ON u.number = r.user WHERE u.id = ?
        """)
    for row in try Row.fetchAll(remarks, arguments: [id.bytes]) {
      display.remarks[try self.id(row, 0, "remarks.other")] = try self.id(row, 1, "remarks.remark")
        .text
    }
    return display
  }

  private func display(_ row: Row, from first: Int) throws -> RecipientDisplay {
    var display = RecipientDisplay()
    display.name = try findID(row, first, "displays.name")?.text
    if let style: String = try find(row, first + 1, "displays.style") {
      display.style = try known(DisplayStyle(rawValue: style), "displays.style")
    }
    if let language: String = try find(row, first + 2, "displays.language") {
      display.language = try known(LanguageTag(language), "displays.language")
    }
    display.template = try find(row, first + 3, "displays.template")
    let count: Int64 = try get(row, first + 4, "displays.offline_messages")
    display.offlineMessages = try known(UInt32(exactly: count), "displays.offline_messages")
    return display
  }

  /// Everything that the words of a push depend on.
  func contentDirectory() throws -> ContentDirectory {
    var directory = ContentDirectory()
    // Nearly all conversations are groups without a name, which a directory has no entries of.
    let conversations = try Row.fetchCursor(
      db,
      sql: """
        SELECT c.id, c.kind, c.parent,
          (SELECT name FROM conversation_names WHERE conversation = c.number)
        FROM conversations c
        WHERE c.number IN (
          SELECT number FROM conversations WHERE kind <> 'group'
          UNION SELECT number FROM conversations WHERE parent IS NOT NULL
          UNION SELECT conversation FROM conversation_names
        ) ORDER BY c.number
        """)
    while let row = try conversations.next() {
      directory.setConversation(
        try id(row, 0, "conversations.id"),
        kind: try known(
          ConversationKind(rawValue: get(row, 1, "conversations.kind")), "conversations.kind"),
        name: try findID(row, 3, "conversation_names.name")?.text,
        parent: try findID(row, 2, "conversations.parent"))
    }
    var remarks: [Int64: [Identifier: String]] = [:]
    let found = try Row.fetchCursor(db, sql: "SELECT user, other, remark FROM remarks")
    while let row = try found.next() {
      let user: Int64 = try get(row, 0, "remarks.user")
      remarks[user, default: [:]][try id(row, 1, "remarks.other")] = try id(
        row, 2, "remarks.remark"
      ).text
    }
    let displays = try Row.fetchCursor(
      db,
      sql: """
        SELECT u.number, u.id, d.name, d.style, d.language, d.template, d.offline_messages
        FROM displays d JOIN users u ON u.number = d.user ORDER BY u.number
        """)
    while let row = try displays.next() {
      var display = try self.display(row, from: 2)
      display.remarks = remarks[try get(row, 0, "users.number")] ?? [:]
      directory.setUser(try id(row, 1, "users.id"), display)
    }
    try forEachAddressed { directory.setDevices($1, of: $0) }
    let nicknames = try Row.fetchCursor(
      db,
      sql: """
        SELECT u.id, c.id, n.nickname FROM nicknames n JOIN users u ON u.number = n.user
          JOIN conversations c ON c.number = n.conversation
        """)
    while let row = try nicknames.next() {
      directory.setNickname(
        try id(row, 2, "nicknames.nickname").text, of: try id(row, 0, "users.id"),
        in: try id(row, 1, "conversations.id"))
    }
    return directory
  }

  /// Replaces how pushes look for every record of an import, which replaces whole records; partial
  /// ones say nothing of it.
  func write(
    _ content: ContentDirectory, for settings: some SettingsRecords,
    isPartial: (UserIndex) -> Bool, isPartialMember: (UserIndex, Identifier) -> Bool
  ) throws {
    let wasEmpty = try
      !(Bool.fetchOne(
        db,
        sql: """
          SELECT EXISTS (SELECT 1 FROM displays) OR EXISTS (SELECT 1 FROM nicknames)
            OR EXISTS (SELECT 1 FROM conversation_names)
          """) ?? false)
    let users = wasEmpty && content.count == 0 ? 0 : UInt32(settings.userCount)
    for ordinal in 0..<users
    where settings.isDeclared(UserIndex(ordinal)) && !isPartial(UserIndex(ordinal)) {
      let id = settings.id(of: UserIndex(ordinal))
      let display = content.user(id)
      if wasEmpty, display == RecipientDisplay() { continue }
      try Self.check(badge: display.offlineMessages)
      try write(display, ofUser: try number(user: id))
    }
    for id in settings.conversationIDs {
      let name = content.name(of: id)
      if settings.isDeclared(id), !wasEmpty || name != nil {
        try writeName(name, ofConversation: try number(conversation: id))
      }
      if wasEmpty, !content.hasNicknames(in: id) { continue }
      try settings.forEachMember(of: id) { index, _ in
        if isPartialMember(index, id) { return }
        let user = settings.id(of: index)
        let nickname = content.nickname(of: user, in: id)
        if wasEmpty, nickname == nil { return }
        try writeNickname(
          nickname, ofUser: try number(user: user), in: try number(conversation: id))
      }
    }
  }

  /// Display settings that no file can represent, of at most so many users.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` when how pushes look cannot be read.
  func displaysBeyondLimits(_ count: Int) throws -> [String] {
    _ = try contentDirectory()
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT u.id, d.offline_messages FROM displays d JOIN users u ON u.number = d.user
        WHERE d.offline_messages > ? ORDER BY u.number LIMIT ?
        """, arguments: [Int64(RecipientDisplay.badgeLimit), count])
    return try rows.map { row in
      let badge: Int64 = try get(row, 1, "displays.offline_messages")
      let id = try id(row, 0, "users.id")
      return "user \"\(id)\": \(SettingsWriteError.badgeOutOfRange(badge))"
    }
  }
}
