public import PushModel

/// What a write changed. The raw value is the value stored in the feed.
public enum Change: String, CaseIterable, Sendable {
  /// The app's settings.
  case app
  /// The whole settings of a user, as by an import.
  case user
  /// A single setting of a user: the level, the duration of a mute, the quiet hours with their time
  /// zone, or the level of a kind of conversation.
  case userLevel, userMute, quietHours, typeLevel
  /// Whether a user's phone gets pushes while a desktop is connected.
  case pushWhenDesktopOnline
  /// What passes a user's mutes, whether `force` does, and the keywords and senders of open rules.
  case mutedAllow, allowForce, keywords, importantSenders, blockedSenders
  /// How pushes look to a user, and what others see of the user.
  case display
  /// A template of the app.
  case template
  /// A user's devices, their states and tokens.
  case devices
  /// The whole settings of a conversation.
  case conversation
  /// The level of an ultra group, or of a conversation under open rules, for those who have set none,
  /// and that of an ultra group's channel.
  case groupDefault, channelDefault
  /// The whole membership of a user, who may be new.
  case member
  /// A single setting of a user for a conversation: the level, the duration of a mute, or the level
  /// of a channel.
  case memberLevel, memberMute, channelLevel
  /// What open rules have of a membership: whether it is important, whether a thread is followed,
  /// and the roles.
  case important, follow, roles
  /// The end of a membership.
  case memberRemoved
  /// The removal of a user with all memberships, and of a conversation with all of its own: none of
  /// these has an entry.
  case userRemoved, conversationRemoved
  /// Records that were imported together, whichever they are: reload what you keep.
  case imported
  /// The advanced features were switched on or off, with which all levels, quiet hours and
  /// durations were deleted: reload what you keep.
  case advancedPush
  /// An id was erased; whose is not said, and all entries before are gone: reload what you keep.
  case erased

  /// Whether the user's other devices are notified: *mute info changed* (E-13, R-36).
  public var isAnnounced: Bool {
    switch self {
    case .user, .userLevel, .userMute, .quietHours, .typeLevel, .pushWhenDesktopOnline, .member,
      .memberLevel, .memberMute, .channelLevel, .imported, .advancedPush, .mutedAllow, .allowForce,
      .keywords, .importantSenders, .blockedSenders, .important, .follow:
      true
    case .app, .display, .template, .devices, .conversation, .groupDefault, .channelDefault,
      .roles, .memberRemoved, .userRemoved, .conversationRemoved, .erased:
      false
    }
  }
}

/// An entry of the change feed.
public struct ChangeEvent: Hashable, Sendable {
  /// 1, 2, 3 …, in the order of writes, without gaps; the first ones are gone when the feed was
  /// compacted.
  public let sequence: Int64
  /// When the change was made.
  public let at: Instant
  /// What was changed.
  public let change: Change
  /// Whose setting it is; nil for a change of a conversation, the app, or an import.
  public let user: Identifier?
  /// The conversation that it is a setting of; nil for one of the user's own, or the app's.
  public let conversation: Identifier?
  /// The channel of an ultra group; nil when the setting is of no channel.
  public let channel: Identifier?
  /// The device that wrote, which need not be notified.
  public let device: Identifier?
  /// What was set before, and what is set since, in words like those of `settings get`: of one setting
  /// its value, of several those that differ, each with its name. nil where nothing was or is set, or
  /// there was or is no record.
  ///
  /// Both are nil where they are equal, and for ``Change/imported`` and ``Change/erased``.
  public let old, new: String?
  let token: Int64

  /// The cursor of this entry, from which to read on after it.
  public var cursor: FeedCursor { FeedCursor(sequence: sequence, token: token) }
}
