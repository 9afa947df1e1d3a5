internal import CPushFiles

/// A file that is read at once.
public enum WholeFile {
  /// No file may have more bytes, unpacked: so that one that never ends cannot fill the memory.
  public static let maximumBytes = 2 << 30

  /// The bytes of a file, unpacked if it is gzip; `-` is standard input.
  ///
  /// - Throws: ``FileProblem`` without a line.
  public static func read(_ path: String) throws(FileProblem) -> [UInt8] {
    do throws(FileProblem.Problem) {
      let reader = try ByteReader(path: path)
      var bytes: [UInt8] = []
      let chunk = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 256 * 1024, alignment: 64)
      defer { unsafe chunk.deallocate() }
      while true {
        let count = try unsafe reader.read(into: chunk)
        if count == 0 { break }
        guard bytes.count + count <= maximumBytes else {
          throw .cannotRead("more than \(maximumBytes) bytes")
        }
        unsafe bytes.append(contentsOf: chunk[..<count])
      }
      guard !bytes.isEmpty else { throw .isEmpty }
      return bytes
    } catch {
      throw FileProblem(file: path, line: nil, problem: error)
    }
  }

  /// Refuses a JSON text in which an object has a key twice, of which readers take one or the
  /// other.
  ///
  /// - Throws: ``FileProblem`` without a line. A text that is no JSON at all passes; the decoder
  ///   reports it.
  public static func checkKeys(inJSON text: [UInt8], of path: String) throws(FileProblem) {
    guard let parser = unsafe pf_json_create() else {
      throw FileProblem(file: path, line: nil, problem: .cannotRead("out of memory"))
    }
    defer { unsafe pf_json_destroy(parser) }
    let padded = text + [UInt8](repeating: 0, count: Int(PF_JSON_PADDING))
    guard unsafe pf_json_parse(parser, padded, text.count) == PF_JSON_REPEATED_KEY else { return }
    var length = 0
    let bytes = unsafe pf_json_repeated_key(parser, &length)
    let key = unsafe String(
      decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
    throw FileProblem(file: path, line: nil, problem: .repeatedKey(key))
  }
}
