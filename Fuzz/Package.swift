// swift-tools-version: 6.2
import PackageDescription

// A package of its own: what the fuzzer needs of the compiler is not for those who use the library.
let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "push-fanout", path: "..")],
  targets: [
    .executableTarget(
      name: "fuzz-snapshot",
      dependencies: [
        .product(name: "PushModel", package: "push-fanout"),
        .product(name: "PushFanout", package: "push-fanout"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"]),
      ], linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
    // Calls of the C library, which `PUSH_FANOUT_DEVELOP=bindings` adds.
    .executableTarget(
      name: "fuzz-abi", dependencies: [.product(name: "PushFanoutC", package: "push-fanout")],
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]),
  ]
)
