/// Where a reader gets its bytes from.
enum FileSource {
  /// A file; `-` is standard input.
  case path(String)
  /// Bytes instead of a file of that name.
  case bytes([UInt8], name: String)

  /// The name by which problems say where they are, and which tells how the bytes are to be read.
  var name: String {
    switch self {
    case .path(let path): path
    case .bytes(_, let name): name
    }
  }

  /// How many bytes there are; nil for a file.
  var byteCount: Int? {
    guard case .bytes(let bytes, _) = self else { return nil }
    return bytes.count
  }
}
