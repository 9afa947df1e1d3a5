internal import PushFanout
internal import PushModel

/// Reads rows of a stream. What is usual is taken from the columns; a row with anything else, or
/// with a problem, is read as a line of NDJSON is.
struct ArrowRowParser {
  private var rare = RareRows()
  private var ids = ArrowTexts()
  private var conversations = ArrowTexts()
  private var texts = ArrowTexts()
  private var ends = ArrowTexts()
  private var zones = ArrowTexts()
  private var levels: [NotificationLevel] = []
  /// Milliseconds; -1 for none.
  private var mutes: [Int64] = []
  private var sinces: [Int64] = []
  /// The ids of pieces of which all are integers.
  private var numbers: [Int64] = []
  private var conversationNumbers: [Int64] = []
  private var users: [UserSettings] = []

  /// Adds the records of a piece.
  ///
  /// - Parameter records: reads the rows that are read as lines.
  mutating func add(
    _ piece: ArrowPiece, _ job: PieceParser.Job, _ records: inout RecordParser,
    to batch: inout RecordBatch
  ) {
    if piece.isUsers {
      addUsers(of: piece, job, &records, to: &batch)
    } else {
      addMembers(of: piece, job, &records, to: &batch)
    }
  }

  // MARK: Members

  private mutating func addMembers(
    of piece: ArrowPiece, _ job: PieceParser.Job, _ records: inout RecordParser,
    to batch: inout RecordBatch
  ) {
    let rules = job.rules
    let (columns, others) = piece.columns(named: MemberColumns.names)
    guard let conversation = columns[MemberColumns.conversation],
      let user = columns[MemberColumns.user]
    else { return addLines(piece, job, &records, to: &batch) }
    rare.reset(count: piece.range.count)
    rare.add(others, piece.rows)
    readLevels(columns[2], piece.rows, rules, isAllowed: true)
    rare.readInstants(
      columns[3], piece.rows, isAllowed: rules?.fields.contains(.memberMute) ?? false, into: &mutes)
    rare.readInstants(columns[4], piece.rows, isAllowed: true, into: &sinces)
    if rare.isEmpty, Self.readNumbers(conversation, piece.rows, into: &conversationNumbers),
      Self.readNumbers(user, piece.rows, into: &numbers)
    {
      return batch.add(
        numbers: numbers, of: conversationNumbers, levels: levels, mutes: mutes, sinces: sinces)
    }
    conversations.read(conversation, piece.rows, takesNumbers: true, &rare)
    ids.read(user, piece.rows, takesNumbers: true, &rare)
    unsafe batch.add(text: ids.whole, ofUsers: false)
    batch.reserveCapacity(members: piece.range.count)
    for row in 0..<piece.range.count {
      let (conversation, user) = unsafe (conversations.texts[row], ids.texts[row])
      if unsafe rare[row] || user.isEmpty || conversation.isEmpty {
        records.add(row, of: piece, job, to: &batch)
        continue
      }
      var member = MemberRow(level: levels.isEmpty ? .unset : levels[row])
      if !mutes.isEmpty, mutes[row] >= 0 {
        member.mutedUntil = Instant(milliseconds: mutes[row])
      }
      if !sinces.isEmpty, sinces[row] >= 0 { member.since = Instant(milliseconds: sinces[row]) }
      unsafe batch.add(user, of: conversation, member, line: row + 1)
    }
  }

  // MARK: Users

