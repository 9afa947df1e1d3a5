// swift-tools-version: 6.2
import PackageDescription

// A package of its own: what the fuzzer needs of the compiler is not for those who use the library.
let package = Package(
  name: "fuzz-c",
  dependencies: [.package(name: "push-fanout", path: "../..")],
  targets: [
    .executableTarget(
      name: "fuzz-abi",
      dependencies: [.product(name: "PushFanoutC", package: "push-fanout")],
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
  ]
)
