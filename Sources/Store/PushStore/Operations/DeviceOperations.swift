public import PushModel

/// A user's devices: tokens and presence, under any rules.
///
/// A user whose devices were never set has ``PushModel/Device/default``. That one stands in for
/// what is not known, so the first operation makes an explicit list: of the bound device alone, or
/// of the default one when it is the device operated on. All other devices are unknown until they
/// bind a token; operations on them throw ``StoreError/unknownDevice(user:device:)``, and nothing
/// changes.
///
/// Devices are not settings: their changes stand in the feed but are not announced to the others.
///
/// - Complexity: O(devices of the user).
extension StoreWrite {
  /// Binds a push token to a device; one that is not known is added at the end, offline until its
  /// state is set (E-68).
  ///
  /// A bound token does not end a kick or a log-out: that is what the next state does.
  ///
  /// - Parameters:
  ///   - kind: what the device is; nil for what it was, a mobile one at first.
  ///   - notifier: the push certificate the token belongs to (E-50); nil for none, also when the
  ///     token before had one.
  ///   - address: the token itself and its provider, for requests (S-3); by default the token is the
  ///     push service's alone.
  /// - Throws: ``StoreError/idLength(_:)``, or ``StoreError/otherRules(_:)`` for an address under open
  ///   rules.
  public mutating func bindToken(
    ofDevice id: Identifier, kind: Device.Kind? = nil, notifier: Identifier? = nil,
    address: DeviceAddress = DeviceAddress(), of user: Identifier
  ) throws {
    let rules = try queries.rules()
    guard address == DeviceAddress() || rules.fields.contains(.deviceAddress) else {
      throw StoreError.otherRules(rules)
    }
    try change(user) { settings in
      var devices = settings.devices ?? (id == Device.default.id ? [.default] : [])
      var index = devices.firstIndex { $0.id == id }
      if index == nil {
        devices.append(Device(id: id))
        index = devices.count - 1
      }
      if let index {
        devices[index].hasToken = true
        devices[index].notifier = notifier
        devices[index].address = address
        if let kind { devices[index].kind = kind }
      }
      settings.devices = devices
    }
  }

  /// Takes a device's token away, with the name of its certificate and the whole address: nothing can
  /// be pushed to it (E-68).
  public mutating func unbindToken(ofDevice id: Identifier, of user: Identifier) throws {
    try change(device: id, of: user) { $0.dropToken() }
  }

  /// Tells a device's state.
  ///
  /// A device that was seen once is seen now (O-30). In the background its grace begins ``now``, and does not begin again when the same is
  /// told again. Every other state ends it. Tokens stay (E-67).
  public mutating func setState(
    _ state: Device.State, ofDevice id: Identifier, of user: Identifier
  ) throws {
    let (now, rules) = (now, try queries.rules())
    try change(device: id, of: user) { $0.enter(state, at: now, rules) }
  }

  /// Kicks a device by another login: it gets nothing until its state is set again (E-66).
  public mutating func kick(device id: Identifier, of user: Identifier) throws {
    try setState(.kicked, ofDevice: id, of: user)
  }

  /// Logs a device out.
  ///
  /// - Parameter keepingToken: whether its token stays bound, so that it still gets pushes under
  ///   Easemob (E-67); under RongCloud it gets none in either case.
  public mutating func logOut(
    device id: Identifier, of user: Identifier, keepingToken: Bool
  ) throws {
    let (now, rules) = (now, try queries.rules())
    try change(device: id, of: user) { device in
      device.enter(.loggedOut, at: now, rules)
      if !keepingToken { device.dropToken() }
    }
  }

  /// Forgets a device. A user without any has none, not the default one again.
  public mutating func remove(device id: Identifier, of user: Identifier) throws {
    try change(devices: user, knowing: id) { devices, index in devices.remove(at: index) }
  }

  private mutating func change(
    device id: Identifier, of user: Identifier, _ body: (inout Device) -> Void
  ) throws {
    try change(devices: user, knowing: id) { devices, index in body(&devices[index]) }
  }

  private mutating func change(
    devices user: Identifier, knowing id: Identifier, _ body: (inout [Device], Int) -> Void
  ) throws {
    try change(user) { settings in
      var devices = settings.effectiveDevices
      guard let index = devices.firstIndex(where: { $0.id == id }) else {
        throw StoreError.unknownDevice(user: user, device: id)
      }
      body(&devices, index)
      settings.devices = devices
    }
  }
}

extension Device {
  fileprivate mutating func enter(_ state: State, at now: Instant, _ rules: RuleSet) {
    if seenAt != nil { seenAt = now }
    if state != .background || !rules.fields.contains(.backgroundSince) {
      backgroundSince = nil
    } else if self.state != .background || backgroundSince == nil {
      backgroundSince = now
    }
    self.state = state
  }

  fileprivate mutating func dropToken() {
    hasToken = false
    notifier = nil
    address = DeviceAddress()
  }
}

extension SettingsStore {
  /// A user's devices in the order in which they were added; the default one when none were set
  /// of them.
  public func devices(of user: Identifier) throws -> [Device] {
    try read { queries in (try queries.user(user) ?? UserSettings()).effectiveDevices }
  }
}