  private mutating func addUsers(
    of piece: ArrowPiece, _ job: PieceParser.Job, _ records: inout RecordParser,
    to batch: inout RecordBatch
  ) {
    let rules = job.rules
    let names = ["id", "level", "timeZone", "mutedUntil", "quietHours"]
    let (columns, others) = piece.columns(named: names)
    guard let id = columns[0] else { return addLines(piece, job, &records, to: &batch) }
    let fields = rules?.fields ?? []
    rare.reset(count: piece.range.count)
    rare.add(others, piece.rows)
    readLevels(columns[1], piece.rows, rules, isAllowed: fields.contains(.userLevel))
    let zone = columns[2]
    if let zone { zones.read(zone, piece.rows, takesNumbers: false, &rare) }
    rare.readInstants(columns[3], piece.rows, isAllowed: fields.contains(.userMute), into: &mutes)
    let quiet = columns[4]
    if let quiet {
      readQuietHours(quiet, piece.rows, isAllowed: fields.contains(.quietInterval))
    }
    users.removeAll(keepingCapacity: true)
    for row in 0..<piece.range.count {
      var user = UserSettings()
      if !setZone(of: &user, row, isThere: zone != nil, records.checked)
        || !setQuietHours(of: &user, row, isThere: quiet != nil, records.checked)
      {
        rare.add(row)
      }
      if !levels.isEmpty { user.level = levels[row] }
      if !mutes.isEmpty, mutes[row] >= 0 { user.mutedUntil = Instant(milliseconds: mutes[row]) }
      users.append(user)
    }
    if rare.isEmpty, Self.readNumbers(id, piece.rows, into: &numbers) {
      return batch.add(numbers: numbers) { users[$0] }
    }
    ids.read(id, piece.rows, takesNumbers: true, &rare)
    unsafe batch.add(text: ids.whole, ofUsers: true)
    for row in 0..<piece.range.count {
      if unsafe rare[row] || ids.texts[row].isEmpty {
        records.add(row, of: piece, job, to: &batch)
      } else {
        unsafe batch.add(ids.texts[row], users[row])
      }
    }
  }

  /// Reads ids that are integers.
  ///
  /// - Returns: whether all are, and none is above all that are signed.
  private static func readNumbers(
    _ column: ArrowValues, _ rows: Range<Int>, into numbers: inout [Int64]
  ) -> Bool {
    switch column.kind {
    case .signed, .unsigned: break
    default: return false
    }
    let cells = column.cells
    guard cells.readIntegers(rows, into: &numbers) else { return false }
    if cells.hasNulls, rows.contains(where: { cells.isNull($0) }) { return false }
    return cells.form != .uint64 || numbers.allSatisfy { $0 >= 0 }
  }

  private func setZone(
    of user: inout UserSettings, _ row: Int, isThere: Bool, _ checked: ParseCache
  ) -> Bool {
    guard isThere, unsafe zones.texts[row].baseAddress != nil else { return true }
    guard let zone = unsafe try? checked.zone(zones.texts[row], "timeZone") else { return false }
    user.timeZone = zone
    return true
  }

  private func setQuietHours(
    of user: inout UserSettings, _ row: Int, isThere: Bool, _ checked: ParseCache
  ) -> Bool {
    guard isThere else { return true }
    let (start, end) = unsafe (texts.texts[row], ends.texts[row])
    if unsafe start.baseAddress == nil, unsafe end.baseAddress == nil { return true }
    guard unsafe start.baseAddress != nil, unsafe end.baseAddress != nil else { return false }
    do throws(FileProblem.Problem) {
      user.quietHours = try unsafe checked.interval(start: start, end: end)
    } catch {
      return false
    }
    return true
  }

  /// Reads the beginnings and the ends of quiet hours; those with anything else are rare.
  private mutating func readQuietHours(
    _ column: ArrowValues, _ rows: Range<Int>, isAllowed: Bool
  ) {
    guard case .object(let fields) = column.kind, isAllowed,
      let start = fields.firstIndex(where: { $0.name == "start" }),
      let end = fields.firstIndex(where: { $0.name == "end" })
    else {
      texts.read(column, rows, takesNumbers: false, &rare)
      ends.read(column, rows, takesNumbers: false, &rare)
      return
    }
    let inside = rows.lowerBound + column.offset..<rows.upperBound + column.offset
    texts.read(column.children[start], inside, takesNumbers: false, &rare)
    ends.read(column.children[end], inside, takesNumbers: false, &rare)
    let others = column.children.indices.filter { $0 != start && $0 != end }
    rare.add(others.map { column.children[$0] }, inside)
    // An object without fields is not the same as none.
    for row in 0..<rows.count {
      let isNull = column.isNull(rows.lowerBound + row)
      let isEmpty = unsafe texts.texts[row].baseAddress == nil || ends.texts[row].baseAddress == nil
      if isNull != isEmpty { rare.add(row) }
    }
  }

