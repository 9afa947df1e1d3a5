internal import CPushFiles
internal import Glibc

/// The rows of a CSV file under a header that names the columns (RFC 4180).
final class CSVTable: RecordSource {
  let path: String
  let reader: PieceReader
  let header: [String]
  let columns: CSVColumns
  /// The rows of the piece at hand.
  private var rows: CSVRows
  /// The line of the row that was read last.
  private(set) var lineNumber = 1

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - layout: the columns that the file may have; nil for any, of which no cell is asked for.
  ///   - separator: what stands between cells, where the layout does not say.
  ///   - pieceSize: how many bytes are read at a time.
  init(
    _ source: FileSource, _ layout: CSVLayout?, separator: UInt8 = UInt8(ascii: ","),
    pieceSize: Int = PieceReader.usualSize
  ) throws(FileProblem.Problem) {
    path = source.name
    let delimiter = layout?.delimiter ?? separator
    reader = try PieceReader(source, size: pieceSize, cut: .rows(delimiter))
    guard let piece = try reader.next() else { throw .noHeader }
    var rows = CSVRows(piece, nil, delimiter)
    var names: [String]?
    do throws(FileProblem.Problem) { names = try rows.next()?.texts } catch {
      guard error == .strayQuote, let header = Self.header(of: piece, but: delimiter) else {
        throw error
      }
      names = [header]
    }
    // Excel's first line, which says what stands between cells: `sep=;`.
    while names.map({ $0 == ["sep=", ""] }) ?? true {
      if rows.isAtEnd {
        guard let piece = try reader.next() else { throw .noHeader }
        rows = CSVRows(piece, nil, delimiter, lines: rows.lines)
      }
      names = try rows.next()?.texts
    }
    header = names ?? []
    self.columns = CSVColumns(
      count: header.count, try layout?.cellIndices(in: header) ?? [], delimiter: delimiter)
    reader.pass(bytes: rows.start, lines: 0)
    self.rows = CSVRows(rows.takeRest(), self.columns, delimiter, lines: rows.lines)
  }

  /// The names of a header of quoted names that something else separates, as one cell.
  private static func header(of piece: TextPiece, but usual: UInt8) -> String? {
    for delimiter in UnknownColumns.delimiters where delimiter.asciiValue != usual {
      var rows = CSVRows(piece, nil, delimiter.asciiValue ?? usual)
      if let names = try? rows.next()?.texts, names.count > 1 {
        return names.joined(separator: String(delimiter))
      }
    }
    return nil
  }

  /// The share of the file that has been read, 0...1; nil when its size is not known.
  var progress: Double? { reader.progress }

  /// Bytes of the file itself; nil when it is not a regular file.
  var byteCount: Int64? { reader.byteCount }

  func hasColumn(_ column: Int) -> Bool { columns.has(column) }

  /// The number of lines before what is read next.
  var lines: Int { rows.lines }

  /// The next row, valid until the next call; nil at the end of the file. Blank lines are passed
  /// over.
  func next() throws(FileProblem.Problem) -> CSVRow? {
    while true {
      if let row = try nextOfPiece() { return row }
      do throws(FileProblem.Problem) {
        guard let piece = try reader.next() else { return nil }
        rows = CSVRows(piece, columns, columns.delimiter, lines: rows.linesBehind)
      } catch {
        lineNumber = rows.linesBehind + 1
        throw error
      }
    }
  }

  private func nextOfPiece() throws(FileProblem.Problem) -> CSVRow? {
    let start = rows.start
    defer {
      reader.pass(bytes: rows.start - start, lines: 0)
      if rows.line > 0 { lineNumber = rows.line }
    }
    return try rows.next()
  }

  /// The next rows of the file, for a ``CSVRows`` elsewhere; nil at the end of the file.
  func nextPiece() throws(FileProblem.Problem) -> TextPiece? {
    if !rows.isAtEnd { return rows.takeRest() }
    return try reader.next()
  }
}

extension FileSource {
  /// The records of CSV.
  func table(_ layout: CSVLayout) throws(FileProblem) -> CSVTable {
    try opened { (file) throws(FileProblem.Problem) in try CSVTable(file, layout) }
  }
}

/// Takes the rows of a piece of a file apart.
///
/// SAFETY: the text belongs to the piece, which is retained; the memory for cells belongs to this
/// value alone.
@safe
struct CSVRows: ~Copyable {
  /// The line of the row that was read last; 0 before the first.
  private(set) var line = 0
  /// The number of line feeds before the next row.
  private(set) var lines: Int
  /// The byte of the piece at which the next row begins.
  private(set) var start = 0
  private let piece: TextPiece
  private let text: UnsafeBufferPointer<UInt8>
  private let columns: CSVColumns?
  private let delimiter: UInt8
  private let cells: UnsafeMutableBufferPointer<pf_csv_cell>
  /// For cells with doubled quotes.
  private let scratch: UnsafeMutablePointer<UInt8>
  /// Whether all rows are UTF-8 and none is cut off.
  private let isUsual: Bool
  private var followsLoneReturn: Bool

  /// - Parameters:
  ///   - columns: nil for rows of any number of cells.
  ///   - delimiter: what stands between cells.
  ///   - lines: the number of line feeds before the piece.
  init(_ piece: TextPiece, _ columns: CSVColumns?, _ delimiter: UInt8, lines: Int = 0) {
    self.piece = piece
    self.columns = columns
    self.delimiter = delimiter
    self.lines = lines
    unsafe text = piece.text.assumingMemoryBound(to: UInt8.self)
    unsafe cells = .allocate(capacity: columns?.count ?? text.count + 1)
    let hasQuotes = unsafe memchr(text.baseAddress!, 0x22, text.count) != nil
    unsafe scratch = .allocate(capacity: hasQuotes ? text.count : 0)
    isUsual = unsafe piece.isWhole && pf_is_utf8(text.baseAddress!, text.count)
    followsLoneReturn = piece.followsLoneReturn
  }

