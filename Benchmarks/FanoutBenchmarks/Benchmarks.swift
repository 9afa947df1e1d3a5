import BenchSupport
import Benchmark
import Foundation

/// Every benchmark, a process each:
///
///     PUSH_FANOUT_DEVELOP=benchmarks swift package benchmark --filter 'decide-cold.*'
///
/// With PUSH_BENCH=gate only the work whose allocations have limits, in a smaller world, and only
/// allocations; with PUSH_BENCH=tiny all of it, once each, for tests.
let benchmarks: @Sendable () -> Void = {
  switch ProcessInfo.processInfo.environment["PUSH_BENCH"] {
  case "gate":
    for work in Work.allocating {
      register(
        work, .pair, metrics: [.allocations, .allocatedBytes],
        maxDuration: .seconds(60), maxIterations: 5)
    }
  case "tiny":
    for work in Work.all {
      register(
        work, .tiny, metrics: [.wallClock, .allocations, .allocatedBytes],
        maxDuration: .seconds(60), maxIterations: 1)
    }
  case nil, "full":
    for work in Work.all {
      register(
        work, .full,
        metrics: [.wallClock, .picoseconds(per: work.unit), .allocations, .allocatedBytes],
        maxDuration: .seconds(2), maxIterations: 200)
    }
  case let other?:
    fatalError("PUSH_BENCH is \(other), not full, gate or tiny")
  }
}

/// What the package's plugin would generate for each build of the package.
@main struct BenchmarkRunner: BenchmarkRunnerHooks {
  static func registerBenchmarks() { _ = benchmarks() }
}

/// The worlds of this process: of one benchmark, unless all run in one.
private let worlds = Worlds()

/// Benchmarks run one after the other, each prepared on whatever thread there is.
private final class Worlds: @unchecked Sendable {
  private var stages: Stages?

  func stages(_ scale: Scale) -> Stages {
    if let stages { return stages }
    let stages = Stages(scale)
    self.stages = stages
    return stages
  }
}

private func register(
  _ work: Work, _ scale: Scale, metrics: [BenchmarkMetric], maxDuration: Duration,
  maxIterations: Int
) {
  let isTimed = metrics.contains(.wallClock)
  Benchmark(
    work.name,
    configuration: .init(
      metrics: metrics, warmupIterations: 0, maxDuration: maxDuration,
      maxIterations: maxIterations,
      // In percent, either way; what allocates nothing stays so.
      thresholds: [
        .allocations: .init(relative: [.p90: 2]), .allocatedBytes: .init(relative: [.p90: 2]),
      ])
  ) { (benchmark: Benchmark, prepared: Work.Prepared) in
    let counter = AllocationCounter()
    prepared.before()
    benchmark.startMeasurement()
    let start = ContinuousClock.now
    let bytes = counter.bytes
    prepared.run()
    let allocated = counter.bytes - bytes
    let time = ContinuousClock.now - start
    benchmark.stopMeasurement()
    benchmark.measurement(.allocatedBytes, Int(allocated))
    if isTimed {
      let picoseconds = time / .seconds(1) * 1e12 / Double(prepared.units)
      benchmark.measurement(.picoseconds(per: work.unit), Int(picoseconds))
    }
    // Counting allocations takes longer than many a run, so it has a run of its own.
    if benchmark.currentIteration < 5 {
      prepared.before()
      benchmark.measurement(.allocations, counter.count(prepared.run))
    }
  } setup: {
    let prepared = work.prepare(worlds.stages(scale))
    // What is made once is not counted.
    for _ in 0..<3 {
      prepared.before()
      prepared.run()
    }
    AllocationCounter.check()
    return prepared
  }
}
