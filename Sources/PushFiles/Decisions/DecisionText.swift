internal import PushFanout
internal import PushRules

/// The pieces that rows of decisions are put together from.
enum DecisionText {
  /// What stands before all rows.
  static func header(_ format: DecisionFormat) -> [UInt8] {
    format == .csv ? Array("message,user,action,reason,scope\n".utf8) : []
  }

  /// What stands before the user in each row of a message; of a push list, before all users.
  static func rowStart(_ message: Message, _ format: DecisionFormat) -> [UInt8] {
    var start: [UInt8] = []
    switch format {
    case .ndjson:
      start.append(contentsOf: "{\"message\":".utf8)
      start.appendJSON(message.id.text)
      start.append(contentsOf: ",\"user\":".utf8)
    case .csv:
      start.appendCSV(message.id.text)
      start.append(UInt8(ascii: ","))
    case .pushlist:
      start.append(contentsOf: "{\"message\":".utf8)
      start.appendJSON(message.id.text)
      start.append(contentsOf: ",\"push\":[".utf8)
    case .counts, .summary, .npy: break
    }
    return start
  }

  /// What stands behind the user in a row; in NDJSON the brace is still to come.
  static func rowEnd(_ outcome: Outcome, _ format: DecisionFormat) -> [UInt8] {
    let (action, reason) = (outcome.action.name, outcome.reason.name)
    if format == .csv { return Array(",\(action),\(reason),\(outcome.scope?.name ?? "")\n".utf8) }
    let scope = outcome.scope.map { ",\"scope\":\"\($0.name)\"" } ?? ""
    return Array(",\"action\":\"\(action)\",\"reason\":\"\(reason)\"\(scope)".utf8)
  }

  /// - Parameter count: how often an outcome occurs.
  static func countsRow(_ message: Message, _ total: Int, count: (Outcome) -> Int) -> [UInt8] {
    var row = Array("{\"message\":".utf8)
    row.appendJSON(message.id.text)
    row.append(contentsOf: ",\"conversation\":".utf8)
    row.appendJSON(message.conversation.text)
    row.append(contentsOf: ",\"recipients\":\(total),\"counts\":".utf8)
    row.append(contentsOf: counts(count))
    row.append(contentsOf: "}\n".utf8)
    return row
  }

  /// The keys of all outcomes, in byte order, as JSON strings with their colons.
  private static let keys: [(text: [UInt8], outcome: Outcome)] = Outcome.coded.map(\.outcome)
    .sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
    .map { (text: Array("\"\($0.key)\":".utf8), outcome: $0) }

  /// An object of counts, keys in byte order, zeros left out.
  private static func counts(_ count: (Outcome) -> Int) -> [UInt8] {
    var text = [UInt8(ascii: "{")]
    for (key, outcome) in keys {
      let count = count(outcome)
      if count == 0 { continue }
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += key
      text.append(contentsOf: "\(count)".utf8)
    }
    text.append(UInt8(ascii: "}"))
    return text
  }

  static func summary(_ messageCount: Int, _ totals: OutcomeCounts, asJSON: Bool) -> [UInt8] {
    if !asJSON { return Array(SummaryTable.text(messageCount, totals).utf8) }
    var row = Array("{\"messages\":\(messageCount),\"decisions\":\(totals.total)".utf8)
    row.append(contentsOf: ",\"counts\":".utf8)
    row.append(contentsOf: counts { totals[$0] })
    row.append(contentsOf: "}\n".utf8)
    return row
  }
}

extension [UInt8] {
  mutating func append(devices: [Identifier]) {
    append(contentsOf: ",\"devices\":[".utf8)
    for (place, device) in devices.enumerated() {
      if place > 0 { append(UInt8(ascii: ",")) }
      appendJSON(device.text)
    }
    append(UInt8(ascii: "]"))
  }

  /// Appends a CSV cell of characters that are UTF-8.
  mutating func appendCSV(_ utf8: UnsafeRawBufferPointer) {
    var needsQuotes = false
    for index in 0..<utf8.count {
      let byte = unsafe utf8[index]
      needsQuotes =
        needsQuotes || byte == 0x22 || byte == 0x2C || byte == 0x0A || byte == 0x0D
    }
    if needsQuotes {
      appendCSV(unsafe String(decoding: utf8, as: UTF8.self))
    } else {
      unsafe append(contentsOf: utf8)
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
}
