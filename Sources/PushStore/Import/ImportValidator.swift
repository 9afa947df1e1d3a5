internal import Foundation
internal import GRDB
internal import PushRules

/// Judges what an import has brought together with what the store had: files are judged by
/// themselves before, and know nothing of it.
///
/// Only the conversations that the import names are looked at.
struct ImportRelations {
  let rows: Rows
  let settings: FanoutSettings

  /// - Throws: ``StoreError/contradiction(_:)`` for the first that files may not say.
  /// - Complexity: O(conversations of the import + records of its threads); where the store has
  ///   levels of channels, O(those) as well.
  func check() throws {
    let hasThreads = try exists("conversations WHERE parent IS NOT NULL")
    let hasChannels = try exists("member_channels")
    guard hasThreads || hasChannels else { return }
    let find = try rows.db.cachedStatement(
      sql: "SELECT number, kind, parent FROM conversations WHERE id = ?")
    var others: [Int64: Place] = [:]
    for id in settings.conversationIDs {
      guard let row = try Row.fetchOne(find, arguments: [id.bytes]) else { continue }
      let place = Place(
        id: id, number: try rows.get(row, 0, "conversations.number"),
        kind: try rows.known(
          ConversationKind(rawValue: rows.get(row, 1, "conversations.kind")), "conversations.kind"))
      if hasThreads {
        if place.kind != .group, let thread = try rows.threads(of: id).first {
          try refuse(Rules.problem(ofThread: thread, below: id, place.kind))
        }
        let parent = try rows.findID(row, 2, "conversations.parent")
        if place.kind == .thread, let parent { try check(thread: place, parent) }
      }
      if hasChannels, place.kind != .ultraGroup { others[place.number] = place }
    }
    if !others.isEmpty { try checkChannels(others) }
  }

  private struct Place {
    let id: Identifier
    let number: Int64
    let kind: ConversationKind
  }

  private func exists(_ from: String) throws -> Bool {
    try Bool.fetchOne(rows.db, sql: "SELECT EXISTS (SELECT 1 FROM \(from))") ?? false
  }

  private typealias Rules = CrossRecordRules<Self>

  /// - Throws: the contradiction, in words.
  private func refuse(_ wrong: RecordContradiction?) throws {
    guard let wrong else { return }
    let reason =
      switch wrong {
      case .parentMissing(let thread, let parent):
        "thread \"\(thread)\" would have the parent \"\(parent)\", which is not there"
      case .parentNotGroup(let thread, let parent, let kind):
        "thread \"\(thread)\" would have the parent \"\(parent)\", which is a \(kind.rawValue)"
      case .channelsOutsideUltraGroup(let user, let id, let kind):
        "\"\(user)\" would have channels in \"\(id)\", which is a \(kind.rawValue)"
      case .sinceInThread(let user, let thread):
        "\"\(user)\" would have a since in thread \"\(thread)\""
      case .notInParent(let user, let thread, let parent):
        "\"\(user)\" would have settings in thread \"\(thread)\" but is not in \"\(parent)\""
      }
    throw StoreError.contradiction(reason)
  }

  /// Judges a thread beside its parent, and its records beside the parent's members: only those are
  /// read that have a since or nothing in the parent.
  private func check(thread: Place, _ parent: Identifier) throws {
    let conversation = ConversationSettings(kind: thread.kind, parent: parent)
    try refuse(Rules(self).problem(of: thread.id, conversation))
    let find = try rows.db.cachedStatement(
      sql: """
        SELECT u.id, m.since FROM members m JOIN users u ON u.number = m.user
        WHERE m.conversation = ?1 AND (m.since > 0 OR NOT EXISTS
          (SELECT 1 FROM members p WHERE p.conversation = ?2 AND p.user = m.user)) LIMIT 1
        """)
    let numbers: StatementArguments = [thread.number, try rows.number(conversation: parent)]
    guard let row = try Row.fetchOne(find, arguments: numbers) else { return }
    let member = MemberSettings(since: try rows.instant(row, 1, "members.since"))
    try refuse(
      Rules(self).problem(of: rows.id(row, 0, "users.id"), in: thread.id, conversation, member))
  }

  private func checkChannels(_ others: [Int64: Place]) throws {
    let channels = try Row.fetchCursor(
      rows.db,
      sql: """
        SELECT s.conversation, u.id FROM member_channels s JOIN users u ON u.number = s.user
        """)
    while let row = try channels.next() {
      guard let place = others[try rows.get(row, 0, "member_channels.conversation")] else {
        continue
      }
      try refuse(
        Rules.channelProblem(
          of: rows.id(row, 1, "users.id"), in: place.id, place.kind, MemberSettings(),
          PresentFields(channels: true)))
    }
  }
}

/// What is stored with the import.
extension ImportRelations: RecordLookup {
  typealias LookupFailure = any Error

  func conversation(_ id: Identifier) throws -> ConversationSettings? {
    try rows.kind(of: id).map { ConversationSettings(kind: $0.kind, parent: $0.parent) }
  }

  func isMember(_ user: Identifier, of conversation: Identifier) throws -> Bool {
    try rows.member(user, of: conversation) != nil
  }
}

extension Rows {
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
