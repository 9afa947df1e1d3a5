public import PushFiles
internal import PushContent
internal import PushModel
public import PushStore

extension StoreReader {
  /// Writes the store, as of one commit, as a settings.ndjson: the same settings always give the
  /// same bytes, and importing them into a new store gives an equal one. The change feed is not
  /// exported.
  ///
  /// - Parameter output: where it goes; `OutputFile.finish()` is left to the caller.
  /// - Returns: the number of records.
  /// - Throws: `StoreError` or `OutputProblem`.
  /// - Complexity: O(settings).
  @discardableResult public func export(to output: OutputFile) throws -> Int {
    var writer = SettingsWriter(output)
    try forEachRecord(content: { writer = SettingsWriter(output, content: $0) }) { record in
      try writer.write(record)
    }
    return writer.recordCount
  }
}

extension StoreReader.NumberedRecord {
  /// The record as a line of settings.ndjson.
  public var line: [UInt8] {
    switch record {
    case .app: SettingsEncoder.app(app)
    case .user(let id, let user): SettingsEncoder.user(id, user, app.rules, content.user(id))
    case .conversation(let id, let settings):
      SettingsEncoder.conversation(id, settings, name: content.name(of: id))
    case .member(let user, let id, let member, _):
      SettingsEncoder.member(
        user, of: id, conversation?.kind ?? .group, member, app.rules,
        nickname: content.nickname(of: user, in: id))
    }
  }
}
