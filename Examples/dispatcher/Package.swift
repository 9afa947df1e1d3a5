// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the library builds it: `make examples`.
let package = Package(
  name: "dispatcher",
  dependencies: [.package(name: "push-fanout", path: "../..")],
  targets: [
    .executableTarget(
      name: "dispatcher",
      dependencies: [
        .product(name: "PushModel", package: "push-fanout"),
        .product(name: "PushFanout", package: "push-fanout"),
        .product(name: "PushContent", package: "push-fanout"),
        .product(name: "PushService", package: "push-fanout"),
        .product(name: "PushStore", package: "push-fanout"),
        .product(name: "PushStoreService", package: "push-fanout"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
