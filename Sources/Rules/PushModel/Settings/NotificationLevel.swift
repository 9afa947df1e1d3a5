/// The classes of a message for one recipient. A message that is in no other is `plain` (§1).
public struct MessageClasses: OptionSet, Sendable, Hashable {
  /// A bit for each class.
  public let rawValue: UInt8
  /// The classes of a bit mask.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The recipient is not mentioned.
  public static let plain = MessageClasses(rawValue: 1)
  /// The recipient is mentioned by id.
  public static let mentionsMe = MessageClasses(rawValue: 2)
  /// Everyone in the conversation is mentioned.
  public static let mentionsEveryone = MessageClasses(rawValue: 4)

  /// Whether the recipient is mentioned, by name or with everyone.
  public var isMention: Bool { rawValue & Self.mentions != 0 }

  /// The bits of both kinds of mention. The rules ask for them hundreds of thousands of times when
  /// an engine's tables are built, and a set literal is expensive in debug builds.
  private static let mentions = mentionsMe.rawValue | mentionsEveryone.rawValue
}

/// Which messages may notify: a mask over ``MessageClasses``, or unset.
///
/// *Unset* is not *all*: an unset level looks one scope further, `all` stops the search (R-2, E-3).
/// For that reason a level is never optional.
public enum NotificationLevel: UInt8, CaseIterable, Sendable {
  /// Nothing set here: look one scope further. `DEFAULT`, 0.
  case unset = 0
  /// Every message. `ALL`, -1.
  case all
  /// Mentions of me and of everyone. `AT`, 1.
  case mention
  /// Mentions of me only. RongCloud's 2.
  case mentionUsers
  /// Mentions of everyone only. RongCloud's 4.
  case mentionAll
  /// No message: `none` in files, `NONE`, 5.
  case blocked

  /// Whether the search for a level ends here.
  public var isSet: Bool { self != .unset }

  /// Whether the level depends on mentions.
  public var isMentionLevel: Bool {
    self == .mention || self == .mentionUsers || self == .mentionAll
  }

  /// The classes of message that this level lets through; an unset one lets none.
  public var mask: MessageClasses {
    switch self {
    case .unset, .blocked: []
    case .all: [.plain, .mentionsMe, .mentionsEveryone]
    case .mention: [.mentionsMe, .mentionsEveryone]
    case .mentionUsers: .mentionsMe
    case .mentionAll: .mentionsEveryone
    }
  }

  /// Whether a message of these classes may notify: mask and classes meet (§1).
  public func allows(_ classes: MessageClasses) -> Bool {
    mask.rawValue & classes.rawValue != 0
  }

  /// Whether the level exists under `rules`.
  public func exists(under rules: RuleSet) -> Bool { rules.levels.contains(self) }
}

// MARK: - Spellings

extension NotificationLevel {
  /// The level's name in files.
  public var name: String {
    switch self {
    case .unset: "default"
    case .all: "all"
    case .mention: "mention"
    case .mentionUsers: "mentionUsers"
    case .mentionAll: "mentionAll"
    case .blocked: "none"
    }
  }

  /// The level of a name in files; nil for another text.
  public static func named(_ name: String) -> NotificationLevel? {
    switch name {
    case "default": .unset
    case "all": .all
    case "mention": .mention
    case "mentionUsers": .mentionUsers
    case "mentionAll": .mentionAll
    case "none": .blocked
    default: nil
    }
  }

  /// The level of a RongCloud number: -1, 0, 1, 2, 4 or 5.
  ///
  /// - Throws: ``SettingsWriteError/unknownLevel(_:)`` for another number, as a write does.
  public init(rongCloudNumber number: Int64) throws(SettingsWriteError) {
    switch number {
    case -1: self = .all
    case 0: self = .unset
    case 1: self = .mention
    case 2: self = .mentionUsers
    case 4: self = .mentionAll
    case 5: self = .blocked
    default: throw .unknownLevel(number)
    }
  }

  /// The level that a stored RongCloud number is read as: unset when it is unknown.
  public static func read(rongCloudNumber number: Int64) -> NotificationLevel {
    do { return try NotificationLevel(rongCloudNumber: number) } catch { return .unset }
  }

  /// RongCloud's number for the level.
  public var rongCloudNumber: Int64 {
    switch self {
    case .unset: 0
    case .all: -1
    case .mention: 1
    case .mentionUsers: 2
    case .mentionAll: 4
    case .blocked: 5
    }
  }

  /// The level of a text: its name in files, or the spelling or number of a rule set's vendor.
  ///
  /// - Returns: nil for another text, and for what only another vendor writes.
  public static func written(_ text: String, _ rules: RuleSet) -> NotificationLevel? {
    if let level = named(text) { return level }
    if rules.fields.contains(.levelSpellings), let level = easemobSpelling(text) { return level }
    guard rules.fields.contains(.levelNumbers), let number = Int64(text), "\(number)" == text
    else { return nil }
    return try? NotificationLevel(rongCloudNumber: number)
  }

  /// The level of one of Easemob's own spellings, and nothing else: `ALL` and `All`, `AT` and
  /// `MentionOnly`, `NONE`, `DEFAULT`.
  public static func easemobSpelling(_ text: String) -> NotificationLevel? {
    switch text {
    case "ALL", "All": .all
    case "AT", "MentionOnly": .mention
    case "NONE": .blocked
    case "DEFAULT": .unset
    default: nil
    }
  }
}
