internal import PushModel

/// Everything about a membership that a decision depends on at one instant, in four bits.
///
/// Easemob: the level's raw value, and 8 more while the conversation is muted. RongCloud: 0 for
/// unset, 1-5 for the member's own level, 6-10 for that of the message's channel.
struct MemberClass: BitwiseCopyable {
  var bits: UInt8

  /// Not yet a member.
  static let absent = MemberClass(bits: 15)
  static let muteBit: UInt8 = 8

  var isAbsent: Bool { bits == 15 }
  var isMuted: Bool { bits & Self.muteBit != 0 }
  /// Easemob's.
  var level: NotificationLevel { NotificationLevel(rawValue: bits & 7) ?? .unset }
  /// RongCloud's own level.
  var conversationLevel: NotificationLevel {
    bits <= 5 ? NotificationLevel(rawValue: bits) ?? .unset : .unset
  }
  /// RongCloud's level of the channel.
  var channelLevel: NotificationLevel {
    bits > 5 ? NotificationLevel(rawValue: bits - 5) ?? .unset : .unset
  }

  /// Whether the bits are a valid class of a member under the rule set.
  var isEasemob: Bool { bits & 7 < 6 }
  var isRongCloud: Bool { bits <= 10 }
}
