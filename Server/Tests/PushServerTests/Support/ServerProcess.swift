import Foundation
import Glibc
import Synchronization

/// A server in a process of its own.
final class ServerProcess: @unchecked Sendable {
  let process = Process()
  let port: Int
  private let log = Pipe()
  private let text = Mutex("")

  /// Starts the program on the store of a folder, and waits until it is ready.
  ///
  /// - Parameter fileLimit: how many bytes a file of it may have.
  init(
    _ folder: URL, _ options: [String] = [], environment: [String: String] = [:],
    fileLimit: Int? = nil
  ) throws {
    let arguments =
      ["--store", folder.appending(path: "app.store").path, "--create", "--insecure"]
      + ["--listen", "127.0.0.1:0", "--drain", "0"] + options
    // The shell counts in blocks of 512 bytes, and only the limit that may be raised again is set.
    let limiting = fileLimit.map { "ulimit -S -f \($0 / 512) && " } ?? ""
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", limiting + #"exec "$0" "$@""#, Self.program.path] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardError = log
    try process.run()
    var begin = ""
    var found: Int?
    while found == nil || !begin.contains(#""message":"ready""#) {
      let data = log.fileHandleForReading.availableData
      guard !data.isEmpty else { throw ConnectionError(description: "ended: \(begin)") }
      begin += String(decoding: data, as: UTF8.self)
      found = begin.firstMatch(of: #/"address":"127.0.0.1:(\d+)"/#).flatMap { Int($0.1) }
    }
    port = found ?? 0
    // A pipe that nobody reads would hold up what writes to it.
    log.fileHandleForReading.readabilityHandler = { [weak self] handle in
      let data = handle.availableData
      if data.isEmpty { handle.readabilityHandler = nil }
      self?.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
    }
  }

  static var program: URL {
    Bundle.main.bundleURL.deletingLastPathComponent().pathComponents.contains("debug")
      ? Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "push-fanout-server")
      : Bundle.main.bundleURL.appending(path: "push-fanout-server")
  }

  /// What it has logged since it was ready.
  var logged: String { text.withLock { $0 } }

  func get(_ connection: Connection, _ path: String) throws -> TestResponse {
    try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return try connection.response()
  }

  func post(
    _ connection: Connection, _ path: String, _ body: String,
    _ type: String = "application/x-ndjson"
  ) throws -> TestResponse {
    try connection.send(
      "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    return try connection.response()
  }

  /// Resident memory in bytes.
  func memory() throws -> Int {
    let path = "/proc/\(process.processIdentifier)/status"
    let status = try String(contentsOfFile: path, encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return 1024 * (line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0)
  }

  /// A number of `/metrics`, without labels.
  func metric(_ name: String) throws -> Int? {
    try get(try Connection(port), "/metrics").text.split(separator: "\n")
      .first { $0.hasPrefix("push_fanout_\(name) ") }?.split(separator: " ").last.flatMap {
        Int($0)
      }
  }

  func end(_ signal: Int32) -> Int32 {
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    return process.terminationStatus
  }
}
