import CPushFiles
import PushFiles
import PushModel

/// Messages as an Arrow stream of one batch of plain columns, as data frames give it.
///
/// SAFETY: one thread reads the stream, while this lives.
@safe final class MessageColumns {
  private let count: Int
  private var memory: [UnsafeMutableRawPointer] = unsafe []
  private var columns: [(name: StaticString, format: StaticString, buffers: [UnsafeRawPointer?])] =
    unsafe []
  private var isGiven = false
  private let stream = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)

  init(_ messages: [Message]) {
    count = messages.count
    add("id", messages.map(\.id.text))
    add("conversation", messages.map(\.conversation.text))
    add("at", "l", messages.map(\.at.milliseconds))
    add("sender", messages.map { $0.sender?.text ?? "" })
  }

  deinit {
    while let block = unsafe memory.popLast() { unsafe block.deallocate() }
    unsafe stream.deallocate()
  }

  /// The messages, read from the columns.
  func read(under rules: RuleSet) -> [Message] {
    isGiven = false
    unsafe stream.initialize(
      to: ArrowArrayStream(
        get_schema: { stream, schema in
          unsafe schema?.pointee = MessageColumns.of(stream).schema()
          return 0
        },
        get_next: { stream, array in
          unsafe array?.pointee = MessageColumns.of(stream).next()
          return 0
        },
        get_last_error: { _ in nil }, release: { unsafe $0?.pointee.release = nil },
        private_data: Unmanaged.passUnretained(self).toOpaque()))
    return must {
      try unsafe ArrowStream(UnsafeMutableRawPointer(stream), of: .messages).messages(under: rules)
    }
  }

  private static func of(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> MessageColumns {
    unsafe Unmanaged<MessageColumns>.fromOpaque(stream!.pointee.private_data).takeUnretainedValue()
  }

  private func add(_ name: StaticString, _ texts: [String]) {
    var offsets: [Int32] = [0]
    var characters: [UInt8] = []
    for text in texts {
      characters += Array(text.utf8)
      offsets.append(Int32(characters.count))
    }
    unsafe columns.append(
      (name, "u", [nil, UnsafeRawPointer(keep(offsets)), UnsafeRawPointer(keep(characters))]))
  }

  private func add(_ name: StaticString, _ format: StaticString, _ numbers: [Int64]) {
    unsafe columns.append((name, format, [nil, UnsafeRawPointer(keep(numbers))]))
  }

  private func keep<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeMutablePointer<Value> {
    let start = UnsafeMutablePointer<Value>.allocate(capacity: max(1, values.count))
    unsafe start.update(from: values, count: values.count)
    unsafe memory.append(UnsafeMutableRawPointer(start))
    return unsafe start
  }

  private func schema() -> ArrowSchema {
    let columns = unsafe self.columns.map { unsafe keep([self.schema($0.name, $0.format)]) }
    var schema = unsafe self.schema("", "+s")
    unsafe schema.n_children = Int64(columns.count)
    unsafe schema.children = keep(columns.map { unsafe Optional($0) })
    return unsafe schema
  }

  private func schema(_ name: StaticString, _ format: StaticString) -> ArrowSchema {
    var schema = unsafe ArrowSchema()
    unsafe schema.name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    unsafe schema.format = UnsafeRawPointer(format.utf8Start).assumingMemoryBound(to: CChar.self)
    unsafe schema.release = { unsafe $0?.pointee.release = nil }
    return unsafe schema
  }

  private func next() -> ArrowArray {
    if isGiven { return unsafe ArrowArray() }
    isGiven = true
    let columns = unsafe self.columns.map { unsafe keep([self.array($0.buffers)]) }
    var array = unsafe self.array([nil])
    unsafe array.n_children = Int64(columns.count)
    unsafe array.children = keep(columns.map { unsafe Optional($0) })
    return unsafe array
  }

  private func array(_ buffers: [UnsafeRawPointer?]) -> ArrowArray {
    var array = unsafe ArrowArray()
    unsafe array.length = Int64(count)
    unsafe array.n_buffers = Int64(buffers.count)
    unsafe array.buffers = keep(buffers)
    unsafe array.release = { unsafe $0?.pointee.release = nil }
    return unsafe array
  }
}
