internal import PushModel

// What heartbeats say of devices, over what is set (O-30).

extension TableWriter {
  /// - Throws: ``FanoutError/noHeartbeats(_:)`` or ``FanoutError/unknownDevice(_:of:)``, before
  ///   anything is changed.
  func setPresence(_ heartbeat: Heartbeat, of user: UInt32) throws(FanoutError) {
    let rules = tables.app.rules
    guard rules.fields.contains(.seenAt) else { throw .noHeartbeats(rules) }
    let lists = tables.devices.lists
    var told = try orDefault(lists.asTold(user))
    guard let name = tables.names.index(of: heartbeat.device),
      let position = told.firstIndex(where: { $0.id == name })
    else { throw .unknownDevice(heartbeat.device, of: heartbeat.user) }
    told[position].state = heartbeat.state.ordinal
    told[position].seen = heartbeat.seenAt?.milliseconds ?? -1
    try write(told, over: lists.asSet(user), of: user)
  }

  /// Sets devices of which heartbeats have told. What they said stays for devices that are set as
  /// they were.
  func setTold(_ user: UInt32, over set: [DeviceRecord]?) throws(FanoutError) {
    let lists = tables.devices.lists
    let before = zip(try orDefault(lists.asSet(user)), try orDefault(lists.asTold(user)))
    var stays = false
    let told = try orDefault(set).map { device in
      guard let (old, told) = before.first(where: { $0.0.id == device.id }),
        old.hasPresence(of: device)
      else { return device }
      stays = stays || !told.hasPresence(of: device)
      var device = device
      (device.state, device.seen) = (told.state, told.seen)
      return device
    }
    if stays { try write(told, over: set, of: user) } else { try write(set, of: user) }
  }

  /// - Parameter set: nil for `Device.default`.
  func write(
    _ told: [DeviceRecord], over set: [DeviceRecord]?, of user: UInt32
  ) throws(FanoutError) {
    var told = told
    told[0].toldPresence = set == nil ? .ofDefault : .ofListed
    guard var set else { return try write(told, of: user) }
    set[0].toldPresence = .asSet
    try write(told + set, of: user)
  }

  /// Sets devices to what is set.
  ///
  /// - Complexity: O(users) if heartbeats have told of any.
  func forgetPresence() throws(FanoutError) {
    guard tables.devices.toldUsers > 0 else { return }
    for user in 0..<UInt32(tables.userCount) {
      let lists = tables.devices.lists
      if lists.toldPresence(of: user) != .asSet { try write(lists.asSet(user), of: user) }
    }
    needsKeys = true
  }

  /// - Parameter devices: nil for `Device.default`, which then gets a record.
  private func orDefault(_ devices: [DeviceRecord]?) throws(FanoutError) -> [DeviceRecord] {
    if let devices { return devices }
    return try records([.default])
  }
}

extension DeviceRecord {
  /// Whether another record has the same state.
  fileprivate func hasPresence(of other: DeviceRecord) -> Bool {
    (state, seen) == (other.state, other.seen)
  }
}
