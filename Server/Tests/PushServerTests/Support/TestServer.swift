import Foundation
import Logging
import PushModel
import PushService
import PushStore
import PushStoreService
import Synchronization
import Testing

@testable import PushServer

/// A server in this process on a store of its own, on a port of its own.
final class TestServer: Sendable {
  let port: Int
  let adminPort: Int?
  let folder: URL
  var store: String { folder.appending(path: "app.store").path }
  /// What runs, for what no request can do.
  let server: PushServer
  private let task: Task<Void, any Error>

  static let settings = """
    {"kind":"app","rules":"easemob","timeZone":"UTC"}
    {"kind":"user","id":"u1"}
    {"kind":"user","id":"u2"}
    {"kind":"conversation","id":"g1","type":"group"}
    {"kind":"member","conversation":"g1","user":"u1"}
    {"kind":"member","conversation":"g1","user":"u2","level":"mention"}
    """

  static let message = #"{"id":"m1","conversation":"g1","at":1717400000000,"sender":"u9"}"#

  /// - Parameter options: flags beside the store and the address; `--insecure` when there are none
  ///   of access.
  /// - Parameter waits: whether to wait until it is ready.
  static func start(
    _ options: [String] = [], settings: String = settings, in folder: URL? = nil,
    waits: Bool = true
  ) async throws -> TestServer {
    let folder = try folder ?? temporaryFolder()
    let path = folder.appending(path: "app.store").path
    let isMade = options.contains("--follow") || options.contains("--config")
    if !isMade, !FileManager.default.fileExists(atPath: path) { try await make(path, settings) }
    return try await TestServer(folder, path, options, waits: waits)
  }

  /// Makes a store.
  static func make(_ path: String, _ settings: String) async throws {
    let store = try SettingsStore(path, .create)
    try await FanoutService(StoreBackend(store)).change(ndjson: Array(settings.utf8), at: .zero)
    try await store.close()
  }

  static func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "push-server-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private init(
    _ folder: URL, _ path: String, _ options: [String], waits: Bool
  ) async throws {
    self.folder = folder
    let hasApps = options.contains("--config")
    let hasAccess = hasApps || options.contains("--keys") || options.contains("--client-ca")
    let arguments =
      (hasApps ? [] : ["--store", path])
      + (options.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"])
      + (hasAccess ? [] : ["--insecure"]) + options
    let configuration = try await ServerConfiguration(arguments, environment: [:])
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    let server = try PushServer(configuration, logger: logger)
    self.server = server
    let (ports, listening) = AsyncStream.makeStream(of: (Bool, Int).self)
    let hasEnded = EndedFlag()
    task = Task {
      defer {
        hasEnded.value.store(true, ordering: .releasing)
        listening.finish()
      }
      try await server.run(signals: []) { listening.yield(($0, $1)) }
    }
    var found: (client: Int?, admin: Int?) = (nil, nil)
    let needsAdmin = options.contains("--admin-listen")
    for await (isAdmin, port) in ports {
      if isAdmin { found.admin = port } else { found.client = port }
      if found.client != nil, !needsAdmin || found.admin != nil { break }
    }
    guard let port = found.client else {
      try await task.value
      throw CancellationError()
    }
    self.port = port
    adminPort = found.admin
    guard waits else { return }
    // Not by a request, which TLS and certificates would have to be for.
    while server.apps.front.reasonNotReady != nil {
      // One that cannot open its store listens before it ends, and is never ready.
      if hasEnded.value.load(ordering: .acquiring) {
        try await task.value
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private final class EndedFlag: Sendable {
    let value = Atomic<Bool>(false)
  }

  /// Waits until the server has ended by itself.
  func ended() async throws { try await task.value }

  /// Ends the server, and leaves its files.
  func end() async {
    task.cancel()
    _ = try? await task.value
  }

  /// Ends the server, and removes its files.
  func stop() async throws {
    await end()
    try FileManager.default.removeItem(at: folder)
  }

  func get(_ path: String, _ fields: [String: String] = [:]) async throws -> TestResponse {
    try await send("GET", path, fields)
  }

  func post(
    _ path: String, _ body: String, _ fields: [String: String] = [:]
  ) async throws -> TestResponse {
    try await send("POST", path, fields, Array(body.utf8))
  }

  /// One request on a connection of its own.
  func send(
    _ method: String, _ path: String, _ fields: [String: String], _ body: [UInt8]? = nil,
    port: Int? = nil
  ) async throws -> TestResponse {
    let port = port ?? self.port
    return try await onThread {
      let connection = try Connection(port)
      var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
      for (name, value) in fields { head += "\(name): \(value)\r\n" }
      if let body { head += "Content-Length: \(body.count)\r\n" }
      try connection.send(Array((head + "\r\n").utf8) + (body ?? []))
      return try connection.response()
    }
  }
}

/// Runs what blocks beside the threads of tasks.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
{
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
