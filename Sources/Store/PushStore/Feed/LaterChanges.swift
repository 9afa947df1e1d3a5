internal import GRDB
public import PushModel

/// What the change feed knows of settings that were changed after a message was sent: a store has the
/// settings of now only.
public struct LaterChanges: Hashable, Sendable {
  /// Entries about the user, the conversation or all users, the oldest first.
  public let events: [ChangeEvent]
  /// When the first entry that the feed has was made, if it has one and entries before it were removed.
  public let begin: Instant?

  /// In words: whether settings were changed after the message, which, and when.
  ///
  /// - Parameter sent: the instant of the message.
  public func text(after sent: Instant) -> String {
    let settings = events.filter { ![.devices, .display, .template].contains($0.change) }
    let devices = events.count { $0.change == .devices }
    var parts: [String] = []
    if let last = settings.last {
      let listed = settings.suffix(3).map { event in
        if event.change == .imported { return "all of them imported at \(event.at.rfc3339)" }
        let names = [event.user, event.conversation, event.channel].compactMap { $0?.text }
        return
          ([event.change.rawValue]
          + (names.isEmpty ? [] : ["of"] + [names.joined(separator: " in ")]))
          .joined(separator: " ") + " at \(event.at.rfc3339)"
          + (event.old == nil && event.new == nil
            ? "" : " (\(event.old ?? "none") -> \(event.new ?? "none"))")
      }
      parts.append(
        "since \(last.at.rfc3339), changed after the message"
          + (settings.count > 3 ? " \(settings.count) times, at last" : "") + ": "
          + listed.joined(separator: "; "))
    }
    if devices > 0 {
      parts.append(
        "devices changed \(devices == 1 ? "once" : "\(devices) times") after the message")
    }
    if let begin, begin > sent {
      parts.append("what was changed before \(begin.rfc3339) is not known")
    } else if parts.isEmpty {
      parts.append("none of them was changed after the message")
    }
    return "as of now; " + parts.joined(separator: "; ")
  }
}

extension StoreReader {
  /// How many of the last entries are looked through for changes of a conversation, which have no index.
  static let conversationEntries = 10_000

  /// Changes after an instant of the settings that decide for a user in a conversation.
  ///
  /// - Parameter conversations: the conversation, and the one of which it is a thread.
  /// - Complexity: O(entries about the user, and about all users).
  public func changes(
    after sent: Instant, of user: Identifier, in conversations: [Identifier]
  ) throws -> LaterChanges {
    try read { queries in
      let columns = SettingsQueries.feedColumns
      let rows = try Row.fetchAll(
        queries.db.cachedStatement(
          sql: """
            SELECT \(columns) FROM feed
              WHERE user = ?1 AND at > ?2 AND (conversation IS NULL OR conversation IN (?3, ?4))
            UNION ALL
            SELECT \(columns) FROM feed
              WHERE user IS NULL AND conversation IS NULL AND at > ?2
            UNION ALL
            SELECT \(columns) FROM feed
              WHERE user IS NULL AND conversation IN (?3, ?4) AND at > ?2
                AND sequence > (SELECT max(sequence) FROM feed) - \(Self.conversationEntries)
            ORDER BY sequence
            """),
        arguments: [
          user.bytes, sent.milliseconds, conversations.first?.bytes, conversations.last?.bytes,
        ])
      let start = try queries.feedLimit().cursor.sequence
      return LaterChanges(
        events: try rows.map(queries.change),
        begin: start == 0 ? nil : try queries.instant(ofEntry: start + 1))
    }
  }
}
