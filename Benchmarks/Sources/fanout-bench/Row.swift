import Foundation

/// One line of the table.
struct Row: Codable {
  let suite: String
  /// What was decided or changed.
  let name: String
  let contestant: String
  /// How many members the conversation has, or how many users there are.
  let members: Int
  let nanoseconds: Double
  let spread: Double
  var ratioToReference: Double?
  var ratioToLimit: Double?

  enum CodingKeys: String, CodingKey {
    case suite
    case name = "case"
    case contestant, members
    case nanoseconds = "nsPerDecision"
    case spread, ratioToReference, ratioToLimit
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(suite, forKey: .suite)
    try container.encode(name, forKey: .name)
    try container.encode(contestant, forKey: .contestant)
    try container.encode(members, forKey: .members)
    try container.encode(Self.rounded(nanoseconds), forKey: .nanoseconds)
    try container.encode(Self.rounded(spread), forKey: .spread)
    // A field without a value is there all the same, as null.
    try container.encode(ratioToReference.map(Self.rounded), forKey: .ratioToReference)
    try container.encode(ratioToLimit.map(Self.rounded), forKey: .ratioToLimit)
  }

  /// Six digits, which is more than any clock here is good for.
  private static func rounded(_ value: Double) -> Double {
    Double(String(format: "%.6g", value)) ?? value
  }

  static let header =
    pad("suite", 8) + pad("case", 16) + pad("contestant", 24) + "   ns a decision  spread"
    + "  over reference  of the limit"

  var text: String {
    let reference = ratioToReference.map { String(format: "%14.1fx", $0) } ?? Self.pad("", 15)
    let limit = ratioToLimit.map { String(format: "%13.2fx", $0) } ?? ""
    return Self.pad(suite, 8) + Self.pad(name, 16) + Self.pad(contestant, 24)
      + String(format: "%16.4f  %4.0f %%", nanoseconds, spread * 100) + " " + reference + limit
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text.padding(toLength: max(width, text.count + 1), withPad: " ", startingAt: 0)
  }
}

extension Encodable {
  /// One line of JSON.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }
}
