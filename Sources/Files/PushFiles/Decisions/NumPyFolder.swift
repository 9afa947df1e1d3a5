public import PushFanout
internal import PushModel
internal import PushSupport

/// Decisions as arrays for NumPy and all that reads its files (formats.md, "NumPy arrays"): a folder
/// with one byte for each member of each message's conversation, and each list of members once.
///
/// The folder appears under its name only when it is complete.
///
/// - Memory: fixed buffers, and some 30 bytes for each conversation that receives a message.
public final class NumPyFolder {
  private let folder: OutputFolder
  private let arrays: MemberArrays
  private let messages: OutputFile

  /// What is removed when the work is broken off.
  public var temporaryNames: [String] { folder.temporaryNames }

  /// Makes room for a new folder.
  ///
  /// - Throws: when there is something of that name, or the folder cannot be made.
  public init(path: String) throws(OutputProblem) {
    folder = try OutputFolder(
      path: path, names: MemberArrays.files + ["messages.csv", "outcomes.csv", "metadata.json"])
    arrays = try MemberArrays(folder)
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
      [("version", 2)] + arrays.numbers
      + [("outcomes", Outcome.registryVersion)]
    let fields =
      ["\"format\":\"push-fanout npy\""] + numbers.map { "\"\($0)\":\($1)" }
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

/// The arrays of ``NumPyFolder``.
private final class MemberArrays {
  private var codes: NumPyArray<UInt8>
  private var messageStarts: NumPyArray<Int64>
  private var messageLists: NumPyArray<UInt32>
  private var messageRecipients: NumPyArray<UInt32>
  private var messagePushes: NumPyArray<UInt32>
  private var members: NumPyArray<UInt32>
  private var listStarts: NumPyArray<Int64>

  /// The number of each list that was written, by its membership version. List 0 is empty.
  private var lists: [UInt64: UInt32] = [:]
  private var codeCount = 0
  private var memberCount = 0
  private var messageCount = 0
  private var recipientCount = 0
  private var pushCount = 0
  private var userCount = 0

  static let files = [
    "codes.npy", "message_start.npy", "message_list.npy", "message_recipients.npy",
    "message_pushes.npy", "members.npy", "list_start.npy", "users.csv",
  ]

  init(_ folder: OutputFolder) throws(OutputProblem) {
    codes = try NumPyArray(folder.file("codes.npy"))
    messageStarts = try NumPyArray(folder.file("message_start.npy"))
    messageLists = try NumPyArray(folder.file("message_list.npy"))
    messageRecipients = try NumPyArray(folder.file("message_recipients.npy"))
    messagePushes = try NumPyArray(folder.file("message_pushes.npy"))
    members = try NumPyArray(folder.file("members.npy"))
    listStarts = try NumPyArray(folder.file("list_start.npy"))
    try messageStarts.append(0)
    for _ in 0..<2 { try listStarts.append(0) }
  }

  func put(_ codes: ArraySlice<UInt8>, of members: EncodedMembers) throws(OutputProblem) {
    let list = try number(of: members.list)
    try self.codes.append(codes)
    codeCount += codes.count
    messageCount += 1
    recipientCount += members.recipients
    pushCount += members.pushes
    try messageStarts.append(Int64(codeCount))
    try messageLists.append(list)
    try messageRecipients.append(UInt32(members.recipients))
    try messagePushes.append(UInt32(members.pushes))
  }

  /// The number of a list, which is written when it is the first of its membership version.
  private func number(of list: MemberList?) throws(OutputProblem) -> UInt32 {
    guard let list else { return 0 }
    if let number = lists[list.membershipVersion] { return number }
    guard lists.count < UInt32.max - 1 else {
      throw OutputProblem(target: "members.npy", reason: "more than \(UInt32.max) lists")
    }
    let number = UInt32(lists.count + 1)
    lists[list.membershipVersion] = number
    memberCount += list.count
    try members.append { list.append(to: &$0) }
    try listStarts.append(Int64(memberCount))
    return number
  }

  func complete(_ folder: OutputFolder, _ fanout: Fanout) throws(OutputProblem) {
    try codes.finish()
    try messageStarts.finish()
    try messageLists.finish()
    try messageRecipients.finish()
    try messagePushes.finish()
    try members.finish()
    try listStarts.finish()
    userCount = fanout.userCount
    try writeUsers(to: folder.file("users.csv"), fanout)
  }

  private func writeUsers(to file: OutputFile, _ fanout: Fanout) throws(OutputProblem) {
    let count = userCount
    try file.write("user,id\n".utf8)
    let size = 1 << 13
    let pieceCount = (count + size - 1) / size
    let atATime = fanout.threads * 8
    for first in stride(from: 0, to: pieceCount, by: atATime) {
      let pieces = first..<min(first + atATime, pieceCount)
      let texts = Parallel.map(pieces.count, threads: fanout.threads) { index in
        let start = (first + index) * size
        var text: [UInt8] = []
        unsafe fanout.forEachUser(in: start..<min(start + size, count)) { user, id in
          text.appendDecimal(Int(user))
          text.append(UInt8(ascii: ","))
          unsafe text.appendCSV(id)
          text.append(UInt8(ascii: "\n"))
        }
        return text
      }
      for text in texts { try file.write(whole: text) }
    }
    try file.finish()
  }

  var numbers: [(String, Int)] {
    [
      ("messages", messageCount), ("codes", codeCount), ("recipients", recipientCount),
      ("pushes", pushCount), ("lists", lists.count + 1), ("members", memberCount),
      ("users", userCount),
    ]
  }
}

/// A row of `messages.csv`, besides the codes of all members.
struct NumPyEncoder: DecisionEncoder {
  static var isFolder: Bool { true }
  static var needsMembers: Bool { true }
  static var memberLimit: Int { 1 << 20 }

  init(_ options: EncodingOptions) {}

  var header: [UInt8] { EncodedPiece.header }

  func encode(
    _ message: borrowing Message, number: Int, _ counts: borrowing FanoutCounts,
    to piece: inout EncodedPiece
  ) {
    piece.appendRow(number, message)
  }
}
