public import Foundation

/// A folder of a test's own, which goes with it.
public final class ScratchFolder: Sendable {
  public let url: URL

  public init() {
    url = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
    try! FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Gives a test a folder and removes it afterwards.
  public static func with<Result>(_ body: (URL) throws -> Result) rethrows -> Result {
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    return try body(folder.url)
  }

  public func path(_ name: String) -> String { url.appending(path: name).path }

  public func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: url.appending(path: name)))
  }

  @discardableResult public func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: url.appending(path: name))
    return path(name)
  }

  public func remove(_ name: String) throws {
    try FileManager.default.removeItem(at: url.appending(path: name))
  }

  /// The names of the files in the folder, sorted.
  public var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
  }
}
