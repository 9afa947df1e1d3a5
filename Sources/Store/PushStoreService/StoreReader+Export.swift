internal import PushContent
internal import PushFanout
public import PushFiles
internal import PushModel
public import PushStore
internal import PushSupport

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
    var lines = ExportedLines(output)
    try forEachRecord(content: { lines.content = $0 }) { try lines.write($0) }
    return try lines.finish()
  }
}

/// Has lines made of records beside the thread that reads them.
private struct ExportedLines {
  /// Records that become lines together.
  private struct Batch: Sendable {
    var records: [SettingsRecord] = []
    var rules = AppSettings().rules
    /// Those of the conversations that are no groups, where there are members.
    var kinds: [Identifier: ConversationKind] = [:]
    var content: ContentDirectory
  }

  private static let batchSize = 4096
  private let output: OutputFile
  private let pipeline: OrderedPipeline<Void, Batch, [UInt8]>
  private var batch: Batch
  /// Those of the conversations that are no groups, which come before members.
  private var kinds: [Identifier: ConversationKind] = [:]
  private var count = 0
  /// How pushes look; set before the first record.
  var content = ContentDirectory() { didSet { batch.content = content } }

  init(_ output: OutputFile) {
    self.output = output
    batch = Batch(content: ContentDirectory())
    pipeline = OrderedPipeline(threads: Fanout.coreCount, takerWorks: true, makeWorker: {}) {
      batch, _ in
      SettingsEncoder.lines(of: batch.records, batch.rules, kinds: batch.kinds, batch.content)
    }
  }

  mutating func write(_ record: SettingsRecord) throws(OutputProblem) {
    if case .app(let app) = record { batch.rules = app.rules }
    if case .conversation(let id, let settings) = record, settings.kind != .group {
      kinds[id] = settings.kind
    }
    batch.records.append(record)
    count += 1
    if batch.records.count == Self.batchSize { try submit() }
  }

  private mutating func submit() throws(OutputProblem) {
    if pipeline.isFull { try writeNext() }
    if case .member = batch.records.last { batch.kinds = kinds }
    pipeline.submit(batch)
    batch.records = []
    batch.records.reserveCapacity(Self.batchSize)
  }

  private func writeNext() throws(OutputProblem) {
    if let (_, lines) = pipeline.take() { try output.write(whole: lines) }
  }

  /// Writes what is left.
  ///
  /// - Returns: the number of records.
  mutating func finish() throws(OutputProblem) -> Int {
    try submit()
    while pipeline.hasMore { try writeNext() }
    return count
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
