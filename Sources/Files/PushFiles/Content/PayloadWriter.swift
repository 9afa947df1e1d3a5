internal import Glibc
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

/// Writes requests, an object a line (S-10).
///
/// - Source: formats.md, "Requests".
public final class RequestWriter {
  private let output: any RowOutput
  private let sharesBodies: Bool
  private var row: [UInt8] = []
  /// What stands before the user in each row of the message.
  private var rowStart: [UInt8] = []
  /// The number of the next body.
  private var nextBody = 0
  /// The bodies of the message that name nobody, those that name the last user, and the last of
  /// all.
  private var bodies: [BodyKey: Int] = [:]
  private var ownBodies: [(body: BodyKey, number: Int)] = []
  private var ownUser: Identifier = ""
  private var last: (body: BodyKey, number: Int)?

  /// The number of messages begun.
  public private(set) var messageCount = 0
  /// The number of requests written.
  public private(set) var requestCount = 0
  /// How many requests have a problem.
  public private(set) var problemCount = 0

  /// Writes to a file.
  ///
  /// - Parameter sharesBodies: whether equal bodies of a message are written once (S-12).
  public init(_ output: OutputFile, sharesBodies: Bool = false) {
    (self.output, self.sharesBodies) = (output, sharesBodies)
  }

  /// Writes into memory; see ``init(_:sharesBodies:)``.
  public init(_ output: OutputBytes, sharesBodies: Bool = false) {
    (self.output, self.sharesBodies) = (output, sharesBodies)
  }

  /// Begins a message; its requests follow.
  public func begin(_ message: Message) {
    messageCount += 1
    rowStart = Array("{\"message\":".utf8)
    rowStart.appendJSON(message.id.text)
    rowStart.append(contentsOf: ",\"user\":".utf8)
    bodies = [:]
    ownBodies = []
    last = nil
  }

  /// Writes a request of the message.
  public func write(_ request: PushRequest) throws(OutputProblem) {
    requestCount += 1
    if request.problem != nil { problemCount += 1 }
    row.removeAll(keepingCapacity: true)
    let bodyID = sharesBodies && request.hasBody ? bodyID(of: request) : nil
    row.append(contentsOf: rowStart)
    row.appendJSON(request.user.text)
    request.appendLine(bodyID: bodyID, to: &row)
    try output.put(row)
  }

  /// The number of a request's body, whose line is written if the message has not had it yet.
  private func bodyID(of request: PushRequest) -> Int {
    let body = BodyKey(bytes: request.bodyBytes)
    if request.isPersonal {
      if ownUser != request.user {
        ownBodies.removeAll(keepingCapacity: true)
        ownUser = request.user
      }
      if let known = ownBodies.first(where: { $0.body == body }) { return known.number }
      ownBodies.append((body, nextBody))
    } else {
      if let last, last.body == body { return last.number }
      if let known = bodies[body] {
        last = (body, known)
        return known
      }
      // A copy: the slice keeps all that was rendered with it.
      bodies[BodyKey(bytes: ArraySlice(Array(request.bodyBytes)))] = nextBody
      last = (body, nextBody)
    }
    request.appendBodyLine(nextBody, to: &row)
    defer { nextBody += 1 }
    return nextBody
  }
}

/// A body, compared and hashed as bytes in a row.
private struct BodyKey: Hashable {
  let bytes: ArraySlice<UInt8>

  static func == (left: BodyKey, right: BodyKey) -> Bool {
    unsafe left.bytes.withUnsafeBytes { left in
      unsafe right.bytes.withUnsafeBytes { right in
        guard left.count == right.count else { return false }
        guard let start = left.baseAddress, let other = right.baseAddress else { return true }
        return unsafe memcmp(start, other, left.count) == 0
      }
    }
  }

  func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
