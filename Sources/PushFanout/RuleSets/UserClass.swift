internal import PushRules

/// Everything of a user that a decision depends on at one instant, in a byte.
///
/// Bits 0-2 hold a level's raw value: Easemob's app level, or RongCloud's for the kind of
/// conversation. Bits 3-4 hold do-not-disturb: Easemob's window (bit 3) and app duration (bit 4), or
/// RongCloud's quiet hours as ``Quiet``. Bits 5-7 hold ``Reach``.
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

  /// What the user's devices come to.
  enum Reach: UInt8 {
    /// There is a device to push to.
    case device = 0
    case noToken = 1
    /// All devices are kicked (Easemob's) or logged out (RongCloud's).
    case gone = 2
    case online = 3
    /// RongCloud's local flow, in which the notification is shown,
    case local = 4
    /// cannot be shown,
    case localInfoMissing = 5
    /// or is left to the app.
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

  /// Whether the byte is one that a user can have.
  var isEasemob: Bool { bits & 7 < 6 && bits >> 5 < 4 }
  var isRongCloud: Bool { bits & 7 < 6 && bits >> 5 < 7 }
}

/// Everything of a membership that a decision depends on at one instant, in four bits.
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

  /// Whether the bits are ones that a member can have.
  var isEasemob: Bool { bits & 7 < 6 }
  var isRongCloud: Bool { bits <= 10 }
}

/// What a user's devices come to at an instant.
extension Tables {
  func reach(of user: UInt32, _ packed: PackedUser, at now: Int64) -> UserClass.Reach {
    guard hasOwnDevices(user) else { return .device }
    switch app.rules {
    case .easemob: return easemobReach(of: user)
    case .rongcloud: return rongcloudReach(of: user, packed, at: now)
    }
  }

  private func easemobReach(of user: UInt32) -> UserClass.Reach {
    var hasConnected = false
    var hasOffline = false
    var hasTarget = false
    var hasOther = false
    var isEmpty = true
    forEachDevice(of: user) { device in
      isEmpty = false
      switch Device.State.byOrdinal[Int(device.state)] {
      case .foreground, .background: hasConnected = true  // E-64
      case .offline, .loggedOut:  // E-65, E-67, E-68
        hasOffline = true
        if device.hasToken { hasTarget = true }
      case .kicked: return  // E-66
      }
      hasOther = true
    }
    if hasConnected, app.devicePolicy == .allOffline || !hasOffline { return .online }  // E-65
    if hasTarget { return .device }
    return isEmpty || hasOther ? .noToken : .gone
  }

  private func rongcloudReach(
    of user: UInt32, _ packed: PackedUser, at now: Int64
  ) -> UserClass.Reach {
    var hasBackground = false
    var hasConnected = false
    var hasConnectedMobile = false
    var hasTarget = false
    var isEmpty = true
    var areAllLoggedOut = true
    forEachDevice(of: user) { device in
      isEmpty = false
      let state = Device.State.byOrdinal[Int(device.state)]
      let kind = Device.Kind.byOrdinal[Int(device.kind)]
      if state != .loggedOut { areAllLoggedOut = false }
      let isConnected =
        state == .foreground || (state == .background && !isPastGrace(device, at: now))
      if isConnected {
        hasConnected = true
        if state == .background { hasBackground = true }
        if kind == .mobile { hasConnectedMobile = true }
      } else if state == .offline || state == .background, kind == .mobile, device.hasToken {
        hasTarget = true
      }
    }
    if hasBackground {
      if packed.localInformationMissing { return .localInfoMissing }
      return packed.localHandledByApp ? .localHandledByApp : .local
    }
    //
    if hasConnected, !packed.pushWhenDesktopOnline || hasConnectedMobile { return .online }
    if hasTarget { return .device }
    return !isEmpty && areAllLoggedOut ? .gone : .noToken
  }

  /// Whether a background device counts as offline.
  func isPastGrace(_ device: DeviceRecord, at now: Int64) -> Bool {
    let since = device.backgroundSince
    guard since >= 0, since <= now else { return false }
    return now - since >= app.rongcloud.backgroundGraceSeconds * 1000
  }
}
