internal import CPushFanoutABI
internal import Glibc

/// A column of a schema: a name, and the format string of its type. None has nulls.
struct ArrowField {
  let name: String
  let format: String

  init(_ name: String, _ format: String) {
    self.name = name
    self.format = format
  }
}

/// A buffer that batches share; freed with the last of them.
///
/// SAFETY: written by the thread that makes it, before it is given away; read only from then on.
@safe final class SharedColumn: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer

  init<Element: BitwiseCopyable>(_ type: Element.Type, _ count: Int) {
    unsafe memory = UnsafeMutableRawPointer(allocate(type, count))
  }

  init(taking memory: UnsafeMutableRawPointer) { unsafe self.memory = memory }

  convenience init<Element: BitwiseCopyable>(copying elements: [Element]) {
    unsafe self.init(taking: UnsafeMutableRawPointer(mutating: copy(elements)))
  }

  deinit { unsafe free(memory) }

  func values<Element>() -> UnsafeMutablePointer<Element> {
    unsafe memory.assumingMemoryBound(to: Element.self)
  }
}

/// A column of texts with 64-bit offsets.
struct IDColumns {
  private var offsets: [Int64] = [0]
  private var characters: [UInt8] = []

  init(capacity: Int) {
    offsets.reserveCapacity(capacity + 1)
    characters.reserveCapacity(capacity * 8)
  }

  mutating func append(_ id: RawSpan) {
    unsafe id.withUnsafeBytes { bytes in unsafe characters.append(contentsOf: bytes) }
    offsets.append(Int64(characters.count))
  }

  func finish() -> [SharedColumn] {
    [SharedColumn(copying: offsets), SharedColumn(copying: characters)]
  }
}

/// Rows of columns, each with the buffers of its type behind the bits of nulls.
struct ArrowBatch {
  let length: Int
  /// Where the rows begin in the columns.
  let offset: Int
  let columns: [[SharedColumn]]
}

/// Gives a stream of what `source` makes.
func exporting(
  to stream: UnsafeMutablePointer<ArrowArrayStream>?, _ error: ErrorText,
  _ source: () -> ArrowSource
) -> Int32 {
  unsafe answering(error) { unsafe source().export(to: try result(stream)) }
}

/// What gives batches: the base class, as a C structure refers to an object.
class ArrowSource {
  var fields: [ArrowField] { [] }
  var metadata: [(key: String, value: String)] { [] }
  func nextBatch() -> ArrowBatch? { nil }

  /// Makes a stream of it.
  final func export(to stream: UnsafeMutablePointer<ArrowArrayStream>) {
    unsafe stream.pointee = ArrowArrayStream(
      get_schema: { stream, schema in
        unsafe ArrowSource.of(stream).writeSchema(to: schema)
        return 0
      },
      get_next: { stream, array in
        if let batch = unsafe ArrowSource.of(stream).nextBatch() {
          unsafe batch.export(to: array)
        } else {
          unsafe array?.pointee = ArrowArray()
        }
        return 0
      },
      get_last_error: { _ in nil },
      release: { stream in
        guard let stream = unsafe stream, let object = unsafe stream.pointee.private_data else {
          return
        }
        unsafe stream.pointee.release = nil
        unsafe stream.pointee.private_data = nil
        unsafe Unmanaged<ArrowSource>.fromOpaque(object).release()
      }, private_data: Unmanaged.passRetained(self).toOpaque())
  }

