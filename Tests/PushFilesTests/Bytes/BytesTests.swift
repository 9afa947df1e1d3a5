import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: bytes are read as the file that they stand for, with the same records and the same problems
/// at the same lines.
@Suite struct BytesTests {
  private static let data = Repository.root.appending(path: "data")

  /// The messages of a reader, and why it stopped.
  private func messages(_ open: () throws -> MessageReader) -> ([Message], String) {
    var messages: [Message] = []
    do {
      let reader = try open()
      while let message = try reader.next() { messages.append(message) }
      return (messages, "the end")
    } catch {
      return (messages, "\(error)")
    }
  }

  /// Packed rows of CSV, some hundred kilobytes of them.
  @Test func realFiles() throws {
    let name = "fcc-2016-03-03"
    let paths = ["users", "members", "messages"].map {
      Self.data.appending(path: "\(name).\($0).csv.gz").path
    }
    let bytes = try paths.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0))) }
    let fromFile = messages { try MessageReader(path: paths[2], rules: .easemob) }
    let fromBytes = messages { try MessageReader(bytes[2], name: paths[2], rules: .easemob) }
    #expect(fromFile.0.count > 100)
    #expect(fromBytes.0 == fromFile.0)

    let files = SettingsPaths(users: [paths[0]], members: [paths[1]])
    var memory = SettingsPaths(users: ["u.csv.gz"], members: ["m.csv.gz"])
    memory.contents = ["u.csv.gz": bytes[0], "m.csv.gz": bytes[1]]
    let expected = try SettingsLoader.load(files)
    let found = try SettingsLoader.load(memory)
    #expect(found.userCount == expected.userCount)
    #expect(found.userCount > 100)
    #expect(found.conversationIDs == expected.conversationIDs)
    for id in found.conversationIDs { #expect(found.members(of: id) == expected.members(of: id)) }
  }

  /// Settings and messages as arrays of JSON, laid out at random, packed or not: the same records and
  /// problems as of lines, at the lines on which the items begin.
  @Test(arguments: TestSupport.seeds([1, 2, 3, 4, 5, 6, 7, 8]))
  func arraysAreLines(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let blanks = ["", " ", "\n", "\r\n", "\n\n \t", "\n  "]
    let ids = ["a", "[", "]", "{", "}", ",", "\\\"", "\\\\", "\\n", "\u{E9}\u{4E2D}"]
    func layOut(_ items: [String], breaks: Bool) -> (text: String, lines: [Int]) {
      var (text, lines): (String, [Int]) = (
        ["", "\u{FEFF}", " "].randomElement(using: &random)! + "[", []
      )
      for (place, item) in items.enumerated() {
        if place > 0 {
          // Now and then another array begins.
          text += Int.random(in: 0..<20, using: &random) == 0 ? "]\n[" : ","
        }
        text += breaks && place > 0 ? "\n" : ""
        text += blanks.randomElement(using: &random)!
        lines.append(text.utf8.count { $0 == UInt8(ascii: "\n") } + 1)
        // Blanks between the parts of an item, which has them in no string.
        text += item.replacing("\",\"", with: "\"," + blanks.randomElement(using: &random)! + "\"")
        text += blanks.randomElement(using: &random)!
      }
      return (text + "]" + blanks.randomElement(using: &random)!, lines)
    }
    let count = Int.random(in: 1...300, using: &random)
    let bad = Int.random(in: 0...count, using: &random)
    let users = (0..<count).map { number in
      let id = ids.randomElement(using: &random)! + "\(number)"
      return number == bad
        ? #"{"kind":"user","id":7,"timeZone":"UTC"}"#
        : #"{"kind":"user","id":"\#(id)","timeZone":"UTC"}"#
    }
    let messages = users.map {
      $0.replacing(#""kind":"user""#, with: #""conversation":"g""#)
        .replacing(#""timeZone":"UTC""#, with: #""at":5,"mentions":["u","v"]"#)
    }
    try withFolder { folder in
      let (settingsText, settingsLines) = layOut(users, breaks: true)
      let (messagesText, messagesLines) = layOut(messages, breaks: true)
      let plain = SettingsPaths(settings: [try folder.write(users, as: "plain.ndjson")])
      let array = SettingsPaths(settings: [try folder.write(settingsText.utf8, as: "array.json")])
      let checked = SettingsLoader.check(
        array, LoadOptions(threads: Int.random(in: 1...4, using: &random), pieceSize: 64))
      let problems =
        bad == count ? [] : ["array.json:\(settingsLines[bad]): \"id\" must be a string"]
      #expect(checked.problems.map(folder.short) == problems)
      #expect(folder.problem(array) == problems.first ?? "loaded")
      if bad == count { #expect(try folder.world(array) == folder.world(plain)) }
      try folder.write(messages, as: "m.ndjson")
      try folder.write(messagesText.utf8, as: "m.json")
      var expected = folder.messages("m.ndjson")
      if bad < count {
        expected[bad] = "m.json:\(messagesLines[bad]): \"id\" must be a string"
      }
      #expect(folder.messages("m.json") == expected)
      // Items of one line have lines of their own.
      try folder.write(layOut(messages, breaks: false).text.utf8, as: "one.json")
      #expect(
        folder.messages("one.json").enumerated().filter { $0.0 != bad }.map(\.1)
          == expected.enumerated().filter { $0.0 != bad }.map(\.1))
    }
  }

  @Test(arguments: [
    #"{"id":"m","conversation":"g","at":5}"#, "", "\n\n", "nonsense", "\u{FEFF}{}",
    #"{"id":"m","conversation":"g","at":5}"# + "\n{\"id\":", "{\"id\":\"\u{0}\"}",
  ])
  func problemsAreTheSame(text: String) throws {
    try withFolder { folder in
      let path = try folder.write(text.utf8, as: "m.ndjson")
      let bytes = Array(text.utf8)
      let fromFile = messages { try MessageReader(path: path, rules: .easemob) }
      let fromBytes = messages { try MessageReader(bytes, name: path, rules: .easemob) }
      #expect(fromBytes.0 == fromFile.0)
      // A file may have no messages; what is handed over in memory must have one.
      let isEmpty = text.allSatisfy(\.isNewline)
      #expect(fromBytes.1 == (isEmpty ? "\(path):1: the file is empty" : fromFile.1))
      let changes = [
        problem { _ = try SettingsChangeReader(path: path, rules: .easemob).next() },
        problem { _ = try SettingsChangeReader(bytes, name: path, rules: .easemob).next() },
      ]
      #expect(changes[0] == changes[1])
      #expect(
        problem { _ = try TemplateReader.load([path]) }
          == problem { _ = try TemplateReader.load(bytes, name: path) })
      #expect(
        problem { _ = try PresenceReader(path: path).next() }
          == problem { _ = try PresenceReader(bytes, name: path).next() })
      #expect(
        problem { _ = try SettingsLoader.load(SettingsPaths(settings: [path])) }
          == problem { _ = try SettingsLoader.load(SettingsPaths(bytes, name: path)) })
    }
  }

  /// What was read before a bad line stays in the builder, which is given back.
  @Test func aBuilderHasTheRecordsBeforeABadLine() throws {
    var builder = FanoutBuilder()
    try builder.setUser("u1", UserSettings())
    let lines = Array((#"{"kind":"user","id":"u2"}"# + "\n{").utf8)
    var line: Int?
    do { try SettingsLoader.load(SettingsPaths(lines), into: &builder) } catch {
      line = (error as? FileProblem)?.line
    }
    #expect(line == 2)
    let count = builder.userCount
    #expect(count == 2)
    try builder.setMember("u3", of: "g")
    let engine = try builder.build(threads: 1)
    #expect(engine.memberCount(of: "g") == 1)
  }

  private func problem(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return "none"
  }
}
