internal import CPushFiles
internal import Glibc

/// The rows of a CSV file under a header that names the columns (RFC 4180).
@safe
final class CSVTable: PieceSource {
  private let reader: PieceReader
  private let parser: OpaquePointer
  /// The piece of the file at hand, and which part of it is not parsed.
  private var piece: TextPiece?
  private var unparsed = 0..<0
  /// Whether the piece can be split without the parser; nil for one that was not looked at.
  private var isPlain: Bool?
  /// Its text, if it can.
  private var plainText: UnsafePointer<UInt8>?
  /// The line of the parser, which stays where it is while rows are split without it.
  private var parserLine = 0
  /// The cells of a row that was split without it.
  private var plainCells = unsafe UnsafeMutableBufferPointer<pf_csv_cell>(start: nil, count: 0)
  /// The number of lines that were split without it.
  private var linesPassed = 0
  /// The rows that are parsed and not yet given out, and the cells of all of them.
  private var rows = unsafe UnsafeBufferPointer<pf_csv_row>(start: nil, count: 0)
  private var row = 0
  private var cells: UnsafePointer<pf_csv_cell>?
  /// Whether the rows at hand are all UTF-8 and need not be checked one by one.
  private var isUTF8 = true
  private var pending: (problem: FileProblem.Problem, line: Int)?
  private var isFinished = false
  private(set) var columns = CSVColumns(count: 0, [])
  private(set) var header: [String] = []
  private(set) var lineNumber = 1

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - columns: the names that the header may have, nil for any; cells are asked for by the index
  ///     here.
  ///   - required: the names that it must have.
  ///   - pieceSize: how many bytes are read at a time.
  init(
    _ source: FileSource, columns: [String]?, required: [String],
    pieceSize: Int = PieceReader.usualSize
  ) throws(FileProblem.Problem) {
    reader = try PieceReader(source, size: pieceSize)
    guard let parser = unsafe pf_csv_create() else { throw .cannotRead("out of memory") }
    unsafe self.parser = unsafe parser
    guard let header = try nextRow() else { throw .isEmpty }
    self.header = (0..<header.cellCount).map {
      unsafe String(decoding: header.bytes(at: $0), as: UTF8.self)
    }
    guard let columns else { return }
    var cellIndices = Array(repeating: -1, count: columns.count)
    for (index, name) in self.header.enumerated() {
      guard let column = columns.firstIndex(of: name) else { throw .unknownColumn(name) }
      guard cellIndices[column] < 0 else { throw .repeatedColumn(name) }
      cellIndices[column] = index
    }
    for name in required {
      guard let column = columns.firstIndex(of: name), cellIndices[column] >= 0 else {
        throw .missingColumn(name)
      }
    }
    self.columns = CSVColumns(count: self.header.count, cellIndices)
  }

  deinit {
    unsafe pf_csv_destroy(parser)
    unsafe plainCells.deallocate()
  }

  /// The share of the file that has been read, 0...1; nil when its size is not known.
  var progress: Double? { reader.progress }

  /// Bytes of the file itself; nil when it is not a regular file.
  var byteCount: Int64? { reader.byteCount }

  func hasColumn(_ column: Int) -> Bool { unsafe columns.cellIndices[column] >= 0 }

  /// The next row, valid until the next call; nil at the end of the file. Blank lines are passed
  /// over.
  func next() throws(FileProblem.Problem) -> CSVRow? {
    guard let row = try nextRow() else { return nil }
    guard row.cellCount == header.count else {
      throw .cellCount(found: row.cellCount, expected: header.count)
    }
    return row
  }

  // MARK: Pieces

  /// The next lines of the file, if they can be split without the parser (`pf_csv_split`); nil if
  /// they cannot, and at the end.
  func plainPiece() throws(FileProblem.Problem) -> TextPiece? {
    guard !hasParsed, !isFinished, unsafe pf_csv_is_between_rows(parser) else { return nil }
    if unparsed.isEmpty {
      try readPiece()
      isFinished = unparsed.isEmpty
    }
    guard let piece, !unparsed.isEmpty, piece.isWhole else { return nil }
    let text = unsafe UnsafeRawBufferPointer(rebasing: piece.text[unparsed])
    let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    guard unsafe pf_csv_is_plain(start, text.count) else { return nil }
    piece.removeFirst(unparsed.lowerBound)
    self.piece = nil
    unparsed = 0..<0
    return piece
  }

  /// Counts the lines of plain pieces.
  func pass(bytes: Int, lines: Int) {
    reader.pass(bytes: bytes, lines: lines)
    linesPassed += lines
  }

  /// The line of the row that has begun, or of the one that is to come.
  var openLine: Int {
    var line: UInt64 = 0
    _ = unsafe pf_csv_open_row_bytes(parser, &line)
    return linesPassed + Int(line)
  }