  private static func of(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> ArrowSource {
    guard let object = unsafe stream?.pointee.private_data else { return ArrowSource() }
    return unsafe Unmanaged<ArrowSource>.fromOpaque(object).takeUnretainedValue()
  }

  private func writeSchema(to schema: UnsafeMutablePointer<ArrowSchema>?) {
    let children = unsafe allocate(UnsafeMutablePointer<ArrowSchema>?.self, fields.count)
    for (index, field) in fields.enumerated() {
      let child = unsafe allocate(ArrowSchema.self, 1)
      unsafe child.initialize(to: Self.schema(field.format, field.name, []))
      unsafe children[index] = unsafe child
    }
    var root = unsafe Self.schema("+s", "", metadata)
    unsafe root.n_children = Int64(fields.count)
    unsafe root.children = unsafe children
    unsafe schema?.pointee = unsafe root
  }

  private static func schema(
    _ format: String, _ name: String, _ metadata: [(key: String, value: String)]
  ) -> ArrowSchema {
    unsafe ArrowSchema(
      format: UnsafePointer(copy(format.utf8)), name: UnsafePointer(copy(name.utf8)),
      metadata: metadata.isEmpty ? nil : UnsafePointer(copy(encoded(metadata))), flags: 0,
      n_children: 0, children: nil, dictionary: nil, release: { unsafe releaseSchema($0) },
      private_data: nil)
  }

  /// Keys and values as the specification has them: 32-bit counts in the machine's order.
  private static func encoded(_ metadata: [(key: String, value: String)]) -> [UInt8] {
    func number(_ count: Int) -> [UInt8] {
      unsafe withUnsafeBytes(of: Int32(count)) { unsafe Array($0) }
    }
    func text(_ text: String) -> [UInt8] { number(text.utf8.count) + Array(text.utf8) }
    return metadata.reduce(number(metadata.count)) { $0 + text($1.key) + text($1.value) }
  }
}

/// Frees a schema and the children that nobody has moved away.
private func releaseSchema(_ schema: UnsafeMutablePointer<ArrowSchema>?) {
  guard let schema = unsafe schema else { return }
  for index in unsafe 0..<Int(schema.pointee.n_children) {
    guard let child = unsafe schema.pointee.children[index] else { continue }
    unsafe child.pointee.release?(child)
    unsafe free(child)
  }
  unsafe free(schema.pointee.children)
  unsafe free(UnsafeMutableRawPointer(mutating: schema.pointee.format))
  unsafe free(UnsafeMutableRawPointer(mutating: schema.pointee.name))
  unsafe free(UnsafeMutableRawPointer(mutating: schema.pointee.metadata))
  unsafe schema.pointee.release = nil
}

extension ArrowBatch {
  /// What an array of C keeps alive.
  private final class Owner {
    let columns: [SharedColumn]
    init(_ columns: [SharedColumn]) { self.columns = columns }
  }

  func export(to array: UnsafeMutablePointer<ArrowArray>?) {
    let children = unsafe allocate(UnsafeMutablePointer<ArrowArray>?.self, columns.count)
    for (index, column) in columns.enumerated() {
      let child = unsafe allocate(ArrowArray.self, 1)
      unsafe child.initialize(to: Self.array(length, offset, column))
      unsafe children[index] = unsafe child
    }
    var root = unsafe Self.array(length, 0, [])
    unsafe root.n_children = Int64(columns.count)
    unsafe root.children = unsafe children
    unsafe array?.pointee = unsafe root
  }

  private static func array(_ length: Int, _ offset: Int, _ column: [SharedColumn]) -> ArrowArray {
    let buffers = unsafe allocate(UnsafeRawPointer?.self, column.count + 1)
    unsafe buffers[0] = nil
    for (index, buffer) in column.enumerated() {
      unsafe buffers[index + 1] = UnsafeRawPointer(buffer.memory)
    }
    return unsafe ArrowArray(
      length: Int64(length), null_count: 0, offset: Int64(offset),
      n_buffers: Int64(column.count + 1), n_children: 0, buffers: buffers, children: nil,
      dictionary: nil,
      release: { array in
        guard let array = unsafe array else { return }
        for index in unsafe 0..<Int(array.pointee.n_children) {
          guard let child = unsafe array.pointee.children[index] else { continue }
          unsafe child.pointee.release?(child)
          unsafe free(child)
        }
        unsafe free(array.pointee.children)
        unsafe free(array.pointee.buffers)
        if let owner = unsafe array.pointee.private_data {
          unsafe Unmanaged<AnyObject>.fromOpaque(owner).release()
        }
        unsafe array.pointee.private_data = nil
        unsafe array.pointee.release = nil
      }, private_data: Unmanaged.passRetained(Owner(column)).toOpaque())
  }
}
