public import PushModel

/// The system's tables of all time zones that settings name: what the engine decides by, for an
/// evaluator that asks for offsets.
///
///     let zones = try SettingsZones(settings)
///     var reference = ReferenceEvaluator(settings, zoneOffset: zones.offset)
public struct SettingsZones: Sendable {
  private var tables: [String: ZoneTable] = [:]

  /// Reads the tables of the app's zone, of users and of their quiet hours.
  ///
  /// - Throws: ``ZoneDataError`` for any zone in `settings`.
  /// - Complexity: O(users), and a file for each zone.
  public init(_ settings: FanoutSettings) throws(ZoneDataError) {
    var names: Set<String> = [settings.app.timeZone]
    for index in 0..<UInt32(settings.userCount) {
      let user = settings.user(UserIndex(index))
      if let name = user.timeZone { names.insert(name) }
      if let name = user.quietHours?.timeZone { names.insert(name) }
    }
    for name in names { tables[name] = try ZoneTable(named: name) }
  }

  /// How many seconds east of UTC a zone is at an instant; nil for a zone that the settings do not
  /// name.
  public func offset(of zone: String, at instant: Instant) -> Int? {
    tables[zone].map { Int($0.offsetSeconds(at: instant.seconds)) }
  }
}
