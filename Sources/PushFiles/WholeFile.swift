/// A file that is read at once.
public enum WholeFile {
  /// No file may have more bytes, unpacked: so that one that never ends cannot fill the memory.
  public static let maximumBytes = 2 << 30

  /// The bytes of a file, unpacked if its name ends in `.gz`; `-` is standard input.
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
}
