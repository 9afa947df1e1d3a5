public import PushModel

/// The system's tables of all time zones that settings name: what the engine decides by, for an
/// evaluator that asks for offsets.
///
///     let zones = try SettingsZones(settings)
///     var reference = ReferenceEvaluator(settings, zoneOffset: zones.offset)
public struct SettingsZones: Sendable {
  private var tables: [String: ZoneTable] = [:]
  private let appZone: String

  /// Reads the tables of the app's zone, of users and of their quiet hours.
  ///
  /// - Parameter unknownZones: whether a zone that the system does not have is an error. If not, it has
  ///   no table: ask ``unknownZone(of:)``.
  /// - Throws: ``ZoneDataError`` for any zone in `settings`.
  /// - Complexity: O(users), and a file for each zone.
  public init(
    _ settings: FanoutSettings, unknownZones: UnknownZones = .fail
  ) throws(ZoneDataError) {
    var names: Set<String> = [settings.app.timeZone]
    for index in 0..<UInt32(settings.userCount) {
      let user = settings.user(UserIndex(index))
      if let name = user.timeZone { names.insert(name) }
      if let name = user.quietHours?.timeZone { names.insert(name) }
    }
    for name in names {
      do throws(ZoneDataError) {
        tables[name] = try ZoneTable(named: name)
      } catch .unknownName where unknownZones != .fail {
        continue
      }
    }
    appZone = settings.app.timeZone
  }

  /// A zone that a user's settings need and the system does not have; nil when it has all.
  public func unknownZone(of user: UserSettings) -> String? {
    guard user.timeZone != nil || user.quietHours != nil else { return nil }
    let names = [user.timeZone ?? appZone, user.quietHours?.timeZone]
    return names.lazy.compactMap(\.self).first { tables[$0] == nil }
  }

  /// How many seconds east of UTC a zone is at an instant; nil for a zone that the settings do not
  /// name.
  public func offset(of zone: String, at instant: Instant) -> Int? {
    tables[zone].map { Int($0.offsetSeconds(at: instant.seconds)) }
  }
}
