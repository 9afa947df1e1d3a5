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
  /// - Parameters:
  ///   - output: where it goes; `OutputFile.finish()` is left to the caller.
  ///   - tokens: whether tokens and installation ids of devices are written.
  /// - Returns: the number of records.
  /// - Throws: `StoreError` or `OutputProblem`.
  /// - Complexity: O(settings).
  @discardableResult public func export(
    to output: OutputFile, withTokens tokens: Bool = false
  ) throws -> Int {
    var lines = ExportedLines(output, withTokens: tokens)
    try forEachRecord(content: { lines.content = $0 }) {
      try lines.write($0)
    } members: {
      try lines.write($0)
    }
    return try lines.finish()
  }
}

/// Has lines made of records beside the thread that reads them.
private struct ExportedLines {
  /// What becomes lines together.
  private struct Batch: Sendable {
    var records: [SettingsRecord] = []
    var members: StoredMembers?
    var rules = AppSettings().rules
    /// Those of the conversations that are no groups, where there are members.
    var kinds: [Identifier: ConversationKind] = [:]
    var content = ContentDirectory()
    let withTokens: Bool

    var lines: [UInt8] {
      if let members {
        var lines = MemberLines(members.count, rules, kinds: kinds, content)
        members.forEach { lines.add($0, of: $1, $2) }
        return lines.end()
      }
      return records.reduce(into: []) { $0 += line(of: $1) }
    }

    private func line(of record: SettingsRecord) -> [UInt8] {
      switch record {
      case .app(let app): SettingsEncoder.app(app)
      case .user(let id, let user):
        SettingsEncoder.user(id, user, rules, content.user(id), withTokens: withTokens)
      case .conversation(let id, let settings):
        SettingsEncoder.conversation(id, settings, rules, name: content.name(of: id))
      case .member(let user, let id, let member, _):
        SettingsEncoder.member(
          user, of: id, kinds[id] ?? .group, member, rules,
          nickname: content.nickname(of: user, in: id))
      }
    }
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

  init(_ output: OutputFile, withTokens: Bool) {
    self.output = output
    batch = Batch(withTokens: withTokens)
    pipeline = OrderedPipeline(threads: Fanout.coreCount, takerWorks: true, makeWorker: {}) {
      batch, _ in batch.lines
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

  mutating func write(_ members: StoredMembers) throws(OutputProblem) {
    try submit()
    batch.members = members
    batch.kinds = kinds
    count += members.count
    try submit()
    (batch.members, batch.kinds) = (nil, [:])
  }

  private mutating func submit() throws(OutputProblem) {
    if batch.records.isEmpty && batch.members == nil { return }
    if pipeline.isFull { try writeNext() }
    pipeline.submit(batch)
    batch.records = []
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
      SettingsEncoder.conversation(id, settings, app.rules, name: content.name(of: id))
    case .member(let user, let id, let member, _):
      SettingsEncoder.member(
        user, of: id, conversation?.kind ?? .group, member, app.rules,
        nickname: content.nickname(of: user, in: id))
    }
  }
}
