internal import PushModel

/// Everything about a user that a decision depends on at one instant, in one byte.
///
/// Bits 0-2 hold a level's raw value: Easemob's app level, or RongCloud's for the kind of
/// conversation. Bits 3-4 hold do-not-disturb: Easemob's window (bit 3) and app duration (bit 4),
/// or RongCloud's quiet hours as ``Quiet``. Bits 5-7 hold ``Reach``.
struct UserClass: BitwiseCopyable {
  var bits: UInt8

  /// RongCloud's quiet hours at an instant.
  enum Quiet: UInt8 {
    case outside = 0
    /// Inside, and everything notifies (R-5, quietZero = all).
    case all = 1
    case mention = 2
    case blocked = 3
  }

  /// How the user can be reached, given the devices.
  enum Reach: UInt8 {
    /// A device with a token can be pushed to.
    case device = 0
    case noToken = 1
    /// All devices are kicked (Easemob's) or logged out (RongCloud's).
    case gone = 2
    case online = 3
    /// RongCloud's local flow: the app in the background shows the notification.
    case local = 4
    /// Local flow, but the app cannot show the notification.
    case localInfoMissing = 5
    /// Local flow, left to the app.
    case localHandledByApp = 6
  }

  static let windowBit: UInt8 = 8
  static let muteBit: UInt8 = 16
  static let quietMask: UInt8 = 24

  var level: NotificationLevel { NotificationLevel(rawValue: bits & 7) ?? .unset }
  var isInWindow: Bool { bits & Self.windowBit != 0 }
  var isMuted: Bool { bits & Self.muteBit != 0 }
  var quiet: Quiet { Quiet(rawValue: bits >> 3 & 3) ?? .outside }
  var reach: Reach { Reach(rawValue: bits >> 5) ?? .device }

  /// Whether the byte is a valid class of a user under the rule set.
  var isEasemob: Bool { bits & 7 < 6 && bits >> 5 < 4 }
  var isRongCloud: Bool { bits & 7 < 6 && bits >> 5 < 7 }
}
