import Foundation
import PushFiles
import PushReference
import PushRules
import Testing

/// Goal: every conformance case is answered as it says, in action, reason, scope and devices.
///
/// `vectors.ndjson` holds a world, a message and what its only recipient gets, one case a line.
@Suite struct VectorTests {
  struct Expectation: Equatable {
    let action, reason: String
    let scope: String?
    /// nil: not said, so not checked.
    let devices: [String]?
  }

  @Test func allCasesAgree() throws {
    let cases = try Self.cases { settings, messages in
      var evaluator = ReferenceEvaluator(settings)
      var decisions: [Decision] = []
      for message in messages { evaluator.decide(message) { decisions.append($1) } }
      return decisions
    }
    #expect(cases.count == 96)
    #expect(Self.wrong(cases) == [])
  }

  /// Which cases are answered otherwise.
  static func wrong(_ cases: [(String, Expectation, [Decision])]) -> [String] {
    var wrong: [String] = []
    for (id, expected, decisions) in cases {
      let found = decisions.map { decision in
        Expectation(
          action: decision.outcome.action.name, reason: decision.outcome.reason.name,
          scope: decision.outcome.scope?.name,
          devices: expected.devices == nil ? nil : decision.devices.map(\.text))
      }
      if found != [expected] { wrong.append("\(id): \(found) instead of \(expected)") }
    }
    return wrong
  }

  /// Every case with what `decide` makes of it.
  static func cases(
    _ decide: (FanoutSettings, [Message]) throws -> [Decision]
  ) throws -> [(String, Expectation, [Decision])] {
    let url = try #require(Bundle.module.url(forResource: "vectors", withExtension: "ndjson"))
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    return try lines.map { line in
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let records = try #require(object["settings"] as? [[String: Any]])
      let message = try #require(object["message"] as? [String: Any])
      let expect = try #require(object["expect"] as? [String: Any])
      return (
        try #require(object["id"] as? String),
        Expectation(
          action: try #require(expect["action"] as? String),
          reason: try #require(expect["reason"] as? String),
          scope: expect["scope"] as? String, devices: expect["devices"] as? [String]),
        try read(records, message, decide)
      )
    }
  }

  private static func read(
    _ records: [[String: Any]], _ message: [String: Any],
    _ decide: (FanoutSettings, [Message]) throws -> [Decision]
  ) throws -> [Decision] {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let settingsURL = folder.appending(path: "settings.ndjson")
    let messagesURL = folder.appending(path: "messages.ndjson")
    try write(records, to: settingsURL)
    try write([message], to: messagesURL)

    let settings = try SettingsLoader.load(SettingsPaths(settings: [settingsURL.path]))
    let reader = try MessageReader(path: messagesURL.path, rules: settings.app.rules)
    var messages: [Message] = []
    while let message = try reader.next() { messages.append(message) }
    return try decide(settings, messages)
  }

  private static func write(_ objects: [[String: Any]], to url: URL) throws {
    let lines = try objects.map { try JSONSerialization.data(withJSONObject: $0) }
    try Data(lines.joined(separator: Data("\n".utf8))).write(to: url)
  }
}
