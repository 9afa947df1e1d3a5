// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func ours(_ modules: String...) -> [Target.Dependency] {
  modules.map { .product(name: $0, package: "push-fanout") }
}

let engine = ours(
  "PushModel", "QuietTime", "PushReference", "PushFanout", "PushContent", "PushFiles",
  "PushReplay", "PushWorkload")
let arguments: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")

// Beside the root package, so that nobody who uses the library builds its benchmarks.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "push-fanout", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // Without its traits: they count allocations by packages that must be fetched too, and what is
    // counted here is counted by jemalloc itself.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    // Worlds, contestants, the list of what is measured, and the comparison with the reference.
    .target(
      name: "BenchSupport", dependencies: engine + ["CDayFloor"], swiftSettings: strict),
    // The least that deciding a generated day takes; in C, as it was on the machine of the bounds.
    .target(name: "CDayFloor"),
    // The comparison with others, for people, and the kernels of the gate.
    .executableTarget(
      name: "fanout-bench", dependencies: engine + ["BenchSupport", arguments],
      swiftSettings: strict),
    // The speeds of the store that must hold. A program of its own: valgrind 3.19, under which the
    // kernels run, crashes on programs that use Swift's concurrency.
    .executableTarget(
      name: "store-bench",
      dependencies: engine + ours("PushStore", "PushContent") + [
        "BenchSupport", arguments, .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    // Whether memory stays flat. In release builds, as the engine's pages come from `malloc` in others.
    .executableTarget(
      name: "soak", dependencies: engine + ["BenchSupport", arguments], swiftSettings: strict),
    // Every benchmark, for `swift package benchmark`.
    .executableTarget(
      name: "FanoutBenchmarks",
      dependencies: [
        "BenchSupport", "CJemalloc", .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "FanoutBenchmarks", swiftSettings: strict,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    // libjemalloc-dev of Debian.
    .systemLibrary(
      name: "CJemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
  ]
)
