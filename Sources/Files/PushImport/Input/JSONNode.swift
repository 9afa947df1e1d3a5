internal import CPushFiles
internal import Glibc
internal import PushModel

/// Parses records of any schema. One thread at a time uses it.
///
/// SAFETY: a pipeline hands it from thread to thread through its lock.
@safe final class JSONReader: @unchecked Sendable {
  private let parser: OpaquePointer

  init() {
    guard let parser = unsafe pf_json_create() else { preconditionFailure("out of memory") }
    unsafe self.parser = unsafe parser
  }

  deinit { unsafe pf_json_destroy(parser) }

  /// The value of a text, valid until the next call.
  ///
  /// - Parameter text: `PF_JSON_PADDING` bytes behind it are readable.
  func parse(_ text: UnsafeRawBufferPointer) throws(RecordProblem) -> JSONNode {
    let start = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self)
    switch unsafe pf_json_parse(parser, start, text.count) {
    case PF_JSON_OK: break
    case PF_JSON_INVALID_UTF8: throw RecordProblem("this is not UTF-8")
    case PF_JSON_TRUNCATED: throw RecordProblem("the JSON text is cut off")
    case PF_JSON_TOO_DEEP: throw RecordProblem("the JSON text is nested too deeply")
    case PF_JSON_NO_MEMORY: throw RecordProblem("there is too little memory to read it")
    case PF_JSON_REPEATED_KEY:
      var length = 0
      let key = unsafe pf_json_repeated_key(parser, &length)
      let name = unsafe String(
        decoding: UnsafeBufferPointer(start: key, count: length), as: UTF8.self)
      throw RecordProblem("the key \(name) is there twice")
    default: throw RecordProblem("this is not JSON")
    }
    var count = 0
    guard let first = unsafe pf_json_tokens(parser, &count) else {
      throw RecordProblem("this is not JSON")
    }
    return unsafe JSONNode(first: first, token: first)
  }

  /// The object of a text.
  func parseObject(_ text: UnsafeRawBufferPointer) throws(RecordProblem) -> JSONNode {
    let node = try unsafe parse(text)
    guard node.isObject else { throw RecordProblem("this is not a JSON object") }
    return node
  }
}

/// A value of the text that was parsed last.
///
/// SAFETY: it points into the parser's memory and is valid until the next text is parsed. Records take
/// what they need before that.
@safe struct JSONNode {
  private let first: UnsafePointer<pf_json_token>
  private let token: UnsafePointer<pf_json_token>

  fileprivate init(first: UnsafePointer<pf_json_token>, token: UnsafePointer<pf_json_token>) {
    unsafe self.first = unsafe first
    unsafe self.token = unsafe token
  }

  private var kind: pf_json_kind { unsafe token.pointee.kind }
  var isNull: Bool { kind == PF_JSON_NULL }
  var isObject: Bool { kind == PF_JSON_OBJECT }
  var isTrue: Bool { kind == PF_JSON_TRUE }

  /// The bytes of a string; nil for another value.
  var utf8: UnsafeRawBufferPointer? {
    guard kind == PF_JSON_STRING else { return nil }
    return unsafe UnsafeRawBufferPointer(
      start: token.pointee.string, count: Int(token.pointee.length))
  }

  /// A string; nil for another value.
  var string: String? { unsafe utf8.map { unsafe String(decoding: $0, as: UTF8.self) } }

  /// Whether this is a string of exactly these characters.
  @inline(__always)
  static func ~= (text: StaticString, node: JSONNode) -> Bool {
    guard let bytes = unsafe node.utf8 else { return false }
    return unsafe bytes.count == text.utf8CodeUnitCount
      && memcmp(bytes.baseAddress!, text.utf8Start, bytes.count) == 0
  }

  /// A whole number, also one written as 3030.0; nil for another value.
  var integer: Int64? {
    if kind == PF_JSON_INTEGER { return unsafe token.pointee.integer }
    guard let number, number.magnitude <= 0x1p53 else { return nil }
    return Int64(exactly: number)
  }

  var number: Double? {
    switch kind {
    case PF_JSON_INTEGER: Double(unsafe token.pointee.integer)
    case PF_JSON_NUMBER: unsafe token.pointee.number
    default: nil
    }
  }

