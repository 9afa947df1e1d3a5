internal import PushFanout
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
  /// Whether each member is encoded; otherwise counts suffice.
  static var needsResults: Bool { get }
  /// Whether the output is a folder.
  static var isFolder: Bool { get }
  /// Whether the output takes codes, and the members that they belong to, instead of rows.
  static var needsMembers: Bool { get }
  /// About so many members a thread encodes before they are written, if each of them is: what bounds
  /// the memory.
  static var memberLimit: Int { get }

  init(_ options: EncodingOptions)

  /// What the output begins with.
  var header: [UInt8] { get }

  /// Appends the decisions of a message, or of a part of its members.
  ///
  /// - Complexity: O(members), without an allocation for each.
  func encode(_ decisions: some MessageDecisions, to piece: inout EncodedPiece)

  /// Appends what is written of a message of which there are no rows.
  ///
  /// - Parameter number: the ordinal of the message in the run.
  func encode(
    _ message: borrowing Message, number: Int, _ counts: borrowing FanoutCounts,
    to piece: inout EncodedPiece)

  /// What the output ends with.
  func trailer(_ messageCount: Int, _ totals: OutcomeCounts, _ unknown: UnknownNames) -> [UInt8]
}

extension DecisionEncoder {
  static var needsResults: Bool { true }
  static var isFolder: Bool { false }
  static var needsMembers: Bool { false }
  static var memberLimit: Int { 1 << 16 }
  var header: [UInt8] { [] }
  func encode(_ decisions: some MessageDecisions, to piece: inout EncodedPiece) {}
  func encode(
    _ message: borrowing Message, number: Int, _ counts: borrowing FanoutCounts,
    to piece: inout EncodedPiece
  ) {}
  func trailer(
    _ messageCount: Int, _ totals: OutcomeCounts, _ unknown: UnknownNames
  ) -> [UInt8] { [] }
}

/// Where encoded decisions go.
protocol DecisionOutput: RowOutput {
  /// Takes the rows of a message, or of a part of it.
  func put(_ rows: ArraySlice<UInt8>) throws(OutputProblem)

  /// Takes the codes of a message's members, behind its rows, if the encoder ``needsMembers``.
  func put(_ codes: ArraySlice<UInt8>, of members: EncodedMembers) throws(OutputProblem)

  /// Writes what was held back.
  func flush() throws(OutputProblem)
}

extension DecisionOutput {
  func put(_ codes: ArraySlice<UInt8>, of members: EncodedMembers) throws(OutputProblem) {}
  func flush() throws(OutputProblem) {}
}

extension OutputFile: DecisionOutput {
  func put(_ bytes: [UInt8]) throws(OutputProblem) { try write(whole: bytes) }
  func put(_ rows: ArraySlice<UInt8>) throws(OutputProblem) { try write(whole: rows) }
}

extension OutputBytes: DecisionOutput {
  func put(_ rows: ArraySlice<UInt8>) throws(OutputProblem) { append(rows) }
}
