internal import PushModel

/// What a decision depends on of a membership at an instant, in four bits.
///
/// Easemob: the level's raw value, plus 8 while muted. RongCloud: 0 for unset, 1-5 for the member's
/// own level, 6-10 for the channel's. Only this file knows the layout.
struct MemberClass: BitwiseCopyable, Equatable {
  let bits: UInt8

  static let count = 16
  /// Not yet a member.
  static let absent = MemberClass(bits: 15)
  static let all = (0..<UInt8(count)).map { MemberClass(bits: $0) }

  private static let muteBit: UInt8 = 8
  /// Channel levels follow.
  private static let lastOwnLevel: UInt8 = 5

  private init(bits: UInt8) { self.bits = bits }

  /// - Parameter level: the raw value of the own level.
  @inline(__always)
  init(level: UInt8) { bits = level }

  init(channelLevel: NotificationLevel) { bits = channelLevel.vendorCode + Self.lastOwnLevel }

  var isAbsent: Bool { bits == Self.absent.bits }
  var isMuted: Bool { bits & Self.muteBit != 0 }
  /// Easemob's, while muted.
  var muted: MemberClass { MemberClass(bits: bits | Self.muteBit) }
  /// Easemob's.
  var level: NotificationLevel { NotificationLevel(vendorCode: bits & 7) ?? .unset }
  /// RongCloud's.
  var conversationLevel: NotificationLevel {
    hasChannelLevel ? .unset : NotificationLevel(vendorCode: bits) ?? .unset
  }
  /// RongCloud's.
  var channelLevel: NotificationLevel {
    hasChannelLevel ? NotificationLevel(vendorCode: bits - Self.lastOwnLevel) ?? .unset : .unset
  }
  var hasChannelLevel: Bool { bits > Self.lastOwnLevel }

  var isEasemob: Bool { bits & 7 < 6 }
  var isRongCloud: Bool { bits <= 2 * Self.lastOwnLevel }
}
