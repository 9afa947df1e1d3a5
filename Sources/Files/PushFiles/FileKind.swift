internal import PushSupport

/// What a file holds by its name.
public enum FileKind: Sendable {
  /// A JSON object a line, or rows of comma-separated values (RFC 4180).
  case ndjson, csv

  /// What stands in front of a name whose file is CSV all the same.
  static let csvPrefix = "csv:"

  /// The path of a name that may have `csv:` in front.
  public static func file(named name: String) -> String {
    name.hasPrefix(csvPrefix) ? String(name.dropFirst(csvPrefix.count)) : name
  }

  /// nil for a name with neither extension.
  public static func named(_ path: String) -> FileKind? {
    let name = FilePath.without(path, extension: ".gz") ?? path
    if FilePath.has(name, extension: ".csv") { return .csv }
    return [".ndjson", ".jsonl", ".json"].contains { FilePath.has(name, extension: $0) }
      ? .ndjson : nil
  }

  /// CSV by its extension or with `csv:` in front, and otherwise NDJSON.
  public init(path: String) {
    self = path.hasPrefix(Self.csvPrefix) ? .csv : Self.named(path) ?? .ndjson
  }
}
