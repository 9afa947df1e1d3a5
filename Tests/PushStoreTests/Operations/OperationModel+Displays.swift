import PushContent
import PushModel
import PushStore
import TestSupport

extension SettingsOperation {
  /// A display setting of a random write.
  static func randomDisplay(
    of user: Identifier, _ users: [Identifier], _ random: inout SeededGenerator
  ) -> SettingsOperation {
    let text = random.pick([nil, "a", "é", "e\u{301}", "a longer name of a person"] as [String?])
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .updatePushDisplayName(user: user, name: text)
    case 1:
      let style = random.pick([nil] + DisplayStyle.allCases.map { $0 })
      return .updatePushDisplayStyle(user: user, style: style)
    case 2:
      let language = random.pick([nil, "fr", "zh-Hans"]).flatMap { LanguageTag($0) }
      return .setPreferredNotificationLanguage(user: user, language: language)
    case 3:
      return .setPushTemplate(user: user, name: random.pick([nil, "t1", "t2", "not a name"]))
    case 4:
      let count = random.pick([0, 1, 7, RecipientDisplay.badgeLimit + 1])
      return .setOfflineMessages(user: user, count: count)
    default: return .setRemark(user: user, other: random.pick(users), remark: text)
    }
  }
}

extension OperationModel {
  mutating func applyDisplay(_ operation: SettingsOperation) throws {
    let user: Identifier
    if app.rules == .open {
      if case .setOfflineMessages(_, let count) = operation, count > RecipientDisplay.badgeLimit {
        throw SettingsWriteError.badgeOutOfRange(Int64(count))
      }
      throw StoreError.otherRules(.open)
    }
    switch operation {
    case .updatePushDisplayName(let id, _), .updatePushDisplayStyle(let id, _),
      .setPreferredNotificationLanguage(let id, _), .setPushTemplate(let id, _),
      .setOfflineMessages(let id, _), .setRemark(let id, _, _):
      user = id
    default: preconditionFailure("\(operation) is not in the model")
    }
    var display = displays[user] ?? RecipientDisplay()
    let before = display
    switch operation {
    case .updatePushDisplayName(_, let name): display.name = name
    case .updatePushDisplayStyle(_, let style): display.style = style
    case .setPreferredNotificationLanguage(_, let tag):
      try require(.easemob)
      display.language = tag
    case .setPushTemplate(_, let name):
      try require(.easemob)
      if name == "not a name" { throw TemplateProblem.badName("not a name") }
      display.template = name
    case .setRemark(_, let other, let remark): display.remarks[other] = remark
    case .setOfflineMessages(_, let count):
      if count > RecipientDisplay.badgeLimit {
        throw SettingsWriteError.badgeOutOfRange(Int64(count))
      }
      display.offlineMessages = count
    default: break
    }
    if display == before { return }
    displays[user] = display
    users[user] = users[user] ?? UserSettings()
    known.insert(user)
    feed.append(Entry(change: .display, user: user))
  }

  mutating func applyTemplate(_ name: String, _ content: String?) throws {
    try require(.easemob)
    let template = try content.map { try PushTemplate(name: name, title: "", content: $0) }
    if template == nil, templates[name] == nil { throw StoreError.unknownTemplate(name) }
    if templates[name] == template { return }
    templates[name] = template
    feed.append(Entry(change: .template))
  }

  /// Erases a user: what others call the user goes, too, and their senders of this id.
  mutating func erase(_ user: Identifier) {
    removeUser(user)
    for id in displays.keys { displays[id]?.remarks[user] = nil }
    for id in users.keys {
      users[id]?.importantSenders.removeAll { $0 == user }
      users[id]?.blockedSenders.removeAll { $0 == user }
    }
  }
}
