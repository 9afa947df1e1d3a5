internal import CPushFiles
internal import Glibc

/// A piece of a file's text, of whole lines; the last line of a file may have no line feed.
/// `PF_JSON_PADDING` bytes behind the text are readable.
///
/// SAFETY: changed only by the thread that reads the file, before it hands the piece to another.
@safe
final class TextPiece: @unchecked Sendable {
  private let buffer: UnsafeMutableRawBufferPointer
  private var range: Range<Int>
  /// Whether the file begins with this piece.
  let isFirst: Bool
  /// Whether it ends where a line ends; otherwise it is a part of a line that is too long.
  let isWhole: Bool

  fileprivate init(
    _ buffer: UnsafeMutableRawBufferPointer, count: Int, isFirst: Bool, isWhole: Bool
  ) {
    unsafe self.buffer = unsafe buffer
    range = 0..<count
    self.isFirst = isFirst
    self.isWhole = isWhole
  }

  deinit { unsafe buffer.deallocate() }

  var text: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
  }

  /// Drops bytes at the beginning.
  func removeFirst(_ count: Int) { range.removeFirst(count) }
}

/// A file that is read in pieces, which are parsed elsewhere.
protocol PieceSource: AnyObject {
  /// Counts what was parsed elsewhere, and is dealt with.
  func pass(bytes: Int, lines: Int)
  /// The share of the file that is dealt with, 0...1; nil when its size is not known.
  var progress: Double? { get }
}

/// Cuts a file into pieces of whole lines, which can be parsed apart from each other.
@safe
final class PieceReader: PieceSource {
  /// The size of pieces, unless a test asks for another: large enough that handing one to another
  /// thread costs nothing beside parsing it, and small enough for a core's cache.
  static let usualSize = 256 * 1024

  private let bytes: ByteReader
  private let size: Int
  /// What was read behind the last line feed.
  private var rest: [UInt8] = []
  private var reachedEnd = false
  private var isFirst = true
  private var failure: FileProblem.Problem?
  private var readCount = 0
  private var passedCount = 0

  /// - Parameter size: how many bytes are read for a piece; a piece is longer where a line is.
  init(_ source: FileSource, size: Int = usualSize) throws(FileProblem.Problem) {
    bytes = try ByteReader(source)
    self.size = size
  }

  /// Bytes of the file itself; nil when it is no regular file.
  var byteCount: Int64? { bytes.byteCount }

  var progress: Double? { bytes.share(waiting: readCount - passedCount) }

  func pass(bytes: Int, lines: Int) { passedCount += bytes }

  /// The next piece; nil at the end of the file.
  ///
  /// - Throws: what is wrong with reading the line behind the lines that were handed out.
  func next() throws(FileProblem.Problem) -> TextPiece? {
    if let failure { throw failure }
    var count = rest.count
    var capacity = count + size
    var buffer = unsafe Self.allocate(capacity)
    unsafe buffer.copyBytes(from: rest)
    rest = []
    var searched = 0
    while true {
      unsafe fill(buffer, from: &count, to: capacity)
      if let end = unsafe Self.wholeLines(of: buffer, searched..<count) {
        rest = unsafe Array(buffer[end..<count])
        return unsafe piece(buffer, end, isWhole: true)
      }
      if failure == nil, !reachedEnd, count <= LineReader.maximumLineBytes {
        searched = count
        capacity = max(capacity * 2, count + size)
        let larger = unsafe Self.allocate(capacity)
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        unsafe buffer.deallocate()
        unsafe buffer = larger
        continue
      }
      if failure == nil, count > 0 { return unsafe piece(buffer, count, isWhole: reachedEnd) }
      unsafe buffer.deallocate()
      if let failure { throw failure }
      return nil
    }
  }

  /// Drops everything up to the next line feed, behind a piece that is not whole.
  func dropLine() throws(FileProblem.Problem) {
    let buffer = unsafe Self.allocate(PieceReader.usualSize)
    defer { unsafe buffer.deallocate() }
    while !reachedEnd {
      let count = try unsafe bytes.read(into: buffer)
      readCount += count
      reachedEnd = count == 0
      if let found = unsafe memchr(buffer.baseAddress!, 0x0A, count) {
        let feed = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(buffer.baseAddress!)
        rest = unsafe Array(buffer[(feed + 1)..<count])
        return
      }
    }
  }

  private func piece(
    _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, isWhole: Bool
  ) -> TextPiece {
    defer { isFirst = false }
    return unsafe TextPiece(buffer, count: count, isFirst: isFirst, isWhole: isWhole)
  }

  /// Reads until the buffer is full; of a pipe, whose lines are to be dealt with as they come,
  /// until there is a line.
  private func fill(
    _ buffer: UnsafeMutableRawBufferPointer, from count: inout Int, to capacity: Int
  ) {
    while count < capacity, !reachedEnd {
      let more: Int
      do throws(FileProblem.Problem) {
        more = try unsafe bytes.read(
          into: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<capacity]))
      } catch {
        failure = error
        return
      }
      reachedEnd = more == 0
      readCount += more
      count += more
      if byteCount == nil, unsafe Self.wholeLines(of: buffer, (count - more)..<count) != nil {
        return
      }
    }
  }

  /// The end of the last line that ends in a range of a buffer; nil for none.
  private static func wholeLines(
    of buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int>
  ) -> Int? {
    let text = unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
    guard let start = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
      return nil
    }
    let count = unsafe pf_whole_lines(start, text.count)
    return count == 0 ? nil : range.lowerBound + count
  }

  /// Memory for so much text, and the padding behind it, which is set to zero where no text will
  /// be.
  private static func allocate(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
    let padding = Int(PF_JSON_PADDING)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: capacity + padding, alignment: 64)
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[capacity...])
      .initializeMemory(as: UInt8.self, repeating: 0)
    return unsafe buffer
  }
}
