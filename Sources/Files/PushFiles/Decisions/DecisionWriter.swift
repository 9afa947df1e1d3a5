internal import PushFanout
public import PushModel

/// Writes decisions, message by message, in one of the formats: those of the reference, or of
/// whatever decides.
public final class DecisionWriter {
  private let output: any DecisionOutput
  private let encoder: any DecisionEncoder
  private let needsResults: Bool
  private var message = Message(id: "", conversation: "", at: .zero)
  private var decisions: [(user: Identifier, decision: Decision)] = []
  private var counts = OutcomeCounts()
  private var piece = EncodedPiece()

  /// Counts over all messages so far.
  public private(set) var totals = OutcomeCounts()
  /// The number of messages so far.
  public private(set) var messageCount = 0

  /// Writes to a file, in any format that is not a folder.
  ///
  /// - Parameters:
  ///   - showsDevices: whether rows list the devices (`ndjson` only).
  ///   - summaryAsJSON: whether a `summary` is a JSON object rather than a table.
  public init(
    _ output: OutputFile, format: DecisionFormat, showsDevices: Bool = false,
    summaryAsJSON: Bool = true
  ) throws(OutputProblem) {
    self.output = output
    encoder = format.encoder.init(
      EncodingOptions(showsDevices: showsDevices, summaryAsJSON: summaryAsJSON))
    needsResults = format.needsResults
    try self.output.put(encoder.header)
  }

  /// Begins a message; its decisions follow.
  public func begin(_ message: Message) {
    self.message = message
    counts.removeAll()
    decisions.removeAll(keepingCapacity: true)
  }

  /// Takes the decision for one recipient.
  ///
  /// - Throws: when no rule gives the outcome: formats write outcomes by their codes.
  public func write(_ user: Identifier, _ decision: Decision) throws(OutputProblem) {
    guard decision.outcome.code != 0 else {
      throw OutputProblem(
        target: "the decision of \(message.id.text) for \(user.text)",
        reason: "no rule gives \(decision.outcome.key)")
    }
    counts.add(decision.outcome)
    if needsResults { decisions.append((user: user, decision: decision)) }
  }

  /// Writes the message that was begun.
  ///
  /// - Complexity: O(recipients), which are kept until then.
  public func end() throws(OutputProblem) {
    piece.removeAll()
    if needsResults {
      encoder.encode(MessageDecisions(message, number: messageCount, decisions), to: &piece)
    } else {
      encoder.encode(message, number: messageCount, FanoutCounts(counts), to: &piece)
    }
    try output.put(piece.bytes)
    messageCount += 1
    totals.add(counts)
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
      begin(message)
      try evaluator.decide(message) { user, decision in try write(id(user), decision) }
      try end()
      progress()
    }
  }

  /// Writes what the format ends with, once, behind all messages.
  public func finish() throws(OutputProblem) {
    try output.put(encoder.trailer(messageCount, totals))
  }
}
