internal import PushFanout
internal import PushModel
internal import PushSupport

/// The arrays of ``DecisionFormat/countsNPY``: of each message the outcomes that occur, and how often
/// each does, as the rows of a sparse matrix.
final class CountArrays: DecisionArrays {
  static var layoutVersion: Int { 1 }

  private var codes: NumPyArray<UInt8>
  private var counts: NumPyArray<UInt32>
  private var messageStarts: NumPyArray<Int64>
  private var recipientCount = 0
  private var pushCount = 0

  static let files = ["outcome_code.npy", "outcome_count.npy", "message_start.npy"]

  init(_ folder: OutputFolder) throws(OutputProblem) {
    codes = try NumPyArray(folder.file("outcome_code.npy"))
    counts = try NumPyArray(folder.file("outcome_count.npy"))
    messageStarts = try NumPyArray(folder.file("message_start.npy"))
    try messageStarts.append(0)
  }

  func put(_ counts: EncodedCounts) throws(OutputProblem) {
    let before = codes.count
    try codes.append(counts.codes[...])
    try self.counts.append { $0 += counts.counts }
    try messageStarts.append { starts in
      for end in counts.ends { starts.append(Int64(before + end)) }
    }
    for (code, count) in zip(counts.codes, counts.counts) {
      recipientCount += Int(count)
      pushCount += Int(count) * Int(code & 1)
    }
  }

  func complete(_ folder: OutputFolder, _ fanout: Fanout) throws(OutputProblem) {
    try codes.finish()
    try counts.finish()
    try messageStarts.finish()
  }

  var numbers: [(String, Int)] {
    [
      ("messages", messageStarts.count - 1), ("counts", codes.count),
      ("recipients", recipientCount), ("pushes", pushCount),
    ]
  }
}

/// How often outcomes occur for messages, one message after the other.
struct EncodedCounts: Sendable {
  var codes: [UInt8] = []
  /// How often each occurs.
  var counts: [UInt32] = []
  /// For each message, where its codes end.
  var ends: [Int] = []

  mutating func removeAll() {
    codes.removeAll(keepingCapacity: true)
    counts.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }
}

/// The codes that occur and their counts, and a row of `messages.csv`.
struct CountArraysEncoder: DecisionEncoder {
  static var isFolder: Bool { true }
  static var needsResults: Bool { false }

  init(_ options: EncodingOptions) {}

  var header: [UInt8] { EncodedPiece.header }

  func encode(
    _ message: borrowing Message, number: Int, _ counts: borrowing FanoutCounts,
    to piece: inout EncodedPiece
  ) {
    piece.appendRow(number, message)
    counts.forEach { code, count in
      piece.counts.codes.append(code)
      piece.counts.counts.append(UInt32(count))
    }
    piece.counts.ends.append(piece.counts.codes.count)
  }
}