  // MARK: Columns

  private func addLines(
    _ piece: ArrowPiece, _ job: PieceParser.Job, _ records: inout RecordParser,
    to batch: inout RecordBatch
  ) {
    for row in 0..<piece.range.count { records.add(row, of: piece, job, to: &batch) }
  }

  /// Reads levels by the names that every vendor has, and the numbers of levels that the rules
  /// have.
  ///
  /// - Parameter isAllowed: whether the rules have such a field.
  private mutating func readLevels(
    _ column: ArrowValues?, _ rows: Range<Int>, _ rules: RuleSet?, isAllowed: Bool
  ) {
    levels.removeAll(keepingCapacity: true)
    guard let column else { return }
    levels.append(contentsOf: repeatElement(.unset, count: rows.count))
    // Levels that may be lists are read as records are.
    guard isAllowed, rules?.levelClasses.isEmpty ?? true else { return rare.add([column], rows) }
    switch column.kind {
    case .signed, .unsigned: readNumbers(column, rows, rules)
    case .dictionary where column.children[0].length <= Self.fewEntries:
      readLevels(ofFew: column, rows)
    case .text, .views: Self.readLevels(ofTexts: column.cells, rows, &levels, &rare)
    default:
      texts.read(column, rows, takesNumbers: false, &rare)
      for row in 0..<rows.count {
        let text = unsafe texts.texts[row]
        guard unsafe text.baseAddress != nil else { continue }
        if let level = unsafe Self.level(text) { levels[row] = level } else { rare.add(row) }
      }
    }
  }

  private static func readLevels(
    ofTexts cells: ArrowCells, _ rows: Range<Int>, _ levels: inout [NotificationLevel],
    _ rare: inout RareRows
  ) {
    var whole = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    if cells.isContiguous { unsafe whole = cells.whole(rows) }
    var span = levels.mutableSpan
    for row in rows where !cells.isNull(row) {
      let index = row - rows.lowerBound
      if let text = unsafe cells.text(row, within: whole), let level = unsafe level(text) {
        span[index] = level
      } else {
        rare.add(index)
      }
    }
  }

  private mutating func readNumbers(
    _ column: ArrowValues, _ rows: Range<Int>, _ rules: RuleSet?
  ) {
    guard let rules, rules.fields.contains(.levelNumbers) else { return rare.add([column], rows) }
    let cells = column.cells
    for row in rows where !cells.isNull(row) {
      let index = row - rows.lowerBound
      if let number = cells.integer(row),
        let level = try? NotificationLevel(rongCloudNumber: number)
      {
        levels[index] = level
      } else {
        rare.add(index)
      }
    }
  }

  /// Reads a dictionary of few texts.
  private mutating func readLevels(ofFew column: ArrowValues, _ rows: Range<Int>) {
    let entries = column.children[0]
    var rareEntries = RareRows()
    rareEntries.reset(count: entries.length)
    texts.read(entries, 0..<entries.length, takesNumbers: false, &rareEntries)
    // Unset stands for a null.
    let known = unsafe texts.texts.map { unsafe $0.baseAddress == nil ? .unset : Self.level($0) }
    let keys = column.cells
    for row in rows where !keys.isNull(row) {
      let index = row - rows.lowerBound
      guard let key = keys.integer(row), known.indices.contains(Int(key)),
        !rareEntries[Int(key)], let level = known[Int(key)]
      else {
        rare.add(index)
        continue
      }
      levels[index] = level
    }
  }

  /// The most entries of a dictionary that are all read for each piece.
  private static let fewEntries = 64

  @inline(__always)
  private static func level(_ text: UnsafeRawBufferPointer) -> NotificationLevel? {
    switch text.count {
    case 3: unsafe text.elementsEqual("all".utf8) ? .all : nil
    case 4: unsafe text.elementsEqual("none".utf8) ? .blocked : nil
    case 7: unsafe text.elementsEqual("mention".utf8) ? .mention : nil
    default: nil
    }
  }
}
