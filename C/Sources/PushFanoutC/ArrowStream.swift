internal import CPushFanoutABI
internal import Glibc

/// A stream of the Arrow C data interface whose rows are written as lines of JSON, so that they are
/// read by what reads files: with the same checks, and in the same words.
///
/// - Source: the Arrow specification, "The Arrow C data interface", "The Arrow C stream interface".
@safe struct ArrowStream {
  private let stream: UnsafeMutablePointer<ArrowArrayStream>
  private let name: String

  /// - Parameter name: what errors call the stream.
  init(_ stream: UnsafeMutablePointer<ArrowArrayStream>?, _ name: String) throws {
    guard let stream = unsafe stream, unsafe stream.pointee.release != nil,
      unsafe stream.pointee.get_schema != nil, unsafe stream.pointee.get_next != nil
    else { throw ArrowError("\(name): the stream is released, or lacks a function") }
    unsafe self.stream = stream
    self.name = name
  }

  /// Each row as an object, one a line; no bytes for a stream without rows.
  ///
  /// - Parameter prefix: what objects begin with.
  func lines(prefix: String, name: String) throws -> [UInt8] {
    var schema = unsafe ArrowSchema()
    try unsafe check(stream.pointee.get_schema(stream, &schema))
    defer { unsafe schema.release?(&schema) }
    let column = try unsafe ArrowColumn(schema, name)
    guard case .object(let fields) = column.kind else {
      throw ArrowError("\(name): the type is \(column.format), but it must be a struct")
    }
    var text = ByteBuffer(capacity: 1 << 16)
    while true {
      var array = unsafe ArrowArray()
      try unsafe check(stream.pointee.get_next(stream, &array))
      guard unsafe array.release != nil else { return text.bytes }
      defer { unsafe array.release?(&array) }
      try unsafe append(array, column, fields, prefix, to: &text)
    }
  }

  private func check(_ code: Int32) throws {
    guard code != 0 else { return }
    let words = unsafe stream.pointee.get_last_error?(stream).flatMap {
      unsafe String(validatingCString: $0)
    }
    throw ArrowError("\(name): \(words ?? "the stream failed with \(code)")")
  }

  private func append(
    _ array: ArrowArray, _ column: ArrowColumn, _ fields: [ArrowColumn], _ prefix: String,
    to text: inout ByteBuffer
  ) throws {
    let batch = try unsafe ArrowValues(array, column)
    var prefix = "{" + prefix
    try prefix.withUTF8 { prefix in
      for row in 0..<batch.length {
        unsafe text.append(UnsafeRawBufferPointer(prefix))
        var isFirst = true
        for (field, values) in zip(fields, batch.children) where !values.isNull(row + batch.offset)
        {
          if !isFirst { text.append(UInt8(ascii: ",")) }
          isFirst = false
          try field.appendName(to: &text)
          try values.append(row + batch.offset, to: &text)
        }
        // The prefix ends with a comma, unless it is only a brace.
        if isFirst, prefix.count > 1 { text.removeLast() }
        text.append("}\n")
      }
    }
  }
}

/// A stream that breaks the specification, or has values of a type that no field has.
struct ArrowError: StatusError, CustomStringConvertible {
  var status: Int32 { PF_INVALID }
  let description: String
  init(_ description: String) { self.description = description }
}

extension ByteBuffer {
  /// Appends a text as JSON. Whether it is UTF-8 is left to the reader.
  @inline(__always)
  mutating func appendJSON(_ text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    var rest = unsafe text
    while let start = rest.baseAddress {
      let plain = unsafe pf_plain_json(start.assumingMemoryBound(to: CChar.self), rest.count)
      unsafe append(UnsafeRawBufferPointer(rebasing: rest[..<plain]))
      guard plain < rest.count else { break }
      appendEscaped(unsafe rest[plain])
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest[(plain + 1)...])
    }
    append(UInt8(ascii: "\""))
  }

  mutating func appendJSON(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in unsafe appendJSON(UnsafeRawBufferPointer(utf8)) }
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    append(UInt8(ascii: "\\"))
    if byte >= 0x20 { return append(byte) }
    let digits = Array("0123456789abcdef".utf8)
    append("u00")
    append(digits[Int(byte >> 4)])
    append(digits[Int(byte & 15)])
  }
}
