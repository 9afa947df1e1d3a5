public import PushContent
public import PushModel

/// Messages that are asked for by id, or all of them, as they are read; bad lines may be left out.
public final class MessageSelection {
  private let reader: MessageReader
  private let progressed: ((Double?) -> Void)?
  private let skipped: ((FileProblem) -> Void)?
  /// A constant: whether a dictionary that changes is empty is asked at a price for each message.
  private let takesAll: Bool
  /// The ids that are asked for, and whether they came.
  private var isFound: [Identifier: Bool]
  /// Bad lines that were left out.
  public private(set) var skippedCount = 0

  /// - Parameters:
  ///   - reader: reads all messages.
  ///   - ids: those that are asked for; none for all.
  ///   - skipped: called with each bad line, which is then left out; nil for a bad line to be an
  ///     error.
  ///   - progress: called after each message that was read, asked for or not, with
  ///     ``MessageReader/progress``.
  public init(
    _ reader: MessageReader, ids: [Identifier] = [], skipped: ((FileProblem) -> Void)? = nil,
    progress: ((Double?) -> Void)? = nil
  ) {
    self.reader = reader
    self.skipped = skipped
    progressed = progress
    takesAll = ids.isEmpty
    isFound = Dictionary(ids.map { ($0, false) }) { first, _ in first }
  }

  /// The 1-based line of the message that was read last.
  public var lineNumber: Int { reader.lineNumber }

  /// The share of the file that has been read, 0...1; nil when its size is not known.
  public var progress: Double? { reader.progress }

  /// The next message that is asked for; nil at the end of the file.
  ///
  /// - Throws: what is wrong with a line, unless it is left out.
  public func next() throws(FileProblem) -> Message? {
    try next({ () throws(FileProblem) in try reader.next() }, id: \.id)
  }

  /// The next message that is asked for, with what it says of its own push; nil at the end of the
  /// file.
  ///
  /// - Throws: as ``next()``.
  public func nextWithContent() throws(FileProblem) -> (message: Message, content: MessageContent)?
  {
    try next({ () throws(FileProblem) in try reader.nextWithContent() }, id: \.message.id)
  }

  @inline(__always)
  private func next<Item>(
    _ read: () throws(FileProblem) -> Item?, id: (Item) -> Identifier
  ) throws(FileProblem) -> Item? {
    while true {
      do throws(FileProblem) {
        let item = try read()
        if let progressed, item != nil { progressed(reader.progress) }
        if takesAll { return item }
        guard let id = item.map(id) else { return nil }
        guard isFound[id] != nil else { continue }
        isFound[id] = true
        return item
      } catch {
        guard let skipped, error.isOfOneLine else { throw error }
        skippedCount += 1
        skipped(error)
      }
    }
  }

  /// Checks, at the end, that every id that was asked for came.
  ///
  /// - Throws: ``MissingMessage`` with the first, by its text, that did not.
  public func checkAllFound() throws(MissingMessage) {
    guard let id = isFound.filter({ !$0.value }).keys.min(by: { $0.text < $1.text }) else { return }
    throw MissingMessage(path: reader.path, id: id)
  }
}

/// A message that was asked for and is not in the file.
public struct MissingMessage: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file, or the name given to bytes.
  public let path: String
  /// The id that was asked for.
  public let id: Identifier

  public var description: String { "no message in \(path) has the id \"\(id.text)\"" }
}
