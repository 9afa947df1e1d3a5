import PushFanout
import PushModel
import PushReplay
import PushWorkload
import Synchronization

extension Work {
  /// A generated day: messages to conversations of all sizes, in their order. Each run is a day on
  /// an engine that has decided none of its messages.
  static let days = [
    Work("day.live", unit: "message") { stages in
      let day = Day(stages.scale)
      return Prepared(units: day.messages.count, before: day.forget, run: day.live)
    },
    Work("day.batches", unit: "message") { stages in
      let day = Day(stages.scale)
      return Prepared(units: day.messages.count, before: day.forget, run: day.batches)
    },
    Work("day.replay", unit: "message") { stages in
      let day = Day(stages.scale)
      return Prepared(units: day.messages.count, run: day.replay)
    },
    Work("day.replay-hold", unit: "message") { stages in
      let day = Day(stages.scale, holds: true)
      return Prepared(units: day.messages.count, run: day.replayHolding)
    },
  ]

  /// The same day as `push-fanout replay` does it: with the tallies, and a thread that decides.
  ///
  /// No kernels whose instructions are counted: what other threads do is not counted.
  static let replays = [
    ("replay.plain", false, false), ("replay.hold", true, false), ("replay.people", false, true),
  ].map { name, holds, countsPeople in
    Work(name, unit: "message") { stages in
      let day = Day(stages.scale, holds: holds)
      var options = ReplayOptions()
      options.holds = holds
      options.countsPeople = countsPeople
      return Prepared(units: day.messages.count) { day.replay(options) }
    }
  }
}

/// The day of a small service.
private final class Day {
  private let world: DayWorld
  private let pushes: Int
  private var held = 0
  let messages: MessageArray

  init(_ scale: Scale, holds: Bool = false) {
    var options = WorkloadOptions()
    options.seed = 5
    options.sizes.users = min(20_000, scale.userCount)
    options.sizes.memberships = options.sizes.users * 10
    world = DayWorld(options, threads: 1)
    messages = MessageArray(world.messages)
    pushes = world.alone.decide(world.messages).reduce(0) { $0 + $1.pushCount }
    live()
    replay()
    if holds { hold() }
  }

  /// One member after the other, where replays count members of equal settings together.
  private func hold() {
    let timeline = FanoutTimeline(world.alone.currentVersion)
    var counts = FanoutCounts()
    for message in world.messages {
      _ = timeline.counts(message, held: &counts) { _, _, _ in held += 1 }
    }
    replayHolding()
  }

  func forget() { world.alone.forgetConversations() }

  func live() {
    var (sum, result) = (0, FanoutResult())
    for index in messages.indices {
      messages.with(index) { world.alone.decide($0, into: &result) }
      sum += result.pushCount
    }
    require(sum == pushes, "live pushes differ")
  }

  func batches() {
    let sum = Atomic(0)
    world.alone.decide(world.messages) { sum.add($1.pushCount, ordering: .relaxed) }
    let found = sum.load(ordering: .relaxed)
    require(found == pushes, "batches' pushes differ")
  }

  func replay() {
    var sum = 0
    let timeline = FanoutTimeline(world.alone.currentVersion)
    for index in messages.indices {
      messages.with(index) { sum += timeline.counts($0).pushCount }
    }
    require(sum == pushes, "a replay's pushes differ")
  }

  func replayHolding() {
    var (sum, released, held) = (0, 0, FanoutCounts())
    let timeline = FanoutTimeline(world.alone.currentVersion)
    for index in messages.indices {
      messages.with(index) {
        sum += timeline.counts($0, held: &held) { _, count in released += count }.pushCount
      }
    }
    require(sum == pushes, "a holding replay's pushes differ")
    require(released == self.held, "a replay releases \(released), members \(self.held)")
  }

  func replay(_ options: ReplayOptions) {
    do {
      let replayer = try Replayer(world.alone, options)
      for message in world.messages { try replayer.add(.message(message)) }
      let result = replayer.finish()
      require(result.pushes == pushes, "a whole replay's pushes differ")
      require(result.hold.map { $0.held == held } ?? !options.holds, "what it holds differs")
      require((result.people != nil) == options.countsPeople, "people are not counted")
    } catch {
      fatalError("\(error)")
    }
  }
}
