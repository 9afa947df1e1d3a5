// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "push-fanout") }

// A package of its own, so that users of the Swift library do not build it: `make clib` of the
// folder above, which also says how to link.
let package = Package(
  name: "push-fanout-c",
  products: [
    // For the fuzzer, which links everything into one program.
    .library(name: "PushFanoutC", targets: ["PushFanoutC"]),
    .library(name: "pushfanout", type: .dynamic, targets: ["PushFanoutC"]),
    .library(name: "pushfanout-store", type: .dynamic, targets: ["PushFanoutStoreC"]),
  ],
  dependencies: [.package(name: "push-fanout", path: "..")],
  targets: [
    // The header, and what is in C: handles, forks, and the exported functions.
    .target(name: "CPushFanoutABI"),
    .target(
      name: "PushFanoutC",
      dependencies: [
        "CPushFanoutABI", product("PushModel"), product("PushFanout"), product("PushContent"),
        product("PushFiles"), product("PushService"), product("QuietTime"),
      ], swiftSettings: strict),
    .target(name: "CPushFanoutStoreABI", dependencies: ["CPushFanoutABI"]),
    // What the calls from C are compared with: `make clib-speed`.
    .executableTarget(
      name: "decide-speed",
      dependencies: [product("PushModel"), product("PushFanout"), product("PushFiles")],
      swiftSettings: strict),
    .target(
      name: "PushFanoutStoreC",
      dependencies: [
        "CPushFanoutABI", "CPushFanoutStoreABI", "PushFanoutC", product("PushModel"),
        product("PushFanout"), product("PushService"), product("PushStore"),
        product("PushStoreService"), product("QuietTime"),
      ], swiftSettings: strict),
  ]
)
