import PushFanout
import PushFiles
import PushModel
import Testing

/// Goal: what asks for fields by name gets what a line has, under the checks of every line; lines
/// that are operations are handed over between the records, with their numbers.
@Suite struct JSONObjectTests {
  private func problem(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return "none"
  }

  @Test func fieldsAreAskedForByName() throws {
    let object = try JSONObject(
      Array(
        """
        {
          "text": "é\\n", "empty": "", "list": ["a", "", "b"], "whole": -5, "part": 1.5,
          "yes": true, "nothing": null, "object": {"text": 1}, "mixed": ["a", 1]
        }
        """.utf8))
    #expect(
      object.names == [
        "empty", "list", "mixed", "object", "part", "text", "whole", "yes",
      ])
    #expect(try object.text("text") == "é\n")
    #expect(try object.identifier("text") == "é\n")
    #expect(try object.texts("list") == ["a", "", "b"])
    #expect(try object.whole("whole") == -5)
    #expect(try object.flag("yes") == true)
    #expect(object.has("object") && !object.has("nothing"))
    #expect(try object.text("nothing") == nil && object.texts("none") == nil)
    #expect(try object.whole("nothing") == nil && object.flag("none") == nil)
    #expect(
      [
        problem { _ = try object.text("whole") }, problem { _ = try object.identifier("nothing") },
        problem { _ = try object.identifier("empty") }, problem { _ = try object.texts("mixed") },
        problem { _ = try object.identifiers("list") }, problem { _ = try object.whole("part") },
        problem { _ = try object.flag("text") }, problem { _ = try object.identifiers("none") },
      ] == [
        "\"whole\" must be a string", "the field \"nothing\" is missing",
        "\"empty\" must not be empty", "\"mixed\" must be an array of strings",
        "\"list\" must not be empty", "\"part\" must be a whole number",
        "\"text\" must be true or false", "the field \"none\" is missing",
      ])
  }

  @Test(arguments: [
    ("", FileProblem.Problem.isEmpty), (" \r\n\t\n", .isEmpty), ("{\n", .truncatedJSON),
    ("[1]", .notAnObject), ("{} {}", .notJSON), ("{\"a\":1,\n\"a\":1}", .repeatedKey("a")),
    ("{\"a\":{\"b\":1,\"b\":1}}", .repeatedKey("b")),
  ])
  func aTextIsRefusedAsALineIs(_ text: String, _ expected: FileProblem.Problem) {
    let found = #expect(throws: FileProblem.Problem.self) { try JSONObject(Array(text.utf8)) }
    #expect(found == expected)
  }

  @Test func aTextIsUTF8AndHasBounds() {
    #expect(throws: FileProblem.Problem.notUTF8(likely: nil)) {
      try JSONObject(Array(#"{"a":""#.utf8) + [0xFF] + Array("\"}".utf8))
    }
    #expect(throws: FileProblem.Problem.tooDeep) {
      let (open, close) = (Array(repeating: UInt8(ascii: "["), count: 2000), UInt8(ascii: "]"))
      return try JSONObject(
        Array(#"{"a":"#.utf8) + open + Array(repeating: close, count: 2000) + Array("}".utf8))
    }
    #expect(throws: FileProblem.Problem.tooLong) {
      try JSONObject(Array(#"{"a":""#.utf8) + Array(repeating: 0x78, count: 9 << 20))
    }
  }

  @Test func aMessageAmongFieldsIsThatOfALine() throws {
    let line =
      #"{"id":"m","conversation":"g","at":1,"text":"t","ext":{"em_apns_ext":{"extern":[1.50,2]}}}"#
    let reader = try MessageReader(Array(line.utf8), rules: .easemob)
    let expected = try #require(try reader.nextWithContent())
    for text in [line, line.replacing(",", with: ",\n  ").replacing("{", with: "{\r\n")] {
      let body = Array("{ \"user\": \"u\",\n\"message\": \(text) }\n".utf8)
      let (object, found) = try JSONObject.read(body, messageIn: "message", rules: .easemob)
      #expect(found?.message == expected.message && found?.content == expected.content)
      #expect(object.names == ["message", "user"])
    }
    for text in ["{}", #"{"message":"m"}"#] {
      #expect(
        try JSONObject.read(Array(text.utf8), messageIn: "message", rules: .easemob).message == nil)
    }
    #expect(throws: FileProblem.Problem.missingField("at")) {
      try JSONObject.read(
        Array(#"{"m":{"id":"m","conversation":"g"}}"#.utf8), messageIn: "m", rules: .easemob)
    }
    #expect(throws: FileProblem.Problem.self) {
      try JSONObject.read(Array("{\"m\":\(line)}".utf8), messageIn: "m", rules: .rongcloud)
    }
  }

  @Test func operationsAreHandedOverBetweenRecords() throws {
    let world = try Fanout(FanoutSettings())
    func read(_ lines: [String]) -> (records: Int, operations: [String], problem: Int?) {
      var settings = FanoutSettings()
      var options = LoadOptions()
      options.takesOperations = true
      let read = SettingsLoader.read(
        SettingsPaths(Array(lines.joined(separator: "\n").utf8)), into: &settings, over: world,
        options)
      return (
        read.recordCount, read.operations.map { "\($0.line) \((try? $0.fields.text("op")) ?? "")" },
        read.problems.first?.line
      )
    }
    let user = #"{"kind":"user","id":"u1"}"#
    let mixed = read([#"{"op":"a"}"#, "", user, #"{"user":"u","op":"b"}"#, user])
    #expect(mixed.records == 2 && mixed.operations == ["1 a", "4 b"])
    let broken = read([#"{"op":"a"}"#, #"{"kind":"user"}"#, #"{"op":"b"}"#])
    #expect(broken.problem == 2 && broken.operations == ["1 a", "3 b"])
    // A name that is null is none.
    #expect(read([#"{"op":null,"kind":"user","id":"u1"}"#]).records == 1)
    var settings = FanoutSettings()
    #expect(throws: FileProblem.self) {
      try SettingsLoader.load(
        SettingsPaths(Array(#"{"op":"a"}"#.utf8)), into: &settings, over: world)
    }
  }
}
