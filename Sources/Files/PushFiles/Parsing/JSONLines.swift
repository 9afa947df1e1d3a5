internal import CPushFiles
internal import Glibc
internal import PushContent

/// The JSON objects of an NDJSON file, one a line; blank lines are passed over.
@safe
final class JSONLines: RecordSource {
  let path: String
  let parser: JSONParser
  /// nil where the bytes were given to ``restart(_:)``.
  private var reader: PieceReader?
  private var piece: TextPiece?
  /// The text of the piece, and how far it was read.
  private var text = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  private var start = 0
  private(set) var lineNumber = 0

  init(_ source: FileSource) throws(FileProblem.Problem) {
    path = source.name
    reader = try PieceReader(source)
    parser = try JSONParser()
  }

  /// Begins again with bytes in memory, reusing that of the ones before.
  func restart(_ bytes: UnsafeRawBufferPointer) {
    let piece: TextPiece
    if reader == nil, let last = self.piece {
      piece = last
      unsafe piece.replace(with: bytes)
    } else {
      unsafe piece = TextPiece(bytes)
    }
    reader = nil
    begin(piece)
    lineNumber = 0
  }

  private func begin(_ piece: TextPiece?) {
    self.piece = piece
    unsafe text = piece?.text ?? UnsafeRawBufferPointer(start: nil, count: 0)
    start = 0
  }

  /// The share of the file that has been read, 0...1; nil when its size is not known.
  var progress: Double? { reader?.progress }
  /// Bytes of the file itself; nil when it is not a regular file.
  var byteCount: Int64? { reader?.byteCount }

  /// The next object, valid until the next call; nil at the end of the file.
  ///
  /// - Throws: also ``FileProblem/Problem/tooLong`` once for a line over the limit; the next call goes
  ///   on behind it.
  func next() throws(FileProblem.Problem) -> JSONValue? {
    while let line = try unsafe nextLine() {
      if let value = try unsafe parser.parse(line, isFirst: lineNumber == 1) { return value }
    }
    return nil
  }

  private func nextLine() throws(FileProblem.Problem) -> UnsafeRawBufferPointer? {
    if unsafe start == text.count {
      guard let reader else { return nil }
      unsafe reader.pass(bytes: text.count, lines: 0)
      do throws(FileProblem.Problem) { begin(try reader.next()) } catch {
        lineNumber += 1  // the problem is at the line that could not be completed
        throw error
      }
    }
    guard let piece, let base = unsafe text.baseAddress, unsafe start < text.count else {
      return nil
    }
    let rest = unsafe text.count - start
    let feed = unsafe memchr(base + start, 0x0A, rest)
    let count = unsafe feed.map { unsafe UnsafeRawPointer($0) - (base + start) } ?? rest
    let line = unsafe UnsafeRawBufferPointer(start: base + start, count: count)
    start += unsafe feed == nil ? count : count + 1
    lineNumber += 1
    if count > PieceReader.maximumLineBytes || !piece.isWhole { throw .tooLong }
    return unsafe line
  }
}

extension FileSource {
  /// The records of NDJSON.
  func lines() throws(FileProblem) -> JSONLines {
    try opened { (file) throws(FileProblem.Problem) in try JSONLines(file) }
  }
}

/// Parses the lines of NDJSON files, wherever they come from, and other texts of JSON.
@safe
final class JSONParser {
  private let parser: OpaquePointer
  /// The line that was parsed last.
  private var line = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

  init() throws(FileProblem.Problem) {
    guard let parser = unsafe pf_json_create() else { throw .cannotRead("out of memory") }
    unsafe self.parser = unsafe parser
  }

  deinit { unsafe pf_json_destroy(parser) }

