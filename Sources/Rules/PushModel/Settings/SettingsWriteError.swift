/// Why a settings value is refused. Nothing has changed when one is thrown.
///
/// Every case has a stable ``code`` that programs may match on; the text may be reworded.
public enum SettingsWriteError: Error, Hashable, Sendable {
  /// A number that is none of RongCloud's levels.
  case unknownLevel(Int64)
  /// A level that the rule set does not have.
  case levelNotAvailable(NotificationLevel, RuleSet)
  /// Quiet hours let nothing, mentions or the next scope decide; nothing else.
  case quietLevel(NotificationLevel)
  /// Outside 0...23 (E-4, R-20).
  case hourOutOfRange(Int)
  /// An hour of the older clients' quiet hours outside 0...24 (E-15).
  case legacyHourOutOfRange(Int)
  /// Outside 0...59.
  case minuteOutOfRange(Int)
  /// Outside 0...59.
  case secondOutOfRange(Int)
  /// Outside 1...1,439 minutes.
  case spanOutOfRange(Int)
  /// Not a clock time.
  case malformedTime(String, expected: String)
  /// A start without an end, or the other way round (E-4).
  case halfSetInterval
  /// Outside 0...10,080 minutes (E-5).
  case durationMinutesOutOfRange(Int64)
  /// Outside 0...604,800,000 milliseconds (E-5).
  case durationMillisecondsOutOfRange(Int64)
  /// A batched read of more than twenty conversations (E-10).
  case tooManyConversations(Int)
  /// Outside 0...2,147,483,647.
  case badgeOutOfRange(Int64)
  /// A text that is no class of open rules, and in a list (O-2).
  case unknownClass(String)
  /// A class that stands twice in a list (O-2).
  case repeatedClass(String)
  /// A name of no day of the week (O-11).
  case unknownDay(String)
  /// A day that stands twice in a list (O-11).
  case repeatedDay(String)
  /// An empty list of days (O-11).
  case noDays
  /// More of something than open rules allow (O-16).
  case tooMany(String, Int, limit: Int)
  /// A name of more bytes than open rules allow (O-16).
  case tooLong(String, bytes: Int, limit: Int)
  /// A name or id without a character (O-16).
  case emptyName(String)
  /// A keyword of signs only (O-14).
  case keywordWithoutToken(String)
  /// A sender who would be both important and blocked (O-15).
  case importantAndBlocked(String)
  /// A push token or installation id that is not 1 to 4,096 bytes of visible ASCII (S-3).
  case malformedToken

  /// The stable code of the case, such as `settings.unknown-level`.
  public var code: String {
    switch self {
    case .unknownLevel: "settings.unknown-level"
    case .levelNotAvailable: "settings.level-not-available"
    case .quietLevel: "settings.quiet-level"
    case .hourOutOfRange, .legacyHourOutOfRange: "settings.hour-range"
    case .minuteOutOfRange: "settings.minute-range"
    case .secondOutOfRange: "settings.second-range"
    case .spanOutOfRange: "settings.span-range"
    case .malformedTime: "settings.malformed-time"
    case .halfSetInterval: "settings.half-set-interval"
    case .durationMinutesOutOfRange, .durationMillisecondsOutOfRange: "settings.duration-range"
    case .tooManyConversations: "settings.too-many-conversations"
    case .badgeOutOfRange: "settings.badge-range"
    case .unknownClass, .repeatedClass: "settings.class-list"
    case .unknownDay, .repeatedDay, .noDays: "settings.day-list"
    case .tooMany, .tooLong: "settings.limit"
    case .emptyName, .keywordWithoutToken: "settings.empty-name"
    case .importantAndBlocked: "settings.important-and-blocked"
    case .malformedToken: "settings.malformed-token"
    }
  }
}

extension SettingsWriteError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownLevel(let number):
      "\(number) is not a level; the levels are -1, 0, 1, 2, 4 and 5"
    case .levelNotAvailable(let level, let rules):
      "level \"\(level.name)\" does not exist under \(rules.rawValue)"
    case .quietLevel(let level):
      "quiet hours cannot have level \"\(level.name)\"; use \"none\", \"mention\" or \"default\""
    case .hourOutOfRange(let hour): "hour \(hour) is not in 0...23"
    case .legacyHourOutOfRange(let hour): "hour \(hour) is not in 0...24"
    case .minuteOutOfRange(let minute): "minute \(minute) is not in 0...59"
    case .secondOutOfRange(let second): "second \(second) is not in 0...59"
    case .spanOutOfRange(let span): "a span of \(span) minutes is not in 0...1439"
    case .malformedTime(let text, let expected):
      "\"\(text)\" is not a time of the form \(expected), like "
        + (expected == "H:M" ? "22:00" : "22:00:00")
    case .halfSetInterval:
      "quiet hours need both a start and an end, or both empty for none"
    case .durationMinutesOutOfRange(let minutes):
      "a duration of \(minutes) minutes is not in 0...10080, seven days; a settings file can hold any "
        + "mutedUntil"
    case .durationMillisecondsOutOfRange(let milliseconds):
      "a duration of \(milliseconds) milliseconds is not in 0...604800000, seven days; a settings file "
        + "can hold any mutedUntil"
    case .tooManyConversations(let count):
      "\(count) conversations in one read; at most 20 are allowed"
    case .badgeOutOfRange(let badge): "a badge of \(badge) is not in 0...\(Int32.max)"
    case .unknownClass(let name):
      "\"\(name)\" is not a class; the classes are "
        + MessageClasses.named.map(\.name).joined(separator: ", ")
    case .repeatedClass(let name): "class \"\(name)\" stands twice in the list"
    case .unknownDay(let name):
      "\"\(name)\" is not a day; the days are "
        + QuietWindows.Window.dayNames.joined(separator: ", ")
    case .repeatedDay(let name): "day \"\(name)\" stands twice in the list"
    case .noDays: "a list of days is empty; leave days out for every day"
    case .tooMany(let what, let count, let limit): "\(count) \(what); at most \(limit) are allowed"
    case .tooLong(let what, let bytes, let limit):
      "a \(what) of \(bytes) bytes; at most \(limit) are allowed"
    case .emptyName(let what): "a \(what) is empty"
    case .keywordWithoutToken(let keyword):
      "keyword \"\(keyword)\" has no letter or digit; signs are no part of a keyword"
    case .importantAndBlocked(let id):
      "sender \"\(id)\" would be both important and blocked; remove it from one list"
    case .malformedToken: "a token or fid is not 1 to 4096 characters of visible ASCII"
    }
  }
}
