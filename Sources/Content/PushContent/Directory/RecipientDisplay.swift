public import PushModel

/// How much of a message a person's notifications show (`updatePushDisplayStyle`).
public enum DisplayStyle: String, CaseIterable, Sendable {
  /// That there is a message, and nothing of it: 您有一条新消息, 请点击查看.
  case simpleBanner
  /// Who wrote, and what.
  case messageSummary
}

/// What a person has set for the presentation of pushes to them, and of their own messages.
///
/// Two are the same only when everything was written in the same way: `zh-Hans` and `zh_hans` are
/// two, and so are "é" and "e\u{301}".
public struct RecipientDisplay: Sendable {
  /// The largest badge, in settings, messages and stores.
  public static let badgeLimit = UInt32(Int32.max)

  /// The person's push nickname, which others see (`updatePushDisplayName`).
  public var name: String?
  /// nil: ``DisplayStyle/simpleBanner`` under Easemob, ``DisplayStyle/messageSummary`` under
  /// RongCloud, which hides contents only when asked to (`setPushContentShowStatus`).
  public var style: DisplayStyle?
  /// In which translations are shown (`setPreferredNotificationLanguage`).
  public var language: LanguageTag?
  /// The name of the template that the person has chosen (`setPushTemplate`).
  public var template: String?
  /// How many messages wait for the person, the one that is pushed among them: the badge, of at
  /// most ``badgeLimit``.
  public var offlineMessages: UInt32 = 1
  /// What the person calls others, by their ids.
  public var remarks: [Identifier: String] = [:]

  /// The display of a person who has set nothing.
  public init() {}
}

extension RecipientDisplay: Hashable {
  public static func == (left: RecipientDisplay, right: RecipientDisplay) -> Bool {
    left.preferences == right.preferences && left.offlineMessages == right.offlineMessages
      && left.name.exact == right.name.exact
      && left.remarks.mapValues { Identifier($0) } == right.remarks.mapValues { Identifier($0) }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(preferences)
    hasher.combine(offlineMessages)
    hasher.combine(name.exact)
    hasher.combine(remarks.mapValues { Identifier($0) })
  }

  var preferences: ContentDirectory.DisplayPreferences {
    ContentDirectory.DisplayPreferences(style: style, language: language, template: template)
  }
}
