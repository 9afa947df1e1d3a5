import Foundation
import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import Testing

@testable import PushServer

/// `POST /v1/decide`.
@Suite struct DecideTests {
  static let ndjson = ["Content-Type": "application/x-ndjson"]
  static let counts = """
    {"message":"m1","conversation":"g1","recipients":2,"counts":\
    {"none/notMentioned/conversation":1,"push/allowed/default":1}}

    """

  @Test func `A message is decided over a socket`() async throws {
    let server = try await TestServer.start()
    let response = try await server.post(
      "/v1/decide?format=counts", TestServer.message, Self.ndjson)
    #expect(response.status == 200)
    #expect(response.text == Self.counts)
    #expect(response.fields["push-fanout-settings"]?.hasSuffix(":1") == true)
    #expect(response.fields["push-fanout-membership"] != nil)
    try await server.stop()
  }

  @Test func `Formats have the bytes of files, and frames what their headers announce`()
    async throws
  {
    let server = try await TestServer.start()
    let (first, second) = (TestServer.message, TestServer.message.replacing("m1", with: "m2"))
    let body = "\(first)\n\(second)\n"
    let store = try SettingsStore(server.store, .read)
    let service = try FanoutService(StoreBackend(store))
    let formats: [(String, DecisionFormat)] = [
      ("counts", .counts), ("pushes", .pushlist), ("rows", .ndjson),
    ]
    for (name, format) in formats {
      let response = try await server.post("/v1/decide?format=\(name)", body, Self.ndjson)
      #expect(response.body == (try service.decide(ndjson: Array(body.utf8), as: format)))
    }
    let payloads = try await server.post("/v1/decide?format=payloads", body, Self.ndjson)
    #expect(payloads.body == (try service.render(ndjson: Array(body.utf8))))
    let message = try #require(try MessageReader(Array(first.utf8), rules: .easemob).next())
    let codes = service.decide(message).codes
    let frames = try await server.post("/v1/decide?format=codes", body, Self.ndjson).body
    #expect(frames.count == 2 * (32 + codes.count))
    #expect(Array(frames[..<16]) == [0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(frames[32..<32 + codes.count]) == codes)
    let bits = try await server.post(
      "/v1/decide", first, Self.ndjson.merging(["Accept": AnswerFormat.bitmap.mediaType]) { $1 })
    #expect(bits.fields["content-type"] == AnswerFormat.bitmap.mediaType)
    #expect(bits.body.count == 33)
    #expect(bits.body.last == 0b01)
    try await store.close()
    try await server.stop()
  }