  /// The members of an object that are not null; none of another value.
  var fields: Fields {
    let count = isObject ? unsafe Int(token.pointee.length) : 1
    return unsafe Fields(first: first, position: token + 1, end: token + count)
  }

  /// The items of an array; none of another value.
  var items: Items {
    let count = kind == PF_JSON_ARRAY ? unsafe Int(token.pointee.length) : 1
    return unsafe Items(first: first, position: token + 1, end: token + count)
  }

  /// The member of a name, if it is not null.
  subscript(_ name: StaticString) -> JSONNode? {
    for (key, value) in fields where name ~= key { return value }
    return nil
  }

  @safe struct Fields: Sequence, IteratorProtocol {
    fileprivate let first: UnsafePointer<pf_json_token>
    fileprivate var position: UnsafePointer<pf_json_token>
    fileprivate let end: UnsafePointer<pf_json_token>

    mutating func next() -> (key: JSONNode, value: JSONNode)? {
      while unsafe position < end {
        let key = unsafe JSONNode(first: first, token: position)
        let value = unsafe JSONNode(first: first, token: position + 1)
        unsafe position += 1 + value.tokenCount
        if !value.isNull { return (key, value) }
      }
      return nil
    }
  }

  @safe struct Items: Sequence, IteratorProtocol {
    fileprivate let first: UnsafePointer<pf_json_token>
    fileprivate var position: UnsafePointer<pf_json_token>
    fileprivate let end: UnsafePointer<pf_json_token>

    mutating func next() -> JSONNode? {
      guard unsafe position < end else { return nil }
      let value = unsafe JSONNode(first: first, token: position)
      unsafe position += value.tokenCount
      return value
    }
  }

  private var tokenCount: Int {
    kind == PF_JSON_ARRAY || kind == PF_JSON_OBJECT ? unsafe Int(token.pointee.length) : 1
  }
}

// MARK: What a record must have

extension JSONNode {
  /// A value of another type than the field `name` has.
  private func wrongType(_ name: String, _ expected: String) -> RecordProblem {
    RecordProblem("the field \(name) is not \(expected)", token: unsafe token - first)
  }

  func text(_ name: String) throws(RecordProblem) -> String {
    guard let string else { throw wrongType(name, "a string") }
    return string
  }

  /// An id: a text that is not empty.
  func id(_ name: String) throws(RecordProblem) -> String {
    let text = try text(name)
    if text.isEmpty {
      throw RecordProblem("the field \(name) is empty", token: unsafe token - first)
    }
    return text
  }

  /// The same as its bytes.
  func idBytes(_ name: String) throws(RecordProblem) -> UnsafeRawBufferPointer {
    guard let bytes = unsafe utf8 else { throw wrongType(name, "a string") }
    if unsafe bytes.isEmpty {
      throw RecordProblem("the field \(name) is empty", token: unsafe token - first)
    }
    return unsafe bytes
  }

  func whole(_ name: String) throws(RecordProblem) -> Int64 {
    guard let integer else { throw wrongType(name, "a whole number") }
    return integer
  }

  /// An instant in milliseconds, as open rules have it.
  func instant(_ name: String) throws(RecordProblem) -> Int64 {
    let value = try whole(name)
    guard (0...Instant.maximumMilliseconds).contains(value) else {
      throw RecordProblem("the field \(name) is no instant: \(value)", token: unsafe token - first)
    }
    return value
  }

  /// The same of seconds with a fraction, rounded to milliseconds.
  func instant(seconds name: String) throws(RecordProblem) -> Int64 {
    guard let number else { throw wrongType(name, "a number") }
    let value = (number * 1000).rounded()
    guard value >= 0, value <= Double(Instant.maximumMilliseconds) else {
      throw RecordProblem("the field \(name) is no instant: \(number)", token: unsafe token - first)
    }
    return Int64(value)
  }

  func flag(_ name: String) throws(RecordProblem) -> Bool {
    switch kind {
    case PF_JSON_TRUE: return true
    case PF_JSON_FALSE: return false
    default: throw wrongType(name, "true or false")
    }
  }

  func object(_ name: String) throws(RecordProblem) -> JSONNode {
    guard isObject else { throw wrongType(name, "an object") }
    return self
  }

  func array(_ name: String) throws(RecordProblem) -> Items {
    guard kind == PF_JSON_ARRAY else { throw wrongType(name, "an array") }
    return items
  }
}
