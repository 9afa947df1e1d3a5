internal import CPushFiles

/// A stream of the Arrow C stream interface, whose rows are users, members or messages.
///
/// The columns are the fields of the records of settings.ndjson or messages.ndjson, by their names,
/// in any order. Text is utf8, large_utf8, utf8_view or a dictionary of these; instants are integers
/// or timestamps of any unit with a time zone; objects and lists are structs and lists. A null is an
/// absent field; a row that is null as a whole is refused. An id may be an integer, which is the same
/// as the text of its decimal digits; so may one that is a float, up to those that may be rounded.
///
/// A stream whose `get_next` gives `PF_ARROW_NEW_SCHEMA` is asked for its schema again: the batches
/// that follow are read by that one.
///
/// Rows are checked as lines of NDJSON are, with the same problems; the line of a problem is the
/// row, from 1.
///
/// - Source: the Arrow specification, "The Arrow C data interface", "The Arrow C stream interface".
///
/// SAFETY: one thread at a time reads a stream and releases what it gives. Whether buffers are as
/// large as the stream says cannot be known; what can be checked is.
@safe public final class ArrowStream: @unchecked Sendable {
  /// What the rows of a stream are.
  public enum Rows: String, Sendable {
    /// Records of users, without `kind`.
    case users
    /// Records of members, without `kind`.
    case members
    /// Messages.
    case messages

    /// The fields that are ids, or lists of ids.
    var ids: Set<String> {
      switch self {
      case .users: ["id", "importantSenders", "blockedSenders"]
      case .members: ["conversation", "user"]
      case .messages:
        ["id", "conversation", "channel", "sender", "mentions", "replyTo", "replyToUser"]
      }
    }

    /// What the JSON of a row begins with.
    fileprivate var jsonStart: StaticString {
      switch self {
      case .users: "{\"kind\":\"user\""
      case .members: "{\"kind\":\"member\""
      case .messages: "{"
      }
    }
  }

  /// What the rows are; its name is what problems call the stream.
  public let rows: Rows
  private let stream: UnsafeMutablePointer<ArrowArrayStream>
  private var column: ArrowColumn?
  /// The rows of the batches before.
  private var rowCount = 0

  /// The name by which problems say where they are.
  var name: String { rows.rawValue }

  /// Takes a stream that stays the caller's, who releases it when it was read.
  ///
  /// - Parameter stream: points to a `struct ArrowArrayStream`.
  /// - Throws: a problem if there is none, or it is released.
  public init(_ stream: UnsafeMutableRawPointer?, of rows: Rows) throws(FileProblem) {
    let stream = unsafe stream?.assumingMemoryBound(to: ArrowArrayStream.self)
    guard let stream = unsafe stream, unsafe stream.pointee.release != nil,
      unsafe stream.pointee.get_schema != nil, unsafe stream.pointee.get_next != nil
    else {
      throw FileProblem(
        file: rows.rawValue, line: nil,
        problem: .arrow("the stream is released, or lacks a function"))
    }
    self.rows = rows
    unsafe self.stream = unsafe stream
  }

  /// The next rows, to be released by the thread that asks; nil at the end.
  func next() throws(FileProblem) -> ArrowRows? {
    var (column, array) = unsafe (try schema(), ArrowArray())
    var code = unsafe stream.pointee.get_next(stream, &array)
    while code == PF_ARROW_NEW_SCHEMA {
      self.column = nil
      column = try schema()
      code = unsafe stream.pointee.get_next(stream, &array)
    }
    try check(code)
    guard unsafe array.release != nil else { return nil }
    let batch: ArrowRows
    do throws(FileProblem.Problem) {
      batch = try unsafe ArrowRows(array, column, start: rows.jsonStart)
    } catch {
      unsafe array.release?(&array)
      throw FileProblem(file: name, line: nil, problem: error)
    }
    if let row = batch.firstNull {
      batch.release()
      throw FileProblem(
        file: name, line: rowCount + row + 1, problem: .arrow("the row is null"))
    }
    rowCount += batch.count
    return batch
  }

