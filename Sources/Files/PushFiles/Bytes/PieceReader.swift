internal import CPushFiles
internal import Glibc

/// A piece of a file's text, of whole lines or rows; the last one of a file may have no line feed.
/// `PF_JSON_PADDING` bytes behind the text are readable.
///
/// SAFETY: changed only by the thread that reads the file, before it hands the piece to another.
@safe
final class TextPiece: @unchecked Sendable {
  private var buffer: UnsafeMutableRawBufferPointer
  private var range: Range<Int>
  /// Whether the file begins with this piece.
  let isFirst: Bool
  /// Whether it ends where a line or a row ends; otherwise it is a part of one that is too long, and
  /// the next piece begins behind the next line feed.
  let isWhole: Bool
  /// Whether the row before ends in a carriage return without a line feed, and blank lines.
  private(set) var followsLoneReturn: Bool

  fileprivate init(
    _ buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int>, isFirst: Bool, isWhole: Bool,
    followsLoneReturn: Bool
  ) {
    unsafe self.buffer = unsafe buffer
    self.range = range
    self.isFirst = isFirst
    self.isWhole = isWhole
    self.followsLoneReturn = followsLoneReturn
  }

  deinit { unsafe buffer.deallocate() }

  /// A piece that is a copy of these bytes, and all of a file.
  convenience init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      PieceReader.allocate(bytes.count), 0..<bytes.count, isFirst: true, isWhole: true,
      followsLoneReturn: false)
    unsafe buffer.copyMemory(from: bytes)
  }

  /// Becomes a copy of other bytes, in the memory that it has if they fit.
  func replace(with bytes: UnsafeRawBufferPointer) {
    if unsafe bytes.count + Int(PF_JSON_PADDING) > buffer.count {
      unsafe buffer.deallocate()
      unsafe buffer = PieceReader.allocate(bytes.count)
    }
    unsafe buffer.copyMemory(from: bytes)
    range = 0..<bytes.count
  }

  var text: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
  }

  /// Drops bytes at the beginning.
  func removeFirst(_ count: Int, followsLoneReturn: Bool) {
    range.removeFirst(count)
    self.followsLoneReturn = followsLoneReturn
  }
}

/// A file that is read in pieces, which are parsed elsewhere.
protocol PieceSource: AnyObject {
  /// Counts what was parsed elsewhere, and is dealt with.
  func pass(bytes: Int, lines: Int)
  /// The share of the file that is dealt with, 0...1; nil when its size is not known.
  var progress: Double? { get }
}

/// Cuts a file into pieces of whole lines, or rows of CSV, which can be parsed apart from each other.
@safe
final class PieceReader: PieceSource {
  /// Where pieces may end.
  enum Cut {
    case lines
    /// Where rows of CSV with this delimiter end: not inside quotes. A byte order mark is dropped.
    case rows(UInt8)

    /// Whether these are lines of NDJSON, whose reader drops a byte order mark itself.
    fileprivate var isLines: Bool {
      if case .lines = self { return true }
      return false
    }
  }

  /// The size of pieces, unless a test asks for another: large enough that handing one to another
  /// thread costs nothing beside parsing it, and small enough for a core's cache.
  static let usualSize = 256 * 1024
  /// A line longer than this is refused, so that a file that is no text cannot fill the memory.
  static let maximumLineBytes = 8 * 1024 * 1024
  /// A piece in which nothing ends is not longer: the longest row that is allowed, if all of it are
  /// doubled quotes, has 64 bytes left for commas and the like.
  private static let limit = 2 * maximumLineBytes + 64

  private let bytes: ByteReader
  private let size: Int
  private let cut: Cut
  /// What was read behind the last piece.
  private var rest: [UInt8] = []
  /// Whether the last piece was not whole.
  private var isInLine = false
  private var endsInLoneReturn = false
  private var reachedEnd = false
  private var isFirst = true
  private var failure: FileProblem.Problem?
  private var readCount = 0
  private var passedCount = 0

