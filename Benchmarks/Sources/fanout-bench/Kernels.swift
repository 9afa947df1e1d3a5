import ArgumentParser
import BenchSupport

/// The kernels of the regression gate (`make -C Benchmarks check`).
struct Kernels: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The kernels of the regression gate: one run each for callgrind, or timed.",
    discussion: """
      Examples:

        valgrind --tool=callgrind --toggle-collect=fanout_kernel --dump-after=fanout_kernel \\
          fanout-bench kernels count
        fanout-bench kernels time --only decide-cold.plain.500
      """,
    subcommands: [Count.self, Time.self, List.self])
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

/// How long kernels take, in a world of 300,000 users.
struct Time: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Time kernels; print a name and nanoseconds a unit, the median of the rounds.")

  @Option(help: ArgumentHelp("How often each kernel has its turn.", valueName: "count"))
  var rounds = 7

  @Option(parsing: .upToNextOption, help: "Only these, of all that is measured.")
  var only: [String] = []

  func run() throws {
    for name in only where !Work.all.contains(where: { $0.name == name }) {
      throw ValidationError("nothing is called \(name)")
    }
    let stages = Stages(.pair)
    let chosen = only.isEmpty ? Work.timed : Work.all.filter { only.contains($0.name) }
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

/// What each part of the gate is about.
struct List: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Print the names of the work.")

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case kernels, allocating
  }

  @Argument(help: "kernels, or allocating: the work whose allocations have limits.")
  var part: Part

  func run() {
    for work in part == .kernels ? Work.kernels : Work.allocating { print(work.name) }
  }
}
