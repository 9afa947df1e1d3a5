// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "push-fanout", path: "..")],
  targets: [
    .executableTarget(
      name: "fanout-bench",
      dependencies: [
        .product(name: "PushRules", package: "push-fanout"),
        .product(name: "PushFanout", package: "push-fanout"),
        .product(name: "PushReference", package: "push-fanout"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