  /// Whether ``next()`` has something without reading on.
  var hasParsed: Bool { unsafe row < rows.count || pending != nil }

  /// Whether everything was read and given out.
  var isAtEnd: Bool { isFinished && !hasParsed }

  private func nextRow() throws(FileProblem.Problem) -> CSVRow? {
    while unsafe row == rows.count {
      if let (problem, line) = pending {
        pending = nil
        lineNumber = line
        throw problem
      }
      if isFinished { return nil }
      if let row = try nextPlainRow() { return row }
      try parseMore()
    }
    let found = unsafe rows[row]
    row += 1
    lineNumber = linesPassed + Int(found.line)
    let cells = unsafe UnsafeBufferPointer(
      start: cells! + found.first_cell, count: found.cell_count)
    let csvRow = unsafe CSVRow(cells, columns)
    if found.after_lone_return { throw .loneReturn }
    if csvRow.byteCount > LineReader.maximumLineBytes { throw .tooLong }
    if !isUTF8, !csvRow.isUTF8 { throw .notUTF8 }
    return csvRow
  }

  /// The next row, if it can be split without the parser; nil for anything unusual, and at the end.
  private func nextPlainRow() throws(FileProblem.Problem) -> CSVRow? {
    if header.isEmpty { return nil }
    if unparsed.isEmpty { try readPieceAfterRows() }
    guard isPlain ?? findPlain(), let text = unsafe plainText else { return nil }
    while !unparsed.isEmpty {
      var count = 0
      let used = unsafe pf_csv_split(
        text + unparsed.lowerBound, unparsed.count, plainCells.baseAddress, plainCells.count, &count
      )
      guard count == header.count || count == 0, used <= LineReader.maximumLineBytes else {
        isPlain = false
        return nil
      }
      if count > 0 { lineNumber = linesPassed + parserLine }
      unparsed.removeFirst(used)
      pass(bytes: used, lines: 1)
      if count > 0 { return unsafe CSVRow(UnsafeBufferPointer(plainCells), columns) }
    }
    return nil
  }

  private func findPlain() -> Bool {
    guard let piece else { return false }
    let text = unsafe UnsafeRawBufferPointer(rebasing: piece.text[unparsed])
    guard let start = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
      return false
    }
    let found =
      unsafe piece.isWhole && pf_csv_is_between_rows(parser)
      && pf_csv_is_plain(start, text.count) && pf_is_utf8(start, text.count)
    if found, unsafe plainCells.isEmpty {
      unsafe plainCells = UnsafeMutableBufferPointer.allocate(capacity: header.count)
    }
    isPlain = found
    unsafe plainText = start - unparsed.lowerBound
    parserLine = openLine - linesPassed
    return found
  }

  /// Parses the next piece of the file; sets what rows and which problem behind them it gave.
  func parseMore() throws(FileProblem.Problem) {
    row = 0
    unsafe rows = UnsafeBufferPointer(start: nil, count: 0)
    if unparsed.isEmpty { try readPieceAfterRows() }
    let status: pf_csv_status
    if unparsed.isEmpty {
      isFinished = true
      status = unsafe pf_csv_finish(parser)
    } else {
      status = parsePiece()
    }
    let line = linesPassed + (unsafe Int(pf_csv_error_line(parser)))
    switch status {
    case PF_CSV_OK: break
    case PF_CSV_STRAY_QUOTE: pending = (.strayQuote, line)
    case PF_CSV_OPEN_QUOTE: pending = (.openQuote, line)
    default: throw .cannotRead("out of memory")
    }
    var count = 0
    let first = unsafe pf_csv_rows(parser, &count)
    unsafe rows = UnsafeBufferPointer(start: first, count: count)
    unsafe cells = pf_csv_cells(parser)
    checkText()
    var openLine: UInt64 = 0
    if unsafe pf_csv_open_row_bytes(parser, &openLine) > LineReader.maximumLineBytes {
      // Most likely a quote that is never closed.
      unsafe pf_csv_abandon_row(parser)
      pending = (.tooLong, linesPassed + Int(openLine))
    }
  }

  /// Parses what is there, of the header only its line, so that the rows behind it can be a
  /// plain piece.
  private func parsePiece() -> pf_csv_status {
    guard let piece else { return PF_CSV_OK }
    let text = unsafe UnsafeRawBufferPointer(rebasing: piece.text[unparsed])
    let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    var count = text.count
    if header.isEmpty, let feed = unsafe text.firstIndex(of: 0x0A) { count = feed + 1 }
    var used = 0
    let status = unsafe pf_csv_parse(parser, start, count, &used)
    unparsed.removeFirst(used)
    reader.pass(bytes: used, lines: 0)
    return status
  }

  private func readPieceAfterRows() throws(FileProblem.Problem) {
    do { try readPiece() } catch {
      lineNumber = openLine
      throw error
    }
  }

  /// Reads the next piece of the file; a byte order mark at its beginning is dropped.
  private func readPiece() throws(FileProblem.Problem) {
    piece = try reader.next()
    isPlain = nil
    guard let piece else { return unparsed = 0..<0 }
    let hasMark = unsafe piece.isFirst && piece.text.starts(with: [0xEF, 0xBB, 0xBF])
    unparsed = unsafe (hasMark ? 3 : 0)..<piece.text.count
    reader.pass(bytes: unparsed.lowerBound, lines: 0)
  }

  /// Checks all cells at once; only if that fails are the rows checked one by one.
  private func checkText() {
    guard let last = unsafe rows.last, let start = unsafe cells else { return }
    let all = unsafe UnsafeBufferPointer(start: start, count: last.first_cell + last.cell_count)
    guard let first = unsafe all.first?.bytes, let end = unsafe all.last else { return }
    // The cells lie one behind the other.
    isUTF8 = unsafe pf_is_utf8(first, end.bytes + end.length - first)
  }
}

