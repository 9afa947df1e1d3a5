// swift-tools-version: 6.2
import PackageDescription

// Beside the root package, so that nobody who uses the library builds its benchmarks.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "push-fanout", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "fanout-bench",
      dependencies: [
        .product(name: "PushRules", package: "push-fanout"),
        .product(name: "QuietTime", package: "push-fanout"),
        .product(name: "PushFanout", package: "push-fanout"),
        .product(name: "PushReference", package: "push-fanout"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
