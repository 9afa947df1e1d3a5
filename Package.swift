// swift-tools-version: 6.2
import PackageDescription

/// The strictest settings of the compiler, the same for every target of ours.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// What `make` adds for those who work on the package, by words in the environment: `examples`,
/// `benchmarks`, `bindings` (the C library) and `server` are targets then, so that each module is compiled
/// once for all of them. Whoever uses a product neither fetches nor builds anything of that.
let developed = Context.environment["PUSH_FANOUT_DEVELOP", default: ""].split(separator: " ")

/// The commit that `--version` names, which packages and releases set.
let commit = Context.environment["PUSH_FANOUT_COMMIT"].map { commit in
  CSetting.define("PUSH_FANOUT_COMMIT", to: "\"\(commit)\"")
}

// Data flows one way, and an arrow here points only to a target above it:
// words -> zones and windows, reference, contents of pushes -> files -> command line.
let package = Package(
  name: "push-fanout",
  products: [
    .library(name: "PushModel", targets: ["PushModel"]),
    .library(name: "QuietTime", targets: ["QuietTime"]),
    .library(name: "PushReference", targets: ["PushReference"]),
    .library(name: "PushFanout", targets: ["PushFanout"]),
    .library(name: "PushContent", targets: ["PushContent"]),
    .library(name: "PushFiles", targets: ["PushFiles"]),
    .library(name: "PushService", targets: ["PushService"]),
    .library(name: "PushStore", targets: ["PushStore"]),
    .library(name: "PushStoreService", targets: ["PushStoreService"]),
    .library(name: "PushReplay", targets: ["PushReplay"]),
    .library(name: "PushWorkload", targets: ["PushWorkload"]),
    .library(name: "PushReport", targets: ["PushReport"]),
    .executable(name: "push-fanout", targets: ["push-fanout"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-algorithms", from: "1.2.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // What several modules need and users of the library do not; no product.
    .target(name: "PushSupport", path: "Sources/Support/PushSupport", swiftSettings: strict),
    .target(
      name: "CTables", path: "Sources/Rules/CTables", exclude: ["characters.bin", "zone-links.txt"]),
    .target(
      name: "PushModel",
      dependencies: [
        "PushSupport", "CTables", .product(name: "Algorithms", package: "swift-algorithms"),
      ], path: "Sources/Rules/PushModel",
      swiftSettings: strict),
    .target(
      name: "QuietTime",
      dependencies: [
        "PushSupport", "CTables", "PushModel",
        .product(name: "Algorithms", package: "swift-algorithms"),
      ], path: "Sources/Rules/QuietTime", swiftSettings: strict),
    .target(
      name: "PushReference", dependencies: ["PushSupport", "PushModel"],
      path: "Sources/Rules/PushReference", swiftSettings: strict),
    .target(name: "CPushKernels", path: "Sources/Engine/CPushKernels"),
    // libsqlite3-dev of Debian.
    .target(
      name: "CPushSQLite", dependencies: ["CPushKernels"], path: "Sources/Store/CPushSQLite",
      linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(
      name: "PushFanout",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "CPushKernels",
        .product(name: "Algorithms", package: "swift-algorithms"),
      ], path: "Sources/Engine/PushFanout", swiftSettings: strict),
    // nettle-dev of Debian.
    .systemLibrary(name: "CNettle", path: "Sources/Content/CNettle"),
    .target(
      name: "PushContent", dependencies: ["PushSupport", "PushModel", "CNettle"],
      path: "Sources/Content/PushContent", swiftSettings: strict),
    // libsimdjson-dev and zlib1g-dev of Debian.
    .target(
      name: "CPushFiles", path: "Sources/Files/CPushFiles",
      linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("z")]),
    .target(
      name: "PushFiles",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushFanout", "PushContent", "CPushFiles",
      ], path: "Sources/Files/PushFiles",
      swiftSettings: strict),
    // libarchive-dev of Debian, for the command alone.
    .systemLibrary(name: "CArchive", path: "Sources/Files/CArchive"),
    .target(
      name: "PushImport",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushFanout", "PushFiles", "CPushFiles",
        "CArchive",
      ], path: "Sources/Files/PushImport", swiftSettings: strict),
    .target(
      name: "PushStore",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushFanout", "PushContent", "CPushSQLite",
        .product(name: "GRDB", package: "GRDB.swift"),
      ], path: "Sources/Store/PushStore", swiftSettings: strict),
    .target(
      name: "PushService",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushReference", "PushFanout", "PushContent",
        "PushFiles",
      ], path: "Sources/Service/PushService",
      swiftSettings: strict),
    // The store attaches to the service from its own side, so that the service needs no store.
    .target(
      name: "PushStoreService",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushFanout", "PushContent", "PushFiles",
        "PushStore", "PushService",
      ], path: "Sources/Store/PushStoreService", swiftSettings: strict),
    .target(
      name: "PushReplay",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushFanout", "PushFiles",
      ], path: "Sources/Simulation/PushReplay",
      swiftSettings: strict),
    .target(
      name: "PushWorkload",
      dependencies: [
        "PushSupport", "PushModel",
        .product(name: "Algorithms", package: "swift-algorithms"),
      ], path: "Sources/Simulation/PushWorkload", swiftSettings: strict),
    .target(
      name: "PushReport", dependencies: ["PushSupport", "PushModel", "QuietTime", "PushReplay"],
      path: "Sources/Simulation/PushReport",
      swiftSettings: strict),
    .target(
      name: "CBuildCommit", path: "Sources/Command/CBuildCommit",
      cSettings: commit.map { [$0] } ?? []),
    .executableTarget(
      name: "push-fanout",
      dependencies: [
        "CBuildCommit", "PushSupport", "PushModel", "QuietTime", "PushReference", "PushFanout",
        "PushContent",
        "PushFiles", "PushService", "PushStore", "PushStoreService", "PushReplay",
        "PushWorkload", "PushReport", "PushImport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], path: "Sources/Command/push-fanout", resources: [.embedInCode("Check/chats.txt")],
      swiftSettings: strict),
    // Has all tests read the time zones in it.
    .target(
      name: "PinnedZones", path: "Tests/PinnedZones",
      exclude: ["2025b", "2025b-slim", "README.md"]),
    .target(
      name: "TestSupport",
      dependencies: [
        "PushSupport", "PushModel", "QuietTime", "PushReference", "PushFanout", "PushFiles",
        "PinnedZones",
      ],
      path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "PushSupportTests", dependencies: ["PushSupport"], swiftSettings: strict),
    .testTarget(
      name: "PushModelTests", dependencies: ["PushModel", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "QuietTimeTests",
      dependencies: ["PushSupport", "PushModel", "QuietTime", "PinnedZones", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PushReferenceTests",
      dependencies: ["PushModel", "QuietTime", "PushReference", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PushFanoutTests",
      dependencies: [
        "PushModel", "QuietTime", "PushReference", "CPushKernels", "PushFanout", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "PushContentTests",
      dependencies: ["PushModel", "PushFanout", "PushContent", "PushFiles", "TestSupport"],
      resources: [.copy("Goldens")], swiftSettings: strict),
    .testTarget(
      name: "PushFilesTests",
      dependencies: [
        "PushModel", "PushFanout", "PushContent", "PushFiles", "CPushFiles", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "PushImportTests",
      dependencies: [
        "PushModel", "PushFanout", "PushFiles", "CArchive", "PushImport", "TestSupport",
      ], exclude: ["Cases"], swiftSettings: strict),
    .testTarget(
      name: "PushServiceTests",
      dependencies: [
        "PushModel", "QuietTime", "PushReference", "PushFanout", "PushContent", "PushFiles",
        "PushService", "PushStore", "PushStoreService", "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "PushWorkloadTests",
      dependencies: ["PushModel", "PushFiles", "PushWorkload", "TestSupport"],
      swiftSettings: strict),
    // What the crash and fault tests start, and kill.
    .executableTarget(
      name: "store-writer", dependencies: ["PushModel", "PushFanout", "PushStore", "TestSupport"],
      path: "Tests/StoreWriter", swiftSettings: strict),
    .testTarget(
      name: "PushStoreTests",
      dependencies: [
        "PushModel", "PushReference", "PushFanout", "PushContent", "PushFiles", "PushStore",
        "CPushSQLite", "TestSupport", "store-writer",
        .product(name: "GRDB", package: "GRDB.swift"),
      ], swiftSettings: strict),
    // The code of the articles as programs.
    .executableTarget(
      name: "article-FromADispatchService",
      dependencies: ["PushModel", "PushFanout", "PushFiles", "PushService"],
      path: "Tests/ArticlePrograms/FromADispatchService", swiftSettings: strict),
    .executableTarget(
      name: "article-ADispatchServiceFromEndToEnd",
      dependencies: [
        "PushModel", "PushFanout", "PushContent", "PushService", "PushStore", "PushStoreService",
      ],
      path: "Tests/ArticlePrograms/ADispatchServiceFromEndToEnd", swiftSettings: strict),
    .executableTarget(
      name: "article-README", dependencies: ["PushModel", "PushFanout"],
      path: "Tests/ArticlePrograms/README", swiftSettings: strict),
    .executableTarget(
      name: "article-content", dependencies: ["PushModel", "PushFanout", "PushContent"],
      path: "Tests/ArticlePrograms/content", swiftSettings: strict),
    .executableTarget(
      name: "article-replay",
      dependencies: ["PushModel", "PushFanout", "PushFiles", "PushReplay"],
      path: "Tests/ArticlePrograms/replay", swiftSettings: strict),
    .testTarget(
      name: "ConformanceTests",
      dependencies: [
        "PushModel", "QuietTime", "PushReference", "PushFanout", "PushContent", "PushFiles",
        "PushService", "PushReplay", "PushWorkload", "TestSupport",
      ],
      exclude: [
        "README.md", "request-vectors.ndjson", "open-cases.ndjson", "open-changes.ndjson",
        "open-characters.tsv.gz",
        "open-presence.ndjson", "open-refused.ndjson", "open-vectors.ndjson",
      ],
      resources: [.copy("vectors.ndjson")], swiftSettings: strict),
    // The sources and documents themselves, and the code of the articles.
    .testTarget(
      name: "ArchitectureTests",
      dependencies: [
        "PushModel", "TestSupport",
        "article-FromADispatchService", "article-ADispatchServiceFromEndToEnd", "article-README",
        "article-content", "article-replay",
      ], swiftSettings: strict),
    .testTarget(
      name: "PushReplayTests",
      dependencies: [
        "PushModel", "QuietTime", "PushReference", "PushFanout", "PushFiles", "PushReplay",
        "TestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "PushReportTests",
      dependencies: ["PushModel", "PushReplay", "PushReport", "TestSupport"],
      exclude: ["phrases.txt"], swiftSettings: strict),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "PushModel", "PushFanout", "PushContent", "PushFiles", "PushService", "PushStore",
        "PushReplay", "push-fanout", "CPushSQLite", "TestSupport",
      ],
      swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx20
)

if developed.contains("examples") {
  package.targets += [
    // The service of the article: `make examples`.
    .executableTarget(
      name: "dispatcher",
      dependencies: [
        "PushModel", "PushFanout", "PushContent", "PushService", "PushStore", "PushStoreService",
      ], path: "Examples/dispatcher/Sources/dispatcher", swiftSettings: strict)
  ]
}

if developed.contains("benchmarks") {
  let arguments = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
  let engine: [Target.Dependency] = [
    "PushModel", "QuietTime", "PushReference", "PushFanout", "PushContent", "PushFiles",
    "PushReplay", "PushWorkload",
  ]
  package.targets += [
    // Worlds, contestants, the list of what is measured, and the comparison with the reference.
    .target(
      name: "BenchSupport", dependencies: engine + ["CDayFloor", "CPushFiles"],
      path: "Benchmarks/Sources/BenchSupport", swiftSettings: strict),
    // The least that deciding a generated day takes; in C, as it was on the machine of the bounds.
    .target(name: "CDayFloor", path: "Benchmarks/Sources/CDayFloor"),
    // What is run by hand, by the gate (its kernels) and by the reports.
    .executableTarget(
      name: "fanout-bench",
      dependencies: engine + [
        "PushStore", "BenchSupport", arguments,
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ], path: "Benchmarks/Sources/fanout-bench", swiftSettings: strict),
  ]
}

if developed.contains("bindings") {
  package.products += [
    // For the fuzzer, which links everything into one program.
    .library(name: "PushFanoutC", targets: ["PushFanoutC"]),
    .library(name: "pushfanout", type: .dynamic, targets: ["PushFanoutC"]),
    .library(name: "pushfanout-store", type: .dynamic, targets: ["PushFanoutStoreC"]),
  ]
  package.targets += [
    // The header, and what is in C: handles, forks, and the exported functions.
    .target(name: "CPushFanoutABI", path: "Bindings/C/Sources/CPushFanoutABI"),
    .target(
      name: "PushFanoutC",
      dependencies: [
        "CPushFanoutABI", "PushModel", "PushFanout", "PushContent", "PushFiles", "PushService",
        "PushReplay", "PushReport", "QuietTime",
      ], path: "Bindings/C/Sources/PushFanoutC", swiftSettings: strict),
    .target(
      name: "PushFanoutStoreC",
      dependencies: [
        "CPushFanoutABI", "PushFanoutC", "PushModel", "PushFanout", "PushService", "PushStore",
        "PushStoreService", "QuietTime",
      ], path: "Bindings/C/Sources/PushFanoutStoreC", swiftSettings: strict),
  ]
}

if developed.contains("server") {
  func product(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package)
  }
  let plainServer = [
    product("NIOCore", "swift-nio"), product("NIOHTTP1", "swift-nio"),
    product("NIOPosix", "swift-nio"),
  ]
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.44.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ]
  package.targets += [
    .target(
      name: "PushServer",
      dependencies: plainServer + [
        "PushSupport", "PushModel", "QuietTime", "PushFanout", "PushFiles", "PushContent",
        "PushService", "PushStore", "PushStoreService",
        product("ArgumentParser", "swift-argument-parser"),
        product("Configuration", "swift-configuration"),
        "CLibcrypto", product("AsyncHTTPClient", "async-http-client"),
        product("HTTPTypes", "swift-http-types"), product("Logging", "swift-log"),
        product("NIOHTTPTypes", "swift-nio-extras"),
        product("NIOHTTPTypesHTTP1", "swift-nio-extras"),
        product("NIOHTTPTypesHTTP2", "swift-nio-extras"), product("NIOExtras", "swift-nio-extras"),
        product("NIOHTTP2", "swift-nio-http2"), product("NIOSSL", "swift-nio-ssl"),
        product("NIOTLS", "swift-nio"),
        product("ServiceLifecycle", "swift-service-lifecycle"),
        product("UnixSignals", "swift-service-lifecycle"),
        product("SystemPackage", "swift-system"),
      ], path: "Server/Sources/PushServer",
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
    // libssl-dev of Debian.
    .systemLibrary(
      name: "CLibcrypto", path: "Server/Sources/CLibcrypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"])]),
    // What the benchmark of the server compares large answers with.
    .executableTarget(
      name: "plain-nio-server", dependencies: plainServer, path: "Server/bench/PlainServer",
      swiftSettings: strict),
    .executableTarget(
      name: "push-fanout-server", dependencies: ["PushServer"],
      path: "Server/Sources/push-fanout-server", swiftSettings: strict),
    .testTarget(
      name: "PushServerTests",
      dependencies: [
        "PushServer", "push-fanout-server", "PushModel", "QuietTime", "PushFanout", "PushFiles",
        "PushService", "PushStore", "PushStoreService",
        product("ArgumentParser", "swift-argument-parser"), product("Logging", "swift-log"),
      ], path: "Server/Tests/PushServerTests", swiftSettings: strict),
  ]
}
