internal import PushModel

/// The rows of a piece of realm.json or of messages, as far as they matter.
struct ZulipRows: Sendable {
  struct User: Sendable {
    let id: Int64
    let line: Int
    var isActive = true
    var isBot = false
    var settings = ZulipSettings()
    var isQuietWhileOnline = false
    var timeZone = ""
  }

  struct Subscription: BitwiseCopyable {
    let user: Int64
    let recipient: Int64
    let line: Int32
    var isActive = true
    var isMuted = false
    /// `push_notifications` and `wildcard_mentions_notify`, where not null.
    var pushes: Bool?
    var wildcards: Bool?
  }

  struct Topic: Sendable {
    let user: Int64
    let stream: Int64?
    let recipient: Int64?
    let name: String
    let policy: Int64
    let line: Int
  }

  struct Message: Sendable {
    let id: Int64
    let sender: Int64
    let recipient: Int64
    let at: Int64
    let isEdited: Bool
    let topic: String
    let line: Int
  }

  var users: [User] = []
  /// Users of other organizations and mirrors of people, with whether they are bots.
  var others: [(id: Int64, isBot: Bool, line: Int)] = []
  var streams: [Int64] = []
  var recipients: [(id: Int64, type: Int64, typeID: Int64)] = []
  var subscriptions: [Subscription] = []
  var topics: [Topic] = []
  var muted: [(user: Int64, other: Int64)] = []
  var alertWords: [(user: Int64, line: Int)] = []
  var messages: [Message] = []
  var flags: [(message: Int64, user: Int64, mask: Int64)] = []

  /// The rows of a piece.
  static func parse(_ piece: InputPiece, _ reader: JSONReader) -> Result<ZulipRows, ImportProblem> {
    var rows = ZulipRows()
    for item in piece.items {
      var node: JSONNode?
      do throws(RecordProblem) {
        let text = unsafe piece[item.range]
        let value = try unsafe reader.parse(text)
        node = value
        try rows.add(value, of: piece.tables[item.table], item)
      } catch {
        let line =
          node == nil
          ? piece.lineOfFault(in: item)
          : error.token.map { piece.line(of: $0, in: item) } ?? item.line
        let person = node.flatMap { Self.person($0) }.map { "the person \($0): " } ?? ""
        return .failure(ImportProblem(piece.file, line: line, person + error.text))
      }
    }
    return .success(rows)
  }

  private static func person(_ row: JSONNode) -> Int64? {
    (row["user_profile"] ?? row["user_profile_id"] ?? row["sender"] ?? row["sender_id"])?.integer
  }

  private mutating func add(
    _ row: JSONNode, of table: String, _ item: InputPiece.Item
  ) throws(RecordProblem) {
    let known = [
      "zerver_userprofile", "zerver_userprofile_mirrordummy", "zerver_userprofile_crossrealm",
      "zerver_stream", "zerver_recipient", "zerver_subscription", "zerver_usertopic",
      "zerver_muteduser", "zerver_alertword", "zerver_message", "zerver_usermessage",
    ]
    guard known.contains(table) else { return }
    guard item.isInArray else {
      if row.isNull { return }
      throw RecordProblem("\(table) is not an array")
    }
    let row = try row.object(table)
    switch table {
    case "zerver_userprofile": users.append(try user(row, item.line))
    case "zerver_userprofile_mirrordummy": others.append((try row.key("id"), false, item.line))
    case "zerver_userprofile_crossrealm": others.append((try row.key("id"), true, item.line))
    case "zerver_stream": streams.append(try row.key("id"))
    case "zerver_recipient":
      recipients.append((try row.key("id"), try row.key("type"), try row.key("type_id")))
    case "zerver_subscription": subscriptions.append(try subscription(row, item.line))
    case "zerver_usertopic": topics.append(try topic(row, item.line))
    case "zerver_muteduser":
      muted.append(
        (
          try row.key("user_profile", "user_profile_id"), try row.key("muted_user", "muted_user_id")
        ))
    case "zerver_alertword":
      alertWords.append((try row.key("user_profile", "user_profile_id"), item.line))
    case "zerver_message": messages.append(try message(row, item.line))
    default:
      let message = try row.key("message", "message_id")
      let user = try row.key("user_profile", "user_profile_id")
      let mask = try row.key("flags_mask")
      // Mentioned, and mentioned with the channel or with a topic.
      if mask & (8 | 16 | 32) != 0 { flags.append((message, user, mask)) }
    }
  }

