import Foundation
import TestSupport
import Testing

@testable import PushImport

/// Goal: what is wrong with an export ends the import, and says where (I-5).
@Suite struct ProblemTests {
  @Test func linesOfMattermost() throws {
    let cases: [(line: String, says: String)] = [
      ("{", "the JSON text is cut off"), ("x", "this is not JSON"),
      ("[1]", "this is not a JSON object"), ("{}", "the field type is missing"),
      (#"{"type":1}"#, "the field type is not a string"),
      (#"{"type":"user"}"#, "the field user is missing"),
      (#"{"type":"user","user":[]}"#, "the field user is not an object"),
      (#"{"type":"user","user":{}}"#, "the field username is missing"),
      (#"{"type":"user","user":{"username":""}}"#, "the field username is empty"),
      (
        #"{"type":"user","user":{"username":"ann","notify_props":[]}}"#,
        #"the person "ann": the field notify_props is not an object"#
      ),
      (
        #"{"type":"user","user":{"delete_at":"x","username":"ann"}}"#,
        #"the person "ann": the field delete_at is not a whole number"#
      ),
      (#"{"type":"channel","channel":{"name":"c"}}"#, "the field team is missing"),
      (#"{"type":"bot","bot":{}}"#, "the field username is missing"),
      (#"{"type":"direct_channel","direct_channel":{}}"#, "the field participants is missing"),
      (
        #"{"type":"post","post":{"team":"t","channel":"c","user":"ann"}}"#,
        #"the person "ann": the field create_at is missing"#
      ),
      (Line.post("x", at: -1), #"the person "dee": the field create_at is no instant: -1"#),
      (
        Line.post("x").replacing("5", with: "1.5"),
        #"the person "dee": the field create_at is not a whole number"#
      ),
      (Line.post("x", #","replies":{}"#), #"the person "dee": the field replies is not an array"#),
      (
        Line.post("x", #","replies":[{"user":"ann"}]"#),
        #"the person "dee": the field create_at is missing"#
      ),
      (#"{"a":1,"a":2}"#, "the key a is there twice"), ("{\"a\":\"\u{0}\"}", "this is not JSON"),
    ]
    let found = cases.map { item in
      Importer.problem { try Importer().mattermost([Line.town, "", item.line, Line.town]) }
    }
    #expect(found == cases.map { "e.jsonl:3: \($0.says)" })
  }

  @Test func rowsOfZulip() throws {
    func realm(_ rows: String) -> String { "{\n\"zerver_userprofile\": [\n\(rows)\n]\n}" }
    let cases: [(text: String, says: String)] = [
      ("", "realm.json: it is empty"), (" ", "realm.json:1: the JSON text is cut off"),
      ("x", "realm.json:1: this is not JSON"),
      ("{\n\"a\": [\n1", "realm.json:3: the JSON text is cut off"),
      ("{\n\"a\": [\n1,\n]}", "realm.json:4: this is not JSON"),
      ("{\n\"a\" 5}", "realm.json:2: this is not JSON"),
      ("{}\n}", "realm.json:2: this is not JSON"),
      ("{\"a\":[tru]}", "realm.json:1: this is not JSON"),
      ("{\n\"a\":[\n{\"b\":}]}", "realm.json:3: this is not JSON"),
      (realm("{\n\"x\": 1}"), "realm.json:3: the field id is missing"),
      (
        realm("{\n\"x\": [1, \"]\"],\n\"id\":\n\"5\"}"),
        "realm.json:6: the field id is not a whole number"
      ),
      (realm("{\"id\":1},\n5"), "realm.json:4: the field zerver_userprofile is not an object"),
      ("{\"zerver_message\":{}}", "realm.json:1: zerver_message is not an array"),
      (
        "{\"zerver_subscription\":[{\"user_profile\":7}]}",
        "realm.json:1: the person 7: the field recipient is missing"
      ),
      (
        "{\"zerver_message\":[{\"id\":1,\"sender\":2,\"recipient\":3,\"date_sent\":-1}]}",
        "realm.json:1: the person 2: the field date_sent is no instant: -1.0"
      ),
    ]
    let found = cases.map { item in
      Importer.problem { try Importer().zulip(["realm.json": item.text]) }
    }
    #expect(found == cases.map(\.says))
    #expect(
      Importer.problem { try Importer().zulip(["x.json": "{}"]) }.hasSuffix(
        "there is no realm.json in it"))
  }

  /// In an item of a document the line is that of the fault.
  @Test func faultsInItems() throws {
    let cases: [(item: String, says: String)] = [
      ("{\"a\":1,\n\"b\":tru}", "4: this is not JSON"),
      ("{\"a\":[1,\n2\n3]}", "5: this is not JSON"),
      ("{\"a\"\n:\n01}", "5: this is not JSON"), ("{\"a\":-1.5e+7,\n}", "4: this is not JSON"),
      ("{\n\"a\":\"\\x\"}", "4: this is not JSON"), ("{\n\n\"a\":\"\t\"}", "5: this is not JSON"),
      ("{\n\"a\":null,\n\"b\":false.5\n}", "5: this is not JSON"),
      ("{\"c\":{\"a\":0},\n\"a\":1,\n\"a\":[]}", "5: the key a is there twice"),
      (
        "{\n\"b\":\n" + String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
          + "}",
        "5: the JSON text is nested too deeply"
      ),
    ]
    let found = cases.map { item in
      Importer.problem {
        try Importer().zulip(["realm.json": "{\n\"zerver_userprofile\": [\n\(item.item)\n]\n}"])
      }
    }
    #expect(found == cases.map { "realm.json:\($0.says)" })
    let folder = ScratchFolder()
    let text = Array("{\"zerver_stream\":[{\n\"a\":\"".utf8) + [0xC3] + Array("\"}]}".utf8)
    let path = try folder.write(text, as: "realm.json")
    let problem = Importer.problem { try Importer().imported(.zulip, folder.url.path) }
    #expect(problem == "realm.json:2: this is not UTF-8", "\(path)")
  }

  @Test func overlays() throws {
    let found = Importer.problem {
      try Importer().mattermost([]) { options, folder in
        options.users = try folder.write(Array("[{\"username\":\"a\"},\n{}]".utf8), as: "u.json")
      }
    }
    #expect(found == "u.json:2: the field username is missing")
    let cut = Importer.problem {
      try Importer().mattermost([]) { options, folder in
        options.users = try folder.write(Array("[{\"username\":\"a\"},\n".utf8), as: "u.json")
      }
    }
    #expect(cut == "u.json:2: the JSON array is cut off")
  }

  /// Lines of 10 MB are read; those that memory has no room for are not.
  @Test func longLines() throws {
    let long = Line.post(String(repeating: "x", count: 10 << 20))
    #expect(try Importer().mattermost([Line.town, long, Line.user("dee")]).messages.count == 1)
    let problem = Importer.problem {
      try Importer().mattermost([Line.town, String(repeating: " ", count: 65 << 20)])
    }
    #expect(problem == "e.jsonl:2: the line is longer than 64 MiB")
  }
}
