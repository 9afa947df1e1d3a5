internal import CPushFiles
public import PushModel

/// The fields of a JSON object, asked for by name; null is absent.
///
/// What is read is a value of its own: it does not point into the text, as what the readers of this
/// module use inside does.
public struct JSONObject: Sendable {
  private enum Field: Sendable {
    case text(String)
    case whole(Int64)
    case flag(Bool)
    case texts([String])
    case other

    init(_ value: JSONValue) {
      if let text = value.string {
        self = .text(text)
      } else if let whole = value.integer {
        self = .whole(whole)
      } else if let flag = value.bool {
        self = .flag(flag)
      } else if let texts = try? value.strings("") {
        self = .texts(texts)
      } else {
        self = .other
      }
    }
  }

  private var fields: [Identifier: Field] = [:]

  /// Reads a JSON object, over any number of lines.
  ///
  /// - Throws: ``FileProblem/Problem/isEmpty`` for blanks only; otherwise what a line of NDJSON is
  ///   refused for.
  public init(_ text: [UInt8]) throws(FileProblem.Problem) {
    self = try Self.parse(text) { (value, _) in JSONObject(value) }
  }

  init(_ value: JSONValue) {
    for (key, value) in value.fields { fields[Identifier(key.text)] = Field(value) }
  }

  /// What `read` gives of a JSON object over any number of lines.
  static func parse<Value>(
    _ text: [UInt8], _ read: (JSONValue, JSONParser) throws(FileProblem.Problem) -> Value
  ) throws(FileProblem.Problem) -> Value {
    guard text.count <= PieceReader.maximumLineBytes else { throw .tooLong }
    let parser = try JSONParser()
    let padded = text + repeatElement(0, count: Int(PF_JSON_PADDING))
    return try unsafe padded.withUnsafeBufferPointer { (bytes) throws(FileProblem.Problem) in
      let text = unsafe UnsafeRawBufferPointer(
        UnsafeBufferPointer(rebasing: bytes[..<text.count]))
      guard let value = try unsafe parser.parse(text, isFirst: true, isFile: false) else {
        throw .isEmpty
      }
      return try read(value, parser)
    }
  }

  // MARK: Fields

  /// The names of the fields, sorted.
  public var names: [String] { fields.keys.map(\.text).sorted() }

  /// Whether there is a field, of any type.
  public func has(_ name: String) -> Bool { fields[Identifier(name)] != nil }

  /// A text; nil if there is no such field.
  public func text(_ name: String) throws(FileProblem.Problem) -> String? {
    guard let field = fields[Identifier(name)] else { return nil }
    guard case .text(let text) = field else { throw .wrongType(name, expected: "a string") }
    return text
  }

  /// An id, which has to be there.
  public func identifier(_ name: String) throws(FileProblem.Problem) -> Identifier {
    guard let text = try text(name) else { throw .missingField(name) }
    guard !text.isEmpty else { throw .emptyID(name) }
    return Identifier(text)
  }

  /// A list of texts; nil if there is no such field.
  public func texts(_ name: String) throws(FileProblem.Problem) -> [String]? {
    guard let field = fields[Identifier(name)] else { return nil }
    guard case .texts(let texts) = field else {
      throw .wrongType(name, expected: "an array of strings")
    }
    return texts
  }

  /// A list of ids, which has to be there.
  public func identifiers(_ name: String) throws(FileProblem.Problem) -> [Identifier] {
    guard let texts = try texts(name) else { throw .missingField(name) }
    guard !texts.contains("") else { throw .emptyID(name) }
    return texts.map { Identifier($0) }
  }

  /// True or false; nil if there is no such field.
  public func flag(_ name: String) throws(FileProblem.Problem) -> Bool? {
    guard let field = fields[Identifier(name)] else { return nil }
    guard case .flag(let flag) = field else { throw .wrongType(name, expected: "true or false") }
    return flag
  }

  /// A whole number; nil if there is no such field.
  public func whole(_ name: String) throws(FileProblem.Problem) -> Int64? {
    guard let field = fields[Identifier(name)] else { return nil }
    guard case .whole(let whole) = field else { throw .wrongType(name, expected: "a whole number") }
    return whole
  }
}
