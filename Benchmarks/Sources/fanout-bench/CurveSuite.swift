import BenchSupport
import Dispatch
import Foundation
import PushFanout
import PushModel
import PushWorkload
import Synchronization

/// The cost curve: messages a second along a generated day, while one property of the world changes
/// and the others stay.
struct CurveSuite {
  /// The world from which the curves start.
  private struct World {
    var users = 1_000_000
    /// Half a million conversations of all sizes, unless of one size.
    var rooms: Int?
    var size: Int?
    var messages = 300_000
    var joins = 0.1
    var changesPerSecond = 0
    var threads = 1
  }

  let cores: Int

  /// Prints each point when it is measured.
  func run(_ print: (String) -> Void) {
    print("property value messages/s decisions/s ns/decision")
    func point(_ property: String, _ value: Int, _ change: (inout World) -> Void) {
      var world = World()
      change(&world)
      let (messages, decisions) = measure(world)
      let nanoseconds = 1e9 / decisions * Double(world.threads)
      print(
        "\(property) \(value) \(Int(messages)) \(Int(decisions)) "
          + String(format: "%.3g", nanoseconds))
    }
    for rooms in [1_000, 10_000, 100_000, 1_000_000] {
      point("rooms-of-20", rooms) { ($0.rooms, $0.size) = (rooms, 20) }
    }
    for size in [5, 50, 500, 5_000, 50_000, 500_000, 1_000_000] {
      let rooms = max(1, min(10_000, 5_000_000 / size))
      point("members", size) {
        ($0.rooms, $0.size) = (rooms, size)
        if size >= 50_000 { $0.messages = 30_000 }
      }
    }
    for users in [100_000, 1_000_000, 10_000_000] { point("users", users) { $0.users = users } }
    for threads in [1, 2, 4, 8] where threads <= cores {
      point("threads", threads) { $0.threads = threads }
    }
    for percent in [0, 10, 50, 90] {
      point("joins-percent", percent) { $0.joins = Double(percent) / 100 }
    }
    for changes in [0, 10, 100, 1_000, 10_000] {
      point("changes-per-second", changes) { $0.changesPerSecond = changes }
    }
  }

  private func measure(_ world: World) -> (messages: Double, decisions: Double) {
    var options = WorkloadOptions()
    options.seed = 5
    options.sizes.users = world.users
    options.sizes.joinShare = world.joins
    options.traffic.messages = world.messages
    if let rooms = world.rooms, let size = world.size {
      // All conversations have one size: giants of it.
      options.sizes.rooms = rooms
      options.sizes.giants = Array(repeating: size, count: rooms)
    } else {
      options.sizes.memberships = world.users * 10
    }
    let day = DayWorld(options, threads: cores, hasAlone: false)
    let changes = Changes(day, perSecond: world.changesPerSecond)
    defer { changes.stop() }
    return decide(day, threads: world.threads)
  }

  private func decide(_ day: DayWorld, threads: Int) -> (messages: Double, decisions: Double) {
    let messages = MessageArray(day.messages)
    let next = Atomic(0)
    let decisions = Atomic(0)
    let elapsed = seconds {
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        var result = FanoutResult()
        var sum = 0
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          if index >= messages.count { break }
          messages.with(index) { day.fanout.decide($0, into: &result) }
          keep(result.pushCount)
          sum += result.memberCount
        }
        decisions.add(sum, ordering: .relaxed)
      }
    }
    return (
      Double(day.messages.count) / elapsed, Double(decisions.load(ordering: .relaxed)) / elapsed
    )
  }

  /// A thread that changes users' levels, so many a second.
  private final class Changes: Sendable {
    private let isOver = Atomic(false)
    private let group = DispatchGroup()

    init(_ day: DayWorld, perSecond: Int) {
      guard perSecond > 0 else { return }
      let (fanout, start) = (day.fanout, DispatchTime.now().uptimeNanoseconds)
      DispatchQueue.global().async(group: group) { [self] in
        var done = 0
        while !isOver.load(ordering: .relaxed) {
          let elapsed = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
          if Double(done) > elapsed * Double(perSecond) {
            Thread.sleep(forTimeInterval: 0.0005)
            continue
          }
          let user = Workload.userID(done &* 7919 % fanout.userCount)
          let level: NotificationLevel = done % 2 == 0 ? .mention : .all
          do throws(FanoutError) {
            try fanout.update { (update) throws(FanoutError) in
              try update.updateUser(user) { $0.level = level }
            }
          } catch {
            fatalError("\(error)")
          }
          done += 1
        }
      }
    }

    func stop() {
      isOver.store(true, ordering: .relaxed)
      group.wait()
    }
  }
}
