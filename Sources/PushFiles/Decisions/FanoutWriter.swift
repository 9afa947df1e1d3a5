public import PushFanout
public import PushModel
internal import PushSupport
internal import Synchronization

/// Writes what the engine decided, in the order of messages and users, in one of the formats; rows
/// are put together by several threads.
public final class FanoutWriter {
  private let output: any DecisionOutput
  private let encoder: any DecisionEncoder
  private let threads: Int
  private var spares: [EncodedPiece] = []

  /// Counts over all messages so far.
  public private(set) var totals = OutcomeCounts()
  /// The number of messages so far.
  public private(set) var messageCount = 0

  /// About so many members a piece of work has.
  private static let pieceSize = 1 << 14

  /// Writes to a file, in any format that is not a folder.
  ///
  /// - Parameters:
  ///   - showsDevices: whether rows list the devices (`ndjson` only).
  ///   - summaryAsJSON: whether a `summary` is a JSON object rather than a table.
  public convenience init(
    _ output: OutputFile, format: DecisionFormat, showsDevices: Bool = false,
    summaryAsJSON: Bool = true, threads: Int
  ) throws(OutputProblem) {
    let options = EncodingOptions(showsDevices: showsDevices, summaryAsJSON: summaryAsJSON)
    try self.init(output as any DecisionOutput, format, options, threads)
  }

  /// Writes into memory, in any format that is not a folder.
  public convenience init(
    _ output: OutputBytes, format: DecisionFormat, showsDevices: Bool = false, threads: Int
  ) throws(OutputProblem) {
    let options = EncodingOptions(showsDevices: showsDevices)
    try self.init(output as any DecisionOutput, format, options, threads)
  }

  /// Writes NumPy arrays to a folder.
  public convenience init(_ output: NumPyFolder, threads: Int) throws(OutputProblem) {
    try self.init(output as any DecisionOutput, .npy, EncodingOptions(), threads)
  }

  private init(
    _ output: any DecisionOutput, _ format: DecisionFormat, _ options: EncodingOptions,
    _ threads: Int
  ) throws(OutputProblem) {
    self.output = output
    self.threads = threads
    encoder = format.encoder.init(options)
    try output.put(encoder.header)
  }

  /// Writes the counts of messages, for the formats that need no more.
  public func write(
    _ messages: [Message], counts: [FanoutCounts]
  ) throws(OutputProblem) {
    for (message, counts) in zip(messages, counts) {
      messageCount += 1
      totals.add(counts)
      try output.put(encoder.encode(message, counts.recipientCount) { counts[$0] })
    }
  }

  /// Writes the decisions of messages.
  public func write(
    _ messages: [Message], results: [FanoutResult]
  ) throws(OutputProblem) {
    for result in results { totals.add(result.counts) }
    let pieces = pieces(results)
    // Pieces are used again, as memory that is new each time costs as much as filling it.
    while spares.count < pieces.count { spares.append(EncodedPiece()) }
    let texts = Lock(spares)
    spares = []
    let work = { @Sendable [encoder, first = messageCount] (index: Int) in
      var text = EncodedPiece()
      texts.withLock { swap(&$0[index], &text) }
      text.removeAll()
      for part in pieces[index] {
        let decisions = MessageDecisions(
          messages[part.message], number: first + part.message, results[part.message],
          in: part.ranks, isLast: part.isLast)
        encoder.encode(decisions, to: &text)
      }
      texts.withLock { swap(&$0[index], &text) }
    }
    Parallel.perform(pieces.count, threads: threads, work)
    messageCount += messages.count
    spares = texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
    for text in spares.prefix(pieces.count) { try output.put(text) }
  }

  /// Writes what the format ends with, once, behind all messages.
  public func finish() throws(OutputProblem) {
    try output.put(encoder.trailer(messageCount, totals))
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
    let splits = type(of: encoder).splitsMessages
    var pieces: [[Part]] = [[]]
    var size = 0
    for (message, result) in results.enumerated() {
      let count = result.memberCount
      var start = 0
      repeat {
        let end = splits ? min(count, start + Self.pieceSize - size) : count
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
