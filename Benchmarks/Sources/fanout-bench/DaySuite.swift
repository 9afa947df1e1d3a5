import BenchSupport
import Foundation
import PushFanout
import PushModel
import PushWorkload
import Synchronization

/// The day and the service: what a service with many conversations meets.
///
/// Every figure has what it must reach beside it, at the size of the full world; a smaller one only
/// shows the trend. Where ``DayFloor`` has done the same in the same run, the figure is what must be
/// reached on a machine as fast as this one.
struct DaySuite {
  let world: DayWorld
  let floor: DayFloor
  let threads: [Int]

  struct Line: Encodable {
    var name: String
    var value: Double
    var unit: String
    /// What must be reached; nil where nothing is required.
    var least: Double?
    var most: Double?
    /// What ``least`` or ``most`` is on the machine of ``DayFloor/there``; nil where it is the same.
    var bound: Double?

    var holds: Bool { least.map { value >= $0 } ?? true && most.map { value <= $0 } ?? true }

    var text: String {
      let must =
        least.map { "must be at least \(Self.format($0))" }
        ?? most.map { "must be at most \(Self.format($0))" } ?? ""
      let there = bound.map { " (\(Self.format($0)) there)" } ?? ""
      return name.padding(toLength: 58, withPad: " ", startingAt: 0)
        + Self.format(value).padding(toLength: 10, withPad: " ", startingAt: 0)
        + unit.padding(toLength: 16, withPad: " ", startingAt: 0) + must + there
        + (holds ? "" : "  MISSED")
    }

    /// The same with what must be reached at least, as a share of what the floor does.
    func least(_ bound: Double, here: Double, there: Double) -> Line {
      var line = self
      (line.least, line.bound) = (bound * here / there, bound)
      return line
    }

    /// The same with what must be reached at most, as a multiple of what the floor takes.
    func most(_ bound: Double, here: Double, there: Double) -> Line {
      var line = self
      (line.most, line.bound) = (bound * here / there, bound)
      return line
    }

    private static func format(_ value: Double) -> String {
      value >= 100 ? "\(Int(value.rounded()))" : String(format: "%.3g", value)
    }
  }

  // MARK: The day

  /// The messages in their order on one thread, and what they came to.
  func day() -> [Line] {
    var result = FanoutResult()
    var decisions = 0
    var pushes = 0
    let messages = MessageArray(world.messages)
    var floors = [floor.inOrder()]
    let all = seconds {
      for index in messages.indices {
        messages.with(index) { world.fanout.decide($0, into: &result) }
        let counts = result.counts
        decisions += counts.recipientCount
        pushes += counts.pushCount
      }
    }
    floors.append(floor.inOrder())
    let sums = Mutex((decisions: 0, pushes: 0))
    let pieces = stride(from: 0, to: world.messages.count, by: 8192).map {
      Array(world.messages[$0..<min($0 + 8192, world.messages.count)])
    }
    let batches = seconds {
      for piece in pieces {
        world.alone.decide(piece) { _, result in
          let counts = result.counts
          sums.withLock {
            $0.decisions += counts.recipientCount
            $0.pushes += counts.pushCount
          }
        }
      }
    }
    guard sums.withLock({ $0 == (decisions, pushes) }) else { fatalError("batches differ") }
    floors.append(floor.inOrder())
    let timeline = FanoutTimeline(world.fanout.currentVersion)
    var pushesReplayed = 0
    let replayed = seconds {
      for index in messages.indices {
        messages.with(index) { pushesReplayed += timeline.counts($0).pushCount }
      }
    }
    require(pushesReplayed == pushes, "a timeline pushes \(pushesReplayed), live \(pushes)")
    floors.append(floor.inOrder())
    for floor in floors {
      require(
        (floor.decisions, floor.pushes) == (decisions, pushes),
        "the floor pushes \(floor.pushes), the engine \(pushes)")
    }
    let count = Double(world.messages.count) / 1e6
    let billions = Double(decisions) / 1e9
    var times = Samples()
    for floor in floors { times.add(floor.seconds) }
    let here = billions / times.median
    func line(_ name: String, _ seconds: Double) -> Line {
      Line(name: "the day \(name)", value: billions / seconds, unit: "G decisions/s")
        .least(2.2, here: here, there: DayFloor.there.decisions)
    }
    func same(_ seconds: Double) -> Line {
      Line(name: "the same", value: count / seconds, unit: "M messages/s")
    }
    return [
      Line(name: "decisions of the day", value: billions, unit: "G"),
      Line(name: "pushes of the day", value: Double(pushes) / 1e6, unit: "M"),
      Line(name: "the floor, the day in order, 1 thread", value: here, unit: "G decisions/s"),
      line("in order, live, 1 thread, first use", all), same(all),
      line("in batches, 1 thread, first use", batches), same(batches),
      line("in order, replayed, 1 thread", replayed),
    ]
  }

