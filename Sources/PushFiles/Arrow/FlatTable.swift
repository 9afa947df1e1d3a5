/// A table of a FlatBuffer from anywhere: every offset is checked before it is followed, and one
/// that leads out of the buffer is an error.
///
/// - Source: FlatBuffers, "Internals".
///
/// SAFETY: read while the buffer is valid; nothing outside of it is read.
@safe struct FlatTable {
  /// Elements of one size, one behind the other.
  struct Vector {
    fileprivate let start: Int
    let count: Int
  }

  private let bytes: UnsafeRawBufferPointer
  private let start: Int
  /// Where the table of fields is: its size, that of this table, and an offset for each field.
  private let fields: Int
  private let fieldsSize: Int

  /// The table that a buffer begins with the offset of.
  init(_ bytes: UnsafeRawBufferPointer) throws(FileProblem.Problem) {
    try unsafe self.init(bytes, at: Int(Self.load(UInt32.self, bytes, 0)))
  }

  private init(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(FileProblem.Problem) {
    unsafe self.bytes = unsafe bytes
    self.start = start
    fields = start - Int(try unsafe Self.load(Int32.self, bytes, start))
    fieldsSize = Int(try unsafe Self.load(UInt16.self, bytes, fields))
  }

  /// A number, or an element of a structure; `absent` if the table has no such field.
  func number<Value: FixedWidthInteger & BitwiseCopyable>(
    _ field: Int, absent: Value = 0
  ) throws(FileProblem.Problem) -> Value {
    guard let location = try position(of: field) else { return absent }
    return try unsafe Self.load(Value.self, bytes, location)
  }

  func table(_ field: Int) throws(FileProblem.Problem) -> FlatTable? {
    guard let location = try target(of: field) else { return nil }
    return try unsafe FlatTable(bytes, at: location)
  }

  /// A text; nil if there is none.
  func text(_ field: Int) throws(FileProblem.Problem) -> String? {
    guard let characters = try vector(field, stride: 1) else { return nil }
    let text = unsafe String(
      validating: bytes[characters.start..<characters.start + characters.count], as: UTF8.self)
    guard let text else { throw .arrow("a name is not UTF-8") }
    return text
  }

  /// The elements of `stride` bytes of a field; nil if there is none.
  func vector(_ field: Int, stride: Int) throws(FileProblem.Problem) -> Vector? {
    guard let location = try target(of: field) else { return nil }
    let vector = Vector(
      start: location + 4, count: Int(try unsafe Self.load(UInt32.self, bytes, location)))
    guard unsafe vector.count <= (bytes.count - vector.start) / stride else {
      throw Self.outOfRange
    }
    return vector
  }

  /// The table that an element of 4 bytes is the offset of.
  func table(_ index: Int, of vector: Vector) throws(FileProblem.Problem) -> FlatTable {
    let location = vector.start + index * 4
    return try unsafe FlatTable(bytes, at: location + Int(Self.load(UInt32.self, bytes, location)))
  }

  /// A number of 8 bytes of a vector.
  func number(_ index: Int, of vector: Vector) throws(FileProblem.Problem) -> Int64 {
    try unsafe Self.load(Int64.self, bytes, vector.start + index * 8)
  }

  /// Where a field is; nil if there is none.
  private func position(of field: Int) throws(FileProblem.Problem) -> Int? {
    let slot = 4 + 2 * field
    guard slot + 2 <= fieldsSize else { return nil }
    let offset = try unsafe Self.load(UInt16.self, bytes, fields + slot)
    return offset == 0 ? nil : start + Int(offset)
  }

  /// Where what a field has the offset of is.
  private func target(of field: Int) throws(FileProblem.Problem) -> Int? {
    guard let location = try position(of: field) else { return nil }
    return location + Int(try unsafe Self.load(UInt32.self, bytes, location))
  }

  private static var outOfRange: FileProblem.Problem {
    .arrow("the stream is damaged: an offset of its metadata leads out of them")
  }

  private static func load<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, _ location: Int
  ) throws(FileProblem.Problem) -> Value {
    guard location >= 0, location <= bytes.count - MemoryLayout<Value>.size else {
      throw outOfRange
    }
    return unsafe Value(littleEndian: bytes.loadUnaligned(fromByteOffset: location, as: type))
  }
}
