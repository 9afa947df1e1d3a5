internal import Foundation
internal import GRDB
internal import PushModel

/// Checks the rules between the records of an import and those that the store had. The rules
/// between the import's own records are checked before.
///
/// Only the conversations that the import names are read.
struct ImportValidator {
  let queries: SettingsQueries
  let settings: FanoutSettings

  /// - Throws: ``StoreError/contradiction(_:)`` for the first rule that is broken.
  /// - Complexity: O(conversations of the import + records of its threads); where the store has
  ///   levels of channels or fields of open rules, O(settings of members) as well.
  func check() throws {
    let fields = rules.fields
    let hasThreads =
      try fields.contains(.threadWithoutParent) || exists("conversations WHERE parent IS NOT NULL")
    let hasChannels = try exists("member_channels")
    let hasOpenFields =
      try fields.contains(.follow) && exists("member_settings WHERE open_fields IS NOT NULL")
    guard hasThreads || hasChannels || hasOpenFields else { return }
    let find = try queries.db.cachedStatement(
      sql: "SELECT number, kind, parent FROM conversations WHERE id = ?")
    var others: [Int64: StoredConversation] = [:]
    var named: [Int64: StoredConversation] = [:]
    for id in settings.conversationIDs {
      guard let row = try Row.fetchOne(find, arguments: [id.bytes]) else { continue }
      let conversation = StoredConversation(
        id: id, number: try queries.get(row, 0, "conversations.number"),
        kind: try queries.known(
          ConversationKind(rawValue: queries.get(row, 1, "conversations.kind")),
          "conversations.kind"))
      if hasThreads {
        if conversation.kind != .group, let thread = try queries.threads(of: id).first {
          try refuse(Rules.problem(ofThread: thread, below: id, conversation.kind, rules))
        }
        let parent = try queries.findID(row, 2, "conversations.parent")
        if conversation.kind == .thread { try check(thread: conversation, parent) }
      }
      if hasOpenFields { named[conversation.number] = conversation }
      if hasChannels, conversation.kind != .ultraGroup {
        others[conversation.number] = conversation
      }
    }
    if !others.isEmpty { try checkChannels(others) }
    if !named.isEmpty { try checkOpenFields(named) }
  }

  private struct StoredConversation {
    let id: Identifier
    let number: Int64
    let kind: ConversationKind
  }

  private func exists(_ from: String) throws -> Bool {
    try Bool.fetchOne(queries.db, sql: "SELECT EXISTS (SELECT 1 FROM \(from))") ?? false
  }

  private typealias Rules = CrossRecordRules<Self>

  /// - Throws: the contradiction, in words.
  private func refuse(_ wrong: RecordContradiction?) throws {
    if let wrong { throw StoreError.contradiction("\(wrong)") }
  }

  /// Checks a thread against its parent, and its records against the parent's members. Reads only
  /// records with a since, and those of users who are not members of the parent.
  private func check(thread: StoredConversation, _ parent: Identifier?) throws {
    let conversation = ConversationSettings(kind: thread.kind, parent: parent)
    try refuse(Rules(self).problem(of: thread.id, conversation))
    let find = try queries.db.cachedStatement(
      sql: """
        SELECT u.id, m.since FROM members m JOIN users u ON u.number = m.user
        WHERE m.conversation = ?1 AND (m.since > 0 OR NOT EXISTS
          (SELECT 1 FROM members p WHERE p.conversation = ?2 AND p.user = m.user)) LIMIT 1
        """)
    let numbers: StatementArguments = [
      thread.number, try parent.map { try queries.number(conversation: $0) },
    ]
    guard let row = try Row.fetchOne(find, arguments: numbers) else { return }
    let member = MemberSettings(since: try queries.instant(row, 1, "members.since"))
    try refuse(
      Rules(self).problem(of: queries.id(row, 0, "users.id"), in: thread.id, conversation, member))
  }

  /// Who follows a conversation that is now no thread, or has roles in one that is.
  private func checkOpenFields(_ named: [Int64: StoredConversation]) throws {
    let members = try Row.fetchCursor(
      queries.db,
      sql: """
        SELECT s.conversation, u.id, s.open_fields
          FROM member_settings s JOIN users u ON u.number = s.user
          WHERE s.open_fields IS NOT NULL
        """)
    while let row = try members.next() {
      guard let conversation = named[try queries.get(row, 0, "member_settings.conversation")]
      else {
        continue
      }
      try refuse(
        Rules.threadProblem(
          of: queries.id(row, 1, "users.id"), in: conversation.id, conversation.kind,
          queries.memberFields(queries.get(row, 2, "member_settings.open_fields"))))
    }
  }

  private func checkChannels(_ others: [Int64: StoredConversation]) throws {
    let channels = try Row.fetchCursor(
      queries.db,
      sql: """
        SELECT s.conversation, u.id FROM member_channels s JOIN users u ON u.number = s.user
        """)
    while let row = try channels.next() {
      guard let conversation = others[try queries.get(row, 0, "member_channels.conversation")]
      else {
        continue
      }
      try refuse(
        Rules.channelProblem(
          of: queries.id(row, 1, "users.id"), in: conversation.id, conversation.kind,
          MemberSettings(),
          PresentFields(channels: true)))
    }
  }
}

/// What is stored with the import.
extension ImportValidator: RecordLookup {
  typealias LookupFailure = any Error

  var rules: RuleSet { settings.app.rules }

  func conversation(_ id: Identifier) throws -> ConversationSettings? {
    try queries.kind(of: id).map { ConversationSettings(kind: $0.kind, parent: $0.parent) }
  }

  func isMember(_ user: Identifier, of conversation: Identifier) throws -> Bool {
    try queries.member(user, of: conversation) != nil
  }
}

extension SettingsQueries {
  /// The threads of a group, in the order in which they were first named.
  ///
  /// - Complexity: O(log conversations + threads).
  func threads(of parent: Identifier) throws -> [Identifier] {
    let find = try db.cachedStatement(
      sql: "SELECT id FROM conversations WHERE parent = ? ORDER BY number")
    return try Row.fetchAll(find, arguments: [parent.bytes]).map {
      try id($0, 0, "conversations.id")
    }
  }
}
