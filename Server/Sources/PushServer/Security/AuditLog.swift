internal import Foundation
internal import Logging
internal import PushModel
internal import SystemPackage

/// Who wrote what, and which number it got: a JSON object a line, appended to a file.
final class AuditLog: Sendable {
  private let file: FileDescriptor?
  private let path: String
  private let logger: Logger

  init(_ path: String?, _ logger: Logger) throws(OptionError) {
    self.logger = logger
    self.path = path ?? ""
    guard let path else {
      file = nil
      return
    }
    do {
      file = try FileDescriptor.open(
        FilePath(path), .writeOnly, options: [.create, .append, .closeOnExec],
        permissions: .ownerReadWrite)
    } catch {
      throw OptionError("\(path) cannot be written: \(error)")
    }
  }

  deinit { try? file?.close() }

  /// Notes a write that was acknowledged.
  ///
  /// - Parameter operations: how many of each name.
  func note(_ caller: String, _ request: String, operations: [String: Int], sequence: String) {
    let count = operations.values.reduce(0, +)
    let names = operations.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
    logger.info(
      "settings written",
      metadata: [
        "caller": "\(caller)", "request": "\(request)", "operations": "\(count)",
        "sequence": "\(sequence)",
      ])
    guard let file else { return }
    let line =
      "{\"at\":\(WallClock.now.milliseconds),\"caller\":\(JSONText.quoted(caller)),"
      + "\"operations\":\(count),\"names\":{\(names.joined(separator: ","))},"
      + "\"request\":\(JSONText.quoted(request)),"
      + "\"sequence\":\(JSONText.quoted(sequence))}\n"
    do { _ = try file.writeAll(line.utf8) } catch {
      logger.error("audit line lost", metadata: ["file": "\(path)", "error": "\(error)"])
    }
  }
}
