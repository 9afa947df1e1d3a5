internal import PushFiles
internal import PushModel
internal import PushSupport

/// The single changes that an explanation tries: each field of a record, of the message and of a
/// device, set to its default and to the value that lets most through. What is so already is left
/// out.
///
/// What a conversation is (`type`, `parent`), who is a member, and whose message it is are no such
/// facts.
struct FactEdits {
  /// One change.
  struct Edit {
    enum Place: Hashable {
      case message(value: String)
      case user, app
      case member(Identifier)
      case conversation(Identifier)
    }

    let place: Place
    let field: String
    /// Which part of the field.
    var part = ""
    let text: String
    let isCommon: Bool
    let user: Identifier
    let apply: (inout Facts) -> Void

    /// Whether the other gives the same part of the same field another value.
    func excludes(_ other: Edit) -> Bool {
      guard field == other.field, part == other.part else { return false }
      if case .message = place, case .message = other.place { return true }
      return place == other.place
    }

    func applied(to facts: Facts) -> Facts {
      var changed = facts
      apply(&changed)
      return changed
    }

    /// The change as data, of facts to which it was applied.
    func change(_ facts: Facts) -> Explanation.Change {
      let (settings, rules) = (facts.settings, facts.rules)
      func change(
        _ record: SettingsRecord, _ line: [UInt8], isPersonal: Bool = true
      ) -> Explanation.Change {
        .init(
          field, text, .record(record, line: String(decoding: line.dropLast(), as: UTF8.self)),
          isCommon: isCommon, isPersonal: isPersonal)
      }
      switch place {
      case .message(let value):
        return .init(field, text, .message(facts.message, value: value), isCommon: isCommon)
      case .user:
        let own = settings.user(user)
        return change(.user(user, own), SettingsEncoder.user(user, own, rules))
      case .member(let id):
        let own = facts.member(user, of: id) ?? MemberSettings()
        let kind = settings.conversation(id)?.kind ?? .group
        return change(
          .member(user, of: id, own), SettingsEncoder.member(user, of: id, kind, own, rules))
      case .app:
        let app = settings.app
        return change(.app(app), SettingsEncoder.app(app), isPersonal: false)
      case .conversation(let id):
        let own = settings.conversation(id) ?? ConversationSettings()
        return change(
          .conversation(id, own), SettingsEncoder.conversation(id, own, rules), isPersonal: false)
      }
    }
  }

  /// All of them, the most useful first.
  private(set) var all: [Edit] = []
  let facts: Facts
  let id: Identifier
  var fields: VendorFields { facts.rules.fields }
  var user: UserSettings { facts.settings.user(id) }

  init(_ facts: Facts, _ user: Identifier) {
    self.facts = facts
    id = user
    let (own, parent) = (facts.message.conversation, facts.parent)
    addMentions()
    for place in [own, parent].compactMap({ $0 }) { addMember(of: place) }
    addDevices()
    addUser()
    addMessage()
    for place in [own, parent].compactMap({ $0 }) { addConversation(place) }
    addApp()
  }

  // MARK: What the sender can change

  mutating func message(
    _ field: String, _ value: String, _ text: String, isCommon: Bool = false,
    if exists: Bool = true, _ change: @escaping (inout Message) -> Void
  ) {
    var changed = facts.message
    change(&changed)
    guard exists, changed != facts.message else { return }
    all.append(
      Edit(place: .message(value: value), field: field, text: text, isCommon: isCommon, user: id) {
        change(&$0.message)
      })
  }

