internal import PushContent
internal import PushFiles
internal import PushModel
internal import PushStore

/// The answer of `GET /v1/changes`: a line about the change feed, a line for each removal, and then
/// records as lines of a settings.ndjson.
struct ChangesText {
  /// The epoch of the settings, and the epochs before it that it supersedes.
  let epoch: String
  let supersedes: [String]
  /// The last entry of the feed.
  let end: FeedCursor
  let entryCount: Int64
  /// When the first of the changes was made; nil without changes.
  let first: Instant?
  let removals: StoreChanges.Removals
  let records: [UInt8]

  /// - Throws: ``FollowError`` for bytes that are not such an answer.
  init(_ bytes: [UInt8]) throws(FollowError) {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    guard let head = try? JSONObject(Array(bytes[..<end])), let epoch = try? head.text("epoch"),
      let supersedes = try? head.texts("supersedes"), let cursor = try? head.text("end"),
      let last = FeedCursor(cursor), let count = try? head.whole("entries"),
      let removalCount = try? head.whole("removals"), removalCount >= 0
    else { throw FollowError("the answer to /v1/changes is not understood") }
    self.epoch = epoch
    self.supersedes = supersedes
    self.end = last
    entryCount = count
    first = (try? head.whole("first")).flatMap { Instant(exactMilliseconds: $0) }
    var removals = StoreChanges.Removals()
    var rest = bytes[min(end + 1, bytes.count)...]
    for _ in 0..<removalCount {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      guard let removal = try? JSONObject(Array(rest[..<end])) else {
        throw FollowError("a removal of /v1/changes is not understood")
      }
      let user = (try? removal.text("user")).map { Identifier($0) }
      let conversation = (try? removal.text("conversation")).map { Identifier($0) }
      switch (user, conversation) {
      case (let user?, let conversation?):
        removals.members.append(.init(user: user, conversation: conversation))
      case (let user?, nil): removals.users.append(user)
      case (nil, let conversation?): removals.conversations.append(conversation)
      case (nil, nil): throw FollowError("a removal of /v1/changes names nothing")
      }
      rest = rest[min(end + 1, rest.endIndex)...]
    }
    self.removals = removals
    records = Array(rest)
  }

  /// The answer's bytes.
  static func encoded(
    _ changes: StoreChanges, epoch: String, supersedes: [String], _ rules: RuleSet
  ) -> [UInt8] {
    let removals = changes.removals
    let count = removals.users.count + removals.conversations.count + removals.members.count
    var text = "{\"end\":\"\(changes.end)\",\"entries\":\(changes.entryCount),"
    text += "\"epoch\":\(JSONText.quoted(epoch)),"
    if let first = changes.first { text += "\"first\":\(first.milliseconds)," }
    let list = supersedes.map { JSONText.quoted($0) }.joined(separator: ",")
    text += "\"removals\":\(count),\"supersedes\":[\(list)]}\n"
    for user in removals.users { text += "{\"user\":\(JSONText.quoted(user.text))}\n" }
    for id in removals.conversations {
      text += "{\"conversation\":\(JSONText.quoted(id.text))}\n"
    }
    for member in removals.members {
      text +=
        "{\"conversation\":\(JSONText.quoted(member.conversation.text)),"
        + "\"user\":\(JSONText.quoted(member.user.text))}\n"
    }
    var kinds: [Identifier: ConversationKind] = [:]
    var rules = rules
    var bytes = Array(text.utf8)
    let content = changes.content
    for record in changes.records {
      switch record {
      case .app(let app):
        rules = app.rules
        bytes += SettingsEncoder.app(app)
      case .user(let id, let user):
        // A copy has all that its primary has.
        bytes += SettingsEncoder.user(id, user, rules, content.user(id), withTokens: true)
      case .conversation(let id, let settings):
        kinds[id] = settings.kind
        bytes += SettingsEncoder.conversation(id, settings, rules, name: content.name(of: id))
      case .member(let user, let id, let member, _):
        bytes += SettingsEncoder.member(
          user, of: id, kinds[id] ?? .group, member, rules,
          nickname: content.nickname(of: user, in: id))
      }
    }
    return bytes
  }
}

/// Why a store cannot be followed, and what to do.
struct FollowError: Error, CustomStringConvertible {
  let description: String
  /// Whether only a person can do something about it.
  var isFinal = false

  init(_ description: String, isFinal: Bool = false) {
    self.description = description
    self.isFinal = isFinal
  }
}
