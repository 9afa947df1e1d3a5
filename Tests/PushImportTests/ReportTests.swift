import Foundation
import TestSupport
import Testing

@testable import PushImport

/// Goal: the report says what cannot be said (§6), and the options do what they say.
@Suite struct ReportTests {
  private static let lines = [
    Line.town, Line.user("ann", #""mention_keys":"tea""#), Line.user("ben"),
    Line.direct("ann", "ben"),
    Line.post("@here @who", by: "ann", #","replies":[{\#(Line.body("tea @ann", "ben", 6))}]"#),
  ]

  @Test func json() throws {
    let result = try Importer().mattermost(Self.lines)
    #expect(
      result.json
        == #"{"system":"mattermost","records":{"users":2,"conversations":2,"members":4,"threads":1,"#
        + #""messages":2},"unsaid":[{"kind":"hereMention","count":1,"people":1,"examples":["e.jsonl:5"]},"#
        + #"{"kind":"notInExport","count":2,"people":2,"examples":["e.jsonl:2","e.jsonl:3"]},"#
        + #"{"kind":"unknownMention","count":1,"people":1,"examples":["e.jsonl:5"]}]}"#)
  }

  @Test func fiveExamples() throws {
    let result = try Importer().mattermost((1...7).map { Line.user("u\($0)", in: nil) })
    #expect(result.report.counts.values.map(\.examples.count) == [5])
  }

  @Test func summary() throws {
    let result = try Importer().mattermost([Line.user("ann", in: nil)])
    #expect(
      result.report.lines == [
        "1 user, 0 conversations, 0 memberships, 0 threads, 0 messages",
        "settings are those of the moment of the export, also for old messages",
        "notInExport: 1, 1 person: first names, push_threads, time zones and statuses are not in the "
          + "export: give --api-users and --api-statuses",
      ])
  }

  /// Only what every export has passes `--strict`.
  @Test func strictness() throws {
    let harmless: [UnsaidKind] = [
      .bot, .deactivatedUser, .archivedChannel, .systemPost, .inactiveUser,
    ]
    var report = ImportReport(system: "x")
    for kind in harmless { report.count(kind, "") }
    #expect(!report.failsStrictly)
    report.count(.pushStatus("away"), "")
    #expect(report.failsStrictly)
  }

  /// Vectors of the authors of SipHash: the key and the texts are 00 01 02 …
  @Test func hashesAreSipHash() throws {
    let key = (0..<16).map { (($0 < 16 ? "0" : "") + String($0, radix: 16)).suffix(2) }.joined()
    let hash = try #require(IDHash(Array("\(key)\n".utf8)))
    let texts = [0, 1, 2, 8, 9, 15].map { hash.text((0..<$0).map { UInt8($0) }) }
    #expect(
      texts == [
        "a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
        "8177228da4a45dc7fca38bdef60affe4", "3b62a9ba6258f5610f83e264f31497b4",
        "264499060ad9baabc47f8b02bb6d71ed", "5493e99933b0a8117e08ec0f97cfc3d9",
      ])
    for text in ["", "00", "\(key)00", "\(key.dropLast())g"] { #expect(IDHash(text.utf8) == nil) }
  }

  /// Ids are replaced alike in all files, so the same people get a push.
  @Test func hashedIDs() throws {
    var importer = Importer()
    let isKey = importer.hashIDs(key: Array(String(repeating: "5a", count: 16).utf8))
    #expect(isKey)
    let hash = try #require(IDHash(String(repeating: "5a", count: 16).utf8))
    let plain = try Importer().mattermost(Self.lines)
    let hashed = try importer.mattermost(Self.lines)
    let text = (hashed.settings + hashed.messages + [hashed.json]).joined()
    #expect(!text.contains("\"ann\"") && !text.contains("t/c") && !text.contains("\"5.1\""))
    let replaced = try plain.pushes().map { push in
      push.split(separator: " ").map { hash.text($0.utf8) }.joined(separator: " ")
    }
    #expect(try hashed.pushes() == replaced.sorted())
    #expect(try plain.pushes() != [])
  }

  /// Names, addresses and texts stay where they are.
  @Test func nothingPersonalIsWritten() throws {
    let more =
      #","email":"a@x.example","first_name":"SECRET","nickname":"SECRET","position":"SECRET""#
    let result = try Importer().mattermost([
      Line.town, Line.user("ann", "", in: "", more), Line.user("dee", "", in: "", more),
      Line.post("SECRET"),
    ])
    let text = (result.settings + result.messages + [result.json]).joined()
    #expect(!text.contains("SECRET") && !text.contains("x.example"))
  }
}
