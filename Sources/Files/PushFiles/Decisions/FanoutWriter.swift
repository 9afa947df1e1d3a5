public import PushFanout
public import PushModel
internal import PushSupport

/// Writes what the engine decides, or whatever else does, in the order of messages and users, in
/// one of the formats; several threads encode it, and the bytes are the same for any number of them.
public final class FanoutWriter {
  private let output: any DecisionOutput
  private let encoder: any DecisionEncoder
  private let threads: Int
  /// Batches whose memory is used again, as memory that is new each time costs as much as filling
  /// it.
  private var spares: [EncodedBatch] = []

  /// Counts over all messages so far.
  public private(set) var totals = OutcomeCounts()
  /// The conversations of messages that the settings do not have, which a `summary` names. Where
  /// another evaluator than the engine decides, it is the caller who adds them.
  public var unknown = UnknownNames()
  /// The number of messages so far.
  public private(set) var messageCount = 0

  /// Writes to a file, in any format that is not a folder.
  ///
  /// - Parameters:
  ///   - showsDevices: whether rows list the devices (`ndjson` only).
  ///   - summaryAsJSON: whether a `summary` is a JSON object rather than a table.
  ///   - threads: how many threads encode.
  public convenience init(
    _ output: OutputFile, format: DecisionFormat, showsDevices: Bool = false,
    summaryAsJSON: Bool = true, threads: Int = 1
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

  /// Decides messages as they are read, and writes what was decided.
  ///
  /// The threads decide and encode a few hundred messages at a time. The caller's thread is one of
  /// them, and reads and writes besides: it works with the others while it would have to wait.
  ///
  /// - Parameters:
  ///   - engine: decides each few hundred messages on the version that is then current.
  ///   - line: the line of the message that ``next`` gave last, for ``unknown``.
  ///   - progress: called when messages were written, on the caller's thread.
  ///   - next: the next message; nil at the end. Called on the caller's thread.
  /// - Throws: what `next` throws, once the messages before are written, or an ``OutputProblem``.
  /// - Complexity: memory for some thousand messages, whatever their number.
  public func write(
    by engine: Fanout, on version: FanoutVersion? = nil, line: () -> Int = { 0 },
    progress: () -> Void = {}, next: () throws -> Message?
  ) throws {
    let pipeline = OrderedPipeline<FanoutResult, EncodedBatch, Void>(
      threads: threads, takerWorks: true, makeWorker: { FanoutResult() }
    ) { batch, result in
      batch.decide(by: engine, on: version ?? engine.currentVersion, into: &result)
    }
    defer { _ = pipeline.finish() }
    // So many members may wait to be written: those of a few large conversations, or of two batches
    // a thread.
    let limit = 2 * threads * type(of: encoder).memberLimit
    var (number, members) = (messageCount, 0)
    var read: Result<Bool, any Error> = .success(true)
    while true {
      while case .success(true) = read, !pipeline.isFull, members < limit {
        let batch = spareBatch()
        read = Result { try batch.read(number, for: engine, line: line, next) }
        number += batch.messageCount
        members += batch.memberCount
        pipeline.submit(batch)
      }
      guard let (batch, _) = pipeline.take() else { break }
      members -= batch.memberCount
      batch.note(&unknown, engine)
      try put(batch)
      progress()
    }
    do { _ = try read.get() } catch {
      // What a pipe or a terminal gets before a bad line is the same on any number of threads.
      try output.flush()
      throw error
    }
  }

  /// Writes messages that were decided.
  ///
  /// - Parameter results: one for each message.
  public func write(
    _ messages: [Message], results: [FanoutResult]
  ) throws(OutputProblem) {
    precondition(messages.count == results.count, "a result for each message")
    let (first, size) = (messageCount, EncodedBatch.messageLimit)
    let starts = Array(stride(from: 0, to: messages.count, by: size))
    let batches = starts.map { _ in spareBatch() }
    Parallel.perform(starts.count, threads: threads) { index in
      let start = starts[index]
      batches[index].encode(
        messages[start..<min(start + size, messages.count)], first + start, results)
    }
    for batch in batches { try put(batch) }
  }

  /// Decides messages as they are read, by any evaluator, and writes what was decided.
  ///
  /// - Parameters:
  ///   - evaluator: decides.
  ///   - id: the id of a user of the evaluator.
  ///   - progress: called after each message.
  ///   - next: the next message; nil at the end.
  /// - Throws: what `next` throws, or an ``OutputProblem``.
  public func write(
    by evaluator: inout some Evaluator, id: (UserIndex) -> Identifier,
    progress: () -> Void = {}, next: () throws -> Message?
  ) throws {
    while let message = try next() {
      var decisions: [(user: Identifier, decision: Decision)] = []
      evaluator.decide(message) { decisions.append((id($0), $1)) }
      try write(message, decisions)
      progress()
    }
  }

  /// Writes the decisions of a message, in the order of users.
  ///
  /// - Throws: when no rule gives one of the outcomes: formats write outcomes by their codes.
  public func write(
    _ message: Message, _ decisions: [(user: Identifier, decision: Decision)]
  ) throws(OutputProblem) {
    var counts = OutcomeCounts()
    for (user, decision) in decisions {
      guard decision.outcome.code != 0 else {
        throw OutputProblem(
          target: "the decision of \(message.id.text) for \(user.text)",
          reason: "no rule gives \(decision.outcome.key)")
      }
      counts.add(decision.outcome)
    }
    precondition(!type(of: encoder).isFolder, "a folder has the engine's results")
    var piece = EncodedPiece()
    if type(of: encoder).needsResults {
      encoder.encode(ListedDecisions(message: message, list: decisions), to: &piece)
    } else {
      encoder.encode(message, number: messageCount, FanoutCounts(counts), to: &piece)
    }
    try output.put(piece.bytes)
    messageCount += 1
    totals.add(counts)
  }

  /// Writes what the format ends with, once, behind all messages.
  public func finish() throws(OutputProblem) {
    try output.put(encoder.trailer(messageCount, totals, unknown))
  }

  private func spareBatch() -> EncodedBatch {
    spares.popLast() ?? EncodedBatch(encoder, threads: threads)
  }

  private func put(_ batch: EncodedBatch) throws(OutputProblem) {
    try batch.put(to: output, &totals)
    messageCount += batch.messageCount
    spares.append(batch)
  }
}

/// Encodes the decisions of messages one after the other, on the caller's thread and into memory
/// that is used again: for servers. The bytes are those that ``FanoutWriter`` writes.
public struct MessageEncoder {
  private let encoder: any DecisionEncoder
  private let kind: any DecisionEncoder.Type
  private var piece = EncodedPiece()

