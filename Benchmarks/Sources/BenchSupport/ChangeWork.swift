import PushFanout
import PushReference
import PushModel
import QuietTime

extension Work {
  /// The bits of a day, for every distinct pair of window and zone.
  static let bitmaps = [
    Work("bitmaps.day", unit: "schedule") { stages in
      let days = QuietDays(stages.scale)
      var day = BenchWorld.start / 86_400_000
      return Prepared(units: days.schedules.count) {
        // 2026 and 2027, with their changes of clocks.
        day += day < 21_000 ? 1 : -700
        keep(days.bitmaps(day).reduce(0) { $0 &+ $1.transitions.count })
      }
    },
    Work("bitmaps.minute", unit: "schedule") { stages in
      let days = QuietDays(stages.scale)
      let bitmaps = days.bitmaps(BenchWorld.start / 86_400_000)
      var second = 0
      return Prepared(units: days.schedules.count) {
        second = (second + 60) % 86_400
        keep(bitmaps.reduce(0) { $1.level(second: second) == nil ? $0 : $0 &+ 1 })
      }
    },
  ]

  /// What a service does ahead of each minute (`Fanout.advance`): for a day of quarters of an hour,
  /// at which windows turn, and for a minute at which none does. A single quarter is so little
  /// work that the allocator's own housekeeping would add a third to its instructions.
  static let turns = [
    Work("turn.windows", unit: "instant") { stages in
      let stage = stages.stage(size: 5)
      stage.turn()
      stage.check(.plain)
      let turns = 96
      return Prepared(units: turns) { for _ in 0..<turns { stage.turn() } }
    },
    Work("turn.nothing", unit: "instant") { stages in
      let stage = stages.stage(size: 5)
      stage.turn()
      stage.check(.plain)
      return Prepared(
        units: 1, before: { stage.turn(minutes: 14) },
        run: { stage.turn(minutes: 1) })
    },
  ]

  /// Settings that change: each published by itself, or a thousand together.
  static let updates = [
    Work("updates.user", unit: "setting") { stages in
      let updater = Updater(Stage(stages.scale, size: 5))
      return Prepared(units: Updater.count) { updater.updateUsers(eachPublished: true) }
    },
    Work("updates.user-together", unit: "setting") { stages in
      let updater = Updater(Stage(stages.scale, size: 5))
      return Prepared(units: Updater.count) { updater.updateUsers(eachPublished: false) }
    },
    Work("updates.member", unit: "setting") { stages in
      let updater = Updater(Stage(stages.scale, size: 100_000))
      return Prepared(units: Updater.count) { updater.updateMembers(eachPublished: true) }
    },
    Work("updates.member-together", unit: "setting") { stages in
      let updater = Updater(Stage(stages.scale, size: 100_000))
      return Prepared(units: Updater.count) { updater.updateMembers(eachPublished: false) }
    },
  ]
}

/// The distinct schedules of a world, compared with the reference at one instant.
private struct QuietDays {
  let table: ScheduleTable
  let schedules: [(schedule: QuietSettings, index: UInt32)]

  init(_ scale: Scale) {
    var table = ScheduleTable(app: AppSettings(timeZone: "UTC"))
    var schedules: [UInt32: QuietSettings] = [:]
    for user in 0..<min(scale.userCount, 100_000) {
      let settings = BenchWorld.settings(user)
      let schedule = QuietSettings(settings)
      guard let index = try? table.insert(schedule) else { fatalError("a zone has no name") }
      schedules[index] = schedule
    }
    self.table = table
    self.schedules = schedules.map { ($0.value, $0.key) }.sorted { $0.index < $1.index }
    check()
  }

  /// The bitmaps of a date, as the engine makes them for its transitions.
  func bitmaps(_ day: Int64) -> [DayBitmap] {
    (0..<UInt32(table.count)).map { index in
      table.schedule(index).map { DayBitmap($0, day: day) } ?? .never
    }
  }

  private func check() {
    var settings = FanoutSettings(app: AppSettings(timeZone: "UTC"))
    for (schedule, index) in schedules {
      var user = UserSettings()
      user.quietHours = schedule.quietHours
      user.timeZone = schedule.timeZone
      settings.setUser(Identifier("\(index)"), user)
      settings.setMember(Identifier("\(index)"), of: "g")
    }
    var evaluator = Referee.evaluator(settings)
    let at = BenchWorld.start + 17 * 60_000
    let inside = bitmaps(at / 86_400_000).map { $0.contains(second: Int(at / 1000 % 86_400)) }
    evaluator.decide(Message(id: "m", conversation: "g", at: Instant(milliseconds: at))) {
      (user, decision) in
      let index = Int(settings.id(of: user).text) ?? 0
      require(
        inside[index] == (decision.outcome.reason == .quietHours),
        "a window is open in the bitmaps and not in the reference, or the other way round")
    }
  }
}

/// Changes levels to and fro, in a world that nobody else compares with the reference.
private final class Updater {
  static let count = 1000
  private let stage: Stage
  private let group: BenchWorld.Group
  private let users: [Identifier]
  private let members: [Identifier]
  private var round = 0

  init(_ stage: Stage) {
    self.stage = stage
    let group = stage.world.groups[0]
    self.group = group
    let userCount = stage.world.userCount
    users = (0..<Self.count).map { BenchWorld.userID($0 * 7919 % userCount) }
    members = (0..<Self.count).map {
      BenchWorld.userID(Int(group.members[$0 * 7919 % group.members.count]))
    }
    stage.check(.plain)
    for _ in 0..<2 {
      updateUsers(eachPublished: true)
      require(stage.fanout.user(users[0])?.level == level, "a user's update is lost")
      updateMembers(eachPublished: false)
      require(
        stage.fanout.member(members[0], of: group.id)?.level == level, "a member's update is lost")
    }
  }

  private var level: NotificationLevel { round % 2 == 0 ? .mention : .all }

  func updateUsers(eachPublished: Bool) {
    round += 1
    let level = level
    change(users, eachPublished) { (update, user) throws(FanoutError) in
      try update.updateUser(user) { $0.level = level }
    }
  }

  func updateMembers(eachPublished: Bool) {
    round += 1
    let level = level
    let group = group.id
    change(members, eachPublished) { (update, member) throws(FanoutError) in
      try update.updateMember(member, of: group) { $0.level = level }
    }
  }

  private func change(
    _ ids: [Identifier], _ eachPublished: Bool,
    _ body: (inout FanoutUpdate, Identifier) throws(FanoutError) -> Void
  ) {
    if eachPublished {
      for id in ids { update { (update) throws(FanoutError) in try body(&update, id) } }
    } else {
      update { (update) throws(FanoutError) in for id in ids { try body(&update, id) } }
    }
  }

  private func update(_ body: (inout FanoutUpdate) throws(FanoutError) -> Void) {
    do { try stage.fanout.update(body) } catch { fatalError("\(error)") }
  }
}
