public import PushFanout
public import PushRules
internal import PushSupport
internal import Synchronization

/// Writes what the engine decided, in the order of messages and users, in one of the formats; rows
/// are put together by several threads.
public final class FanoutWriter {
  private let output: any DecisionOutput
  private let format: DecisionFormat
  private let rows: RowText
  private let threads: Int
  private var spares: [RowText.Piece] = []

  /// Counts over all messages so far.
  public private(set) var totals = OutcomeCounts()
  public private(set) var messageCount = 0

  /// About so many members a piece of work has.
  private static let pieceSize = 1 << 14

  /// Writes to a file, in any format but NumPy's.
  public convenience init(
    _ output: OutputFile, format: DecisionFormat, showsDevices: Bool = false, threads: Int
  ) throws(OutputProblem) {
    self.init(output as any DecisionOutput, format, showsDevices, threads)
    try output.put(DecisionText.header(format))
  }

  /// Writes into memory, in any format but NumPy's.
  public convenience init(
    _ output: OutputBytes, format: DecisionFormat, showsDevices: Bool = false, threads: Int
  ) throws(OutputProblem) {
    self.init(output as any DecisionOutput, format, showsDevices, threads)
    try output.put(DecisionText.header(format))
  }

  /// Writes NumPy arrays to a folder.
  public convenience init(_ output: NumPyFolder, threads: Int) {
    self.init(output as any DecisionOutput, .npy, false, threads)
  }

  private init(
    _ output: any DecisionOutput, _ format: DecisionFormat, _ showsDevices: Bool, _ threads: Int
  ) {
    self.output = output
    self.format = format
    self.threads = threads
    rows = RowText(format, showsDevices: showsDevices)
  }

  /// Whether rows are written for each decision, and not only counts.
  public static func needsResults(_ format: DecisionFormat) -> Bool {
    format != .counts && format != .summary
  }

  /// Writes the counts of messages, for the formats that need no more.
  public func write(
    _ messages: [Message], counts: [FanoutCounts]
  ) throws(OutputProblem) {
    for (message, counts) in zip(messages, counts) {
      messageCount += 1
      totals.add(counts)
      guard format == .counts else { continue }
      let total = counts.recipientCount
      try output.put(DecisionText.countsRow(message, total) { counts[$0] })
    }
  }

  /// Writes the decisions of messages.
  public func write(
    _ messages: [Message], results: [FanoutResult]
  ) throws(OutputProblem) {
    if format == .npy, messageCount + messages.count > UInt32.max {
      throw OutputProblem(target: "message.npy", reason: "more than \(UInt32.max) messages")
    }
    for result in results { totals.add(result.counts) }
    let pieces = pieces(results)
    // Pieces are used again, as memory that is new each time costs as much as filling it.
    while spares.count < pieces.count { spares.append(RowText.Piece()) }
    let texts = Lock(spares)
    spares = []
    let work = { @Sendable [rows, first = messageCount] (place: Int) in
      var text = RowText.Piece()
      texts.withLock { swap(&$0[place], &text) }
      text.removeAll()
      for part in pieces[place] {
        let message = part.message
        rows.write(
          part.ranks, messages[message], number: first + message, results[message], to: &text)
        if part.isLast { text.ids.append(messages[message].id) }
      }
      texts.withLock { swap(&$0[place], &text) }
    }
    Parallel.perform(pieces.count, threads: threads, work)
    messageCount += messages.count
    spares = texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
    for text in spares.prefix(pieces.count) { try output.put(text) }
  }

  /// Writes the totals as one JSON object, or as a table for people.
  public func writeSummary(asJSON: Bool) throws(OutputProblem) {
    try output.put(DecisionText.summary(messageCount, totals, asJSON: asJSON))
  }

  // MARK: Pieces

  /// Some members of one message.
  private struct Part {
    let message: Int
    let ranks: Range<Int>
    let isLast: Bool
  }

