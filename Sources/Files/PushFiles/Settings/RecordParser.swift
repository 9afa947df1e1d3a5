internal import CPushFiles
internal import PushFanout
internal import PushModel
internal import QuietTime

/// Parses lines of settings.ndjson, and rows of streams as such lines, into records of a batch.
struct RecordParser {
  let checked: ParseCache
  private var json: JSONParser?
  /// The line of a row.
  private var text: [UInt8] = []

  init(_ unknownZones: UnknownZones) { checked = ParseCache(unknownZones) }

  /// Adds the record of a line; none for a blank line.
  ///
  /// - Parameters:
  ///   - text: the line without its line feed, with `PF_JSON_PADDING` readable bytes behind it.
  ///   - isFirst: whether the file begins with it.
  mutating func add(
    _ text: UnsafeRawBufferPointer, line: Int, isFirst: Bool, _ job: PieceParser.Job,
    to batch: inout RecordBatch
  ) throws(FileProblem.Problem) {
    if text.count > PieceReader.maximumLineBytes { throw .tooLong }
    if self.json == nil { self.json = try JSONParser() }
    guard let json = self.json else { return }
    guard let value = try unsafe json.parse(text, isFirst: isFirst) else { return }
    if job.takesOperations, value.fields.contains(where: { "op" ~= $0.key }) {
      return batch.add(JSONObject(value), line: line)
    }
    let kind = try SettingsRecord.kind(of: value)
    if "member" ~= kind {
      let member = try MemberFields(value, job.rules, checked)
      var uses = member.uses
      let nickname = job.readsContent ? try DisplayRecord.nickname(value, &uses) : nil
      let row = MemberRow(member.settings, member.present)
      if row.settings == member.settings, row.present == member.present, row.fitsColumns,
        nickname == nil, batch.isPlain(uses, job.rules, keepsAll: job.keepsAll)
      {
        return unsafe batch.add(member.user, of: member.conversation, row, line: line)
      }
      let note = DisplayRecord.nickname(nickname, of: member.userID, in: member.conversationID)
      return batch.add(member.record, uses, job.readsContent ? note : nil, line: line)
    }
    var (record, uses) = try SettingsRecord.read(kind, value, under: job.rules, checked)
    var note: DisplayRecord?
    if job.readsContent { note = try DisplayRecord.read(value, record, &uses) }
    if case .user(let id, let user) = record, UserRecords.holds(user), note == nil, !id.isEmpty,
      batch.isPlain(uses, job.rules, keepsAll: job.keepsAll)
    {
      return unsafe id.text.utf8.span.bytes.withUnsafeBytes { unsafe batch.add($0, user) }
    }
    batch.add(record, uses, note, line: line)
  }

  /// Adds the record, or the problem, of a row of a stream.
  ///
  /// - Parameter row: counted from the first of the piece.
  mutating func add(
    _ row: Int, of piece: ArrowPiece, _ job: PieceParser.Job, to batch: inout RecordBatch
  ) {
    var text: [UInt8] = []
    swap(&text, &self.text)
    do throws(FileProblem.Problem) {
      try unsafe piece.batch.withJSON(piece.range.lowerBound + row, in: &text) {
        (bytes) throws(FileProblem.Problem) in
        try unsafe add(bytes, line: row + 1, isFirst: false, job, to: &batch)
      }
    } catch {
      batch.add(error, line: row + 1)
    }
    swap(&text, &self.text)
  }
}