/// The columns of a CSV file.
///
/// SAFETY: the indices are written by `init`, read only from then on, and freed by `deinit`.
@safe
final class CSVColumns: Sendable {
  /// How many cells a row has.
  let count: Int
  /// The index in the header of each column that was asked for; -1 for one the file does not have.
  nonisolated(unsafe) let cellIndices: UnsafeMutableBufferPointer<Int>

  init(count: Int, _ cellIndices: [Int]) {
    self.count = count
    unsafe self.cellIndices = .allocate(capacity: cellIndices.count)
    _ = unsafe self.cellIndices.initialize(fromContentsOf: cellIndices)
  }

  deinit { unsafe cellIndices.deallocate() }

  /// Whether the file has a column that was asked for.
  func has(_ column: Int) -> Bool { unsafe cellIndices[column] >= 0 }
}

/// One row of a CSV file, valid until the next is asked for.
///
/// SAFETY: it points into the parser's memory and that of the columns. It never leaves this module,
/// and every reader takes what it needs before it asks for another row.
@safe
struct CSVRow {
  private let cells: UnsafeBufferPointer<pf_csv_cell>
  private let cellIndices: UnsafeMutableBufferPointer<Int>

  init(_ cells: UnsafeBufferPointer<pf_csv_cell>, _ columns: CSVColumns) {
    unsafe self.cells = unsafe cells
    unsafe cellIndices = columns.cellIndices
  }

  var cellCount: Int { unsafe cells.count }

  /// The text of a column; nil when the cell is empty or the file does not have the column.
  func text(_ column: Int) -> String? {
    let bytes = unsafe cell(column)
    return unsafe bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes of a cell that is not empty.
  func utf8(_ column: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(cell(column))
  }

  func isEmpty(_ column: Int) -> Bool { unsafe cell(column).isEmpty }

  /// The value of a cell of digits, of which there are not too many; nil for another.
  func digits(_ column: Int) -> Int64? {
    let bytes = unsafe cell(column)
    guard (1...18).contains(bytes.count) else { return nil }
    var value: Int64 = 0
    for index in bytes.indices {
      let digit = unsafe Int64(bytes[index]) &- 0x30
      guard 0...9 ~= digit else { return nil }
      value = value &* 10 &+ digit
    }
    return value
  }

  /// Whether a cell holds exactly this text.
  @inline(__always)
  func holds(_ text: StaticString, _ column: Int) -> Bool {
    let bytes = unsafe cell(column)
    // A constant size, so that this becomes a comparison of numbers.
    return unsafe bytes.count == text.utf8CodeUnitCount
      && memcmp(bytes.baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// The bytes of a column's cell; none when the file does not have the column.
  private func cell(_ column: Int) -> UnsafeBufferPointer<UInt8> {
    let index = unsafe cellIndices[column]
    return unsafe index < 0 ? UnsafeBufferPointer(start: nil, count: 0) : bytes(at: index)
  }

  func bytes(at index: Int) -> UnsafeBufferPointer<UInt8> {
    let cell = unsafe cells[index]
    return unsafe UnsafeBufferPointer(start: cell.bytes, count: cell.length)
  }

  /// The text behind the first cells and their commas, of a row that `pf_csv_split` split; nil if
  /// there are no more cells.
  func text(behind count: Int) -> UnsafeRawBufferPointer? {
    guard unsafe cells.count > count, let last = unsafe cells.last else { return nil }
    let start = unsafe cells[count].bytes
    return unsafe UnsafeRawBufferPointer(start: start, count: last.bytes + last.length - start!)
  }

  var byteCount: Int { unsafe cells.reduce(0) { unsafe $0 + $1.length } }

  var isUTF8: Bool { unsafe cells.allSatisfy { unsafe pf_is_utf8($0.bytes, $0.length) } }
}
