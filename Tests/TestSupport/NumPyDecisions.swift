package import Foundation
import PushModel

/// The decisions in a folder of NumPy arrays, read by hand as formats.md says, with every number
/// checked against the others.
///
/// - Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
package struct NumPyDecisions {
  /// Message, user, action, reason and scope of each decision, as in the CSV format.
  package let rows: [[String]]
  /// Message and conversation of each message.
  package let messages: [[String]]
  /// The user numbers of each list of members.
  package let lists: [[Int]]
  /// Which list each message refers to.
  package let messageLists: [Int]

  /// The files that a folder has, sorted.
  package static let files = [
    "codes.npy", "list_start.npy", "members.npy", "message_list.npy", "message_pushes.npy",
    "message_recipients.npy", "message_start.npy", "messages.csv", "metadata.json",
    "outcomes.csv", "users.csv",
  ]

  /// Reads a folder.
  ///
  /// - Throws: ``NumPyFiles/Problem``, or when a file cannot be read.
  package init(_ folder: URL) throws {
    let folder = try NumPyFiles(folder, Self.files)
    let codes = try folder.array("codes.npy", "|u1")
    let starts = try folder.array("message_start.npy", "<i8")
    messageLists = try folder.array("message_list.npy", "<u4")
    let recipients = try folder.array("message_recipients.npy", "<u4")
    let pushes = try folder.array("message_pushes.npy", "<u4")
    let listStarts = try folder.array("list_start.npy", "<i8")
    let members = try folder.array("members.npy", "<u4")
    let messageTable = try folder.table("messages.csv", ["message", "id", "conversation"])
    let users = try folder.table("users.csv", ["user", "id"])
    let outcomes = try folder.table("outcomes.csv", ["code", "action", "reason", "scope"])

    let lists = try NumPyFiles.slices(members, listStarts, "list_start.npy")
    let messageCodes = try NumPyFiles.slices(codes, starts, "message_start.npy")
    let count = messageTable.count
    try NumPyFiles.require(
      [messageCodes.count, messageLists.count, recipients.count, pushes.count]
        == [count, count, count, count], "numbers of messages")
    try NumPyFiles.require(
      messageTable.map { $0[0] } == (0..<count).map(String.init), "messages.csv")
    try NumPyFiles.require(users.map { $0[0] } == users.indices.map(String.init), "users.csv")
    try NumPyFiles.require(lists.first == [], "list 0")
    for list in lists {
      try NumPyFiles.require(zip(list, list.dropFirst()).allSatisfy(<), "members are not in order")
    }
    try folder.requireMetadata(
      "push-fanout npy",
      [
        "version": 2, "messages": count, "codes": codes.count,
        "recipients": recipients.reduce(0, +), "pushes": pushes.reduce(0, +),
        "lists": lists.count, "members": members.count, "users": users.count,
        "outcomes": Outcome.registryVersion,
      ])

    let outcomeOfCode = Dictionary(
      uniqueKeysWithValues: outcomes.map { (Int($0[0]), Array($0[1...])) })
    var rows: [[String]] = []
    for (message, codes) in messageCodes.enumerated() {
      try NumPyFiles.require(lists.indices.contains(messageLists[message]), "list of \(message)")
      let list = lists[messageLists[message]]
      try NumPyFiles.require(codes.count == list.count, "codes of message \(message)")
      try NumPyFiles.require(
        recipients[message] == codes.count { $0 != 0 }, "recipients of \(message)")
      try NumPyFiles.require(pushes[message] == codes.count { $0 % 2 != 0 }, "pushes of \(message)")
      for (user, code) in zip(list, codes) where code != 0 {
        guard let outcome = outcomeOfCode[code] else {
          throw NumPyFiles.Problem(description: "code \(code)")
        }
        rows.append([messageTable[message][1], users[user][1]] + outcome)
      }
    }
    self.rows = rows
    self.lists = lists
    messages = messageTable.map { Array($0[1...]) }
  }

  /// The rows of a CSV text with quotes (RFC 4180), whose rows end with line feeds.
  package static func csvRows(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var cell = String.UnicodeScalarView()
    var isQuoted = false
    var scalars = Array(text.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "\"" where isQuoted && scalars.first == "\"": cell.append(scalars.removeFirst())
      case "\"": isQuoted.toggle()
      case "," where !isQuoted, "\n" where !isQuoted:
        row.append(String(cell))
        cell = String.UnicodeScalarView()
        if scalar == "\n" {
          rows.append(row)
          row = []
        }
      default: cell.append(scalar)
      }
    }
    return rows
  }
}
