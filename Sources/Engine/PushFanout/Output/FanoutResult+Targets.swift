public import PushModel

extension FanoutResult {
  /// The ids of the devices that a push or local notification goes to, in their listed order; empty
  /// if the user gets none.
  ///
  /// ``PushSet/forEachTarget(_:)`` gives those of all pushes without arrays.
  ///
  /// - Complexity: O(log members + devices).
  public func devices(of user: UserIndex) -> [Identifier] {
    targets(of: user).map(\.id)
  }

  /// The devices that a push or local notification goes to, in their listed order, as of the
  /// result's version; empty if the user gets none.
  ///
  /// - Complexity: O(log members + devices).
  public func targets(of user: UserIndex) -> [Device] {
    outcome(of: user).map { targets(of: user, $0.action) } ?? []
  }

  /// The devices of a user whose action is known.
  ///
  /// - Complexity: O(devices).
  package func targets(of user: UserIndex, _ action: Action) -> [Device] {
    defer { withExtendedLifetime(storage) {} }
    return deviceReader.targets(of: user.rawValue, action, filter, at: instant)
  }

  /// Usable while the result is retained.
  package var targetReader: TargetReader { TargetReader(self) }
}

/// Where a message's notifications go, for threads that write rows.
///
/// SAFETY: used while the result that it came from is retained.
package struct TargetReader: Sendable {
  private let devices: DeviceReader
  private let filter: DeviceFilter?
  private let instant: Int64

  init(_ result: borrowing FanoutResult) {
    devices = result.deviceReader
    filter = result.filter
    instant = result.instant
  }

  /// Calls `body` with the UTF-8 id of each device that gets a user's notification, in their listed
  /// order.
  ///
  /// - Parameter code: the user's outcome.
  /// - Complexity: O(devices).
  package func forEachID(of user: UInt32, code: UInt8, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let action = Outcome(code: code)?.action, action != .suppress else { return }
    devices.forEachTarget(of: user, action, filter, at: instant) {
      unsafe body(devices.id(of: $0))
    }
  }
}