  /// - Parameter size: how many bytes are read for a piece; a piece is longer where a line is.
  init(
    _ source: FileSource, size: Int = usualSize, cut: Cut = .lines
  ) throws(FileProblem.Problem) {
    bytes = try ByteReader(source, takesArrays: cut.isLines)
    // Bytes in memory, which may be few, but unpacked many.
    self.size = source.byteCount.map { min(size, max($0 + 1, 16 * 1024)) } ?? size
    self.cut = cut
  }

  /// Bytes of the file itself; nil when it is no regular file.
  var byteCount: Int64? { bytes.byteCount }

  var progress: Double? { bytes.share(waiting: readCount - passedCount) }

  func pass(bytes: Int, lines: Int) { passedCount += bytes }

  /// The next piece; nil at the end of the file.
  ///
  /// - Throws: what is wrong with reading behind the pieces that were handed out.
  func next() throws(FileProblem.Problem) -> TextPiece? {
    if isInLine { try dropLine() }
    if let failure { throw failure }
    var count = rest.count
    var capacity = count + size
    var buffer = unsafe Self.allocate(capacity)
    unsafe buffer.copyBytes(from: rest)
    rest = []
    while true {
      unsafe fill(buffer, from: &count, to: capacity)
      let text = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
      let hasMark = unsafe isFirst && !cut.isLines && text.starts(with: [0xEF, 0xBB, 0xBF])
      let start = hasMark ? 3 : 0
      if let end = unsafe Self.end(of: text, start..<count, cut) {
        rest = unsafe Array(buffer[end..<count])
        return unsafe piece(buffer, start..<end, isWhole: true)
      }
      if failure == nil, !reachedEnd, count <= Self.limit {
        guard count == capacity else { continue }
        capacity = max(capacity * 2, count + size)
        let larger = unsafe Self.allocate(capacity)
        unsafe larger.copyMemory(from: text)
        unsafe buffer.deallocate()
        unsafe buffer = larger
        continue
      }
      if failure == nil, count > start {
        return unsafe piece(buffer, start..<count, isWhole: reachedEnd)
      }
      unsafe buffer.deallocate()
      if let failure { throw failure }
      return nil
    }
  }

  /// Drops everything up to the next line feed, behind a piece that is not whole.
  private func dropLine() throws(FileProblem.Problem) {
    isInLine = false
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
    _ buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int>, isWhole: Bool
  ) -> TextPiece {
    let piece = unsafe TextPiece(
      buffer, range, isFirst: isFirst, isWhole: isWhole, followsLoneReturn: endsInLoneReturn)
    let start = unsafe piece.text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    endsInLoneReturn = unsafe pf_csv_ends_in_lone_return(start, range.count, endsInLoneReturn)
    passedCount += range.lowerBound
    isInLine = !isWhole
    isFirst = false
    return piece
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
      let text = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if byteCount == nil, unsafe Self.end(of: text, (count - more)..<count, .lines) != nil {
        return
      }
    }
  }

  /// Where the last line or row ends that ends in a range of a text; nil for none.
  private static func end(
    of text: UnsafeRawBufferPointer, _ range: Range<Int>, _ cut: Cut
  ) -> Int? {
    let text = unsafe UnsafeRawBufferPointer(rebasing: text[range])
    guard let start = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
      return nil
    }
    let count =
      switch cut {
      case .lines: unsafe pf_whole_lines(start, text.count)
      case .rows(let delimiter): unsafe pf_csv_whole_rows(start, text.count, delimiter)
      }
    return count == 0 ? nil : range.lowerBound + count
  }

  /// Memory for so much text, and the padding behind it, which is set to zero where no text will
  /// be.
  fileprivate static func allocate(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
    let padding = Int(PF_JSON_PADDING)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: capacity + padding, alignment: 64)
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[capacity...])
      .initializeMemory(as: UInt8.self, repeating: 0)
    return unsafe buffer
  }
}
