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
    if format == .csv { try output.write("message,user,action,reason,scope\n".utf8) }
  }

  /// Begins a message; its decisions follow.
  public func begin(_ message: Message) throws(OutputProblem) {
    self.message = message
    counts.removeAll()
    hasPushes = false
    rowStart.removeAll(keepingCapacity: true)
    switch format {
    case .ndjson:
      rowStart.append(contentsOf: "{\"message\":".utf8)
      rowStart.appendJSON(message.id.text)
      rowStart.append(contentsOf: ",\"user\":".utf8)
    case .csv:
      rowStart.appendCSV(message.id.text)
      rowStart.append(UInt8(ascii: ","))
    case .pushlist:
      row.removeAll(keepingCapacity: true)
      row.append(contentsOf: "{\"message\":".utf8)
      row.appendJSON(message.id.text)
      row.append(contentsOf: ",\"push\":[".utf8)
      try output.write(row)
    case .counts, .summary: break
    }
  }

  /// Writes the decision for one recipient.
  public func write(_ user: Identifier, _ decision: Decision) throws(OutputProblem) {
    counts.add(decision.outcome)
    switch format {
    case .counts, .summary: return
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
      if showsDevices, !decision.devices.isEmpty { appendDevices(decision.devices) }
      row.append(contentsOf: "}\n".utf8)
    }
    try output.write(row)
  }

  /// Ends the message that was begun.
  public func end() throws(OutputProblem) {
    messageCount += 1
    totals.add(counts)
    switch format {
    case .ndjson, .csv, .summary: break
    case .pushlist: try output.write("]}\n".utf8)
    case .counts:
      row.removeAll(keepingCapacity: true)
      row.append(contentsOf: "{\"message\":".utf8)
      row.appendJSON(message.id.text)
      row.append(contentsOf: ",\"conversation\":".utf8)
      row.appendJSON(message.conversation.text)
      row.append(contentsOf: ",\"recipients\":\(counts.total),\"counts\":".utf8)
      row.appendJSON(counts)
      row.append(contentsOf: "}\n".utf8)
      try output.write(row)
    }
  }

  /// Writes the totals as one JSON object, or as a table for people.
  public func writeSummary(asJSON: Bool) throws(OutputProblem) {
    row.removeAll(keepingCapacity: true)
    if asJSON {
      row.append(contentsOf: "{\"messages\":\(messageCount),\"decisions\":\(totals.total)".utf8)
      row.append(contentsOf: ",\"counts\":".utf8)
      row.appendJSON(totals)
      row.append(contentsOf: "}\n".utf8)
    } else {
      row.append(contentsOf: SummaryTable.text(messageCount, totals).utf8)
    }
    try output.write(row)
  }

  private func appendDevices(_ devices: [Identifier]) {
    row.append(contentsOf: ",\"devices\":[".utf8)
    for (place, device) in devices.enumerated() {
      if place > 0 { row.append(UInt8(ascii: ",")) }
      row.appendJSON(device.text)
    }
    row.append(UInt8(ascii: "]"))
  }

  private func rowEnd(_ outcome: Outcome) -> [UInt8] {
    if let end = rowEnds[outcome.index] { return end }
    let (action, reason) = (outcome.action.name, outcome.reason.name)
    let text =
      if format == .csv {
        ",\(action),\(reason),\(outcome.scope?.name ?? "")\n"
      } else {
        ",\"action\":\"\(action)\",\"reason\":\"\(reason)\""
          + (outcome.scope.map { ",\"scope\":\"\($0.name)\"" } ?? "")
      }
    let end = Array(text.utf8)
    rowEnds[outcome.index] = end
    return end
  }
}

extension [UInt8] {
  /// Appends a JSON string: quotes, backslashes and control characters escaped, nothing else.
  mutating func appendJSON(_ text: String) {
    append(UInt8(ascii: "\""))
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
      append(contentsOf: text.utf8)
    } else {
      for byte in text.utf8 { appendEscaped(byte) }
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5C: append(contentsOf: [0x5C, byte])
    case 0x08: append(contentsOf: "\\b".utf8)
    case 0x09: append(contentsOf: "\\t".utf8)
    case 0x0A: append(contentsOf: "\\n".utf8)
    case 0x0C: append(contentsOf: "\\f".utf8)
    case 0x0D: append(contentsOf: "\\r".utf8)
    case 0..<0x20:
      let hex = Array("0123456789abcdef".utf8)
      append(contentsOf: "\\u00".utf8)
      append(contentsOf: [hex[Int(byte >> 4)], hex[Int(byte & 15)]])
    default: append(byte)
    }
  }

  /// Appends a CSV cell, quoted if it must be (RFC 4180).
  mutating func appendCSV(_ text: String) {
    guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else {
      append(contentsOf: text.utf8)
      return
    }
    append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      if byte == 0x22 { append(byte) }
      append(byte)
    }
    append(UInt8(ascii: "\""))
  }

  /// Appends an object of counts, keys in byte order, zeros left out.
  mutating func appendJSON(_ counts: OutcomeCounts) {
    append(UInt8(ascii: "{"))
    for (place, entry) in counts.nonZero.enumerated() {
      if place > 0 { append(UInt8(ascii: ",")) }
      appendJSON(entry.outcome.key)
      append(contentsOf: ":\(entry.count)".utf8)
    }
    append(UInt8(ascii: "}"))
  }
}
