// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

func product(_ name: String, _ package: String = "push-fanout") -> Target.Dependency {
  .product(name: name, package: package)
}

// A package of its own, so that users of the library do not build a web server.
let package = Package(
  name: "push-fanout-service",
  products: [.executable(name: "push-fanout-server", targets: ["push-fanout-server"])],
  dependencies: [
    .package(name: "push-fanout", path: ".."),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "PushServer",
      dependencies: [
        product("PushModel"), product("QuietTime"), product("PushFanout"), product("PushFiles"),
        product("PushContent"), product("PushService"), product("PushStore"),
        product("PushStoreService"),
        product("Configuration", "swift-configuration"), product("Crypto", "swift-crypto"),
        product("AsyncHTTPClient", "async-http-client"),
        product("HTTPTypes", "swift-http-types"), product("Logging", "swift-log"),
        product("NIOCore", "swift-nio"), product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"), product("NIOHTTPTypes", "swift-nio-extras"),
        product("NIOHTTPTypesHTTP1", "swift-nio-extras"), product("NIOSSL", "swift-nio-ssl"),
        product("HummingbirdCore", "hummingbird"),
        product("HummingbirdHTTP2", "hummingbird"), product("HummingbirdTLS", "hummingbird"),
        product("ServiceLifecycle", "swift-service-lifecycle"),
        product("UnixSignals", "swift-service-lifecycle"),
        product("SystemPackage", "swift-system"),
      ],
      resources: [
        .embedInCode("openapi.json"),
        .embedInCode("Page/static/index.html"),
        .embedInCode("Page/static/page.css"),
        .embedInCode("Page/static/main.js"),
        .embedInCode("Page/static/answer.js"),
        .embedInCode("Page/static/dom.js"),
        .embedInCode("Page/static/question.js"),
        .embedInCode("Page/static/server.js"),
        .embedInCode("Page/static/times.js"),
        .embedInCode("Page/static/week.js"),
        .embedInCode("Page/static/whatif.js"),
      ], swiftSettings: strict),
    // What `bench` compares large answers with.
    .executableTarget(
      name: "plain-nio-server",
      dependencies: [
        product("NIOCore", "swift-nio"), product("NIOHTTP1", "swift-nio"),
        product("NIOPosix", "swift-nio"),
      ], path: "bench/PlainServer", swiftSettings: strict),
    .executableTarget(
      name: "push-fanout-server",
      dependencies: ["PushServer"], swiftSettings: strict),
    .testTarget(
      name: "PushServerTests",
      dependencies: [
        "PushServer", "push-fanout-server", product("PushModel"), product("QuietTime"),
        product("PushFanout"), product("PushFiles"), product("PushService"), product("PushStore"),
        product("PushStoreService"), product("Configuration", "swift-configuration"),
        product("Logging", "swift-log"),
      ], swiftSettings: strict),
  ]
)
