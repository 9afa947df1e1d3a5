internal import CPushFiles

/// A stream of the Arrow C stream interface, or of bytes, whose rows are users, members or messages.
///
/// The columns are the fields of the records of settings.ndjson or messages.ndjson, by their names,
/// in any order. Text is utf8, large_utf8, utf8_view or a dictionary of these; instants are integers
/// or timestamps of any unit; objects and lists are structs and lists. A null is an absent field. An
/// id may be an integer, which is the same as the text of its decimal digits.
///
/// Rows are checked as lines of NDJSON are, with the same problems; the line of a problem is the
/// row, from 1.
///
/// - Source: the Arrow specification, "The Arrow C data interface", "The Arrow C stream interface",
///   "Serialization and Interprocess Communication".
///
/// SAFETY: one thread at a time reads a stream and releases what it gives. Whether the buffers of
/// the C interface are as large as the stream says cannot be known; what can be checked is.
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
      case .users: ["id"]
      case .members: ["conversation", "user"]
      case .messages: ["id", "conversation", "channel", "sender", "mentions", "replyTo"]
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

    /// Does something, and says of a problem which stream it is of.
    func naming<Result>(_ body: () throws -> Result) throws(FileProblem) -> Result {
      do {
        return try body()
      } catch let problem as FileProblem.Problem {
        throw FileProblem(file: rawValue, line: nil, problem: problem)
      } catch let problem as FileProblem {
        throw problem
      } catch {
        throw FileProblem(file: rawValue, line: nil, problem: .arrow("\(error)"))
      }
    }
  }

  /// What the rows are; its name is what problems call the stream.
  public let rows: Rows
  private let source: Source
  private var column: ArrowColumn?
  /// The batch whose rows are written as lines, and how many of them were.
  private var current: (batch: ArrowRows, row: Int)?
  /// How many rows were written as lines.
  public private(set) var rowCount = 0

  /// SAFETY: as of the stream.
  @safe private enum Source {
    case interface(UnsafeMutablePointer<ArrowArrayStream>)
    /// Gives the next rows. A function, so that a library that reads no bytes has no reader of them.
    case bytes(() throws -> ArrowMemory.Owned?)
  }

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
    source = unsafe .interface(stream)
  }

  /// - Parameters:
  ///   - column: the type of the rows.
  ///   - next: gives the next rows.
  init(
    of rows: Rows, _ column: ArrowColumn, next: @escaping () throws -> ArrowMemory.Owned?
  ) {
    self.rows = rows
    self.column = column
    source = .bytes(next)
  }

  deinit { current?.batch.release() }

  /// The rest of the rows as lines of NDJSON; no bytes for a stream without rows.
  ///
  /// - Throws: what is wrong with the stream or, with its line, with a row.
  public func ndjson() throws(FileProblem) -> [UInt8] {
    var text: [UInt8] = []
    while try appendNDJSON(to: &text, upTo: .max) {}
    return text
  }

  /// Appends the next rows as lines of NDJSON, until `text` has so many bytes or there are no more.
  ///
  /// - Returns: whether there may be more rows.
  /// - Throws: what is wrong with the stream or, with its line, with a row; `text` has the rows
  ///   before.
  public func appendNDJSON(to text: inout [UInt8], upTo limit: Int) throws(FileProblem) -> Bool {
    while text.count < limit {
      if current == nil { current = try next().map { ($0, 0) } }
      guard let (batch, row) = current else { return false }
      guard row < batch.count else {
        batch.release()
        current = nil
        continue
      }
      let length = text.count
      rowCount += 1
      current?.row += 1
      do throws(FileProblem.Problem) {
        try batch.appendJSON(row, to: &text)
      } catch {
        text.removeLast(text.count - length)
        throw FileProblem(file: name, line: rowCount, problem: error)
      }
      text.append(UInt8(ascii: "\n"))
    }
    return true
  }

  /// The next rows, to be released by the thread that asks; nil at the end.
  func next() throws(FileProblem) -> ArrowRows? {
    let column = try schema()
    switch source {
    case .interface(let stream):
      var array = unsafe ArrowArray()
      try unsafe check(stream.pointee.get_next(stream, &array), stream)
      guard unsafe array.release != nil else { return nil }
      do throws(FileProblem.Problem) {
        return try unsafe ArrowRows(array, column, start: rows.jsonStart)
      } catch {
        unsafe array.release?(&array)
        throw FileProblem(file: name, line: nil, problem: error)
      }
    case .bytes(let batch):
      return try rows.naming {
        try batch().map {
          try unsafe ArrowRows($0.array, column, start: rows.jsonStart, memory: $0.memory)
        }
      }
    }
  }

  private func schema() throws(FileProblem) -> ArrowColumn {
    if let column { return column }
    guard case .interface(let stream) = source else { preconditionFailure("has a schema") }
    var schema = unsafe ArrowSchema()
    try unsafe check(stream.pointee.get_schema(stream, &schema), stream)
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

  private func check(
    _ code: Int32, _ stream: UnsafeMutablePointer<ArrowArrayStream>
  ) throws(FileProblem) {
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
  /// What the JSON of a row begins with.
  private let start: StaticString
  /// What the array's pointers lead to, of a stream of bytes.
  private var memory: ArrowMemory?
  /// Longer rows are refused, as lines are: a row may have one long text many times.
  private static let longest = LineReader.maximumLineBytes

  fileprivate init(
    _ array: ArrowArray, _ column: ArrowColumn, start: StaticString, memory: ArrowMemory? = nil
  ) throws(FileProblem.Problem) {
    self.memory = memory
    let batch = try unsafe ArrowValues(array, column)
    count = batch.length
    offset = batch.offset
    values = batch.children
    if case .object(let columns) = column.kind { self.columns = columns } else { columns = [] }
    unsafe self.array = array
    self.start = start
  }

  func release() {
    unsafe array.release?(&array)
    unsafe array.release = nil
    memory = nil
  }

  /// Checks the length of what was appended to `text` for one row.
  static func checkLength(of text: [UInt8], from start: Int) throws(FileProblem.Problem) {
    guard text.count - start <= longest else { throw .tooLong }
  }

  /// Appends a row as a JSON object.
  func appendJSON(_ row: Int, to text: inout [UInt8]) throws(FileProblem.Problem) {
    unsafe text.append(
      contentsOf: UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount))
    var isFirst = start.utf8CodeUnitCount == 1
    let length = text.count
    for index in values.indices where !values[index].isNull(row + offset) {
      try Self.checkLength(of: text, from: length)
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text.append(contentsOf: columns[index].quotedName)
      try values[index].append(row + offset, to: &text)
    }
    text.append(UInt8(ascii: "}"))
  }
}
