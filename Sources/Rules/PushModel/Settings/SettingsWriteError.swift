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
    case .malformedTime(let text, let expected): "\"\(text)\" is not a time of the form \(expected)"
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
    }
  }
}
