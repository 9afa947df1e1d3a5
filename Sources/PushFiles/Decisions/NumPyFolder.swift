public import PushFanout
internal import PushModel

/// Decisions as arrays for NumPy and all that reads its files: a folder with `message.npy`,
/// `user.npy` and `outcome.npy`, and what their numbers mean in `messages.csv`, `users.csv` and
/// `outcomes.csv`.
///
/// The folder appears under its name only when it is complete.
public final class NumPyFolder {
  private let folder: OutputFolder
  private let message: OutputFile
  private let user: OutputFile
  private let outcome: OutputFile
  private let messageIDs: OutputFile
  private var rowCount = 0
  private var messageCount = 0

  private static let names = ["message.npy", "user.npy", "outcome.npy"]
  private static let lists = ["messages.csv", "users.csv", "outcomes.csv"]

  /// What is removed when the work is broken off.
  public var temporaryNames: [String] { folder.temporaryNames }

  /// Makes room for a new folder.
  ///
  /// - Throws: when there is something of that name, or the folder cannot be made.
  public init(path: String) throws(OutputProblem) {
    folder = try OutputFolder(path: path, names: Self.names + Self.lists)
    message = try folder.file(Self.names[0])
    user = try folder.file(Self.names[1])
    outcome = try folder.file(Self.names[2])
    messageIDs = try folder.file(Self.lists[0])
    for file in [message, user, outcome] {
      try file.write(whole: [UInt8](repeating: 0, count: Self.headerSize))
    }
    try messageIDs.write("message,id\n".utf8)
  }

  /// Writes what is still missing and gives the folder its name.
  ///
  /// - Parameter fanout: whose users the numbers denote.
  public func finish(_ fanout: Fanout) throws(OutputProblem) {
    for (file, type) in [(message, "<u4"), (user, "<u4"), (outcome, "|u1")] {
      try file.rewriteStart(Self.header(type, rowCount))
      try file.finish()
    }
    try messageIDs.finish()
    try list(Self.lists[1], "user,id", count: fanout.userCount) { row, user in
      row.appendCSV(fanout.id(of: UserIndex(UInt32(user))).text)
    }
    let coded = Outcome.coded
    let outcomes = try folder.file(Self.lists[2])
    try outcomes.write("outcome,action,reason,scope\n".utf8)
    for (code, outcome) in coded {
      let end = CSVEncoder.cells(of: outcome)
      try outcomes.write(whole: Array("\(code)".utf8) + end)
    }
    try outcomes.finish()
    try folder.finish()
  }

  private func list(
    _ name: String, _ header: String, count: Int, _ append: (inout [UInt8], Int) -> Void
  ) throws(OutputProblem) {
    let file = try folder.file(name)
    try file.write("\(header)\n".utf8)
    var row: [UInt8] = []
    for index in 0..<count {
      row.removeAll(keepingCapacity: true)
      row.append(contentsOf: "\(index),".utf8)
      append(&row, index)
      row.append(UInt8(ascii: "\n"))
      try file.write(whole: row)
    }
    try file.finish()
  }

  /// Drops a folder that is not finished.
  public func abandon() { folder.abandon() }

  // MARK: The format

  private static let headerSize = 128

  /// The header of a one-dimensional array, format version 1.0.
  ///
  /// - Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
  private static func header(_ type: String, _ count: Int) -> [UInt8] {
    var text = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(count),), }"
    text += String(repeating: " ", count: headerSize - 10 - 1 - text.utf8.count) + "\n"
    let size = UInt16(headerSize - 10)
    return [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(size & 0xFF), UInt8(size >> 8)]
      + Array(text.utf8)
  }
}

extension NumPyFolder: DecisionOutput {
  func put(_ bytes: [UInt8]) throws(OutputProblem) {}

  func put(_ piece: EncodedPiece) throws(OutputProblem) {
    guard messageCount + piece.ids.count <= UInt32.max else {
      throw OutputProblem(target: "message.npy", reason: "more than \(UInt32.max) messages")
    }
    rowCount += piece.codes.count
    try message.write(numbers: piece.messages)
    try user.write(numbers: piece.users)
    try outcome.write(whole: piece.codes)
    for id in piece.ids {
      var row = Array("\(messageCount),".utf8)
      row.appendCSV(id.text)
      row.append(UInt8(ascii: "\n"))
      messageCount += 1
      try messageIDs.write(whole: row)
    }
  }
}

/// Columns of numbers for the files of a ``NumPyFolder``.
struct NumPyEncoder: DecisionEncoder {
  static var isFolder: Bool { true }

  init(_ options: EncodingOptions) {}

  func encode(_ decisions: MessageDecisions, to piece: inout EncodedPiece) {
    let number = UInt32(truncatingIfNeeded: decisions.number)
    unsafe decisions.forEachRecipient { (user, _, code) -> Void in
      piece.messages.append(number)
      piece.users.append(user)
      piece.codes.append(code)
    }
    if decisions.isLast { piece.ids.append(decisions.message.id) }
  }
}
