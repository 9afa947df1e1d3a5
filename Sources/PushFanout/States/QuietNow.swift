internal import PushRules
internal import QuietTime

/// The bits of schedules at one instant, by the moment's bitmaps where they are of that day.
struct QuietNow {
  private let world: World
  private let now: Int64
  private let isOfPlan: Bool

  init(_ world: World, at now: Int64) {
    self.world = world
    self.now = now
    isOfPlan = world.moment.plan.map { now / 86_400_000 == $0.day } ?? false
  }

  subscript(schedule: UInt32) -> UInt8 {
    if schedule == 0 { return 0 }
    if isOfPlan, let plan = world.moment.plan, Int(schedule) < plan.count {
      let second = Int(now / 1000 - plan.day * 86_400)
      return world.tables.quietBits(plan.level(schedule, second: second))
    }
    return world.tables.quietBits(schedule, at: now)
  }
}
