public import PushContent
public import PushModel
internal import PushSupport

/// Reads messages one at a time from NDJSON or, by its name, CSV.
///
/// - Memory: one line, whatever the file's size.
/// - Source: formats.md, "messages.ndjson" and "CSV".
public final class MessageReader {
  private enum Source {
    case lines(JSONLines)
    case table(CSVTable)

    var records: any RecordSource {
      switch self {
      case .lines(let lines): lines
      case .table(let table): table
      }
    }
  }

  /// The path of the file, or the name given to bytes.
  public var path: String { source.records.path }
  private let rules: RuleSet
  private let source: Source
  private let form: CellForm
  private let slice: MessageSlice
  private let takesAll: Bool
  /// Which is meant by a local time that occurs twice: in a file in order of time, one that is not
  /// before the message before.
  private var pass = RepeatedTime.notBefore(.zero)
  /// Whether there may be no message.
  private let mayBeEmpty: Bool
  /// Records so far, from which a message without an id column has its number.
  public private(set) var recordCount = 0
  /// Whether the message that was read last replies to another: `reply` is true, or there is a
  /// `replyTo`.
  public private(set) var isReply = false

  /// Opens a file of messages that are decided by `rules`; it may have none.
  ///
  /// - Parameters:
  ///   - path: its name; with `csv:` in front it is CSV whatever its name, like `csv:-`.
  ///   - options: how CSV is written, and which messages are read.
  /// - Throws: a problem with the file itself or with a CSV header.
  public convenience init(
    path: String, rules: RuleSet, _ options: MessageOptions = MessageOptions()
  ) throws(FileProblem) {
    try self.init(.path(FileKind.file(named: path)), FileKind(path: path), rules, options)
  }

  /// Reads bytes as a file of that name would be read; there must be a message.
  ///
  /// - Parameter name: what problems call the bytes; NDJSON unless it ends in `.csv`.
  /// - Throws: as ``init(path:rules:)``.
  public convenience init(
    _ bytes: [UInt8], name: String = "messages.ndjson", rules: RuleSet,
    _ options: MessageOptions = MessageOptions()
  ) throws(FileProblem) {
    try self.init(.bytes(bytes, name: name), FileKind(path: name), rules, options)
  }

  private init(
    _ file: FileSource, _ kind: FileKind, _ rules: RuleSet, _ options: MessageOptions
  ) throws(FileProblem) {
    self.rules = rules
    form = CellForm(options)
    slice = options.slice
    takesAll = slice.takesAll
    if case .path = file { mayBeEmpty = true } else { mayBeEmpty = false }
    source = kind == .csv ? .table(try file.table(options.layout)) : .lines(try file.lines())
  }

  /// Begins again with the bytes of another messages.ndjson, in the memory of the one before: for
  /// servers, which read many small ones.
  ///
  /// - Precondition: the reader was not made for CSV.
  public func restart(ndjson bytes: UnsafeRawBufferPointer) {
    guard case .lines(let lines) = source else { preconditionFailure("a reader of CSV") }
    unsafe lines.restart(bytes)
    recordCount = 0
    isReply = false
  }

  /// The next message; nil at the end of the file.
  ///
  /// - Throws: what is wrong with the next line. If ``FileProblem/isOfOneLine``, the call after
  ///   goes on behind it.
  public func next() throws(FileProblem) -> Message? {
    takesAll ? try nextOfAll() : try nextOfSlice()
  }

  @inline(__always)
  private func nextOfAll() throws(FileProblem) -> Message? {
    try read { (_, _) throws(FileProblem.Problem) in }
  }

  /// Apart from the usual way, which hands a message on without looking at it.
  @inline(never)
  private func nextOfSlice() throws(FileProblem) -> Message? {
    while let message = try nextOfAll() {
      if slice.takes(message) { return message }
    }
    return nil
  }

  /// The next message with its own fields for its push, which only NDJSON has; nil at the end of
  /// the file.
  ///
  /// - Throws: as ``next()``.
  public func nextWithContent() throws(FileProblem) -> (message: Message, content: MessageContent)?
  {
    var content = MessageContent()
    while true {
      let message = try read { (line, parser) throws(FileProblem.Problem) in
        content = try ContentFields.read(line, in: parser)
      }
      guard let message else { return nil }
      if takesAll || slice.takes(message) { return (message: message, content: content) }
    }
  }

  /// Reads the next message.
  ///
  /// - Parameter more: reads more of its line.
  @inline(__always)
  private func read(
    _ more: (JSONValue, JSONParser) throws(FileProblem.Problem) -> Void
  ) throws(FileProblem) -> Message? {
    do throws(FileProblem.Problem) {
      switch source {
      case .lines(let lines):
        guard let line = try lines.next() else {
          if recordCount == 0, !mayBeEmpty { throw .isEmpty }
          return nil
        }
        recordCount += 1
        let message = try MessageFields.read(line, under: rules, isReply: &isReply)
        try more(line, lines.parser)
        return message
      case .table(let table):
        do {
          guard let row = try table.next() else { return nil }
          recordCount += 1
          var uses = VendorFieldUse(under: rules)
          let message = try MessageColumns.read(
            row, number: table.hasColumn(0) ? nil : recordCount, form, pass, &uses)
          if form.zone != nil { note(message.at) }
          isReply = MessageColumns.isReply(row)
          try MessageFields.check(message, uses, under: rules)
          return message
        }
      }
    } catch {
      if case .isEmpty = error { throw FileProblem(file: path, line: 1, problem: error) }
      let problem = FileProblem(file: path, line: lineNumber, problem: error)
      countIfUnread(problem)
      throw asCSV(problem)
    }
  }

  /// Takes note of an instant: a file that goes back is not in order of time.
  private func note(_ at: Instant) {
    guard case .notBefore(let last) = pass else { return }
    pass = at < last ? .first : .notBefore(at)
  }

  /// The share of the file that has been read, 0...1; nil when its size is not known.
  public var progress: Double? { source.records.progress }

  /// Bytes of the file itself; nil when it is not a regular file.
  public var byteCount: Int64? { source.records.byteCount }

  /// The 1-based line of the record that was read last, of a CSV record its first.
  public var lineNumber: Int { source.records.lineNumber }

  /// What is wrong with the first line of a file that nothing says to be NDJSON.
  private func asCSV(_ problem: FileProblem) -> FileProblem {
    guard recordCount == 1, mayBeEmpty, FileKind.named(path) == nil, case .lines = source else {
      return problem
    }
    switch problem.problem {
    case .notJSON, .truncatedJSON, .notAnObject:
      return FileProblem(
        file: path, line: problem.line, problem: .notNDJSON(asCSV: FileKind.csvPrefix + path))
    default: return problem
    }
  }

  /// A record that could not be taken apart is one all the same: those after it keep their numbers.
  private func countIfUnread(_ problem: FileProblem) {
    switch problem.problem {
    case .cellCount, .notUTF8, .strayQuote, .loneReturn, .tooLong, .truncatedJSON, .notJSON,
      .tooDeep, .repeatedKey, .notAnObject:
      recordCount += 1
    default: break
    }
  }
}
