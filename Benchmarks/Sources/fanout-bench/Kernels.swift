import ArgumentParser
import BenchSupport

/// The kernels of the regression gate (`make -C Benchmarks check`).
struct Kernels: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The kernels of the regression gate: counted by callgrind or jemalloc, or timed.",
    discussion: """
      Examples:

        valgrind --tool=callgrind --toggle-collect=fanout_kernel --dump-after=fanout_kernel \\
          fanout-bench kernels count
        LD_PRELOAD=libjemalloc.so.2 fanout-bench kernels allocations
        fanout-bench kernels time --only decide-cold.plain.500
      """,
    subcommands: [Count.self, Allocations.self, Time.self])
}

/// Each kernel once, in the function `fanout_kernel`, after a run for warming up.
struct Count: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run each kernel once, in the function fanout_kernel; print names and units.")

  @Option(parsing: .upToNextOption, help: "Only these.")
  var only: [String] = []

  func run() {
    let stages = Stages(.count)
    for kernel in Work.kernels where only.isEmpty || only.contains(kernel.name) {
      let prepared = kernel.prepare(stages)
      prepared.before()
      prepared.run()
      prepared.before()
      unsafe Kernel.body = prepared.run
      // A large allocation has the C library put in order what was freed before: not in the kernel.
      unsafe UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16).deallocate()
      fanoutKernel()
      print(kernel.name, prepared.units, kernel.unit)
    }
  }
}

/// What ``fanoutKernel()`` runs.
private enum Kernel {
  nonisolated(unsafe) static var body: () -> Void = {}
}

/// Around what is counted, by a name that a tool can be told.
@c(fanout_kernel) @inline(never)
public func fanoutKernel() { unsafe Kernel.body() }

/// What is allocated by the work whose allocations have limits.
struct Allocations: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Count allocations and bytes, as jemalloc does; print a name and both.")

  func run() throws {
    guard let counter = AllocationCounter() else {
      throw ValidationError("jemalloc does not allocate; set LD_PRELOAD=libjemalloc.so.2")
    }
    counter.check()
    for work in Work.allocating {
      // A world of its own: what others left would be put in order here.
      let prepared = work.prepare(Stages(.pair))
      // What is made once is not counted.
      for _ in 0..<3 {
        prepared.before()
        prepared.run()
      }
      var (bytes, count) = (0, 0)
      for _ in 0..<5 {
        prepared.before()
        let before = counter.bytes
        prepared.run()
        bytes = max(bytes, Int(counter.bytes - before))
        // Counting takes longer than many a run, so it has a run of its own.
        prepared.before()
        count = max(count, counter.count(prepared.run))
      }
      print(work.name, count, bytes)
    }
  }
}

/// How long kernels take.
struct Time: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Time kernels; print a name and nanoseconds a unit, the median of the rounds.")

  enum Size: String, CaseIterable, ExpressibleByArgument {
    case full, pair, tiny

    var scale: Scale {
      switch self {
      case .full: .full
      case .pair: .pair
      case .tiny: .tiny
      }
    }
  }

  @Option(help: ArgumentHelp("How often each kernel has its turn.", valueName: "count"))
  var rounds = 7

  @Option(help: "A world of 2,000,000, 300,000 or 2,000 users.")
  var size = Size.pair

  @Flag(help: "All that is measured, and not the kernels alone.")
  var all = false

  @Option(parsing: .upToNextOption, help: "Only these, of all that is measured.")
  var only: [String] = []

  func run() throws {
    for name in only where !Work.all.contains(where: { $0.name == name }) {
      throw ValidationError("nothing is called \(name)")
    }
    let stages = Stages(size.scale)
    let chosen =
      only.isEmpty ? (all ? Work.all : Work.timed) : Work.all.filter { only.contains($0.name) }
    for kernel in chosen {
      let prepared = kernel.prepare(stages)
      var samples = Samples()
      for round in 0...rounds {
        prepared.before()
        let time = seconds(prepared.run)
        // The first warms up.
        if round > 0 { samples.add(time) }
      }
      print(kernel.name, samples.median / Double(prepared.units) * 1e9)
    }
  }
}