  deinit {
    unsafe cells.deallocate()
    unsafe scratch.deallocate()
  }

  var isAtEnd: Bool { unsafe start == text.count }

  /// The number of lines up to the next piece.
  var linesBehind: Int { lines + (piece.isWhole ? 0 : 1) }

  /// The next row, valid until the next call; nil at the end of the piece. Blank lines are passed
  /// over.
  ///
  /// - Throws: what is wrong with the row at ``line``; the next call goes on behind it.
  mutating func next() throws(FileProblem.Problem) -> CSVRow? {
    while !isAtEnd {
      var row = pf_csv_row()
      unsafe pf_csv_split(
        text.baseAddress! + start, text.count - start, delimiter, cells.baseAddress, cells.count,
        scratch, &row)
      let (firstLine, follows) = (lines + 1, followsLoneReturn)
      start += row.length
      lines += row.line_feeds
      if row.cell_count == 0, row.status == PF_CSV_ROW {
        followsLoneReturn = follows || row.ends_in_lone_return
        continue
      }
      line = firstLine
      followsLoneReturn = row.ends_in_lone_return
      if !isUsual || follows || row.status != PF_CSV_ROW
        || row.length > PieceReader.maximumLineBytes
      {
        try check(row, followsLoneReturn: follows)
      }
      if let columns, row.cell_count != columns.count {
        throw .cellCount(found: row.cell_count, expected: columns.count)
      }
      return unsafe CSVRow(
        UnsafeBufferPointer(start: cells.baseAddress, count: row.cell_count), columns,
        isVerbatim: row.is_verbatim)
    }
    return nil
  }

  private func check(
    _ row: pf_csv_row, followsLoneReturn: Bool
  ) throws(FileProblem.Problem) {
    if row.status == PF_CSV_STRAY_QUOTE { throw .strayQuote }
    // Most likely a quote is never closed.
    if !piece.isWhole, isAtEnd { throw .tooLong }
    // Without delimiters and quotes.
    let length =
      unsafe row.cell_count > cells.count
      ? row.length : cells[..<row.cell_count].reduce(0) { unsafe $0 + $1.length }
    if row.status == PF_CSV_OPEN_QUOTE {
      throw length > PieceReader.maximumLineBytes ? .tooLong : .openQuote
    }
    if followsLoneReturn { throw .loneReturn }
    if length > PieceReader.maximumLineBytes { throw .tooLong }
    let bytes = unsafe text.baseAddress! + start - row.length
    if unsafe !pf_is_utf8(bytes, row.length) {
      let row = unsafe UnsafeRawBufferPointer(start: bytes, count: row.length)
      throw unsafe .notUTF8(likely: TextEncoding.likely(row))
    }
  }

  /// The part of the piece behind the row that was read last, which is not read here any more.
  mutating func takeRest() -> TextPiece {
    piece.removeFirst(start, followsLoneReturn: followsLoneReturn)
    start = unsafe text.count
    return piece
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
  /// What stands between cells.
  let delimiter: UInt8

  init(count: Int, _ cellIndices: [Int], delimiter: UInt8 = UInt8(ascii: ",")) {
    self.count = count
    self.delimiter = delimiter
    unsafe self.cellIndices = .allocate(capacity: cellIndices.count)
    _ = unsafe self.cellIndices.initialize(fromContentsOf: cellIndices)
  }

  deinit { unsafe cellIndices.deallocate() }

  /// Whether the file has a column that was asked for.
  func has(_ column: Int) -> Bool { unsafe cellIndices[column] >= 0 }
}

/// One row of a CSV file, valid until the next is asked for.
///
/// SAFETY: it points into the memory of ``CSVRows`` and that of the columns. It never leaves this
/// module, and every reader takes what it needs before it asks for another row.
@safe
struct CSVRow {
  private let cells: UnsafeBufferPointer<pf_csv_cell>
  private let cellIndices: UnsafeMutableBufferPointer<Int>
  /// Whether the cells are parts of the file's text.
  private let isVerbatim: Bool

  fileprivate init(
    _ cells: UnsafeBufferPointer<pf_csv_cell>, _ columns: CSVColumns?, isVerbatim: Bool
  ) {
    unsafe self.cells = unsafe cells
    unsafe cellIndices = columns?.cellIndices ?? UnsafeMutableBufferPointer(start: nil, count: 0)
    self.isVerbatim = isVerbatim
  }

  /// The texts of all cells.
  var texts: [String] {
    unsafe cells.map {
      unsafe String(
        decoding: UnsafeBufferPointer(start: $0.bytes, count: $0.length), as: UTF8.self)
    }
  }

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

  private func bytes(at index: Int) -> UnsafeBufferPointer<UInt8> {
    let cell = unsafe cells[index]
    return unsafe UnsafeBufferPointer(start: cell.bytes, count: cell.length)
  }

  /// The text behind the first cells and their delimiters, as it is in the file, without a quote that
  /// closes the last cell; nil if there are no more cells, or doubled quotes.
  ///
  /// - Precondition: `count` is not 0.
  func text(behind count: Int) -> UnsafeRawBufferPointer? {
    guard isVerbatim, unsafe cells.count > count, let last = unsafe cells.last,
      var start = unsafe cells[count].bytes
    else { return nil }
    // With the quote that opens a cell: otherwise `a,",b"` and `"a,",b` were the same.
    if unsafe start[-1] == UInt8(ascii: "\"") { unsafe start -= 1 }
    return unsafe UnsafeRawBufferPointer(start: start, count: last.bytes + last.length - start)
  }
}
