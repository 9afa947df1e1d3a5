import PushReference
import PushModel
import QuietTime

extension ReferenceEvaluator {
  /// The reference with the time zones of the system, which the engine uses too.
  ///
  /// - Throws: ``ZoneDataError`` for any zone in `settings`.
  static func ofSystemZones(_ settings: FanoutSettings) throws -> ReferenceEvaluator {
    var names: Set<String> = [settings.app.timeZone]
    for index in 0..<UInt32(settings.userCount) {
      let user = settings.user(UserIndex(index))
      if let name = user.timeZone { names.insert(name) }
      if let name = user.quietHours?.timeZone { names.insert(name) }
    }
    var zones: [String: ZoneTable] = [:]
    for name in names { zones[name] = try ZoneTable(named: name) }
    return ReferenceEvaluator(settings) { [zones] name, instant in
      zones[name].map { Int($0.offsetSeconds(at: instant.seconds)) }
    }
  }
}
