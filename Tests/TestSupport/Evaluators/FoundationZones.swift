import Foundation
package import PushModel
package import PushReference
import Synchronization

extension ReferenceEvaluator {
  /// The reference with the time zones of Foundation: data, and code that reads it, that are not the
  /// engine's.
  ///
  /// - Precondition: Foundation knows the time zones in `settings`.
  package init(_ settings: FanoutSettings) {
    self.init(settings, zoneOffset: foundationOffset)
  }
}

/// Seconds east of UTC, by Foundation; nil for a name that is none.
private func foundationOffset(of zone: String, at instant: Instant) -> Int? {
  let found = foundationZones.withLock { zones -> TimeZone? in
    if let found = zones[zone] { return found }
    zones[zone] = TimeZone(identifier: zone)
    return zones[zone]
  }
  return found?.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(instant.seconds)))
}

private let foundationZones = Mutex<[String: TimeZone]>([:])
