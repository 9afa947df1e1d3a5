import PushFanout
import PushModel
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
  ]
}

/// The day of a small service.
private final class Day {
  private let world: DayWorld
  private let pushes: Int
  let messages: MessageArray

  init(_ scale: Scale) {
    var options = WorkloadOptions()
    options.seed = 5
    options.sizes.users = min(20_000, scale.userCount)
    options.sizes.memberships = options.sizes.users * 10
    world = DayWorld(options, threads: 1)
    messages = MessageArray(world.messages)
    pushes = world.alone.decide(world.messages).reduce(0) { $0 + $1.pushCount }
    live()
    replay()
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
}
