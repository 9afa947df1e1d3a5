internal import CPushFiles
internal import Glibc
internal import PushFanout
internal import PushModel
internal import QuietTime

/// Parses pieces of the files of a world, each thread with a parser of its own.
struct PieceParser {
  /// What a file holds.
  enum Format: Sendable {
    /// settings.ndjson
    case settings
    /// users.csv
    case users(CSVColumns)
    /// members.csv
    case members(CSVColumns)

    var isUsers: Bool {
      if case .users = self { return true }
      return false
    }

    /// How many cells at the beginning of a row are its ids, if these are; otherwise 0.
    func idCount(_ columns: CSVColumns) -> Int {
      let ids = isUsers ? [UserColumns.id] : [MemberColumns.conversation, MemberColumns.user]
      let cells = ids.map { unsafe columns.cellIndices[$0] }
      return Set(cells) == Set(ids.indices) ? ids.count : 0
    }
  }

  /// What is parsed.
  enum Source: Sendable {
    case text(TextPiece, Format)
    case rows(ArrowPiece)
  }

  /// A piece to parse, and what is known when it is submitted.
  struct Job: Sendable {
    let source: Source
    /// The rules, if they are known.
    let rules: RuleSet?
    let lookup: SettingsIDLookup?
    /// Whether display settings are read too.
    let readsContent: Bool
    /// Whether every problem is wanted.
    let keepsAll: Bool
    /// Whether a line with the field `op` is an operation.
    let takesOperations: Bool
  }

  private var records: RecordParser
  private var rows = ArrowRowParser()
  private var quiet = QuietSettingsList()
  /// What rows say behind their ids, if the rules have all of it. The words are within
  /// `PF_JSON_PADDING`.
  private var recentUsers = RecentTexts<7, UserRecords.Shared>(slotBits: 14)
  private var recentMembers = RecentTexts<2, MemberRow>(slotBits: 8)
  /// What those rows were read with.
  private var recentColumns: CSVColumns?
  private var recentRules: RuleSet?
  /// Settings of many users must not add up without bound.
  private static let listLimit = 1 << 17

  init(_ unknownZones: UnknownZones) { records = RecordParser(unknownZones) }

  mutating func parse(_ job: Job) -> RecordBatch {
    if quiet.count >= Self.listLimit {
      quiet = QuietSettingsList()
      recentUsers.removeAll()
    }
    var batch: RecordBatch
    switch job.source {
    case .text(let piece, let format):
      batch = unsafe RecordBatch(byteCount: piece.text.count, quiet)
      switch format {
      case .settings: parseLines(piece, job, into: &batch)
      case .users(let columns), .members(let columns):
        parseRows(piece, format, columns, job, into: &batch)
      }
    case .rows(let piece):
      batch = RecordBatch(byteCount: 0, quiet)
      rows.add(piece, job, &records, to: &batch)
      batch.lineCount = piece.range.count
    }
    batch.finish(job.lookup)
    return batch
  }

  // MARK: NDJSON

  private mutating func parseLines(
    _ piece: TextPiece, _ job: Job, into batch: inout RecordBatch
  ) {
    let text = unsafe piece.text
    guard let base = text.baseAddress else { return }
    var start = 0
    var line = 0
    while start < text.count {
      let feed = unsafe memchr(base + start, 0x0A, text.count - start)
      let end = unsafe feed.map { unsafe UnsafeRawPointer($0) - base } ?? text.count
      line += 1
      do throws(FileProblem.Problem) {
        try unsafe records.add(
          UnsafeRawBufferPointer(rebasing: text[start..<end]), line: line,
          isFirst: piece.isFirst && line == 1, job, to: &batch)
      } catch {
        batch.add(error, line: line)
        if !error.isOfOneLine { break }
      }
      start = end + 1
    }
    batch.lineCount = line
  }

  // MARK: CSV

  private mutating func parseRows(
    _ piece: TextPiece, _ format: Format, _ columns: CSVColumns, _ job: Job,
    into batch: inout RecordBatch
  ) {
    var rows = CSVRows(piece, columns, columns.delimiter)
    unsafe batch.add(text: piece.text, ofUsers: format.isUsers)
    let idCount = format.idCount(columns)
    if columns !== recentColumns || job.rules != recentRules {
      recentUsers.removeAll()
      recentMembers.removeAll()
      (recentColumns, recentRules) = (columns, job.rules)
    }
    while true {
      do throws(FileProblem.Problem) {
        guard let row = try rows.next() else { break }
        try unsafe add(
          row, rest: idCount > 0 ? row.text(behind: idCount) : nil, line: rows.line, format,
          job.rules, keepsAll: job.keepsAll, to: &batch)
      } catch {
        batch.add(error, line: rows.line)
      }
    }
    batch.lineCount = rows.linesBehind
  }

  /// Adds the record of a row.
  ///
  /// - Parameter rest: the text behind the ids, if these come first and there are no doubled quotes.
  private mutating func add(
    _ row: CSVRow, rest: UnsafeRawBufferPointer?, line: Int, _ format: Format,
    _ rules: RuleSet?, keepsAll: Bool, to batch: inout RecordBatch
  ) throws(FileProblem.Problem) {
    var uses = VendorFieldUse(under: rules)
    if format.isUsers {
      let id = unsafe row.utf8(UserColumns.id)
      if let rest = unsafe rest, unsafe !id.isEmpty,
        let known = unsafe recentUsers.meaning(of: rest)
      {
        return unsafe batch.add(id, known)
      }
      let user = try UserColumns.user(row, &uses, records.checked)
      guard UserRecords.holds(user), batch.isPlain(uses, rules, keepsAll: keepsAll) else {
        return unsafe batch.add(.user(Self.identifier(id), user), uses, line: line)
      }
      let shared = unsafe batch.add(id, user)
      if let rest = unsafe rest, let shared, uses.isAllowed(by: rules) {
        unsafe recentUsers.note(rest, shared)
      }
      return
    }
    let user = unsafe row.utf8(MemberColumns.user)
    let conversation = unsafe row.utf8(MemberColumns.conversation)
    if let rest = unsafe rest, unsafe !user.isEmpty, unsafe !conversation.isEmpty,
      let known = unsafe recentMembers.meaning(of: rest)
    {
      return unsafe batch.add(user, of: conversation, known, line: line)
    }
    let member = try MemberColumns.member(row, &uses)
    if member.fitsColumns, batch.isPlain(uses, rules, keepsAll: keepsAll) {
      if let rest = unsafe rest, uses.isAllowed(by: rules) {
        unsafe recentMembers.note(rest, member)
      }
      return unsafe batch.add(user, of: conversation, member, line: line)
    }
    let record = unsafe SettingsRecord.member(
      Self.identifier(user), of: Self.identifier(conversation), member.settings, member.present)
    batch.add(record, uses, line: line)
  }

  private static func identifier(_ utf8: UnsafeRawBufferPointer) -> Identifier {
    unsafe Identifier(String(decoding: utf8, as: UTF8.self))
  }
}
