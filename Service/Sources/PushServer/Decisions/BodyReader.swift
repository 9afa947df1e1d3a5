internal import NIOCore
internal import PushContent
internal import PushFiles
internal import PushModel

/// Reads the messages of a body: lines of NDJSON, or the rows of an Arrow stream, which are made
/// such lines a part at a time.
///
/// SAFETY: one request at a time uses it.
@safe final class BodyReader {
  private let reader: MessageReader
  /// The rows that are left; nil for lines, and at the end.
  private var rows: ArrowStream?
  /// What is wrong behind the lines that are being read.
  private var failure: FileProblem?
  /// The body that the rows point into.
  private var body = ByteBuffer()
  private var lines: [UInt8] = []
  /// Whether the reader has lines that it was given.
  private var hasLines = false
  private var byteCount = 0
  private var byteLimit = 0

  /// About how many bytes of lines are made at a time.
  private static let part = 128 * 1024
  /// The lines of rows have at most so many times the bytes of the body: rows may share one long
  /// text, and take time that their bytes do not show.
  private static let expansion = 32
  private static let smallest = 1 << 20

  init(_ rules: RuleSet) throws(FileProblem) {
    reader = try MessageReader([], name: "body", rules: rules)
  }

  /// Begins with a body.
  ///
  /// - Throws: what is wrong with the schema of an Arrow stream.
  func restart(_ body: ByteBuffer, isArrow: Bool) throws(FileProblem) {
    end()
    hasLines = !isArrow
    guard isArrow else {
      return unsafe body.withUnsafeReadableBytes { unsafe reader.restart(ndjson: $0) }
    }
    self.body = body
    (byteCount, byteLimit) = (0, max(Self.smallest, body.readableBytes * Self.expansion))
    // The body stays where it is: it is kept, and not changed.
    let bytes = unsafe body.withUnsafeReadableBytes { unsafe $0 }
    rows = try unsafe ArrowStream(bytes: bytes, of: .messages)
  }

  /// Forgets the body.
  func end() {
    (rows, failure, body) = (nil, nil, ByteBuffer())
    if lines.capacity > 4 * Self.part { lines = [] }
  }

  /// The next message, and its own fields for its push if they are asked for; nil at the end.
  ///
  /// - Throws: what is wrong with the next line or row, or with the rest.
  func next(withContent: Bool) throws(FileProblem) -> (message: Message, content: MessageContent?)?
  {
    while true {
      if hasLines {
        if withContent {
          if let (message, content) = try reader.nextWithContent() { return (message, content) }
        } else if let message = try reader.next() {
          return (message, nil)
        }
      }
      if let failure {
        self.failure = nil
        throw failure
      }
      guard let rows else { return nil }
      makeLines(of: rows)
    }
  }

  /// Makes lines of the next rows, and notes what is wrong behind them.
  private func makeLines(of rows: ArrowStream) {
    lines.removeAll(keepingCapacity: true)
    let before = rows.rowCount
    do throws(FileProblem) {
      if try !rows.appendNDJSON(to: &lines, upTo: Self.part) { self.rows = nil }
    } catch {
      failure = error
      // What is behind a row can be read; what is behind a damaged batch cannot.
      if error.line == nil { self.rows = nil }
    }
    byteCount += lines.count
    if byteCount > byteLimit, self.rows != nil {
      self.rows = nil
      failure = FileProblem(
        file: "body", line: nil,
        problem: .arrow("the rows have more than \(byteLimit) bytes as JSON; send fewer of them"))
    }
    hasLines = !lines.isEmpty
    unsafe lines.withUnsafeBytes { unsafe reader.restart(ndjson: $0, after: before) }
  }
}
