internal import PushFanout
internal import PushModel
internal import PushSupport
internal import QuietTime

/// Users of a time zone whose quiet hours end in a minute.
public struct WindowEnd: Codable, Equatable, Sendable {
  /// The IANA name of the zone.
  public var zone: String
  /// What clocks show there, `07:00`.
  public var time: String
  /// How many users.
  public var users: Int

  /// Users of a zone; `time` as clocks show it there.
  public init(zone: String, time: String, users: Int) {
    self.zone = zone
    self.time = time
    self.users = users
  }

  /// The most zones that a result names.
  static let limit = 5

  /// The zones in which daily windows end in a minute, the one with most users first.
  ///
  /// - Parameter minute: milliseconds since the epoch.
  /// - Complexity: O(users).
  static func ends(in minute: Int64, _ version: FanoutVersion, app: AppSettings) -> [WindowEnd] {
    var minuteOf: [String: Int64?] = [:]
    var users: [String: Int] = [:]
    version.forEachUser { _, user in
      guard let end = user.quietHours?.endMinute else { return }
      let zone = user.quietHours?.timeZone ?? user.timeZone ?? app.timeZone
      let now =
        minuteOf[zone]
        ?? (try? ZoneTable(named: zone)).map { $0.localSecond(at: minute / 1000) / 60 }
      minuteOf.updateValue(now, forKey: zone)
      if now == end { users[zone, default: 0] += 1 }
    }
    return users.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(limit).map {
      WindowEnd(
        zone: $0.key, time: ClockTime.text(minuteOfDay: (minuteOf[$0.key] ?? 0) ?? 0),
        users: $0.value)
    }
  }
}

extension QuietHours {
  /// The minute of the day at which a daily window ends; nil for one that does not, and for several.
  fileprivate var endMinute: Int64? {
    switch self {
    case .interval(let interval):
      interval.startMinute == interval.endMinute ? nil : Int64(interval.endMinute)
    case .span(let span):
      span.spanMinutes >= 1440
        ? nil : Int64((span.startSecond / 60 + span.spanMinutes) % 1440)
    case .windows: nil
    }
  }
}
