internal import PushRules
internal import QuietTime

/// The quiet-hours bits of schedules at one instant, from the day's bitmaps when the version has
/// them.
struct ScheduleBits {
  private let version: EngineVersion
  private let now: Int64
  private let isOfPlan: Bool

  init(_ version: EngineVersion, at now: Int64) {
    self.version = version
    self.now = now
    isOfPlan = version.userClasses.plan.map { now / 86_400_000 == $0.day } ?? false
  }

  subscript(schedule: UInt32) -> UInt8 {
    if schedule == 0 { return 0 }
    if isOfPlan, let plan = version.userClasses.plan, Int(schedule) < plan.count {
      let second = Int(now / 1000 - plan.day * 86_400)
      return version.tables.quietBits(plan.level(schedule, second: second))
    }
    return version.tables.quietBits(schedule, at: now)
  }
}
