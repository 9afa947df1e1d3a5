internal import CPushFiles

/// The rows of a CSV file under a header that names the columns (RFC 4180).
@safe
final class CSVTable {
  private let reader: ByteReader
  private let parser: OpaquePointer
  private let chunk: UnsafeMutableRawBufferPointer
  private var unparsed = 0..<0
  private var row = 0
  private var rowCount = 0
  /// Whether the rows at hand are all UTF-8 and need not be checked one by one.
  private var isUTF8 = true
  private var pending: (problem: FileProblem.Problem, line: Int)?
  private var isFinished = false
  /// The place in the header of each column that was asked for; -1 for one the file does not have.
  private var places: [Int] = []
  private(set) var header: [String] = []
  private(set) var lineNumber = 1

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - columns: the names that the header may have, nil for any; cells are asked for by the place
  ///     here.
  ///   - required: the names that it must have.
  init(path: String, columns: [String]?, required: [String]) throws(FileProblem.Problem) {
    reader = try ByteReader(path: path)
    guard let parser = unsafe pf_csv_create() else { throw .cannotRead("out of memory") }
    unsafe self.parser = unsafe parser
    unsafe chunk = .allocate(byteCount: 1024 * 1024, alignment: 64)
    guard let header = try nextRow() else { throw .isEmpty }
        self.header = (0..<header.cellCount).map {
      unsafe String(decoding: header.bytes(at: $0), as: UTF8.self)
    }
    guard let columns else { return }
    places = Array(repeating: -1, count: columns.count)
    for (place, name) in self.header.enumerated() {
      guard let column = columns.firstIndex(of: name) else { throw .unknownColumn(name) }
      guard places[column] < 0 else { throw .repeatedColumn(name) }
      places[column] = place
    }
    for name in required {
      guard let column = columns.firstIndex(of: name), places[column] >= 0 else {
        throw .missingColumn(name)
      }
    }
  }

  deinit {
    unsafe pf_csv_destroy(parser)
    unsafe chunk.deallocate()
  }

  var bytes: ByteReader { reader }

  func hasColumn(_ column: Int) -> Bool { places[column] >= 0 }

  /// The next row, valid until the next call; nil at the end of the file. Blank lines are passed
  /// over.
  func next() throws(FileProblem.Problem) -> CSVRow? {
    guard let row = try nextRow() else { return nil }
    guard row.cellCount == header.count else {
      throw .cellCount(found: row.cellCount, expected: header.count)
    }
    return row
  }

  private func nextRow() throws(FileProblem.Problem) -> CSVRow? {
    while row == rowCount {
      if let (problem, line) = pending {
        pending = nil
        lineNumber = line
        throw problem
      }
      if isFinished { return nil }
      try parseMore()
    }
    var count = 0
    let found = unsafe pf_csv_rows(parser, &count)![row]
    row += 1
    lineNumber = Int(found.line)
    let cells = unsafe UnsafeBufferPointer(
      start: pf_csv_cells(parser) + found.first_cell, count: found.cell_count)
    let csvRow = unsafe CSVRow(cells: cells, places: places)
    if found.after_lone_return { throw .loneReturn }
    if csvRow.byteCount > LineReader.maximumLineBytes { throw .tooLong }
    if !isUTF8, !csvRow.isUTF8 { throw .notUTF8 }
    return csvRow
  }

  /// Parses the next piece of the file; sets what rows and which problem behind them it gave.
  private func parseMore() throws(FileProblem.Problem) {
    row = 0
    rowCount = 0
    if unparsed.isEmpty {
      do { unparsed = 0..<(try unsafe reader.read(into: chunk)) } catch {
        var line: UInt64 = 0
        _ = unsafe pf_csv_open_row_bytes(parser, &line)
        lineNumber = Int(line)
        throw error
      }
      if lineNumber == 1, header.isEmpty, unparsed.count >= 3,
        unsafe chunk.starts(with: [0xEF, 0xBB, 0xBF])
      {
        unparsed = 3..<unparsed.upperBound  // the byte order mark
        if unparsed.isEmpty { return }
      }
    }
    let status: pf_csv_status
    if unparsed.isEmpty {
      isFinished = true
      status = unsafe pf_csv_finish(parser)
    } else {
      var used = 0
      let start = unsafe chunk.baseAddress! + unparsed.lowerBound
      status = unsafe pf_csv_parse(
        parser, start.assumingMemoryBound(to: UInt8.self), unparsed.count, &used)
      unparsed = (unparsed.lowerBound + used)..<unparsed.upperBound
    }
    switch status {
    case PF_CSV_OK: break
    case PF_CSV_STRAY_QUOTE: pending = (.strayQuote, unsafe Int(pf_csv_error_line(parser)))
    case PF_CSV_OPEN_QUOTE: pending = (.openQuote, unsafe Int(pf_csv_error_line(parser)))
    default: throw .cannotRead("out of memory")
    }
    _ = unsafe pf_csv_rows(parser, &rowCount)
    checkText()
    var openLine: UInt64 = 0
    if unsafe pf_csv_open_row_bytes(parser, &openLine) > LineReader.maximumLineBytes {
      // A row without end: most likely a quote that is never closed.
      isFinished = true
      pending = (.tooLong, Int(openLine))
    }
  }

  /// Checks all cells at once; only if that fails are the rows checked one by one.
  private func checkText() {
    guard rowCount > 0 else { return }
    var count = 0
    let last = unsafe pf_csv_rows(parser, &count)![rowCount - 1]
    let cells = unsafe UnsafeBufferPointer(
      start: pf_csv_cells(parser), count: last.first_cell + last.cell_count)
    guard let first = unsafe cells.first?.bytes, let end = unsafe cells.last else { return }
    // The cells lie one behind the other.
    isUTF8 = unsafe pf_is_utf8(first, end.bytes + end.length - first)
  }
}

/// One row of a CSV file, valid until the next is asked for.
///
/// SAFETY: it points into the parser's memory. It never leaves this module, and every reader takes
/// what it needs before it asks for another row.
@safe
struct CSVRow {
  private let cells: UnsafeBufferPointer<pf_csv_cell>
  private let places: [Int]

  init(cells: UnsafeBufferPointer<pf_csv_cell>, places: [Int]) {
    unsafe self.cells = unsafe cells
    self.places = places
  }

  var cellCount: Int { unsafe cells.count }

  /// The text of a column; nil when the cell is empty or the file does not have the column.
  func text(_ column: Int) -> String? {
    let place = places[column]
    guard place >= 0 else { return nil }
    let bytes = unsafe self.bytes(at: place)
    return unsafe bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  func bytes(at place: Int) -> UnsafeBufferPointer<UInt8> {
    let cell = unsafe cells[place]
    return unsafe UnsafeBufferPointer(start: cell.bytes, count: cell.length)
  }

  var byteCount: Int { unsafe cells.reduce(0) { unsafe $0 + $1.length } }

  var isUTF8: Bool { unsafe cells.allSatisfy { unsafe pf_is_utf8($0.bytes, $0.length) } }
}
