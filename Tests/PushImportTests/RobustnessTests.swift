import Foundation
import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

@testable import PushImport

/// Goal: whatever an export is, an import gives a world or says where it ends, and leaves nothing.
@Suite struct RobustnessTests {
  /// An export with something of everything.
  static func mattermost(_ random: inout SeededGenerator) -> [String] {
    let names = ["ann", "ben", "cai", "dee", "eva"]
    let levels = ["all", "mention", "none", "default", "x"]
    var lines = [#"{"type":"version","version":1}"#, Line.town]
    for name in names {
      let props = [
        #""mobile":"\#(levels.randomElement(using: &random)!)""#,
        #""channel":"\#(Bool.random(using: &random))""#,
        #""comments":"\#(["any", "root", "never"].randomElement(using: &random)!)""#,
        #""mention_keys":"\#(["", "tea", "tea,green tea"].randomElement(using: &random)!)""#,
      ]
      lines.append(
        Line.user(
          name, props.joined(separator: ","),
          in: #""mobile":"\#(levels.randomElement(using: &random)!)""#))
    }
    lines.append(Line.direct("ann", "ben"))
    lines.append(Line.direct("ann", "ben", "cai"))
    for index in 0..<40 {
      let text = ["@ann", "@all", "`@ben`", "green tea", "@here @x"].randomElement(using: &random)!
      let reply = "{\(Line.body(text, names.randomElement(using: &random)!, index))}"
      let replies = Bool.random(using: &random) ? #","replies":[\#(reply),\#(reply)]"# : ""
      let followers = #","thread_followers":[{"user":"cai"}]"#
      lines.append(
        Line.post(
          text, by: names.randomElement(using: &random)!,
          at: Int.random(in: 0..<99, using: &random),
          replies + followers))
      lines.append(Line.directPost(text, "ann", "ben"))
    }
    return lines
  }

  /// Changes bytes of a text: cut off, another type or value, twice, long, NUL, in another order.
  static func spoil(_ text: String, _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = Array(text.utf8)
    let place = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: bytes.removeSubrange(place...)
    case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 2: bytes.insert(0, at: place)
    case 3: bytes.insert(contentsOf: Array(repeating: 0x78, count: 100_000), at: place)
    case 4:
      // A value of another type.
      guard let colon = bytes[place...].firstIndex(of: 0x3A) else { break }
      let end = bytes[(colon + 1)...].firstIndex { [0x2C, 0x7D, 0x5D].contains($0) } ?? bytes.count
      let values = ["1", "null", "[]", "{}", "\"x\"", "-5", "1e300", "true", "9007199254740992"]
      bytes.replaceSubrange((colon + 1)..<end, with: values.randomElement(using: &random)!.utf8)
    case 5:
      var lines = bytes.split(separator: 0x0A)
      lines.shuffle(using: &random)
      bytes = Array(lines.joined(separator: [0x0A]))
    case 6:
      let lines = bytes.split(separator: 0x0A)
      bytes += [0x0A] + Array(lines.randomElement(using: &random)!)
    case 7:
      bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<50, using: &random)))
    default:
      bytes = Array(
        text.replacing("\"type\":\"user\"", with: "\"type\":\"person\"", maxReplacements: 1).utf8)
    }
    return bytes
  }

  /// Imports into a folder; the problem, or nil where there is a world that an engine reads.
  private func outcome(
    _ system: ImportSystem, _ path: String, in folder: ScratchFolder
  ) throws -> String? {
    let output = folder.path("world")
    let result = try OutputFolder(path: output, names: Importer.fileNames)
    do {
      _ = try Importer().run(system, path, into: result)
      try result.finish()
    } catch let problem as ImportProblem {
      result.abandon()
      return problem.description
    }
    let fanout = try SettingsLoader.loadFanout(
      SettingsPaths(settings: ["\(output)/settings.ndjson"]), threads: 1)
    let reader = try MessageReader(path: "\(output)/messages.ndjson", rules: fanout.app.rules)
    while let message = try reader.next() { _ = fanout.decide(message) }
    try FileManager.default.removeItem(atPath: output)
    return nil
  }

  @Test func spoiltExportsOfMattermost() throws {
    var failed = 0
    for seed in 1...700 as ClosedRange<UInt64> {
      let folder = ScratchFolder()
      var random = SeededGenerator(seed: seed)
      let text = Self.mattermost(&random).joined(separator: "\n")
      let path = try folder.write(Self.spoil(text, &random), as: "e.jsonl")
      let problem = try outcome(.mattermost(MattermostOptions()), path, in: folder)
      #expect(try folder.names == ["e.jsonl"], "seed \(seed)")
      guard let problem else { continue }
      failed += 1
      #expect(problem.contains(#/e\.jsonl:\d+: /#), "seed \(seed): \(problem)")
    }
    #expect((200..<600).contains(failed))
  }

  @Test func spoiltExportsOfZulip() throws {
    var export = ZulipTests.Export()
    export.users = (10...14).map { ZulipTests.user($0) }
    export.subscriptions = (10...14).map { ZulipTests.row($0, 5) } + [ZulipTests.row(10, 70)]
    export.topics = [ZulipTests.topic(10, "t", 3), ZulipTests.topic(11, "T", 1)]
    export.muted = [#"{"user_profile":10,"muted_user":11}"#]
    export.messages = (1...20).map { ZulipTests.message($0, 10 + $0 % 5, [5, 10, 70][$0 % 3]) }
    export.flags = (1...20).map { ZulipTests.flag($0, 11, $0) }
    let messages = ZulipTests.Export.text([
      ("zerver_message", export.messages), ("zerver_usermessage", export.flags),
    ])
    var failed = 0
    for seed in 1...300 as ClosedRange<UInt64> {
      let folder = ScratchFolder()
      var random = SeededGenerator(seed: seed)
      let isRealm = Bool.random(using: &random)
      let spoilt = Self.spoil(isRealm ? export.realm : messages, &random)
      try folder.write(isRealm ? spoilt : Array(export.realm.utf8), as: "realm.json")
      try folder.write(isRealm ? Array(messages.utf8) : spoilt, as: "messages-1.json")
      let problem = try outcome(.zulip, folder.url.path, in: folder)
      #expect(try folder.names == ["messages-1.json", "realm.json"], "seed \(seed)")
      guard let problem else { continue }
      failed += 1
      #expect(
        problem.contains(#/\.json:\d+: /#) || problem.hasSuffix("is empty"),
        "seed \(seed): \(problem)")
    }
    #expect((100..<280).contains(failed))
  }

  /// People in many rooms: some rooms come behind people who are in them, some people come twice,
  /// and direct channels between them.
  static func people(_ random: inout SeededGenerator) -> [String] {
    let levels = ["", "all", "mention", "none", "default", "x"]
    var lines: [String] = []
    for index in 0..<2000 {
      if index % 900 == 0 {
        lines += (0..<20).map { room in
          #"{"type":"channel","channel":{"team":"t","name":"c\#(index / 900)-\#(room)"}}"#
        }
      }
      let rooms = (0..<20).map { _ in
        let room =
          "c\(Int.random(in: 0...2, using: &random))-\(Int.random(in: 0..<21, using: &random))"
        let level = levels.randomElement(using: &random)!
        let muted = Bool.random(using: &random) ? "mention" : "all"
        return
          #"{"name":"\#(room)","notify_props":{"mobile":"\#(level)","mark_unread":"\#(muted)"}}"#
      }
      let teams =
        #","teams":[{"name":"t","channels":[{"name":"c"},\#(rooms.joined(separator: ","))]}]"#
      let level = levels.randomElement(using: &random)!
      let name = "u\(index % 50 == 49 ? index / 2 : index)"
      lines.append(
        Line.user(
          name, #""mobile":"\#(level)","mention_keys":"k\#(index % 7)""#, in: nil,
          teams + #","delete_at":\#(index % 31 == 0 ? 5 : 0)"#))
      if index % 300 == 250 { lines.append(Line.direct("u\(index)", "u\(index - 9)", "u3")) }
    }
    return lines
  }

  /// I-1: the same bytes for any number of threads, and for any size of runs.
  @Test(arguments: [false, true]) func threadsMakeNoDifference(isWithoutTexts: Bool) throws {
    var random = SeededGenerator(seed: 3)
    let people = Self.people(&random)
    let posts = (0..<12_000).map { index in
      let pad = String(repeating: "x", count: Int.random(in: 0..<300, using: &random))
      let user = Int.random(in: 0..<2100, using: &random)
      let thread =
        index % 3 == 0
        ? #","replies":[{\#(Line.body("x", "u\(index % 1999)", index))}],"#
          + #""thread_followers":[{"user":"u\#(index % 499)"},{"user":"u\#(index % 498)"}]"# : ""
      return Line.post(
        "k\(index % 9) @u\(user) \(pad)", by: "u1", at: Int.random(in: 0..<9000, using: &random),
        thread
      ).replacing("\"channel\":\"c\"", with: "\"channel\":\"c\(index % 3)-\(index % 20)\"")
    }
    var first: Imported?
    #if THREAD_SANITIZER
      let counts = [1, 3]
    #else
      let counts = isWithoutTexts ? Array(1...16) : [1, 2, 5, 16]
    #endif
    for threads in counts {
      var importer = Importer()
      importer.threads = threads
      importer.runSize = threads == 1 ? 64 << 20 : 100_000 * threads
      importer.isWithoutTexts = isWithoutTexts
      let result = try importer.mattermost([Line.town] + people + posts)
      if let first {
        #expect(first.settings == result.settings && first.json == result.json)
        #expect(first.messages == result.messages, "\(threads) threads")
      }
      first = first ?? result
    }
    #expect(first?.messages.count == 16_000)
    #expect(first?.report.records.members == 21_625)
  }
}
