import Foundation
import PinnedZones
import PushModel
import QuietTime
import TestSupport

/// Fixed seeds, so that a plain run is repeatable; `PUSH_SEED=n` runs one more.
let seeds = TestSupport.seeds([1, 42])

/// The second of an RFC 3339 time in UTC, "2024-03-31T01:00:00Z".
func utc(_ text: String) -> Int64 {
  guard let date = try? Date(text, strategy: .iso8601) else {
    preconditionFailure("\"\(text)\" is not a time")
  }
  return Int64(date.timeIntervalSince1970)
}

/// The RFC 3339 time of a second, for messages.
func text(_ utcSeconds: Int64) -> String {
  Date(timeIntervalSince1970: Double(utcSeconds)).formatted(.iso8601)
}

/// The second of the day of a clock time, "7:05" or "7:05:30".
func clock(_ text: String) -> Int64 {
  let parts = text.split(separator: ":").compactMap { Int64($0) }
  precondition(parts.count == 2 || parts.count == 3)
  return parts[0] * 3600 + parts[1] * 60 + (parts.count == 3 ? parts[2] : 0)
}

/// A window of the local day as it is said, for tests to compare with.
struct DailyWindow: Hashable, Sendable {
  let startSecond, spanSeconds: Int32

  func contains(localSecond: Int64) -> Bool {
    (localSecond - Int64(startSecond) + 86_400) % 86_400 < Int64(spanSeconds)
  }
}

extension QuietSchedule {
  init(_ window: DailyWindow, level: NotificationLevel = .blocked, zone: ZoneTable) {
    self.init(
      startSecond: window.startSecond, spanSeconds: window.spanSeconds, level: level, zone: zone)
  }
}

/// What quiet hours mean in UTC under an app's options; nil when they never hold.
func schedule(of hours: QuietHours, _ app: AppSettings) -> QuietSchedule? {
  try! QuietSchedule(QuietSettings(quietHours: hours, timeZone: "UTC"), app: app) {
    (name) throws(ZoneDataError) in try pinned.zone(named: name)
  }
}

/// The time zones of the tests, whatever TZDIR says.
let pinned = try! ZoneDatabase(folder: pinnedFolder)
let pinnedFolder = unsafe String(cString: pinned_zones())

func pinnedNames() -> [String] { pinned.names.sorted() }
