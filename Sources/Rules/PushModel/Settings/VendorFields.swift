/// Fields of settings and messages, and forms of their values, that not every rule set has.
///
/// A file that has one under another rule set is refused, and an export leaves it out.
@frozen public struct VendorFields: OptionSet, Hashable, Sendable {
  /// A bit for each field.
  public let rawValue: UInt64

  /// The fields of a bit mask.
  @inlinable public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  // MARK: The app's

  /// `devicePolicy`: what several devices mean for a push.
  @inlinable public static var devicePolicy: Self { Self(rawValue: 1 << 0) }
  /// `advancedPush`: whether levels, quiet hours and durations exist at all.
  @inlinable public static var advancedPush: Self { Self(rawValue: 1 << 1) }
  /// The app's `level`.
  @inlinable public static var appLevel: Self { Self(rawValue: 1 << 2) }
  /// `messageNotification`: whether the app shows local notifications.
  @inlinable public static var messageNotification: Self { Self(rawValue: 1 << 3) }

  // MARK: A user's

  /// A user's `level`.
  @inlinable public static var userLevel: Self { Self(rawValue: 1 << 4) }
  /// `levels`: a user's levels by kind of conversation.
  @inlinable public static var kindLevels: Self { Self(rawValue: 1 << 5) }
  /// A user's `mutedUntil`.
  @inlinable public static var userMute: Self { Self(rawValue: 1 << 6) }
  /// Quiet hours with a start and an end.
  @inlinable public static var quietInterval: Self { Self(rawValue: 1 << 7) }
  /// Quiet hours with a start, a span, a level and a zone.
  @inlinable public static var quietSpan: Self { Self(rawValue: 1 << 8) }
  @inlinable public static var pushWhenDesktopOnline: Self { Self(rawValue: 1 << 9) }
  @inlinable public static var localNotification: Self { Self(rawValue: 1 << 10) }
  @inlinable public static var displayLanguage: Self { Self(rawValue: 1 << 11) }
  /// Templates of pushes, and a user's own, `display.template`.
  @inlinable public static var templates: Self { Self(rawValue: 1 << 12) }

  // MARK: A conversation's and a member's

  /// A conversation's `level`.
  @inlinable public static var conversationLevel: Self { Self(rawValue: 1 << 13) }
  /// `channels`: levels by channel, of a conversation or of a member.
  @inlinable public static var channels: Self { Self(rawValue: 1 << 14) }
  /// A member's `mutedUntil`.
  @inlinable public static var memberMute: Self { Self(rawValue: 1 << 15) }
  @inlinable public static var nickname: Self { Self(rawValue: 1 << 16) }

  // MARK: Forms of a level

  /// Easemob's own spellings, such as `AT`.
  @inlinable public static var levelSpellings: Self { Self(rawValue: 1 << 17) }
  /// RongCloud's numbers.
  @inlinable public static var levelNumbers: Self { Self(rawValue: 1 << 18) }

  // MARK: A message's

  /// A message's `force`: do-not-disturb is not checked (E-41).
  @inlinable public static var force: Self { Self(rawValue: 1 << 19) }
  /// A message's `onlineOnly`: it is delivered to connected devices only (E-61).
  @inlinable public static var onlineOnly: Self { Self(rawValue: 1 << 20) }
  /// A message's `filter`: which devices may get its push (E-50).
  @inlinable public static var filter: Self { Self(rawValue: 1 << 21) }
  /// A message's `ext`: Easemob's extension fields (E-45).
  @inlinable public static var ext: Self { Self(rawValue: 1 << 22) }
  /// A message's `translations`: its text in other languages.
  @inlinable public static var translations: Self { Self(rawValue: 1 << 23) }
  /// A message's `channel`.
  @inlinable public static var messageChannel: Self { Self(rawValue: 1 << 24) }
  @inlinable public static var isMentioned: Self { Self(rawValue: 1 << 25) }
  @inlinable public static var pushContent: Self { Self(rawValue: 1 << 26) }
  @inlinable public static var persisted: Self { Self(rawValue: 1 << 27) }
  @inlinable public static var backlog: Self { Self(rawValue: 1 << 28) }
  @inlinable public static var mentionedContent: Self { Self(rawValue: 1 << 29) }
  @inlinable public static var pushTitle: Self { Self(rawValue: 1 << 30) }
  @inlinable public static var objectName: Self { Self(rawValue: 1 << 31) }
  @inlinable public static var pushData: Self { Self(rawValue: 1 << 32) }
  /// A message's `mentionsRoles`.
  @inlinable public static var mentionsRoles: Self { Self(rawValue: 1 << 33) }
  /// A message's `replyToUser`.
  @inlinable public static var replyToUser: Self { Self(rawValue: 1 << 34) }
  /// A message's `text`, which is searched for words of its readers (O-14).
  @inlinable public static var text: Self { Self(rawValue: 1 << 35) }

  // MARK: The vendors'

  /// What notifications show of users: `display`, `remarks` and `nickname`.
  @inlinable public static var display: Self { Self(rawValue: 1 << 47) }
  /// A device's `backgroundSince`.
  @inlinable public static var backgroundSince: Self { Self(rawValue: 1 << 48) }
  /// A device's `platform`, `fid`, and its `token` as a string.
  @inlinable public static var deviceAddress: Self { Self(rawValue: 1 << 54) }
  /// The level `mention`.
  @inlinable public static var mentionLevel: Self { Self(rawValue: 1 << 49) }
  /// `quietHours`, of either form.
  @inlinable public static var quietHoursObject: Self { Self(rawValue: 1 << 50) }

  // MARK: Of conversations

  /// The `level` of a group or a private conversation.
  @inlinable public static var groupLevel: Self { Self(rawValue: 1 << 51) }
  /// Threads without a `parent`.
  @inlinable public static var threadWithoutParent: Self { Self(rawValue: 1 << 52) }
  /// A conversation's `name` that is not looked at where content is not read; open rules have names
  /// of 1 to 256 bytes (O-10).
  @inlinable public static var anyName: Self { Self(rawValue: 1 << 53) }
}

extension QuietHours {
  /// The form in which they are set.
  @inlinable package var field: VendorFields {
    switch self {
    case .interval: QuietForm.interval.field
    case .span: QuietForm.span.field
    case .windows: QuietForm.windows.field
    }
  }
}