  private func user(_ row: JSONNode, _ line: Int) throws(RecordProblem) -> User {
    var user = User(id: try row.key("id"), line: line)
    for (key, value) in row.fields {
      switch key {
      case "is_active": user.isActive = try value.flag("is_active")
      case "is_bot": user.isBot = try value.flag("is_bot")
      case "timezone": user.timeZone = try value.text("timezone")
      case "enable_online_push_notifications":
        user.isQuietWhileOnline = try !value.flag("enable_online_push_notifications")
      case "enable_offline_push_notifications":
        user.settings.isOn = try value.flag("enable_offline_push_notifications")
      case "enable_stream_push_notifications":
        user.settings.pushesAll = try value.flag("enable_stream_push_notifications")
      case "wildcard_mentions_notify":
        user.settings.pushesWildcards = try value.flag("wildcard_mentions_notify")
      case "enable_followed_topic_push_notifications":
        user.settings.pushesFollowed = try value.flag("enable_followed_topic_push_notifications")
      case "enable_followed_topic_wildcard_mentions_notify":
        user.settings.pushesFollowedWildcards = try value.flag(
          "enable_followed_topic_wildcard_mentions_notify")
      default: break
      }
    }
    return user
  }

  private func subscription(_ row: JSONNode, _ line: Int) throws(RecordProblem) -> Subscription {
    var subscription = Subscription(
      user: try row.key("user_profile", "user_profile_id"),
      recipient: try row.key("recipient", "recipient_id"), line: Int32(truncatingIfNeeded: line))
    subscription.isActive = try row["active"]?.flag("active") ?? true
    subscription.isMuted = try row["is_muted"]?.flag("is_muted") ?? false
    subscription.pushes = try row["push_notifications"]?.flag("push_notifications")
    subscription.wildcards = try row["wildcard_mentions_notify"]?.flag("wildcard_mentions_notify")
    return subscription
  }

  private func topic(_ row: JSONNode, _ line: Int) throws(RecordProblem) -> Topic {
    let stream = row["stream"] ?? row["stream_id"]
    guard let name = row["topic_name"] else { throw .missing("topic_name") }
    return Topic(
      user: try row.key("user_profile", "user_profile_id"),
      stream: try stream?.whole("stream"),
      recipient: try stream == nil ? row.key("recipient", "recipient_id") : nil,
      name: try name.text("topic_name"), policy: try row.key("visibility_policy"), line: line)
  }

  private func message(_ row: JSONNode, _ line: Int) throws(RecordProblem) -> Message {
    guard let sent = row["date_sent"] else { throw .missing("date_sent") }
    return Message(
      id: try row.key("id"), sender: try row.key("sender", "sender_id"),
      recipient: try row.key("recipient", "recipient_id"),
      at: try sent.instant(seconds: "date_sent"), isEdited: row["last_edit_time"] != nil,
      topic: try row["subject"]?.text("subject") ?? "", line: line)
  }
}

extension JSONNode {
  /// A whole number that has to be there, under one of two names.
  fileprivate func key(
    _ name: StaticString, _ other: StaticString? = nil
  ) throws(RecordProblem) -> Int64 {
    guard let value = self[name] ?? other.flatMap({ self[$0] }) else { throw .missing("\(name)") }
    return try value.whole("\(name)")
  }
}
