internal import PushModel

/// What a decision depends on of a user at an instant, in one byte.
///
/// Bits 0-2 hold a level's raw value: Easemob's app level, or RongCloud's for the kind of
/// conversation. Bits 3-4 hold the phase of quiet hours; Easemob has two phases, so bit 4 is its
/// app duration. Bits 5-7 hold ``Reach``. Only this file knows the layout.
struct UserClass: BitwiseCopyable, Equatable {
  private(set) var bits: UInt8

  /// RongCloud's phases of quiet hours.
  enum Quiet: UInt8 {
    case outside = 0
    /// Everything notifies (R-5, quietZero = all).
    case all = 1
    case mention = 2
    case blocked = 3
  }

  /// How the user's devices can be reached.
  enum Reach: UInt8 {
    /// A device has a token.
    case device = 0
    case noToken = 1
    /// All devices are kicked (Easemob) or logged out (RongCloud).
    case gone = 2
    case online = 3
    /// Local flow: the background app shows the notification.
    case local = 4
    /// Local flow, but the app cannot show the notification.
    case localInfoMissing = 5
    /// Local flow, left to the app.
    case localHandledByApp = 6
  }

  static let bitCount = 8
  static let all = (0...UInt8.max).map { UserClass(bits: $0) }
  /// Easemob's phase inside of the window.
  static let windowPhase: UInt8 = 1

  private static let muteBit: UInt8 = 16
  private static let quietShift: UInt8 = 3
  private static let reachShift: UInt8 = 5

  private init(bits: UInt8) { self.bits = bits }

  /// - Parameter level: the raw value of a level.
  @inline(__always)
  init(level: UInt8, quiet: UInt8 = 0, reach: Reach = .device) {
    bits = level | quiet << Self.quietShift | reach.rawValue << Self.reachShift
  }

  var level: NotificationLevel { NotificationLevel(vendorCode: bits & 7) ?? .unset }
  var isInWindow: Bool { phase & Self.windowPhase != 0 }
  /// Whether Easemob's app duration has not ended.
  var isMuted: Bool {
    get { bits & Self.muteBit != 0 }
    set { bits = newValue ? bits | Self.muteBit : bits & ~Self.muteBit }
  }
  var quiet: Quiet { Quiet(rawValue: phase) ?? .outside }
  var reach: Reach { Reach(rawValue: bits >> Self.reachShift) ?? .device }

  private var phase: UInt8 { bits >> Self.quietShift & 3 }

  func isOutsideQuiet(lastPhase last: UInt8) -> Bool { phase & last == 0 }

  @inline(__always)
  func inPhase(_ phase: UInt8) -> UserClass { UserClass(bits: bits | phase << Self.quietShift) }

  var isEasemob: Bool { bits & 7 < 6 && bits >> Self.reachShift <= Reach.online.rawValue }
  var isRongCloud: Bool {
    bits & 7 < 6 && bits >> Self.reachShift <= Reach.localHandledByApp.rawValue
  }
}
