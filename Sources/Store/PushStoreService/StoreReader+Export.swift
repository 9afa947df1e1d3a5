public import PushFiles
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