  @Test func `An item's error stands in its place, and the others are decided`() async throws {
    let server = try await TestServer.start()
    let broken = #"{"id":"m2","conversation":"g1"}"#
    let body = "\(TestServer.message)\n\(broken)\n\(TestServer.message)\n"
    let response = try await server.post("/v1/decide?format=counts", body, Self.ndjson)
    #expect(response.status == 200)
    #expect(
      response.text == Self.counts
        + #"{"error":{"code":"invalid_line","line":2,"message":"the field \"at\" is missing"}}"#
        + "\n" + Self.counts)
    let codes = try await server.post("/v1/decide?format=codes", body, Self.ndjson).body
    #expect(codes[34] == 2)
    // A body of one message is refused as a whole.
    let json = ["Content-Type": "application/json"]
    let one = try await server.post("/v1/decide?format=counts", broken, json)
    #expect(one.status == 400)
    #expect(one.code == "invalid_line")
    try await server.stop()
  }

  /// Goal: a client that sends JSON and parses JSON, as those that are generated, needs no lines.
  @Test func `Decisions are a JSON array where that is asked for, or one message came as JSON`()
    async throws
  {
    let members = (0..<3000).map {
      #"{"kind":"member","conversation":"big","user":"a-user-with-a-name-\#($0)"}"#
    }
    let server = try await TestServer.start(
      settings: ([TestServer.settings] + members).joined(separator: "\n"))
    let json = ["Content-Type": "application/json"]
    func expect(
      _ path: String, _ body: String, _ type: [String: String], accept: String?, isArray: Bool,
      _ line: Int = #line
    ) async throws {
      let lines = try await server.post("/v1/decide\(path)", body, Self.ndjson).text
      let fields = type.merging(accept.map { ["Accept": $0] } ?? [:]) { $1 }
      let found = try await server.post("/v1/decide\(path)", body, fields)
      let items = lines.split(separator: "\n").joined(separator: ",")
      #expect(found.text == (isArray ? "[\(items)]\n" : lines), "line \(line)")
      let kind = isArray ? "application/json" : "application/x-ndjson"
      #expect(found.fields["content-type"] == kind, "line \(line)")
      if isArray { _ = try JSONSerialization.jsonObject(with: Data(found.body)) }
    }
    let one = TestServer.message
    for path in ["", "?format=rows", "?format=counts", "?format=pushes", "?format=payloads"] {
      try await expect(path, one, json, accept: nil, isArray: true)
      try await expect(path, one, json, accept: "*/*", isArray: true)
      try await expect(path, one, json, accept: "application/x-ndjson", isArray: false)
      try await expect(path, one, Self.ndjson, accept: "*/*", isArray: false)
      try await expect(path, one, Self.ndjson, accept: "application/json", isArray: true)
    }
    let nobody = one.replacing("g1", with: "nowhere")
    try await expect("", nobody, json, accept: nil, isArray: true)
    // Several messages, one of them an error, and in pieces.
    let big = one.replacing("g1", with: "big")
    let body = ([one, #"{"id":"m2"}"#, nobody] + Array(repeating: big, count: 5) + [nobody])
      .joined(separator: "\n")
    try await expect("", body, Self.ndjson, accept: "application/json", isArray: true)
    try await expect(
      "", body, Self.ndjson, accept: "application/json;q=0.5, application/x-ndjson", isArray: false)
    try await expect(
      "", body, Self.ndjson, accept: "application/json, text/html;q=0.1", isArray: true)
    let codes = AnswerFormat.codes.mediaType
    let frames = try await server.post(
      "/v1/decide", one, json.merging(["Accept": "application/json;q=0.1, \(codes)"]) { $1 })
    #expect(frames.fields["content-type"] == codes)
    // A whole number is an integer of JSON Schema, and of every language with one kind of number.
    let whole = try await server.post("/v1/decide", one, json)
    for at in ["1717400000000.0", "1.7174e12"] {
      let found = try await server.post(
        "/v1/decide", one.replacing("1717400000000", with: at), json)
      #expect(found.status == 200 && found.body == whole.body, "\(at)")
    }
    try await server.stop()
  }

  @Test func `Open rules say nothing of what a push contains, and go on deciding`() async throws {
    let server = try await TestServer.start(
      settings: """
        {"kind":"app","rules":"open"}
        {"kind":"member","conversation":"g1","user":"u1"}
        """)
    let json = ["Content-Type": "application/json"]
    let question = #"{"user":"u1","content":true,"message":\#(TestServer.message)}"#
    for (path, body) in [
      ("/v1/decide?format=payloads", TestServer.message), ("/v1/explain", question),
    ] {
      let answer = try await server.post(path, body, json)
      #expect("\(answer.status) \(answer.code ?? "")" == "422 invalid_setting")
      #expect(answer.text.contains("the rules open do not say what a push contains"))
    }
    #expect(try await server.post("/v1/decide", TestServer.message, json).text.contains("push"))
    try await server.stop()
  }

  @Test func `A large answer is sent in pieces, and is the same`() async throws {
    let members = (0..<3000).map {
      #"{"kind":"member","conversation":"g1","user":"a-user-with-a-name-\#($0)""#
        + ($0 % 3 == 0 ? #","level":"none"}"# : "}")
    }
    let settings = ([TestServer.settings] + members).joined(separator: "\n")
    let server = try await TestServer.start(settings: settings)
    let body = (0..<40).map { TestServer.message.replacing("m1", with: "m\($0)") }
      .joined(separator: "\n")
    let response = try await server.post("/v1/decide?format=rows", body, Self.ndjson)
    #expect(response.fields["transfer-encoding"] == "chunked")
    let store = try SettingsStore(server.store, .read)
    let service = try FanoutService(StoreBackend(store))
    #expect(response.body == (try service.decide(ndjson: Array(body.utf8))))
    let codes = try await server.post(
      "/v1/decide?format=codes", TestServer.message, Self.ndjson
    ).body.dropFirst(32)
    let bits = try await server.post(
      "/v1/decide?format=bitmap", TestServer.message, Self.ndjson
    ).body.dropFirst(32)
    let unpacked = bits.flatMap { byte in (0..<8).map { byte >> $0 & 1 } }
    #expect(Array(unpacked.prefix(codes.count)) == codes.map { $0 & 1 })
    #expect(codes.count == 3002)
    try await store.close()
    try await server.stop()
  }

  @Test func `Requests that are not understood are refused with their code`() async throws {
    let server = try await TestServer.start(["--body-limit", "1000"])
    var found: [String] = []
    func post(_ path: String, _ body: String, _ fields: [String: String] = DecideTests.ndjson)
      async throws
    {
      let response = try await server.post(path, body, fields)
      found.append("\(response.status) \(response.code ?? "")")
    }
    try await post("/v1/decide?format=wrong", TestServer.message)
    try await post("/v1/decide", "")
    try await post("/v1/decide", String(repeating: " ", count: 1001))
    try await post("/v1/decide", TestServer.message, ["Content-Type": "text/html"])
    try await post(
      "/v1/decide", "", ["Content-Type": "application/vnd.apache.arrow.stream"])
    try await post("/v1/decide", TestServer.message, ["Content-Encoding": "gzip"])
    try await post("/v1/decide", TestServer.message, ["Accept": "image/png"])
    try await post("/v1/decide?at-least=1", TestServer.message)
    try await post("/v1/decide?format=rows&format=rows", TestServer.message)
    try await post("/v1/nothing", "")
    try await post("/livez", "")
    #expect(
      found == [
        "400 bad_request", "400 bad_request", "413 too_large", "415 unsupported_media_type",
        "415 unsupported_media_type", "415 unsupported_media_type", "406 not_acceptable",
        "400 bad_request", "400 bad_request",
        "404 not_found", "405 method_not_allowed",
      ])
    let large = try await server.post("/v1/decide", String(repeating: " ", count: 1001))
    #expect(large.text.contains("more than 1000 bytes"))
    try await server.stop()
  }

  // MARK: Heartbeats

  private static let openSettings = """
    {"kind":"app","rules":"open"}
    {"kind":"user","id":"u1","devices":[{"id":"p1","state":"offline"}]}
    {"kind":"member","conversation":"g1","user":"u1"}
    {"kind":"member","conversation":"g1","user":"u2"}
    """

  /// Each line counts by itself; none is in the feed, and a restart knows of none.
  @Test func `Heartbeats decide at once and are not stored`() async throws {
    let server = try await TestServer.start(settings: Self.openSettings)
    func pushes(at: Int) async throws -> String {
      try await server.post(
        "/v1/decide?format=pushes", #"{"id":"m","conversation":"g1","at":\#(at)}"#, Self.ndjson
      ).text
    }
    let before = try await server.get("/v1/events").text
    let beats = [
      #"{"user":"u1","device":"p1","state":"foreground","seenAt":1717400000000}"#,
      #"{"user":"u1","device":"p2","state":"foreground"}"#, "{", "",
      #"{"user":"u9","device":"default","state":"foreground"}"#,
      #"{"user":"u2","device":"default","state":"foreground","seenAt":1717400060000}"#,
    ]
    let answer = try await server.post(
      "/v1/presence", beats.joined(separator: "\n"), Self.ndjson)
    #expect(answer.status == 200)
    let start = #"{"applied":2,"refused":3,"errors":[{"code":"unknown_device","line":2,"#
    #expect(answer.text.hasPrefix(start), "\(answer.text)")
    #expect(answer.text.contains(#"{"code":"invalid_line","line":3,"#))
    #expect(answer.text.contains(#"{"code":"unknown_user","line":5,"#))
    #expect(try await pushes(at: 1_717_400_090_000) == #"{"message":"m","push":[]}"# + "\n")
    #expect(try await pushes(at: 1_717_400_090_001) == #"{"message":"m","push":["u1"]}"# + "\n")
    #expect(
      try await pushes(at: 1_717_400_150_001) == #"{"message":"m","push":["u1","u2"]}"# + "\n")
    let explained = try await server.post(
      "/v1/explain",
      #"{"user":"u1","message":{"id":"m","conversation":"g1","at":1717400090000}}"#,
      ["Content-Type": "application/json"])
    #expect(explained.text.contains(#""reason":"online""#), "\(explained.text)")
    let record = try await server.get("/v1/record?user=u1").text
    #expect(record.contains(#""id":"p1""#) && !record.contains("foreground"), "\(record)")
    #expect(try await server.get("/v1/events").text == before)
    for (body, status) in [("", 400), (#"{"user":"u9","device":"p1","state":"offline"}"#, 404)] {
      #expect(try await server.post("/v1/presence", body, Self.ndjson).status == status)
    }
    try await server.stop()
  }
}