  /// The object of a line, valid until the next call; nil for a blank line.
  ///
  /// - Parameters:
  ///   - line: the line without its line feed, or a text of several lines; `PF_JSON_PADDING` bytes
  ///     behind it are readable.
  ///   - isFirst: whether the text begins with this line.
  ///   - isFile: whether the text is a file of lines.
  func parse(
    _ line: UnsafeRawBufferPointer, isFirst: Bool, isFile: Bool = true
  ) throws(FileProblem.Problem) -> JSONValue? {
    // A byte order mark, which PowerShell writes.
    let isMarked = unsafe isFirst && line.starts(with: [0xEF, 0xBB, 0xBF])
    let line = unsafe isMarked ? UnsafeRawBufferPointer(rebasing: line[3...]) : line
    // Nearly every line begins with a brace, so this looks at one byte.
    if unsafe line.allSatisfy({ RawText.isBlank($0) }) { return nil }
    do throws(FileProblem.Problem) { return try unsafe parse(line) } catch {
      guard isFirst, isFile else { throw error }
      throw unsafe Self.ofFile(error, line)
    }
  }

  /// What is wrong with the file, if its first line tells that it is one JSON text.
  private static func ofFile(
    _ problem: FileProblem.Problem, _ line: UnsafeRawBufferPointer
  ) -> FileProblem.Problem {
    let text = unsafe line.drop { RawText.isBlank($0) }
    switch problem {
    case .notJSON, .truncatedJSON, .notAnObject:
      if unsafe text.first == UInt8(ascii: "[") { return .oneJSON(isArray: true) }
      // A brace alone, behind which the fields have lines of their own.
      let isOpen =
        unsafe text.first == UInt8(ascii: "{")
        && text.dropFirst().allSatisfy {
          RawText.isBlank($0)
        }
      return isOpen ? .oneJSON(isArray: false) : problem
    default: return problem
    }
  }

  private func parse(_ line: UnsafeRawBufferPointer) throws(FileProblem.Problem) -> JSONValue {
    let text = unsafe line.baseAddress?.assumingMemoryBound(to: UInt8.self)
    switch unsafe pf_json_parse(parser, text, line.count) {
    case PF_JSON_OK: break
    case PF_JSON_INVALID_UTF8: throw unsafe .notUTF8(likely: TextEncoding.likely(line))
    case PF_JSON_TRUNCATED: throw .truncatedJSON
    case PF_JSON_TOO_DEEP: throw .tooDeep
    case PF_JSON_NO_MEMORY: throw .cannotRead("out of memory")
    case PF_JSON_REPEATED_KEY:
      var length = 0
      let key = unsafe pf_json_repeated_key(parser, &length)
      throw unsafe .repeatedKey(
        String(decoding: UnsafeBufferPointer(start: key, count: length), as: UTF8.self))
    default: throw .notJSON
    }
    var count = 0
    guard let first = unsafe pf_json_tokens(parser, &count) else { throw .notJSON }
    let value = unsafe JSONValue(token: first)
    guard value.kind == PF_JSON_OBJECT else { throw .notAnObject }
    unsafe self.line = unsafe line
    return value
  }

  /// A value of the line that was parsed last, as it is written there, without blanks between its
  /// parts.
  ///
  /// - Complexity: O(bytes of the line).
  func raw(_ value: JSONValue) -> RawJSON {
    unsafe RawJSON(
      unchecked: RawText.value(in: line, token: index(of: value)), text: value.string)
  }

  /// Where in the line that was parsed last a value stands.
  ///
  /// - Complexity: O(bytes of the line).
  func place(of value: JSONValue) -> Range<Int> {
    unsafe RawText.range(in: line, token: index(of: value))
  }

  /// How many values and names come before a value.
  private func index(of value: JSONValue) -> Int {
    var count = 0
    return unsafe value.index(behind: pf_json_tokens(parser, &count)!)
  }
}

/// A value of the line that was parsed last.
///
/// SAFETY: it points into the parser's memory and is valid until the next line is parsed. It never
/// leaves this module, and every reader in it takes what it needs before it asks for another line.
@safe
struct JSONValue {
  private let token: UnsafePointer<pf_json_token>

  init(token: UnsafePointer<pf_json_token>) { unsafe self.token = unsafe token }

