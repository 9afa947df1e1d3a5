internal import PushModel

/// Everything about a membership that a decision depends on at one instant, in four bits.
///
/// Easemob: the level's raw value, and 8 more while the conversation is muted. RongCloud: 0 for
/// unset, 1-5 for the member's own level, 6-10 for that of the message's channel. Only this file
/// knows the layout.
struct MemberClass: BitwiseCopyable, Equatable {
  let bits: UInt8

  /// The number of values.
  static let count = 16
  /// Not yet a member.
  static let absent = MemberClass(bits: 15)
  static let all = (0..<UInt8(count)).map { MemberClass(bits: $0) }

  private static let muteBit: UInt8 = 8
  /// The levels of channels follow those of members.
  private static let lastOwnLevel: UInt8 = 5

  private init(bits: UInt8) { self.bits = bits }

  /// - Parameter level: the raw value of the member's own level.
  @inline(__always)
  init(level: UInt8) { bits = level }

  /// RongCloud's, with the level of the message's channel.
  init(channelLevel: NotificationLevel) { bits = channelLevel.rawValue + Self.lastOwnLevel }

  var isAbsent: Bool { bits == Self.absent.bits }
  var isMuted: Bool { bits & Self.muteBit != 0 }
  /// Easemob's class while the conversation is muted.
  var muted: MemberClass { MemberClass(bits: bits | Self.muteBit) }
  /// Easemob's.
  var level: NotificationLevel { NotificationLevel(rawValue: bits & 7) ?? .unset }
  /// RongCloud's own level.
  var conversationLevel: NotificationLevel {
    hasChannelLevel ? .unset : NotificationLevel(rawValue: bits) ?? .unset
  }
  /// RongCloud's level of the channel.
  var channelLevel: NotificationLevel {
    hasChannelLevel ? NotificationLevel(rawValue: bits - Self.lastOwnLevel) ?? .unset : .unset
  }
  var hasChannelLevel: Bool { bits > Self.lastOwnLevel }

  /// Whether the bits are a valid class of a member under the rule set.
  var isEasemob: Bool { bits & 7 < 6 }
  var isRongCloud: Bool { bits <= 2 * Self.lastOwnLevel }
}
