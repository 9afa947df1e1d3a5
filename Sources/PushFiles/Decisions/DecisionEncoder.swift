internal import PushModel

/// What can be chosen about a format; each format heeds what concerns it.
struct EncodingOptions: Sendable {
  /// Whether rows list the devices that a notification goes to.
  var showsDevices = false
  /// Whether totals are a JSON object rather than a table.
  var summaryAsJSON = true
}

/// A format of decisions: encodes the decisions of messages as bytes, for engine and reference
/// alike.
///
/// An encoder has no state of its own, so that several threads can encode parts of a message; the
/// parts are written in order. By default nothing is written.
protocol DecisionEncoder: Sendable {
  /// Whether ``encode(_:to:)`` is called; otherwise counts suffice.
  static var needsResults: Bool { get }
  /// Whether the output is a folder.
  static var isFolder: Bool { get }
  /// Whether the decisions of one message may be encoded in several parts.
  static var splitsMessages: Bool { get }

  init(_ options: EncodingOptions)

  /// What the output begins with.
  var header: [UInt8] { get }

  /// Appends the decisions of a message, or of a part of its members.
  ///
  /// - Complexity: O(members), without an allocation for each.
  func encode(_ decisions: MessageDecisions, to piece: inout EncodedPiece)

  /// What is written of a message that is only counted.
  ///
  /// - Parameters:
  ///   - total: the number of recipients.
  ///   - count: how often an outcome occurs.
  func encode(_ message: Message, _ total: Int, count: (Outcome) -> Int) -> [UInt8]

  /// What the output ends with.
  func trailer(_ messageCount: Int, _ totals: OutcomeCounts) -> [UInt8]
}

extension DecisionEncoder {
  static var needsResults: Bool { true }
  static var isFolder: Bool { false }
  static var splitsMessages: Bool { true }
  var header: [UInt8] { [] }
  func encode(_ decisions: MessageDecisions, to piece: inout EncodedPiece) {}
  func encode(_ message: Message, _ total: Int, count: (Outcome) -> Int) -> [UInt8] { [] }
  func trailer(_ messageCount: Int, _ totals: OutcomeCounts) -> [UInt8] { [] }

  /// A text for each outcome, by its code.
  static func byCode(_ text: (Outcome) -> [UInt8]) -> [[UInt8]] {
    var texts = [[UInt8]](repeating: [], count: Outcome.codeCount)
    for (code, outcome) in Outcome.coded { texts[Int(code)] = text(outcome) }
    return texts
  }
}

/// What one piece of work was encoded to: text, or columns and the ids of the messages that end in
/// it.
struct EncodedPiece: Sendable {
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

/// Where encoded decisions go.
protocol DecisionOutput: RowOutput {
  func put(_ piece: EncodedPiece) throws(OutputProblem)
}

extension OutputFile: DecisionOutput {
  func put(_ bytes: [UInt8]) throws(OutputProblem) { try write(whole: bytes) }
  func put(_ piece: EncodedPiece) throws(OutputProblem) { try write(whole: piece.bytes) }
}
