public import PushContent
public import PushModel

/// Writes payloads, an object a line.
///
/// - Source: formats.md, "Payloads".
public final class PayloadWriter {
  private let output: any RowOutput
  private var row: [UInt8] = []
  /// What stands before the user in each row of the message.
  private var rowStart: [UInt8] = []

  /// The number of messages begun.
  public private(set) var messageCount = 0
  /// The number of payloads written.
  public private(set) var payloadCount = 0
  /// How many payloads are not those of their message's content.
  public private(set) var problemCount = 0

  /// Writes to a file.
  public init(_ output: OutputFile) { self.output = output }

  /// Writes into memory.
  public init(_ output: OutputBytes) { self.output = output }

  /// Begins a message; its payloads follow.
  public func begin(_ message: Message) {
    messageCount += 1
    rowStart = Array("{\"message\":".utf8)
    rowStart.appendJSON(message.id.text)
    rowStart.append(contentsOf: ",\"user\":".utf8)
  }

  /// Writes the payload of one recipient.
  ///
  /// - Parameter action: push or local.
  public func write(_ push: RenderedPush, _ action: Action) throws(OutputProblem) {
    payloadCount += 1
    row.removeAll(keepingCapacity: true)
    row.append(contentsOf: rowStart)
    row.appendJSON(push.recipient.text)
    row.append(
      contentsOf: action == .local
        ? ",\"action\":\"local\",\"payload\":".utf8 : ",\"action\":\"push\",\"payload\":".utf8)
    row.append(contentsOf: push.payload)
    if let problem = push.problem {
      problemCount += 1
      row.append(contentsOf: ",\"problem\":".utf8)
      row.appendJSON("\(problem)")
    }
    row.append(contentsOf: "}\n".utf8)
    try output.put(row)
  }
}