  private func schema() throws(FileProblem) -> ArrowColumn {
    if let column { return column }
    var schema = unsafe ArrowSchema()
    try unsafe check(stream.pointee.get_schema(stream, &schema))
    defer { unsafe schema.release?(&schema) }
    let column = try unsafe ArrowColumn(schema, name, ids: rows.ids)
    guard case .object = column.kind else {
      throw FileProblem(
        file: name, line: nil,
        problem: .arrow("the type is \(column.format), but it must be a struct"))
    }
    self.column = column
    return column
  }

  private func check(_ code: Int32) throws(FileProblem) {
    guard code != 0 else { return }
    let words = unsafe stream.pointee.get_last_error?(stream).flatMap {
      unsafe String(validatingCString: $0)
    }
    throw FileProblem(
      file: name, line: nil, problem: .arrow(words ?? "the stream failed with \(code)"))
  }
}

/// Rows that a stream gave.
///
/// SAFETY: read by any thread until ``release()``, which the thread that reads the stream calls
/// when no other reads them any more.
@safe final class ArrowRows: @unchecked Sendable {
  /// The number of rows.
  let count: Int
  /// The columns, whose rows begin at ``offset``.
  let columns: [ArrowColumn]
  let values: [ArrowValues]
  let offset: Int
  private var array: ArrowArray
  /// The first row that is null as a whole.
  let firstNull: Int?
  /// What the JSON of a row begins with.
  private let start: StaticString
  /// Longer rows are refused, as lines are: a row may have one long text many times.
  private static let longest = PieceReader.maximumLineBytes

  fileprivate init(
    _ array: ArrowArray, _ column: ArrowColumn, start: StaticString
  ) throws(FileProblem.Problem) {
    let batch = try unsafe ArrowValues(array, column)
    count = batch.length
    offset = batch.offset
    values = batch.children
    firstNull =
      unsafe array.null_count == 0 || !batch.cells.hasNulls
      ? nil : (0..<batch.length).first { batch.isNull($0) }
    if case .object(let columns) = column.kind { self.columns = columns } else { columns = [] }
    unsafe self.array = array
    self.start = start
  }

  func release() {
    unsafe array.release?(&array)
    unsafe array.release = nil
  }

  /// Checks the length of what was appended to `text` for one row.
  static func checkLength(of text: [UInt8], from start: Int) throws(FileProblem.Problem) {
    guard text.count - start <= longest else { throw .tooLong }
  }

  /// Calls `body` with a row as a JSON object, with `PF_JSON_PADDING` readable bytes behind it.
  ///
  /// - Parameter text: memory that is used again.
  func withJSON<Value>(
    _ row: Int, in text: inout [UInt8],
    _ body: (UnsafeRawBufferPointer) throws(FileProblem.Problem) -> Value
  ) throws(FileProblem.Problem) -> Value {
    text.removeAll(keepingCapacity: true)
    try appendJSON(row, to: &text)
    let count = text.count
    text.append(contentsOf: repeatElement(0, count: Int(PF_JSON_PADDING)))
    return try unsafe text.withUnsafeBufferPointer { (bytes) throws(FileProblem.Problem) in
      try unsafe body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])))
    }
  }

  private func appendJSON(_ row: Int, to text: inout [UInt8]) throws(FileProblem.Problem) {
    unsafe text.append(
      contentsOf: UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount))
    var isFirst = start.utf8CodeUnitCount == 1
    let length = text.count
    for index in values.indices where !values[index].isNull(row + offset) {
      try Self.checkLength(of: text, from: length)
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text.append(contentsOf: columns[index].quotedName)
      do throws(FileProblem.Problem) { try values[index].append(row + offset, to: &text) } catch {
        guard case .notUTF8 = error else { throw error }
        throw .arrow("the text in the column \"\(columns[index].name)\" is not UTF-8")
      }
    }
    text.append(UInt8(ascii: "}"))
  }
}
