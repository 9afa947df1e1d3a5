internal import PushModel
internal import QuietTime

/// The quiet-hours bits of schedules at one instant, from the day's bitmaps when the version has
/// them.
struct ScheduleBits {
  private let version: EngineVersion
  private let now: Int64
  private let isOfPlan: Bool
  private let bits: QuietLevelBits

  init(_ version: EngineVersion, at now: Int64) {
    self.version = version
    self.now = now
    bits = QuietLevelBits(version.tables.app)
    isOfPlan = version.userClasses.plan.map { now / 86_400_000 == $0.day } ?? false
  }

  @inline(__always)
  subscript(schedule: UInt32) -> UInt8 {
    if schedule == 0 { return 0 }
    if isOfPlan, let plan = version.userClasses.plan, Int(schedule) < plan.count {
      let second = Int(now / 1000 - plan.day * 86_400)
      return bits[plan.level(schedule, second: second)]
    }
    return bits[version.tables.scheduleTable.level(schedule, at: now / 1000)]
  }
}
