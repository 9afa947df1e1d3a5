internal import PushModel

extension Tables {
  /// How an Easemob user can be reached (E-64 to E-68).
  ///
  /// Not inlined, as most users list no devices.
  @inline(never)
  func easemobReach(of user: UInt32, _ presence: UserPresence) -> UserClass.Reach {
    guard presence == .foreground || hasOwnDevices(user) else { return .device }
    var hasConnected = false
    var hasOffline = false
    var hasTarget = false
    var hasOther = false
    var isEmpty = true
    forEachDevice(of: user, presence) { device in
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
}

extension Tables {
  /// A user's class outside of quiet hours.
  @inline(__always)
  func easemobClass(
    of user: UInt32, _ packed: PackedUser, at now: Int64, _ presence: UserPresence
  ) -> UserClass {
    var value = UserClass(level: packed.level, reach: easemobReach(of: user, presence))
    if mute(of: user, packed) > now { value.isMuted = true }
    return value
  }
}

extension DeviceReader {
  /// Calls `body` with the listed devices that a push goes to (E-65 to E-68, E-50).
  @inline(__always)
  func forEachEasemobTarget<Failure: Error>(
    of user: UInt32, _ filter: DeviceFilter?, _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    try forEachDevice(of: user) { (record) throws(Failure) -> Void in
      guard
        record.state == Device.State.offline.ordinal
          || record.state == Device.State.loggedOut.ordinal,
        record.hasToken, filter?.lets(device(record)) ?? true
      else { return }
      try body(record)
    }
  }
}
