internal import CPushFiles

extension ArrowStream {
  /// Reads a stream of bytes (`application/vnd.apache.arrow.stream`), which may come from anywhere:
  /// whatever they are, nothing outside of them is read. Dictionaries are read, but not additions
  /// to them; nor are compressed or big-endian streams, and what was written before Arrow 0.15.
  ///
  /// - Parameter bytes: are not copied, and are valid and unchanged until the last row was read.
  /// - Throws: what is wrong with the schema.
  public convenience init(bytes: UnsafeRawBufferPointer, of rows: Rows) throws(FileProblem) {
    let messages = try rows.naming {
      unsafe try ArrowMessages(bytes, rows.rawValue, ids: rows.ids)
    }
    self.init(of: rows, messages.root.column, next: messages.next)
  }
}

/// The batches of a stream of bytes: encapsulated messages, of which the first is the schema. Bytes
/// come from anywhere, so everything that ``ArrowValues`` trusts is checked here: that buffers lie
/// in their message and are as large as the rows need, and that offsets ascend and stay inside.
///
/// - Source: the Arrow specification, "Serialization and Interprocess Communication"; Message.fbs,
///   whose fields have the numbers below.
///
/// SAFETY: read while the bytes are valid.
@safe final class ArrowMessages {
  /// What a message is.
  private enum Header {
    case schema(FlatTable)
    case dictionary(FlatTable)
    case rows(FlatTable)
  }

  /// The type of the rows.
  let root: ArrowField
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private var dictionaries: [Int64: ArrowMemory.Owned] = [:]
  /// The fields that have dictionaries, by id.
  private var entries: [Int64: ArrowField] = [:]

  /// Reads the schema.
  init(_ bytes: UnsafeRawBufferPointer, _ name: String, ids: Set<String>) throws {
    var position = 0
    guard case .schema(let schema) = try unsafe Self.message(bytes, &position)?.header else {
      throw FileProblem.Problem.arrow("the body is not an Arrow stream: it begins with no schema")
    }
    unsafe self.bytes = unsafe bytes
    self.position = position
    root = try ArrowField(schema: schema, name, ids: ids)
    noteDictionaries(of: root)
  }

  private func noteDictionaries(of field: ArrowField) {
    if let id = field.dictionary { entries[id] = field.children[0] }
    for child in field.children { noteDictionaries(of: child) }
  }

  /// The rows of the next batch, and their number; nil at the end.
  func next() throws -> ArrowMemory.Owned? {
    while let (header, body) = try unsafe Self.message(bytes, &position) {
      switch header {
      case .schema: throw FileProblem.Problem.arrow("the stream has a second schema")
      case .rows(let batch):
        var reader = try unsafe ArrowBatchReader(batch, body, dictionaries)
        return try reader.rows(root)
      case .dictionary(let dictionary):
        let id: Int64 = try dictionary.number(0)
        guard let field = entries[id], let batch = try dictionary.table(1) else {
          throw FileProblem.Problem.arrow("the stream has a dictionary that no column has")
        }
        guard try dictionary.number(2, absent: UInt8(0)) == 0 else {
          throw FileProblem.Problem.arrow(
            "the stream adds to a dictionary, which is not read; send whole dictionaries")
        }
        var reader = try unsafe ArrowBatchReader(batch, body, dictionaries)
        dictionaries[id] = try reader.entries(field)
      }
    }
    return nil
  }

  /// The next message with its body; nil at the end.
  private static func message(
    _ bytes: UnsafeRawBufferPointer, _ position: inout Int
  ) throws -> (header: Header, body: UnsafeRawBufferPointer)? {
    func take(_ count: Int64) throws -> UnsafeRawBufferPointer {
      guard count >= 0, count <= bytes.count - position else {
        throw FileProblem.Problem.arrow("the stream ends inside a message")
      }
      defer { position += Int(count) }
      return unsafe UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(count)])
    }
    func size() throws -> UInt32 {
      UInt32(littleEndian: try unsafe take(4).loadUnaligned(as: UInt32.self))
    }
    if position == bytes.count, position > 0 { return nil }
    if position == 0, unsafe bytes.starts(with: "ARROW1".utf8) {
      throw FileProblem.Problem.arrow("the body is an Arrow file; send an Arrow stream")
    }
    guard position > 0 || bytes.count >= 8, try size() == .max else {
      throw FileProblem.Problem.arrow(
        position <= 4
          ? "the body is not an Arrow stream" : "the stream is damaged: no message begins here")
    }
    let length = Int64(try size())
    if length == 0 { return nil }
    let message = try unsafe FlatTable(take(length))
    let body = try unsafe take(try message.number(3))
    guard let header = try message.table(2) else {
      throw FileProblem.Problem.arrow("the stream has a message without content")
    }
    switch try message.number(1, absent: UInt8(0)) {
    case 1: return unsafe (.schema(header), body)
    case 2: return unsafe (.dictionary(header), body)
    case 3: return unsafe (.rows(header), body)
    default: throw FileProblem.Problem.arrow("the stream has a message that is no batch of rows")
    }
  }
}