  // MARK: The service

  /// Messages a second of threads that take them in turn, counting pushes, the percentiles of one
  /// message's latency, and the processor time of a message in microseconds.
  func inTurn(
    _ messages: MessageArray, _ threads: Int, _ fanout: Fanout
  ) -> (rate: Double, pushes: Int, latency: [Double], processor: Double) {
    let pushes = Atomic(0)
    let latencies = Mutex<[Float]>([])
    let next = Atomic(0)
    let processor = Atomic(0)
    let elapsed = seconds {
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        let start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
        defer {
          let end = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
          processor.add(end - start, ordering: .relaxed)
        }
        var result = FanoutResult()
        var sum = 0
        var times: [Float] = []
        times.reserveCapacity(messages.count / threads + 1)
        var before = nanoseconds(CLOCK_MONOTONIC)
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          if index >= messages.count { break }
          messages.with(index) { fanout.decide($0, into: &result) }
          sum += result.pushCount
          let now = nanoseconds(CLOCK_MONOTONIC)
          times.append(Float(now - before))
          before = now
        }
        pushes.add(sum, ordering: .relaxed)
        latencies.withLock { $0 += times }
      }
    }
    let sorted = latencies.withLock { $0.sorted() }
    let at = [0.5, 0.99, 0.999].map { share in
      Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
    }
    return (
      Double(messages.count) / elapsed / 1e6, pushes.load(ordering: .relaxed), at,
      Double(processor.load(ordering: .relaxed)) / 1e3 / Double(messages.count)
    )
  }

  /// All messages at one instant.
  func standingStill() -> [Line] {
    let last = world.messages.map(\.at).max() ?? Instant(milliseconds: 0)
    let messages = world.messages.map { message in
      var message = message
      message.at = last
      return message
    }
    let before = floor.still()
    var lines = scaling(
      "time standing still", messages, pushes: before.pushes, factors: [2: 1.8, 4: 2.7],
      warms: true)
    let after = floor.still()
    let here = (before.rate + after.rate) / 2
    lines[0] = lines[0].least(1.5, here: here, there: DayFloor.there.still)
    lines.insert(
      Line(name: "the floor, time standing still, 1 thread", value: here, unit: "M messages/s"),
      at: 0)
    return lines
  }

  /// Messages along the day, up to two minutes out of order.
  func alongTheDay() -> [Line] {
    var random = SystemRandomNumberGenerator()
    let jittered = world.messages.enumerated().map { index, message in
      let shift = Int64.random(in: -120_000...0, using: &random)
      return (at: message.at.milliseconds + shift, index: index)
    }.sorted { ($0.at, $0.index) < ($1.at, $1.index) }
    let before = floor.inOrder()
    var lines = scaling(
      "along the day, up to two minutes out of order", jittered.map { world.messages[$0.index] },
      pushes: before.pushes, factors: [2: 1.7], warms: false)
    let after = floor.inOrder()
    let (there, count) = (DayFloor.there, Double(world.messages.count) / 1e6)
    let here = count * 2 / (before.seconds + after.seconds)
    lines[0] = lines[0].least(0.8, here: here, there: there.inOrder)
    var floors = [
      Line(name: "the floor, along the day, 1 thread", value: here, unit: "M messages/s")
    ]
    for (index, bound) in [1.0, 10, 100].enumerated() {
      let here = (before.latency[index] + after.latency[index]) / 2
      lines[index + 1] = lines[index + 1].most(bound, here: here, there: there.latency[index])
      floors.append(Line(name: lines[index + 1].name, value: here, unit: "µs"))
    }
    return floors + lines
  }

  private func scaling(
    _ name: String, _ messages: [Message], pushes: Int, factors: [Int: Double], warms: Bool
  ) -> [Line] {
    var lines: [Line] = []
    var one = 0.0
    let messages = MessageArray(messages)
    if warms { _ = inTurn(messages, 1, world.fanout) }
    for count in threads {
      // As on a day that begins: states are those of no later instant.
      if !warms { world.fanout.forgetConversations() }
      let (rate, sum, latency, _) = inTurn(messages, count, world.fanout)
      require(pushes == sum, "\(count) threads push \(sum), the floor \(pushes)")
      if count == 1 { one = rate }
      let threadsText = count == 1 ? "1 thread" : "\(count) threads"
      lines.append(
        Line(
          name: "\(name), \(threadsText)", value: rate, unit: "M messages/s",
          least: count == 1 ? nil : factors[count].map { $0 * one }))
      for (share, value) in zip(["50", "99", "99.9"], latency) {
        lines.append(Line(name: "  latency, percentile \(share)", value: value, unit: "µs"))
      }
    }
    return lines
  }

  /// Conversations by size, on one thread: the first message ever, in a batch; the first after a
  /// transition; the next one.
  func bySize() -> [Line] {
    let firsts = [30, 5, 1.5, 0.8, 0.6]
    let transitions = [500: 2, 5_000: 0.5, 100_000: 0.05] as [Int: Double]
    var lines: [Line] = []
    guard let last = world.messages.map(\.at.milliseconds).max() else { return [] }
    for (index, (size, ids)) in world.bySize.enumerated() where !ids.isEmpty {
      let floors = (0..<5).compactMap { _ in floor.firstStates(index) }
      world.alone.forgetConversations()
      let chosen = ids.shuffled().prefix(20_000)
      let members = chosen.reduce(0) { $0 + world.alone.memberCount(of: $1) }
      var at = last
      func pass() -> Double {
        let messages = chosen.map {
          Message(id: "m", conversation: $0, at: Instant(milliseconds: at))
        }
        // As a service does each minute: a day's quiet hours are of no conversation.
        world.alone.advance(to: Instant(milliseconds: at))
        return seconds { world.alone.decide(messages) { keep($1.pushCount) } }
          / Double(members) * 1e9
      }
      let first = pass()
      // Quarters of an hour, each with transitions: those of a known conversation, for which what is
      // made once was made in the quarters before.
      for _ in 0..<12 {
        at += 900_000
        _ = pass()
      }
      var turned = Samples()
      for _ in 0..<16 {
        at += 900_000
        turned.add(pass())
      }
      let again = pass()
      var states = Samples()
      for floor in floors { states.add(floor) }
      let name = "\(size) members and more: "
      let here = states.median
      var ever = Line(name: name + "first message ever", value: first, unit: "ns a member")
      if !floors.isEmpty {
        ever = ever.most(
          firsts[index], here: here, there: DayFloor.there.firstStates[index])
        lines.append(
          Line(
            name: "the floor, states of \(DayFloor.sizes[index]) members", value: here,
            unit: "ns a member"))
      }
      lines += [
        ever,
        Line(
          name: name + "first after a quarter of an hour", value: turned.median,
          unit: "ns a member", most: transitions[size]),
        Line(name: name + "next message", value: again, unit: "ns a member"),
      ]
    }
    return lines
  }
}