  /// - Parameters:
  ///   - format: any that is not a folder and has something for each message.
  ///   - showsDevices: whether rows list the devices (`ndjson` only).
  public init(_ format: DecisionFormat, showsDevices: Bool = false) {
    kind = format.encoder
    encoder = kind.init(EncodingOptions(showsDevices: showsDevices))
  }

  /// What was encoded since ``removeAll()``.
  public var bytes: [UInt8] { _read { yield piece.bytes } }

  /// Forgets what was encoded, and keeps the memory.
  public mutating func removeAll() { piece.removeAll() }

  /// Appends bytes of the caller's own, such as a line that says what is wrong with a message.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    piece.bytes.append(contentsOf: bytes)
  }

  /// Encodes the decisions of some members of a message, so that the bytes of a large conversation
  /// can be sent before all are there.
  ///
  /// - Parameters:
  ///   - number: the ordinal of the message in the run.
  ///   - rank: the rank of the first member; 0 for a message that begins.
  ///   - limit: how many members at most.
  /// - Returns: the rank to continue with; nil when the message is complete.
  /// - Complexity: O(members encoded).
  public mutating func encode(
    _ message: Message, number: Int, _ result: FanoutResult, from rank: Int = 0,
    limit: Int = .max
  ) -> Int? {
    guard kind.needsResults else {
      encoder.encode(message, number: number, result.counts, to: &piece)
      return nil
    }
    let end = rank + min(limit, result.memberCount - rank)
    encoder.encode(ResultDecisions(message, result, in: rank..<end), to: &piece)
    return end < result.memberCount ? end : nil
  }
}
