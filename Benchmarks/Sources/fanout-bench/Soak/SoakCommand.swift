import ArgumentParser
import Foundation
import PushFanout
import PushModel
import Synchronization

/// Whether the engine's memory stays flat and its answers stay right, for as long as wanted.
struct SoakCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soak",
    abstract: """
      Decides, changes settings and holds results on many threads while time passes and states are \
      evicted; fails if memory grows or an answer differs from the reference.
      """)

  @Option(help: "How many seconds.")
  var seconds = 1200.0

  @Option(help: "Where random numbers begin.")
  var seed: UInt64 = 1

  @Option(help: "Megabytes that are lost each second, to show that this fails.")
  var leak = 0

  /// The engine's minutes in ten milliseconds: ten minutes a second.
  private static let tick: Int64 = 6_000

  func validate() throws {
    if !(2...1_000_000).contains(seconds) {
      throw ValidationError("--seconds \(seconds) is not 2...1000000.")
    }
    if !(0...1000).contains(leak) { throw ValidationError("--leak \(leak) is not 0...1000.") }
  }

  func run() throws {
    // 30 March 2024, 23:50: dates change soon, and clocks in Europe a few hours later.
    let clock = SoakClock(1_711_842_600_000)
    let soaks = try [RuleSet.easemob, .rongcloud].map {
      try Soak($0, seed: seed, clock: clock)
    }
    let threads = Threads(soaks.flatMap(\.bodies))
    let (samples, most) = sample(soaks, clock)
    clock.end()
    threads.wait()
    var problems = soaks.flatMap(\.found)
    for (soak, most) in zip(soaks, most) {
      let (decided, changed) = (
        soak.decided.load(ordering: .relaxed), soak.changed.load(ordering: .relaxed)
      )
      let checked = soak.checked.load(ordering: .relaxed)
      print(
        "\(soak.rules.rawValue): \(decided) messages, \(changed) changes in \(soak.fanout.version)"
          + " versions, \(checked) results compared with the reference; states of at most \(most)"
          + " of \(soak.fanout.cacheByteLimit) bytes, all rooms need \(soak.needed)")
      if most > soak.fanout.cacheByteLimit { problems.append("the cache exceeds its bound") }
      if checked == 0 { problems.append("no result was compared with the reference") }
    }
    for line in samples.lines { print(line) }
    if samples.grows { problems.append("memory grows") }
    for problem in problems { print("FAILED: \(problem)") }
    if !problems.isEmpty { throw ExitCode.failure }
  }

  /// Lets time pass, and samples memory and the bytes of states.
  private func sample(_ soaks: [Soak], _ clock: SoakClock) -> (MemorySamples, states: [Int]) {
    var samples = MemorySamples(seconds: seconds)
    var most = soaks.map { _ in 0 }
    var lost: [[UInt8]] = []
    let interval = min(1, seconds / 100)
    let start = ContinuousClock.now
    var (passed, nextSample, minute) = (0.0, 0.0, Int64(0))
    // On a busy machine the first results may be compared late.
    func goesOn() -> Bool {
      if !soaks.allSatisfy({ $0.found.isEmpty }) { return false }
      if passed < seconds { return true }
      let isCompared = soaks.allSatisfy { $0.checked.load(ordering: .relaxed) > 0 }
      return !isCompared && passed < seconds + 300
    }
    while goesOn() {
      clock.add(Self.tick)
      if clock.milliseconds / 60_000 != minute {
        minute = clock.milliseconds / 60_000
        for soak in soaks { soak.fanout.advance(to: Instant(milliseconds: minute * 60_000)) }
      }
      for (index, soak) in soaks.enumerated() {
        most[index] = max(most[index], soak.fanout.memoryReport().states)
      }
      Thread.sleep(forTimeInterval: 0.01)
      passed = (ContinuousClock.now - start) / .seconds(1)
      if passed < nextSample { continue }
      nextSample += interval
      samples.add(
        MemorySamples.residentBytes(),
        soaks.reduce(0) { $0 + $1.fanout.memoryReport().total }, at: passed)
      if leak > 0 {
        lost.append([UInt8](repeating: 1, count: Int(Double(leak) * 1e6 * interval)))
      }
    }
    withExtendedLifetime(lost) {}
    return (samples, most)
  }
}
