public import PushContent
public import PushModel

/// Messages that are asked for by id, or all of them, as they are read; bad lines may be left out.
public final class MessageSelection {
  /// Of the file that is being read.
  private var reader: MessageReader
  /// Of the files that come then, the last one first.
  private var others: [MessageReader]
  private let paths: [String]
  private let progressed: ((Double?) -> Void)?
  private let skipped: ((FileProblem) -> Void)?
  /// A constant: whether a dictionary that changes is empty is asked at a price for each message.
  private let takesAll: Bool
  /// The ids that are asked for, and whether they came.
  private var isFound: [Identifier: Bool]
  /// Bad lines that were left out.
  public private(set) var skippedCount = 0

  /// - Parameters:
  ///   - readers: read all messages, one file after the other.
  ///   - ids: those that are asked for; none for all.
  ///   - skipped: called with each bad line, which is then left out; nil for a bad line to be an
  ///     error.
  ///   - progress: called after each message that was read, asked for or not, with
  ///     ``progress``.
  /// - Precondition: there is a reader.
  public init(
    _ readers: [MessageReader], ids: [Identifier] = [], skipped: ((FileProblem) -> Void)? = nil,
    progress: ((Double?) -> Void)? = nil
  ) {
    reader = readers[0]
    others = readers.dropFirst().reversed()
    paths = readers.map(\.path)
    self.skipped = skipped
    progressed = progress
    takesAll = ids.isEmpty
    isFound = Dictionary(ids.map { ($0, false) }) { first, _ in first }
  }

  /// The file of the message that was read last.
  public var path: String { reader.path }

  /// The 1-based line of the message that was read last.
  public var lineNumber: Int { reader.lineNumber }

  /// The share of the files that has been read, 0...1; nil when the size of one is not known.
  public var progress: Double? {
    reader.progress.map { share in
      (Double(paths.count - others.count - 1) + share) / Double(paths.count)
    }
  }

  /// The next message that is asked for; nil at the end of the last file.
  ///
  /// - Throws: what is wrong with a line, unless it is left out.
  public func next() throws(FileProblem) -> Message? {
    try next({ () throws(FileProblem) in try reader.next() }, id: \.id)
  }

  /// The next message that is asked for, with what it says of its own push; nil at the end of the
  /// last file.
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
        if item == nil {
          guard let next = others.popLast() else { return nil }
          reader = next
          continue
        }
        if let progressed { progressed(progress) }
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
    throw MissingMessage(id, in: paths)
  }
}

/// A message that was asked for and is not in the file.
public struct MissingMessage: Error, Hashable, Sendable, CustomStringConvertible {
  /// The paths of the files, or the names given to bytes.
  public let path: String
  /// The id that was asked for.
  public let id: Identifier

  /// - Parameter paths: of the files.
  public init(_ id: Identifier, in paths: [String]) {
    path = paths.joined(separator: ", ")
    self.id = id
  }

  public var description: String { "no message in \(path) has the id \"\(id.text)\"" }
}
