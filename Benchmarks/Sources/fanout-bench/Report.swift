import BenchSupport
import Foundation
import PushFanout

/// A run as a document.
struct Report: Encodable {
  let machine: Machine
  let command: [String]
  let date: String
  let users: Int
  let rounds: Int
  /// nil when only the day was measured.
  let memory: Memory?
  let lines: [DaySuite.Line]
  let rows: [Row]

  /// Writes it to a file, which appears when it is complete.
  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try (encoder.encode(self) + Data("\n".utf8)).write(
      to: URL(fileURLWithPath: path), options: .atomic)
  }
}

/// What a loaded world takes.
struct Memory: Encodable {
  let users: Int
  let memberships: Int
  let conversations: Int
  let bytesAUser: Double
  /// With the rows of conversations.
  let bytesAMembership: Double
  /// Beyond its characters.
  let bytesAnID: Double
  let totalBytes: Int

  init(_ report: MemoryReport) {
    func share(_ bytes: Int, _ count: Int) -> Double {
      (Double(bytes) / Double(max(count, 1)) * 10).rounded() / 10
    }
    users = report.userCount
    memberships = report.membershipCount
    conversations = report.conversationCount
    bytesAUser = share(report.users + report.userExtras, users)
    bytesAMembership = share(
      report.memberships + report.membershipExtras + report.conversations, memberships)
    bytesAnID = share(report.ids, users + conversations)
    totalBytes =
      report.users + report.userExtras + report.memberships + report.membershipExtras
      + report.conversations + report.ids
  }

  var line: String {
    "\(users) users, \(memberships) memberships in \(conversations) conversations; "
      + "bytes: \(bytesAUser) a user, \(bytesAMembership) a membership, "
      + "\(bytesAnID) an id beyond its characters"
  }
}
