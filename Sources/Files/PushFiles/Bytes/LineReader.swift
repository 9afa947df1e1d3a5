internal import CPushFiles
internal import Glibc

/// The lines of a file, one at a time, without the line feeds.
@safe
final class LineReader {
  /// A line longer than this is refused, so that a file that is no text cannot fill the memory.
  static let maximumLineBytes = 8 * 1024 * 1024

  private let bytes: ByteReader
  /// Whether the bytes were given to ``restart(_:)``, so that nothing is read.
  private var isRestarted = false
  /// The 1-based number of the line that was read last.
  private(set) var lineNumber = 0
  private var buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private var reachedEnd = false

  init(_ source: FileSource) throws(FileProblem.Problem) {
    bytes = try ByteReader(source, takesArrays: true)
    unsafe buffer = Self.allocate(min(source.byteCount.map { $0 + 1 } ?? .max, 1024 * 1024))
  }

  deinit { unsafe buffer.deallocate() }

  /// Begins again with bytes in memory, reusing the buffer.
  func restart(_ bytes: UnsafeRawBufferPointer) {
    if bytes.count > capacity {
      unsafe buffer.deallocate()
      unsafe buffer = Self.allocate(bytes.count)
    }
    unsafe buffer.copyMemory(from: bytes)
    start = 0
    end = bytes.count
    lineNumber = 0
    reachedEnd = true
    isRestarted = true
  }

  /// The share of the file that has been read, 0...1; nil when its size is not known.
  var progress: Double? { isRestarted ? nil : bytes.share(waiting: end - start) }
  /// Bytes of the file itself; nil when it is not a regular file.
  var byteCount: Int64? { isRestarted ? nil : bytes.byteCount }

  /// The next line; nil at the end of the file. It is valid until the next call, and
  /// `PF_JSON_PADDING` bytes behind it are readable.
  ///
  /// - Throws: ``FileProblem/Problem/tooLong`` once for a line over the limit; the next call goes
  ///   on behind it.
  func next() throws(FileProblem.Problem) -> UnsafeRawBufferPointer? {
    var searched = start
    while true {
      if let feed = find(from: searched) {
        let line = unsafe UnsafeRawBufferPointer(rebasing: buffer[start..<feed])
        start = feed + 1
        lineNumber += 1
        if line.count > Self.maximumLineBytes { throw .tooLong }
        return unsafe line
      }
      if reachedEnd {
        guard start < end else { return nil }
        let line = unsafe UnsafeRawBufferPointer(rebasing: buffer[start..<end])
        start = end
        lineNumber += 1
        return unsafe line
      }
      if end - start > Self.maximumLineBytes {
        lineNumber += 1
        try passOverLine()
        throw .tooLong
      }
      searched = end - start
      do { try fill() } catch {
        lineNumber += 1  // the problem is at the line that could not be completed
        throw error
      }
    }
  }

  /// Reads more behind what is there, which it moves to the front of the buffer.
  private func fill() throws(FileProblem.Problem) {
    if start > 0 {
      unsafe buffer.baseAddress!.copyMemory(
        from: buffer.baseAddress! + start, byteCount: end - start)
      end -= start
      start = 0
    }
    if end == capacity {
      let larger = unsafe Self.allocate(capacity * 2)
      unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
      unsafe buffer.deallocate()
      unsafe buffer = larger
    }
    let count = try unsafe bytes.read(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer[end..<capacity]))
    end += count
    reachedEnd = count == 0
  }

  /// Drops everything up to the next line feed.
  private func passOverLine() throws(FileProblem.Problem) {
    while true {
      if let feed = find(from: start) {
        start = feed + 1
        return
      }
      start = end
      if reachedEnd { return }
      try fill()
    }
  }

  private func find(from offset: Int) -> Int? {
    guard offset < end, let base = unsafe buffer.baseAddress,
      let found = unsafe memchr(base + offset, 0x0A, end - offset)
    else { return nil }
    return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  private var capacity: Int { unsafe buffer.count - Int(PF_JSON_PADDING) }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: capacity + Int(PF_JSON_PADDING), alignment: 64)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
    return unsafe buffer
  }
}
