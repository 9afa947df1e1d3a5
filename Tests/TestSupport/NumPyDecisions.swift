package import Foundation
import PushModel

/// The decisions in a folder of NumPy arrays, read by hand as formats.md says, with every number
/// checked against the others.
///
/// - Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
package struct NumPyDecisions {
  /// What is not as formats.md says.
  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

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
  /// - Throws: ``Problem``, or when a file cannot be read.
  package init(_ folder: URL) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    try Self.require(names == Self.files, "files \(names)")
    func file(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }
    func array(_ name: String, _ type: String) throws -> [Int] {
      try Self.numbers([UInt8](file(name)), name, type)
    }
    func table(_ name: String, _ header: [String]) throws -> [[String]] {
      let rows = Self.csvRows(String(decoding: try file(name), as: UTF8.self))
      try Self.require(rows.first == header, "\(name): header \(rows.first ?? [])")
      return Array(rows.dropFirst())
    }
    let codes = try array("codes.npy", "|u1")
    let starts = try array("message_start.npy", "<i8")
    messageLists = try array("message_list.npy", "<u4")
    let recipients = try array("message_recipients.npy", "<u4")
    let pushes = try array("message_pushes.npy", "<u4")
    let listStarts = try array("list_start.npy", "<i8")
    let members = try array("members.npy", "<u4")
    let messageTable = try table("messages.csv", ["message", "id", "conversation"])
    let users = try table("users.csv", ["user", "id"])
    let outcomes = try table("outcomes.csv", ["code", "action", "reason", "scope"])

    let lists = try Self.slices(members, listStarts, "list_start.npy")
    let messageCodes = try Self.slices(codes, starts, "message_start.npy")
    let count = messageTable.count
    try Self.require(
      [messageCodes.count, messageLists.count, recipients.count, pushes.count]
        == [count, count, count, count], "numbers of messages")
    try Self.require(messageTable.map { $0[0] } == (0..<count).map(String.init), "messages.csv")
    try Self.require(users.map { $0[0] } == users.indices.map(String.init), "users.csv")
    try Self.require(lists.first == [], "list 0")
    for list in lists {
      try Self.require(zip(list, list.dropFirst()).allSatisfy(<), "members are not in order")
    }
    let numbers = [
      "version": 2, "messages": count, "codes": codes.count, "recipients": recipients.reduce(0, +),
      "pushes": pushes.reduce(0, +), "lists": lists.count, "members": members.count,
      "users": users.count, "outcomes": Outcome.registryVersion,
    ]
    let metadata =
      try JSONSerialization.jsonObject(with: file("metadata.json")) as? [String: Any] ?? [:]
    try Self.require(metadata["format"] as? String == "push-fanout npy", "format")
    try Self.require(
      metadata.filter { $0.key != "format" } as? [String: Int] == numbers, "metadata \(metadata)")

    let outcomeOfCode = Dictionary(
      uniqueKeysWithValues: outcomes.map { (Int($0[0]), Array($0[1...])) })
    var rows: [[String]] = []
    for (message, codes) in messageCodes.enumerated() {
      try Self.require(lists.indices.contains(messageLists[message]), "list of \(message)")
      let list = lists[messageLists[message]]
      try Self.require(codes.count == list.count, "codes of message \(message)")
      try Self.require(recipients[message] == codes.count { $0 != 0 }, "recipients of \(message)")
      try Self.require(pushes[message] == codes.count { $0 % 2 != 0 }, "pushes of \(message)")
      for (user, code) in zip(list, codes) where code != 0 {
        guard let outcome = outcomeOfCode[code] else { throw Problem(description: "code \(code)") }
        rows.append([messageTable[message][1], users[user][1]] + outcome)
      }
    }
    self.rows = rows
    self.lists = lists
    messages = messageTable.map { Array($0[1...]) }
  }

  private static func require(_ condition: Bool, _ text: String) throws {
    if !condition { throw Problem(description: text) }
  }

  /// A one-dimensional array of whole numbers.
  private static func numbers(_ bytes: [UInt8], _ name: String, _ type: String) throws -> [Int] {
    try require(bytes.count >= 10, "\(name): \(bytes.count) bytes")
    try require(bytes[..<8] == [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0], "\(name): magic")
    let start = 10 + Int(bytes[8]) + Int(bytes[9]) << 8
    try require(start % 64 == 0 && bytes.count >= start, "\(name): header's size")
    let size = type == "|u1" ? 1 : type == "<u4" ? 4 : 8
    let count = (bytes.count - start) / size
    try require((bytes.count - start) % size == 0, "\(name): size")
    let header = String(decoding: bytes[10..<start], as: UTF8.self)
    let dictionary = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(count),), }"
    try require(
      header.hasPrefix(dictionary) && header.hasSuffix("\n")
        && header.dropFirst(dictionary.count).dropLast().allSatisfy { $0 == " " },
      "\(name): header \(header)")
    return (0..<count).map { place in
      (0..<size).reduce(0) { $0 | Int(bytes[start + place * size + $1]) << (8 * $1) }
    }
  }

  private static func slices(_ all: [Int], _ starts: [Int], _ name: String) throws -> [[Int]] {
    try require(
      starts.first == 0 && starts.last == all.count
        && zip(starts, starts.dropFirst()).allSatisfy(<=),
      name)
    return zip(starts, starts.dropFirst()).map { Array(all[$0..<$1]) }
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
