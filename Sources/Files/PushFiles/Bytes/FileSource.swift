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

/// A file whose records are read one after the other.
protocol RecordSource {
  /// Its name, by which problems say where they are.
  var path: String { get }
  /// The 1-based line of the record that was read last.
  var lineNumber: Int { get }
  /// The share of the file that has been read, 0...1; nil when its size is not known.
  var progress: Double? { get }
  /// Bytes of the file itself; nil when it is not a regular file.
  var byteCount: Int64? { get }
}

extension RecordSource {
  /// What `read` gives; a problem is at the line that was read last.
  @inline(__always)
  func located<Result>(
    _ read: () throws(FileProblem.Problem) -> Result
  ) throws(FileProblem) -> Result {
    do throws(FileProblem.Problem) { return try read() } catch {
      throw FileProblem(file: path, line: lineNumber, problem: error)
    }
  }
}

extension FileSource {
  /// What `open` makes of the file; a problem is of all of it, or at its first line.
  func opened<Opened>(
    _ open: (FileSource) throws(FileProblem.Problem) -> Opened
  ) throws(FileProblem) -> Opened {
    do throws(FileProblem.Problem) { return try open(self) } catch {
      throw FileProblem(file: name, line: error.lineAtOpening, problem: error)
    }
  }
}
