public import PushFanout
internal import PushModel
internal import PushSupport

/// Decisions as arrays for NumPy and all that reads its files (formats.md, "NumPy arrays"): a folder
/// with one byte for each member of each message's conversation, and each list of members once, or
/// with how often each outcome occurs for each message.
///
/// The folder appears under its name only when it is complete.
///
/// - Memory: fixed buffers, and with members some 30 bytes for each conversation that receives a
///   message.
public final class NumPyFolder {
  /// ``DecisionFormat/npy`` or ``DecisionFormat/countsNPY``.
  let format: DecisionFormat
  private let folder: OutputFolder
  private let arrays: any DecisionArrays
  private let messages: OutputFile

  /// What is removed when the work is broken off.
  public var temporaryNames: [String] { folder.temporaryNames }

  /// Makes room for a new folder.
  ///
  /// - Throws: when there is something of that name, or the folder cannot be made.
  /// - Precondition: the format is a folder.
  public init(path: String, format: DecisionFormat = .npy) throws(OutputProblem) {
    precondition(format.isFolder, "\(format) is no folder")
    self.format = format
    let kind: any DecisionArrays.Type =
      format == .countsNPY ? CountArrays.self : MemberArrays.self
    folder = try OutputFolder(
      path: path, names: kind.files + ["messages.csv", "outcomes.csv", "metadata.json"])
    arrays = try kind.init(folder)
    messages = try folder.file("messages.csv")
  }

  /// Writes what is still missing; ``finish()`` follows.
  ///
  /// - Parameter fanout: whose users the numbers denote.
  public func complete(_ fanout: Fanout) throws(OutputProblem) {
    try arrays.complete(folder, fanout)
    try messages.finish()
    try writeOutcomes()
    try writeMetadata()
  }

  /// Gives the folder its name.
  public func finish() throws(OutputProblem) { try folder.finish() }

  /// Drops a folder that is not finished.
  public func abandon() { folder.abandon() }

  private func writeOutcomes() throws(OutputProblem) {
    let file = try folder.file("outcomes.csv")
    try file.write("code,action,reason,scope\n".utf8)
    for (code, outcome) in Outcome.coded {
      try file.write(whole: Array("\(code)".utf8) + CSVEncoder.cells(of: outcome))
    }
    try file.finish()
  }

  private func writeMetadata() throws(OutputProblem) {
    let file = try folder.file("metadata.json")
    let numbers =
      [("version", type(of: arrays).layoutVersion)] + arrays.numbers
      + [("outcomes", Outcome.registryVersion)]
    let fields =
      ["\"format\":\"push-fanout \(format.rawValue)\""] + numbers.map { "\"\($0)\":\($1)" }
    try file.write("{\(fields.joined(separator: ","))}\n".utf8)
    try file.finish()
  }
}

extension NumPyFolder: DecisionOutput {
  func put(_ rows: [UInt8]) throws(OutputProblem) { try messages.write(whole: rows) }
  func put(_ rows: ArraySlice<UInt8>) throws(OutputProblem) { try messages.write(whole: rows) }
  func put(_ codes: ArraySlice<UInt8>, of members: EncodedMembers) throws(OutputProblem) {
    try arrays.put(codes, of: members)
  }
  func put(_ counts: EncodedCounts) throws(OutputProblem) { try arrays.put(counts) }
}

/// The arrays of one kind of ``NumPyFolder``.
protocol DecisionArrays: AnyObject {
  /// The version of the layout, in `metadata.json`.
  static var layoutVersion: Int { get }
  /// The names of the files.
  static var files: [String] { get }

  init(_ folder: OutputFolder) throws(OutputProblem)

  func put(_ codes: ArraySlice<UInt8>, of members: EncodedMembers) throws(OutputProblem)
  func put(_ counts: EncodedCounts) throws(OutputProblem)

  /// Writes what is still missing.
  func complete(_ folder: OutputFolder, _ fanout: Fanout) throws(OutputProblem)

  /// What `metadata.json` says, once everything is written.
  var numbers: [(String, Int)] { get }
}

extension DecisionArrays {
  func put(_ codes: ArraySlice<UInt8>, of members: EncodedMembers) throws(OutputProblem) {}
  func put(_ counts: EncodedCounts) throws(OutputProblem) {}
}

extension EncodedPiece {
  /// Appends a row of `messages.csv`.
  mutating func appendRow(_ number: Int, _ message: borrowing Message) {
    bytes.appendDecimal(number)
    bytes.append(UInt8(ascii: ","))
    bytes.appendCSV(message.id.text)
    bytes.append(UInt8(ascii: ","))
    bytes.appendCSV(message.conversation.text)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// What `messages.csv` begins with.
  static var header: [UInt8] { Array("message,id,conversation\n".utf8) }
}
