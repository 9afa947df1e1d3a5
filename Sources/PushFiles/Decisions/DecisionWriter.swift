public import PushRules

/// The forms in which decisions are written (formats.md, "Decisions").
public enum DecisionFormat: String, CaseIterable, Sendable {
  /// A JSON object for every decision.
  case ndjson
  /// A CSV row for every decision.
  case csv
  /// A JSON object for every message: how often each outcome occurred.
  case counts
  /// A JSON object for every message: who gets a push.
  case pushlist
  /// Totals over the run.
  case summary
  /// NumPy arrays in a folder: a message, a user and an outcome for every decision.
  case npy
}

/// Writes decisions, message by message, in one of the formats.
public final class DecisionWriter {
  private let output: OutputFile
  private let format: DecisionFormat
  private let showsDevices: Bool
  private var row: [UInt8] = []
  /// What stands before the user in each row of the message.
  private var rowStart: [UInt8] = []
  private var message = Message(id: "", conversation: "", at: .zero)
  private var counts = OutcomeCounts()
  private var hasPushes = false
  /// What stands behind the user in each row, by the outcome's index.
  private var rowEnds = [[UInt8]?](repeating: nil, count: Outcome.indexCount)

  /// Counts over all messages so far.
  public private(set) var totals = OutcomeCounts()
  public private(set) var messageCount = 0

  public init(_ output: OutputFile, format: DecisionFormat, showsDevices: Bool = false)
    throws(OutputProblem)
  {
    self.output = output
    self.format = format
    self.showsDevices = showsDevices
    try output.write(DecisionText.header(format))
  }

  /// Begins a message; its decisions follow.
  public func begin(_ message: Message) throws(OutputProblem) {
    self.message = message
    counts.removeAll()
    hasPushes = false
    rowStart = DecisionText.rowStart(message, format)
    if format == .pushlist { try output.write(rowStart) }
  }

  /// Writes the decision for one recipient.
  public func write(_ user: Identifier, _ decision: Decision) throws(OutputProblem) {
    counts.add(decision.outcome)
    switch format {
    case .counts, .summary, .npy: return
    case .pushlist:
      guard decision.outcome.action == .push else { return }
      row.removeAll(keepingCapacity: true)
      if hasPushes { row.append(UInt8(ascii: ",")) }
      hasPushes = true
      row.appendJSON(user.text)
    case .csv:
      row.removeAll(keepingCapacity: true)
      row.append(contentsOf: rowStart)
      row.appendCSV(user.text)
      row.append(contentsOf: rowEnd(decision.outcome))
    case .ndjson:
      row.removeAll(keepingCapacity: true)
      row.append(contentsOf: rowStart)
      row.appendJSON(user.text)
      row.append(contentsOf: rowEnd(decision.outcome))
      if showsDevices, !decision.devices.isEmpty { row.append(devices: decision.devices) }
      row.append(contentsOf: "}\n".utf8)
    }
    try output.write(row)
  }

  /// Ends the message that was begun.
  public func end() throws(OutputProblem) {
    messageCount += 1
    totals.add(counts)
    switch format {
    case .ndjson, .csv, .summary, .npy: break
    case .pushlist: try output.write("]}\n".utf8)
    case .counts:
      try output.write(
        DecisionText.countsRow(message, counts.total) { counts[$0] })
    }
  }

  /// Writes the totals as one JSON object, or as a table for people.
  public func writeSummary(asJSON: Bool) throws(OutputProblem) {
    try output.write(DecisionText.summary(messageCount, totals, asJSON: asJSON))
  }

  private func rowEnd(_ outcome: Outcome) -> [UInt8] {
    if let end = rowEnds[outcome.index] { return end }
    let end = DecisionText.rowEnd(outcome, format)
    rowEnds[outcome.index] = end
    return end
  }
}
