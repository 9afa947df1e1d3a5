internal import PushModel

extension Tables {
  /// How a RongCloud user can be reached.
  ///
  /// Not inlined, as most users list no devices.
  @inline(never)
  func rongcloudReach(
    of user: UInt32, _ packed: PackedUser, at now: Int64, _ presence: UserPresence
  ) -> UserClass.Reach {
    guard presence == .foreground || hasOwnDevices(user) else { return .device }
    var hasBackground = false
    var hasConnected = false
    var hasConnectedMobile = false
    var hasTarget = false
    var isEmpty = true
    var areAllLoggedOut = true
    forEachDevice(of: user, presence) { device in
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

  /// Whether a device in the background counts as offline.
  func isPastGrace(_ device: DeviceRecord, at now: Int64) -> Bool {
    let since = device.seen
    guard since >= 0, since <= now else { return false }
    return now - since >= app.rongcloud.backgroundGraceMilliseconds
  }
}

extension Tables {
  /// A user's class outside of quiet hours.
  @inline(__always)
  func rongcloudClass(
    of user: UInt32, _ packed: PackedUser, kind: Int, at now: Int64, _ presence: UserPresence
  ) -> UserClass {
    UserClass(
      level: packed.level(kind: kind), reach: rongcloudReach(of: user, packed, at: now, presence))
  }

  /// Calls `body` with the instants at which a grace begins or ends.
  func forEachGrace(of user: UInt32, _ body: (Int64) -> Void) {
    guard hasOwnDevices(user) else { return }
    forEachDevice(of: user) { device in
      guard device.state == Device.State.background.ordinal, device.seen >= 0 else {
        return
      }
      body(device.seen + app.rongcloud.backgroundGraceMilliseconds)
      body(device.seen)
    }
  }
}

extension DeviceReader {
  /// Calls `body` with the listed devices that a push or local notification goes to.
  @inline(__always)
  func forEachRongCloudTarget<Failure: Error>(
    of user: UInt32, isLocal: Bool, at now: Int64,
    _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    if isLocal {
      try forEachDevice(of: user) { (record) throws(Failure) -> Void in
        if isInGrace(record, at: now) { try body(record) }
      }
      return
    }
    // with a desktop connected, only the last phone.
    var hasConnected = false
    var last: DeviceRecord?
    forEachDevice(of: user) { record in
      if record.state == Device.State.foreground.ordinal || isInGrace(record, at: now) {
        hasConnected = true
      }
      if isPushedTo(record, at: now) { last = record }
    }
    if hasConnected {
      if let last { try body(last) }
      return
    }
    try forEachDevice(of: user) { (record) throws(Failure) -> Void in
      if isPushedTo(record, at: now) { try body(record) }
    }
  }

  /// Whether a device is in the background, within its grace.
  private func isInGrace(_ record: DeviceRecord, at now: Int64) -> Bool {
    guard record.state == Device.State.background.ordinal else { return false }
    let since = record.seen
    return since < 0 || since > now || now - since < grace
  }

  /// Whether a device is a phone with a token, offline or past its grace.
  private func isPushedTo(_ record: DeviceRecord, at now: Int64) -> Bool {
    guard record.kind == Device.Kind.mobile.ordinal, record.hasToken else { return false }
    return record.state == Device.State.offline.ordinal
      || (record.state == Device.State.background.ordinal && !isInGrace(record, at: now))
  }
}
