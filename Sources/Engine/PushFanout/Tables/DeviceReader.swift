internal import CPushKernels
internal import PushModel

/// Reads devices without references or an array per user.
///
/// SAFETY: valid while a version of the tables is retained.
struct DeviceReader: @unchecked Sendable {
  private(set) var rules = RuleSet.easemob
  /// RongCloud's background grace, in milliseconds.
  private(set) var grace: Int64 = 0
  private var lists = DeviceLists()
  private var names = IDReader()

  init() {}

  init(_ tables: borrowing Tables) {
    rules = tables.app.rules
    grace = tables.app.rongcloud.backgroundGraceMilliseconds
    lists = tables.devices.lists
    names = tables.names.reader
  }

  /// The UTF-8 of the default device's id, never freed.
  // SAFETY: written once, by the initializer.
  private nonisolated(unsafe) static let defaultID: UnsafeRawBufferPointer = {
    let text = Array(Device.default.id.text.utf8)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    unsafe bytes.copyBytes(from: text)
    return UnsafeRawBufferPointer(bytes)
  }()

  // MARK: Listed devices

  @inline(__always)
  func hasOwnDevices(_ user: UInt32) -> Bool { lists.hasOwn(user) }

  @inline(__always)
  func forEachDevice<Failure: Error>(
    of user: UInt32, _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    try lists.forEach(of: user, body)
  }

  @inline(__always)
  func prefetch(_ user: UInt32) { lists.prefetch(user) }

  @inline(__always)
  func prefetchRecords(_ user: UInt32) { lists.prefetchRecords(user) }

  // MARK: Values

  /// The id's UTF-8; nil means the default device.
  @inline(__always)
  func id(of record: DeviceRecord?) -> UnsafeRawBufferPointer {
    guard let record else { return unsafe Self.defaultID }
    return unsafe names.characters(record.id)
  }

  func device(_ record: DeviceRecord?) -> Device {
    guard let record else { return .default }
    let hasSeenAt = rules.fields.contains(.seenAt)
    let seen = record.seen < 0 ? nil : Instant(milliseconds: record.seen)
    return Device(
      id: names[record.id], kind: Device.Kind.byOrdinal[Int(record.kind)],
      state: Device.State.byOrdinal[Int(record.state)], hasToken: record.hasToken,
      notifier: record.notifier == 0 ? nil : names[record.notifier - 1],
      backgroundSince: hasSeenAt ? nil : seen, seenAt: hasSeenAt ? seen : nil)
  }

  // MARK: Targets

  /// Calls `body` with each target, in listed order; nil is the default device.
  ///
  /// - Complexity: O(devices).
  @inline(__always)
  func forEachTarget<Failure: Error>(
    of user: UInt32, _ action: Action, _ filter: DeviceFilter?, at now: Int64,
    _ body: (DeviceRecord?) throws(Failure) -> Void
  ) throws(Failure) {
    if hasOwnDevices(user) {
      try forEachListedTarget(of: user, action, filter, at: now, body)
    } else if action == .push, filter?.lets(.default) ?? true {
      // The default device is an offline phone with a token.
      try body(nil)
    }
  }

  func hasTarget(_ user: UInt32, _ filter: DeviceFilter?, at now: Int64) -> Bool {
    var isFound = false
    forEachTarget(of: user, .push, filter, at: now) { _ in isFound = true }
    return isFound
  }

  func targets(
    of user: UInt32, _ action: Action, _ filter: DeviceFilter?, at now: Int64
  ) -> [Device] {
    var targets: [Device] = []
    forEachTarget(of: user, action, filter, at: now) { targets.append(device($0)) }
    return targets
  }
}
