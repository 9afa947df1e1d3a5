public import PushModel
public import QuietTime

/// A record of settings that holds from an instant on and replaces the one of the same key.
public struct SettingsChange: Sendable {
  /// From when the record holds.
  public let at: Instant
  /// The record.
  public let record: SettingsRecord

  /// Creates a change.
  public init(at: Instant, _ record: SettingsRecord) {
    self.at = at
    self.record = record
  }
}

/// Reads changes of settings one at a time from NDJSON.
///
/// - Memory: one line, whatever the file's size.
/// - Source: formats.md, "changes.ndjson".
public final class SettingsChangeReader {
  private let rules: RuleSet
  private let lines: JSONLines
  private let checked: ParseCache
  private var recordCount = 0

  /// Opens a file of changes under `rules`.
  ///
  /// - Parameter unknownZones: whether time zones that the system does not have are problems, as by
  ///   default, or taken.
  /// - Throws: a problem with the file itself.
  public convenience init(
    path: String, rules: RuleSet, unknownZones: UnknownZones = .fail
  ) throws(FileProblem) {
    try self.init(.path(path), rules, unknownZones)
  }

  /// Reads bytes as a file of that name would be read.
  ///
  /// - Throws: as ``init(path:rules:)``.
  public convenience init(
    _ bytes: [UInt8], name: String = "changes.ndjson", rules: RuleSet,
    unknownZones: UnknownZones = .fail
  ) throws(FileProblem) {
    try self.init(.bytes(bytes, name: name), rules, unknownZones)
  }

  private init(
    _ source: FileSource, _ rules: RuleSet, _ unknownZones: UnknownZones
  ) throws(FileProblem) {
    checked = ParseCache(unknownZones)
    self.rules = rules
    lines = try source.lines()
  }

  /// The next change; nil at the end of the file.
  ///
  /// - Throws: what is wrong with the next line. If ``FileProblem/isOfOneLine``, the call after
  ///   goes on behind it.
  public func next() throws(FileProblem) -> SettingsChange? {
    do throws(FileProblem.Problem) {
      guard let line = try lines.next() else {
        if recordCount == 0 { throw .isEmpty }
        return nil
      }
      recordCount += 1
      return try read(line)
    } catch {
      let number = error == .isEmpty ? 1 : lines.lineNumber
      recordCount += 1
      throw FileProblem(file: lines.path, line: number, problem: error.under(rules))
    }
  }

  /// The 1-based line of the record that was read last.
  public var lineNumber: Int { lines.lineNumber }

  private func read(_ line: JSONValue) throws(FileProblem.Problem) -> SettingsChange {
    let (record, uses) = try SettingsRecord.read(
      SettingsRecord.kind(of: line), line, under: rules, checked, beside: "at")
    guard let value = line.fields.first(where: { "at" ~= $0.key })?.value else {
      throw .missingField("at")
    }
    let at = try value.instant("at")
    if case .app(let app) = record, app.rules != rules { throw .rulesChange(rules) }
    if let foreign = uses.foreign(to: rules) { throw foreign }
    return SettingsChange(at: at, record)
  }
}