  var kind: pf_json_kind { unsafe token.pointee.kind }
  var isNull: Bool { kind == PF_JSON_NULL }

  /// How many values and names come before it.
  fileprivate func index(behind first: UnsafePointer<pf_json_token>) -> Int {
    unsafe token - first
  }

  /// The bytes of a string.
  fileprivate var stringBytes: UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: token.pointee.string, count: Int(token.pointee.length))
  }

  /// The bytes of a string.
  var utf8: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(stringBytes) }

  /// Whether this is a string of exactly these characters.
  static func ~= (text: StaticString, value: JSONValue) -> Bool {
    guard value.kind == PF_JSON_STRING else { return false }
    let bytes = unsafe value.stringBytes
    return unsafe bytes.count == text.utf8CodeUnitCount
      && memcmp(bytes.baseAddress!, text.utf8Start, bytes.count) == 0
  }

  /// The text of a string; nil for another kind.
  var string: String? {
    guard kind == PF_JSON_STRING else { return nil }
    return unsafe String(decoding: stringBytes, as: UTF8.self)
  }

  /// The value of a whole number, also written as one of another type, 3030.0 or 3.03e3, which is an
  /// integer of JSON Schema: up to 2^53, as far as every such number is itself; nil for another.
  var integer: Int64? {
    switch kind {
    case PF_JSON_INTEGER: return unsafe token.pointee.integer
    case PF_JSON_NUMBER:
      let number = unsafe token.pointee.number
      return number.magnitude <= 0x1p53 ? Int64(exactly: number) : nil
    default: return nil
    }
  }

  /// The value of any number; nil for another kind.
  var number: Double? {
    switch kind {
    case PF_JSON_INTEGER: Double(unsafe token.pointee.integer)
    case PF_JSON_NUMBER: unsafe token.pointee.number
    default: nil
    }
  }

  var bool: Bool? {
    switch kind {
    case PF_JSON_TRUE: true
    case PF_JSON_FALSE: false
    default: nil
    }
  }

  /// The members of an object that are not null; null means absent, everywhere.
  var fields: JSONFields {
    unsafe JSONFields(position: token + 1, end: token + Int(token.pointee.length))
  }

  /// The members of an object with those that are null.
  var fieldsWithNull: JSONFields {
    var fields = fields
    fields.givesNull = true
    return fields
  }

  /// The items of an array.
  var items: JSONItems {
    unsafe JSONItems(position: token + 1, end: token + Int(token.pointee.length))
  }
}

/// The name of a member.
@safe
struct JSONKey {
  fileprivate let value: JSONValue
  var text: String { value.string ?? "" }

  static func ~= (name: StaticString, key: JSONKey) -> Bool { name ~= key.value }
}

@safe
struct JSONFields: Sequence, IteratorProtocol {
  fileprivate var position: UnsafePointer<pf_json_token>
  fileprivate let end: UnsafePointer<pf_json_token>
  fileprivate var givesNull = false

  mutating func next() -> (key: JSONKey, value: JSONValue)? {
    while unsafe position < end {
      let key = unsafe JSONValue(token: position)
      let value = unsafe JSONValue(token: position + 1)
      unsafe position += 1 + Int((position + 1).pointee.length.forKind(value.kind))
      if givesNull || !value.isNull { return (key: JSONKey(value: key), value: value) }
    }
    return nil
  }
}

@safe
struct JSONItems: Sequence, IteratorProtocol {
  fileprivate var position: UnsafePointer<pf_json_token>
  fileprivate let end: UnsafePointer<pf_json_token>

  mutating func next() -> JSONValue? {
    guard unsafe position < end else { return nil }
    let value = unsafe JSONValue(token: position)
    unsafe position += Int(position.pointee.length.forKind(value.kind))
    return value
  }
}

extension UInt32 {
  /// How many tokens a value is whose length field this is.
  fileprivate func forKind(_ kind: pf_json_kind) -> UInt32 {
    kind == PF_JSON_ARRAY || kind == PF_JSON_OBJECT ? self : 1
  }
}
