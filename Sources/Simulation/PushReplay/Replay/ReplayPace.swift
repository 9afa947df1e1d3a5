internal import Glibc
internal import PushModel

/// Lets time pass as fast as ``ReplayOptions/speed`` says.
struct ReplayPace {
  private let speed: Double?
  private let start = ContinuousClock.now
  private var first: Int64?

  /// - Precondition: `speed` is finite and at least ``ReplayOptions/slowestSpeed``, or nil.
  init(_ speed: Double?) {
    if let speed {
      precondition(
        speed.isFinite && speed >= ReplayOptions.slowestSpeed,
        "ReplayOptions.speed is \(speed), not \(ReplayOptions.slowestSpeed) or more")
    }
    self.speed = speed
  }

  /// Whether an instant has not come yet.
  mutating func mustWait(for instant: Instant) -> Bool {
    guard let due = due(instant) else { return false }
    return ContinuousClock.now < due
  }

  /// Sleeps until an instant has come.
  mutating func wait(for instant: Instant) {
    while let due = due(instant), ContinuousClock.now < due {
      let left = min((due - ContinuousClock.now) / .microseconds(1), 500_000)
      if left > 0 { usleep(UInt32(left)) }
    }
  }

  private mutating func due(_ instant: Instant) -> ContinuousClock.Instant? {
    guard let speed else { return nil }
    let first = self.first ?? instant.milliseconds
    self.first = first
    return start + .milliseconds(Double(instant.milliseconds - first) / speed)
  }
}
