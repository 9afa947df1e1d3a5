import Foundation
import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import Testing

@testable import PushServer

/// `POST /v1/requests`. That its bytes are those of the published cases is shown by check-answers.
@Suite struct RequestsTests {
  private static let settings = """
    {"kind":"app","rules":"easemob","timeZone":"UTC"}
    {"kind":"user","id":"u1","devices":[{"id":"p","platform":"apns","token":"ab12"},\
    {"id":"a","platform":"fcm","token":"T1"}]}
    {"kind":"user","id":"u2","devices":[{"id":"a","platform":"fcm","token":"T2"}]}
    {"kind":"member","conversation":"g1","user":"u1"}
    {"kind":"member","conversation":"g1","user":"u2"}
    """
  private static let senders = """
    {"kind":"sender","platform":"apns","topic":"com.example.chat"}
    {"kind":"sender","platform":"fcm","project":"example"}
    """

  private func file(_ text: String) throws -> String {
    let path = try TestServer.temporaryFolder().appending(path: "senders.ndjson").path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func devices(_ text: String) -> [Substring] {
    text.matches(of: /"user":"(u\d)","device":"(\w)"/).map { $0.1 + $0.2 }
  }

  @Test func `Requests are the library's, for some platforms, with bodies once, as an array`()
    async throws
  {
    let server = try await TestServer.start(
      ["--senders", try file(Self.senders)], settings: Self.settings)
    let broken = #"{"id":"m2","conversation":"g1"}"#
    let body = "\(TestServer.message)\n\(TestServer.message)\n"
    let store = try SettingsStore(server.store, .read)
    let service = try FanoutService(StoreBackend(store))
    let senders = try SenderReader.load(Array(Self.senders.utf8), rules: .easemob)
    for (query, platforms, shares) in [
      ("", Set(PushPlatform.allCases), false), ("?platform=fcm", [.fcm], false),
      ("?platform=fcm,apns&share-bodies=true", Set(PushPlatform.allCases), true),
    ] {
      let found = try await server.post("/v1/requests\(query)", body, DecideTests.ndjson)
      let wanted = try service.requests(
        ndjson: Array(body.utf8), by: senders, for: platforms, sharesBodies: shares)
      #expect(found.body == wanted && found.fields["content-type"] == "application/x-ndjson")
    }
    let json = ["Content-Type": "application/json"]
    let array = try await server.post("/v1/requests", TestServer.message, json)
    let items = try JSONSerialization.jsonObject(with: Data(array.body)) as? [[String: Any]]
    #expect(items?.compactMap { $0["device"] as? String } == ["p", "a", "a"])
    // An error stands in its place.
    let mixed = try await server.post(
      "/v1/requests?platform=apns", "\(TestServer.message)\n\(broken)\n\(TestServer.message)",
      DecideTests.ndjson)
    let lines = mixed.text.split(separator: "\n")
    #expect(
      lines.map { $0.hasPrefix(#"{"error":{"code":"invalid_line","line":2,"#) } == [
        false, true, false,
      ])
    try await store.close()
    try await server.stop()
  }

  @Test func `What is not understood is refused`() async throws {
    let server = try await TestServer.start(
      ["--senders", try file(Self.senders)], settings: Self.settings)
    for (query, words) in [
      ("platform=hms", "there is no platform hms; there are apns, fcm"),
      ("platform=", "there is no platform "), ("platform=apns,", "there is no platform "),
      ("share-bodies=1", "the parameter share-bodies is true or false, not 1"),
      ("format=rows", "/v1/requests has no parameter format"),
    ] {
      let found = try await server.post(
        "/v1/requests?\(query)", TestServer.message, DecideTests.ndjson)
      #expect(found.status == 400 && found.text.contains(words), "\(found.text)")
    }
    let choice = try await server.post(
      "/v1/decide?format=requests", TestServer.message, DecideTests.ndjson)
    #expect(choice.status == 400)
    try await server.stop()
    let without = try await TestServer.start(settings: Self.settings)
    let none = try await without.post("/v1/requests", TestServer.message, DecideTests.ndjson)
    #expect(none.status == 422 && none.code == "no_senders" && none.text.contains("--senders FILE"))
    try await without.stop()
    let open = try await TestServer.start(
      ["--senders", try file(Self.senders)],
      settings: """
        {"kind":"app","rules":"open","timeZone":"UTC"}
        {"kind":"member","conversation":"g1","user":"u1"}
        """)
    let refused = try await open.post("/v1/requests", TestServer.message, DecideTests.ndjson)
    #expect(refused.status == 422 && refused.code == "invalid_setting")
    try await open.stop()
  }

  /// Goal: a wrong file of senders is met at the start, in the words of the command.
  @Test func `Senders are checked at the start, by the rules of the settings`() async throws {
    let path = try file(Self.senders + "\n" + #"{"kind":"sender","platform":"apns","topik":"x"}"#)
    let wrong = await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--senders", path], settings: Self.settings)
    }
    #expect(wrong?.description == #"\#(path):3: unknown field "topik"; did you mean "topic"?"#)
    let missing = await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--senders", path + "x"], settings: Self.settings)
    }
    #expect(missing?.description.hasPrefix("\(path)x: cannot be opened") == true)
    let category = #"{"kind":"sender","platform":"apns","topic":"t","category":"messageType"}"#
    let others = try file(category)
    let ofOthers = await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--senders", others], settings: Self.settings)
    }
    let words = #""category" belongs to rongcloud, but the rules are easemob"#
    #expect(ofOthers?.description.hasPrefix("\(others):1: \(words)") == true)
    // A store without settings has no rules that could contradict.
    let folder = try TestServer.temporaryFolder()
    try await SettingsStore(folder.appending(path: "app.store").path, .create).close()
    let empty = try await TestServer.start(["--senders", others], in: folder)
    let early = try await empty.post("/v1/requests", TestServer.message, DecideTests.ndjson)
    #expect(early.status == 422 && early.code == "invalid_options", "\(early.text)")
    #expect(early.text.contains("line 1: ") && !early.text.contains(others))
    _ = try await empty.post(
      "/v1/settings", #"{"kind":"app","rules":"rongcloud","timeZone":"UTC"}"#, DecideTests.ndjson)
    let later = try await empty.post("/v1/requests", TestServer.message, DecideTests.ndjson)
    #expect(later.status == 200, "\(later.text)")
    try await empty.stop()
  }

  @Test func `Senders are read again, and a wrong file changes nothing`() async throws {
    let path = try file(Self.senders)
    let server = try await TestServer.start(["--senders", path], settings: Self.settings)
    func found() async throws -> [Substring] {
      devices(
        try await server.post(
          "/v1/requests?platform=fcm", TestServer.message, DecideTests.ndjson
        ).text.split(separator: "\n").filter { $0.contains("example") }.joined())
    }
    #expect(try await found() == ["u1a", "u2a"])
    try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: OptionError.self) { try server.server.apps.reloadSenders() }
    #expect(try await found() == ["u1a", "u2a"])
    try Self.senders.replacing("example\"}", with: "other\"}")
      .write(toFile: path, atomically: true, encoding: .utf8)
    try server.server.apps.reloadSenders()
    #expect(try await found() == [])
    try await server.stop()
  }
}