  private mutating func addMentions() {
    let (message, id) = (facts.message, id)
    let names = message.mentions ?? []
    let isInstead = facts.rules.everyoneHidesNames && message.mentionsAll == true
    let all = names.contains(id) ? names : names + [id]
    self.message(
      "mentions", Self.json(all), "a mention of \(id)" + (isInstead ? " instead of everyone" : ""),
      isCommon: true
    ) {
      $0.mentions = all
      // Also where the user is named, but the mention is void, or that of everyone stands for it.
      if $0.isMentioned == false { $0.isMentioned = nil }
      if isInstead { $0.mentionsAll = false }
    }
    self.message(
      "force", "true", "the force flag", isCommon: true,
      if: fields.contains(.force) && !(message.force ?? message.ext.force)
    ) { $0.force = true }
  }

  private static func json(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.appendJSON(text)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func json(_ ids: [Identifier]) -> String {
    "[\(ids.map { json($0.text) }.joined(separator: ","))]"
  }

  private mutating func addMessage() {
    let message = facts.message
    self.message("mentionsAll", "true", "a mention of everyone") {
      $0.mentionsAll = true
      if $0.isMentioned == false { $0.isMentioned = nil }
    }
    self.message("isMentioned", "null", "a mention that counts (isMentioned)") {
      if $0.isMentioned == false { $0.isMentioned = nil }
    }
    let place = facts.parent ?? message.conversation
    for role in facts.member(id, of: place)?.roles ?? [] {
      let roles = message.mentionsRoles ?? []
      self.message(
        "mentionsRoles", Self.json(roles + [role]), "a mention of the role \(role)",
        if: !roles.contains(role)
      ) { $0.mentionsRoles = roles + [role] }
    }
    self.message(
      "replyToUser", Self.json(id.text), "a reply to \(id)",
      if: fields.contains(.replyToUser)
    ) { [id] in $0.replyToUser = id }
    if let keyword = user.keywords.first {
      let text = "\(keyword) \(message.text ?? "")"
      self.message(
        "text", Self.json(text), "the keyword \(keyword) in the text"
      ) { $0.text = text }
    }
    let isSilent = message.silent ?? message.ext.ignore
    self.message("silent", "false", "without the silent flag", if: isSilent) { $0.silent = false }
    self.message("sentAt", "null", "a message just sent", if: message.sentAt != message.at) {
      $0.sentAt = nil
    }
    self.message("onlineOnly", "false", "a message not only for those online") {
      $0.onlineOnly = false
    }
    let filters = (message.filter ?? message.ext.filter) != DeviceFilter()
    self.message("filter", "{}", "without the device filter", if: filters) {
      $0.filter = DeviceFilter()
    }
    self.message("body", "\"text\"", "a message of the type text") { $0.body = .text }
    self.message("persisted", "true", "a message that is stored (persisted)") {
      $0.persisted = true
    }
    self.message("backlog", "false", "a message that is not from the backlog") {
      $0.backlog = false
    }
    let lacksContent = fields.contains(.pushContent) && message.pushContent.isEmpty
    self.message("pushContent", "\"push\"", "push content", if: lacksContent) {
      $0.pushContent = "push"
    }
  }

  /// - Parameter part: which part of the field it is; changes of one part are not made together.
  mutating func record<Record: Equatable>(
    _ place: Edit.Place, _ field: String, part: String = "", _ text: String,
    isCommon: Bool = false, get: @escaping (FanoutSettings) -> Record,
    set: @escaping (inout FanoutSettings, Record) -> Void,
    _ change: @escaping (inout Record) -> Void
  ) {
    let record = get(facts.settings)
    var changed = record
    change(&changed)
    guard changed != record else { return }
    all.append(
      Edit(
        place: place, field: field, part: part, text: text, isCommon: isCommon, user: id
      ) { facts in
        var record = get(facts.settings)
        change(&record)
        set(&facts.settings, record)
      })
  }

  mutating func user(
    _ field: String, part: String = "", _ text: String, isCommon: Bool = false,
    _ change: @escaping (inout UserSettings) -> Void
  ) {
    record(
      .user, field, part: part, text, isCommon: isCommon, get: { [id] in $0.user(id) },
      set: { [id] in $0.setUser(id, $1) }, change)
  }
}
