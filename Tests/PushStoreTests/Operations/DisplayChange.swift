import PushContent
import PushModel
import PushStore
import TestSupport

/// A display setting of a random write.
enum DisplayChange: Sendable {
  case name(String?)
  case style(DisplayStyle?)
  case language(LanguageTag?)
  case template(String?)
  case remark(String?, for: Identifier)
  case badge(UInt32)

  static func random(
    _ users: [Identifier], _ random: inout SeededGenerator
  ) -> DisplayChange {
    let text = random.pick([nil, "a", "é", "e\u{301}", "a longer name of a person"] as [String?])
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .name(text)
    case 1: return .style(random.pick([nil] + DisplayStyle.allCases.map { $0 }))
    case 2: return .language(random.pick([nil, "fr", "zh-Hans"]).flatMap { LanguageTag($0) })
    case 3: return .template(random.pick([nil, "t1", "t2", "not a name"]))
    case 4: return .badge(random.pick([0, 1, 7, RecipientDisplay.badgeLimit + 1]))
    default: return .remark(text, for: random.pick(users))
    }
  }

  func apply(to write: inout StoreWrite, of user: Identifier) throws {
    switch self {
    case .name(let name): try write.updatePushDisplayName(name, of: user)
    case .style(let style): try write.updatePushDisplayStyle(style, of: user)
    case .language(let tag): try write.setPreferredNotificationLanguage(tag, of: user)
    case .template(let name): try write.setPushTemplate(name, of: user)
    case .remark(let remark, let other): try write.setRemark(remark, for: other, by: user)
    case .badge(let count): try write.setOfflineMessages(count, of: user)
    }
  }
}

extension OperationModel {
  mutating func applyDisplay(_ change: DisplayChange, of user: Identifier) throws {
    var display = displays[user] ?? RecipientDisplay()
    let before = display
    switch change {
    case .name(let name): display.name = name
    case .style(let style): display.style = style
    case .language(let tag):
      try require(.easemob)
      display.language = tag
    case .template(let name):
      try require(.easemob)
      if name == "not a name" { throw TemplateProblem.badName("not a name") }
      display.template = name
    case .remark(let remark, let other): display.remarks[other] = remark
    case .badge(let count):
      if count > RecipientDisplay.badgeLimit {
        throw SettingsWriteError.badgeOutOfRange(Int64(count))
      }
      display.offlineMessages = count
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

  /// Erases a user: what others call the user goes, too.
  mutating func erase(_ user: Identifier) {
    removeUser(user)
    for id in displays.keys { displays[id]?.remarks[user] = nil }
  }
}
