public import PushRules

/// What a write changed. The raw value is what stands in the feed.
public enum Change: String, CaseIterable, Sendable {
  /// The app's settings.
  case app
  /// The whole settings of a user, as by an import.
  case user
  case userLevel, userMute, quietHours, typeLevel
  /// How pushes look to a user, and what others see of the user.
  case display
  /// A user's devices, their states and tokens.
  case devices
  /// The whole settings of a conversation.
  case conversation
  /// The defaults of an ultra group and its channels.
  case groupDefault, channelDefault
  /// The whole membership of a user, who may be new.
  case member
  case memberLevel, memberMute, channelLevel
  /// The end of a membership.
  case memberRemoved
  /// Records that were imported together, whichever they are: read what you keep anew.
  case imported

  /// Whether the user's other devices are told: *mute info changed* (E-13, R-36).
  public var isAnnounced: Bool {
    switch self {
    case .user, .userLevel, .userMute, .quietHours, .typeLevel, .member, .memberLevel, .memberMute,
      .channelLevel, .imported:
      true
    case .app, .display, .devices, .conversation, .groupDefault, .channelDefault, .memberRemoved:
      false
    }
  }
}

/// An entry of the change feed.
public struct ChangeEvent: Hashable, Sendable {
  /// 1, 2, 3 …, in the order of writes, without gaps.
  public let sequence: Int64
  public let at: Instant
  public let change: Change
  public let user: Identifier?
  public let conversation: Identifier?
  public let channel: Identifier?
  /// The device that wrote, which need not be told.
  public let device: Identifier?
  let token: Int64

  /// The place in the feed behind this entry: whoever has dealt with it goes on from there.
  public var cursor: FeedCursor { FeedCursor(sequence: sequence, token: token) }
}