  /// Cuts the members of all messages into pieces of about the same size.
  private func pieces(_ results: [FanoutResult]) -> [[Part]] {
    var pieces: [[Part]] = [[]]
    var size = 0
    for (message, result) in results.enumerated() {
      let count = result.memberCount
      var start = 0
      repeat {
        // Pushes of one list are joined, so a push list stays in one piece.
        let end = format == .pushlist ? count : min(count, start + Self.pieceSize - size)
        pieces[pieces.count - 1].append(
          Part(message: message, ranks: start..<end, isLast: end == count))
        size += end - start + 16
        start = end
        if size >= Self.pieceSize {
          pieces.append([])
          size = 0
        }
      } while start < count
    }
    return pieces
  }
}

/// Puts the rows of one message together.
struct RowText: Sendable {
  /// What one piece of work comes to: text, or columns and the ids of the messages that end in it.
  struct Piece: Sendable {
    var bytes: [UInt8] = []
    var messages: [UInt32] = []
    var users: [UInt32] = []
    var codes: [UInt8] = []
    var ids: [Identifier] = []

    mutating func removeAll() {
      bytes.removeAll(keepingCapacity: true)
      messages.removeAll(keepingCapacity: true)
      users.removeAll(keepingCapacity: true)
      codes.removeAll(keepingCapacity: true)
      ids.removeAll(keepingCapacity: true)
    }
  }

  private let format: DecisionFormat
  private let showsDevices: Bool
  /// What stands behind the user in each row, by the outcome's code.
  private let rowEnds: [[UInt8]]

  init(_ format: DecisionFormat, showsDevices: Bool) {
    self.format = format
    self.showsDevices = showsDevices
    var ends = [[UInt8]](repeating: [], count: Outcome.codeCount)
    for (code, outcome) in Outcome.coded {
      ends[Int(code)] = DecisionText.rowEnd(outcome, format)
      if format == .ndjson, !showsDevices { ends[Int(code)] += Array("}\n".utf8) }
    }
    rowEnds = ends
  }

  /// Writes the rows of some members.
  func write(
    _ ranks: Range<Int>, _ message: Message, number: Int, _ result: FanoutResult,
    to text: inout Piece
  ) {
    let start = DecisionText.rowStart(message, format)
    switch format {
    case .ndjson, .csv:
      text.bytes.reserveCapacity(text.bytes.count + ranks.count * (start.count + 64))
      unsafe result.forEachRecipient(in: ranks) { (user, id, code) -> Void in
        text.bytes.append(contentsOf: start)
        if format == .csv {
          unsafe text.bytes.appendCSV(id)
        } else {
          unsafe text.bytes.appendJSON(id)
        }
        text.bytes.append(contentsOf: rowEnds[Int(code)])
        if showsDevices {
          let devices = result.devices(of: UserIndex(user))
          if !devices.isEmpty { text.bytes.append(devices: devices) }
          text.bytes.append(contentsOf: "}\n".utf8)
        }
      }
    case .pushlist:
      text.bytes.append(contentsOf: start)
      var isFirst = true
      unsafe result.forEachRecipient(in: ranks) { (_, id, code) -> Void in
        guard code & 1 != 0 else { return }
        if !isFirst { text.bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        unsafe text.bytes.appendJSON(id)
      }
      text.bytes.append(contentsOf: "]}\n".utf8)
    case .npy:
      unsafe result.forEachRecipient(in: ranks) { (user, _, code) -> Void in
        text.messages.append(UInt32(truncatingIfNeeded: number))
        text.users.append(user)
        text.codes.append(code)
      }
    case .counts, .summary: break
    }
  }
}

/// Where decisions go.
protocol DecisionOutput: RowOutput {
  func put(_ piece: RowText.Piece) throws(OutputProblem)
}

extension OutputFile: DecisionOutput {
  func put(_ bytes: [UInt8]) throws(OutputProblem) { try write(whole: bytes) }
  func put(_ piece: RowText.Piece) throws(OutputProblem) { try write(whole: piece.bytes) }
}
