import Foundation
import PushModel
import PushSupport
import PushWorkload

/// A profile as plain text, and as JSON.
struct ProfileText {
  private let profile: WorkloadProfile

  init(_ profile: WorkloadProfile) { self.profile = profile }

  var text: String { TerminalText.lines(totals + [""] + table) + "\n" }

  private var totals: [String] {
    let counts = profile.counts
    let rows: [(String, Int)] = [
      ("users", counts.users), ("rooms", counts.rooms), ("memberships", counts.memberships),
      ("messages", counts.messages), ("other messages", counts.otherMessages),
      ("presence rows", counts.presenceRows), ("settings changes", counts.changes),
    ]
    var lines = rows.filter { $0.1 > 0 || $0.0 == "messages" }.map {
      TextTable.right($0.0, 18) + TextTable.left($0.1.grouped, 14)
    }
    if let time = profile.time {
      lines.append(TextTable.right("from", 18) + time.lowerBound.rfc3339)
      lines.append(TextTable.right("to", 18) + time.upperBound.rfc3339)
    }
    if !profile.giants.isEmpty {
      let sizes = profile.giants.map { $0.grouped }.joined(separator: ", ")
      lines.append(TextTable.right("giants", 18) + sizes)
    }
    return lines
  }

  private var table: [String] {
    [Self.row("rate", "", "value", "95 % interval", "sure", "observations", "")]
      + profile.rates.map { rate in
        let estimate = rate.estimate
        return Self.row(
          rate.isFlag ? "--\(rate.name)" : rate.name, rate.part, rate.text ?? "-",
          rate.intervalText ?? "-", estimate?.certainty.rawValue ?? "-",
          estimate.map { "\($0.observations.grouped) \($0.unit)" } ?? "",
          rate.reason ?? "")
      }
  }

  private static func row(
    _ name: String, _ part: String, _ value: String, _ interval: String, _ sure: String,
    _ observations: String, _ reason: String
  ) -> String {
    let row =
      TextTable.right(name, 23) + TextTable.right(part, 18) + TextTable.left(value, 9)
      + TextTable.left(interval, 24) + "  " + TextTable.right(sure, 6)
      + TextTable.right(observations, 22) + reason
    return String(row.reversed().drop { $0 == " " }.reversed())
  }

  // MARK: JSON

  private struct Document: Encodable {
    let users, rooms, memberships, messages, otherMessages, presenceRows, changes: Int
    let first, last: Int64?
    let giants: [Int]
    let rates: [Rate]
    let flags: [String]
  }

  private struct Rate: Encodable {
    let name: String
    let part: String?
    let isFlag: Bool
    let value, low, high: Double?
    let certainty: String?
    let observations: Int?
    let unit: String?
    let reason: String?
  }

  /// The profile as one JSON object.
  static func json(_ profile: WorkloadProfile) throws -> String {
    let counts = profile.counts
    let rates = profile.rates.map { rate in
      Rate(
        name: rate.name, part: rate.part.isEmpty ? nil : rate.part, isFlag: rate.isFlag,
        value: rate.estimate?.value, low: rate.estimate?.interval?.lowerBound,
        high: rate.estimate?.interval?.upperBound,
        certainty: rate.estimate?.certainty.rawValue,
        observations: rate.estimate?.observations, unit: rate.estimate?.unit,
        reason: rate.reason)
    }
    let document = Document(
      users: counts.users, rooms: counts.rooms, memberships: counts.memberships,
      messages: counts.messages, otherMessages: counts.otherMessages,
      presenceRows: counts.presenceRows, changes: counts.changes,
      first: profile.time?.lowerBound.milliseconds, last: profile.time?.upperBound.milliseconds,
      giants: profile.giants, rates: rates, flags: profile.flags)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(document), as: UTF8.self)
  }
}
