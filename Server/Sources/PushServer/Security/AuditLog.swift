internal import Foundation
internal import Logging
internal import PushModel
internal import Synchronization
internal import SystemPackage

/// Who wrote what, and which number it got: a JSON object a line, appended to a file.
final class AuditLog: Sendable {
  private let file: Mutex<FileDescriptor?>
  private let path: String
  private let logger: Logger
  /// The number of the last write that the file has, `EPOCH:N`, when it was opened first.
  let lastSequence: String?

  init(_ path: String?, _ logger: Logger) throws(OptionError) {
    self.logger = logger
    self.path = path ?? ""
    file = Mutex(nil)
    lastSequence = path.flatMap { Self.lastSequence(of: $0) }
    try reopen()
  }

  deinit { try? file.withLock { $0 }?.close() }

  private static func lastSequence(of path: String) -> String? {
    guard let file = try? FileHandle(forReadingFrom: URL(filePath: path)) else { return nil }
    defer { try? file.close() }
    // A line has some hundred bytes; one that is cut is not read.
    let end = (try? file.seekToEnd()) ?? 0
    try? file.seek(toOffset: end - min(end, 64 * 1024))
    let text = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").last { $0.hasSuffix("}") }
      .flatMap { $0.firstMatch(of: /"sequence":"([0-9a-f]+:[0-9]+)"/) }.map { String($0.1) }
  }

  /// Opens the file again, which may have been moved away; what was open stays if that fails.
  func reopen() throws(OptionError) {
    guard !path.isEmpty else { return }
    do {
      let new = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .append, .closeOnExec],
        permissions: .ownerReadWrite)
      try file.withLock { file in
        let old = file
        file = new
        try old?.close()
      }
    } catch {
      throw OptionError("\(path) cannot be written: \(error)")
    }
  }

  /// Notes a write that was acknowledged.
  ///
  /// - Parameters:
  ///   - address: the client's.
  ///   - operations: how many of each name.
  func note(
    _ caller: String, at address: String, _ request: String, operations: [String: Int],
    sequence: String
  ) {
    let count = operations.values.reduce(0, +)
    let names = operations.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
    logger.info(
      "settings written",
      metadata: [
        "caller": "\(caller)", "address": "\(address)", "request": "\(request)",
        "operations": "\(count)",
        "sequence": "\(sequence)",
      ])
    guard !path.isEmpty else { return }
    let line =
      "{\"address\":\(JSONText.quoted(address)),\"at\":\(WallClock.now.milliseconds),"
      + "\"caller\":\(JSONText.quoted(caller)),"
      + "\"operations\":\(count),\"names\":{\(names.joined(separator: ","))},"
      + "\"request\":\(JSONText.quoted(request)),"
      + "\"sequence\":\(JSONText.quoted(sequence))}\n"
    do { _ = try file.withLock { try $0?.writeAll(line.utf8) } } catch {
      logger.error("audit line lost", metadata: ["file": "\(path)", "error": "\(error)"])
    }
  }
}
