import Foundation
import NIOCore
import PushModel
import PushStore
import Testing

@testable import PushServer

/// `POST /v1/settings`, what it changes, and the feed.
@Suite struct SettingsTests {
  private func sequence(_ response: TestResponse) throws -> String {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: String])
    return try #require(object["sequence"])
  }

  @Test func `A write is visible to the next decision and survives a restart`() async throws {
    let server = try await TestServer.start()
    let body = """
      {"kind":"member","conversation":"g1","user":"u3"}
      {"op":"setSilentModeForAll","user":"u1","level":"none"}
      {"op":"setSilentModeForConversation","user":"u2","conversation":"g1","level":"all"}

      """
    let written = try await server.post("/v1/settings", body, DecideTests.ndjson)
    #expect(written.status == 200)
    let number = try sequence(written)
    #expect(number.hasSuffix(":4"))
    let path = "/v1/decide?format=pushes&at-least=\(number)"
    let pushes = #"{"message":"m1","push":["u2","u3"]}"# + "\n"
    #expect(try await server.post(path, TestServer.message, DecideTests.ndjson).text == pushes)
    // The same store in another server.
    let copy = try TestServer.temporaryFolder().appending(path: "copy")
    try FileManager.default.moveItem(at: server.folder, to: copy)
    try FileManager.default.createDirectory(at: server.folder, withIntermediateDirectories: true)
    try await server.stop()
    let again = try await TestServer.start(in: copy)
    #expect(try await again.post(path, TestServer.message, DecideTests.ndjson).text == pushes)
    try await again.stop()
  }

  @Test func `A batch with one wrong line changes nothing, and names the line`() async throws {
    let server = try await TestServer.start()
    var found: [String] = []
    for line in [
      #"{"op":"setSilentModeForAll","user":"u1"}"#,
      #"{"op":"setSilentModeForAll","user":"u1","level":"none","wrong":1}"#,
      #"{"op":"setSilentModeForConversation","user":"u9","conversation":"g1","level":"none"}"#,
      #"{"op":"setConversationNotificationLevel","user":"u1","conversation":"g1","level":"none"}"#,
      #"{"op":"unknown"}"#, #"{"kind":"user","id":"u1","level":"wrong"}"#, "[]", "{", "\u{0}",
      String(repeating: "[", count: 100_000),
    ] {
      let first = #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#
      let second = #"{"kind":"user","id":"u1","level":"none"}"#
      let response = try await server.post(
        "/v1/settings", "\(first)\n\(second)\n\n\(line)\n", DecideTests.ndjson)
      found.append(
        "\(response.status) \(response.code ?? "") \(response.text.contains(#""line":4"#))")
    }
    #expect(
      found == [
        "400 bad_request true", "400 bad_request true", "404 not_a_member true",
        "422 invalid_setting true", "422 unknown_operation true", "400 invalid_line true",
        "400 invalid_line true", "400 invalid_line true", "400 invalid_line true",
        "400 invalid_line true",
      ])
    let decided = try await server.post(
      "/v1/decide?format=counts", TestServer.message, DecideTests.ndjson)
    #expect(decided.text == DecideTests.counts)
    try await server.stop()
  }

  @Test func `A body that is no JSON for decisions is none for questions and writes`() async throws
  {
    let server = try await TestServer.start()
    let json = ["Content-Type": "application/json"]
    // What stands inside of an object that is right without it.
    let mistakes: [[UInt8]] =
      [
        #""id":"m1""#, #""x":{"a":1,"a":2}"#, #""x":"\u12""#, #""x":01"#, #""x":1,"#, #""x":nul"#,
        #""x":"# + String(repeating: "[", count: 2000), "\"x\":\"\u{1}\"",
      ].map { Array($0.utf8) } + [Array(#""x":""#.utf8) + [0xC3, 0x28] + Array("\"".utf8)]
    for mistake in mistakes {
      let what = String(decoding: mistake, as: UTF8.self)
      func body(_ start: String, _ end: String = "}") -> [UInt8] {
        Array(start.utf8) + mistake + Array(end.utf8)
      }
      let message = #"{"id":"m1","conversation":"g1","at":5,"#
      for (path, body) in [
        ("decide", body(message)),
        ("explain", body(#"{"user":"u1","message":"# + message, "}}")),
        ("explain", body(#"{"id":"m1","user":"u1","message":"# + TestServer.message + ",")),
        ("settings", body(#"{"id":"m1","op":"setSilentModeForAll","user":"u1","level":"none","#)),
        ("settings", body(#"{"kind":"user","id":"m1","#)),
      ] {
        let answer = try await server.send("POST", "/v1/\(path)", json, body)
        #expect("\(answer.status) \(answer.code ?? "")" == "400 invalid_line", "\(path): \(what)")
      }
    }
    // Over several lines it is one object all the same.
    let spread = TestServer.message.replacing(",", with: ",\n  ")
    let explained = try await server.post(
      "/v1/explain", "{\n\"user\": \"u2\",\n\"message\": \(spread)\n}\n", json)
    #expect(explained.text.contains(#""reason":"notMentioned""#))
    try await server.stop()
  }

  @Test func `Questions and operations are refused by their fields`() async throws {
    let server = try await TestServer.start()
    var found: [String] = []
    for (path, body) in [
      ("explain", ""), ("explain", "{}"), ("explain", #"{"message":"m1","user":"u1"}"#),
      ("explain", #"{"message":\#(TestServer.message)}"#),
      ("explain", #"{"message":\#(TestServer.message),"user":1}"#),
      ("explain", #"{"message":\#(TestServer.message),"user":"u1","content":1}"#),
      ("explain", #"{"message":\#(TestServer.message),"user":"u1","other":1}"#),
      ("explain", #"{"message":{"id":"m1"},"user":"u1"}"#), ("settings", " \n"),
      ("settings", #"{"op":1}"#), ("settings", #"{"op":"setSilentModeForAll","user":""}"#),
      ("settings", #"{"op":"setSilentModeForAll","user":"u1","minutes":1.5}"#),
      ("settings", #"{"op":"updatePushServiceForGroups","user":"u1","conversations":["g1",1]}"#),
      ("settings", #"{"op":"updatePushServiceForGroups","user":"u1","conversations":["g1"]}"#),
    ] {
      let answer = try await server.post(
        "/v1/\(path)", body, ["Content-Type": "application/json"])
      found.append("\(answer.status) \(answer.code ?? "")")
    }
    let refused = "400 bad_request"
    #expect(
      found == Array(repeating: refused, count: 7) + ["400 invalid_line"]
        + Array(repeating: refused, count: 6))
    try await server.stop()
  }

  @Test func `A repeated write with the same key is made once`() async throws {
    let server = try await TestServer.start()
    let fields = DecideTests.ndjson.merging(["Idempotency-Key": "k1"]) { $1 }
    let body = #"{"op":"setSilentModeForAll","user":"u1","minutes":5}"#
    let first = try await server.post("/v1/settings", body, fields)
    let second = try await server.post("/v1/settings", body, fields)
    #expect(first.text == second.text)
    let other = try await server.post("/v1/settings", body.replacing("5", with: "6"), fields)
    #expect("\(other.status) \(other.code ?? "")" == "422 key_reused")
    // A write that failed may be made again.
    let failing = DecideTests.ndjson.merging(["Idempotency-Key": "k2"]) { $1 }
    #expect(try await server.post("/v1/settings", "{}", failing).status == 400)
    #expect(try await server.post("/v1/settings", body, failing).status == 200)
    try await server.stop()
  }

  @Test func `A write on a condition is refused when its record has changed since`() async throws {
    let server = try await TestServer.start()
    func level(_ user: String, _ level: String) -> String {
      #"{"op":"setSilentModeForAll","user":"\#(user)","level":"\#(level)"}"#
    }
    func write(_ body: String, ifMatch tag: String) async throws -> String {
      let written = try await server.post(
        "/v1/settings", body, DecideTests.ndjson.merging(["If-Match": tag]) { $1 })
      return "\(written.status) \(written.code ?? "")"
    }
    let record = try await server.get("/v1/record?user=u1")
    #expect(record.text == #"{"kind":"user","id":"u1"}"# + "\n")
    let tag = try #require(record.fields["etag"])
    var found = [try await write(level("u1", "none"), ifMatch: tag)]
    found.append(try await write(level("u1", "all"), ifMatch: tag))
    // What is there already is no change, and that of another user is none of this one.
    found.append(try await write(level("u1", "none"), ifMatch: tag))
    found.append(try await write(level("u2", "none"), ifMatch: tag))
    let newer = try #require(try await server.get("/v1/record?user=u1").fields["etag"])
    #expect(newer != tag)
    found.append(try await write(level("u1", "all"), ifMatch: newer))
    found.append(try await write(level("u1", "none"), ifMatch: "*"))
    // Of another store, no tag, a weak one, a number that there is not, and one line of two.
    let other = #""\#(String(repeating: "0", count: 32)):9""#
    let late = tag.dropLast() + "000\""
    for wrong in [other, "9", "W/" + newer, String(late)] {
      found.append(try await write(level("u2", "all"), ifMatch: wrong))
    }
    let two = #"{"kind":"user","id":"u5"}"# + "\n" + level("u1", "all")
    found.append(try await write(two, ifMatch: newer))
    #expect(
      found == [
        "200 ", "412 changed", "200 ", "200 ", "200 ", "200 ", "412 changed", "400 bad_request",
        "400 bad_request", "412 changed", "412 changed",
      ])
    var codes: [String] = []
    for query in ["user=u5", "conversation=g1", "conversation=g1&user=u2", "", "user=u1&user=u2"] {
      let record = try await server.get("/v1/record?" + query)
      codes.append("\(record.status) \(record.code ?? String(record.text.prefix(60)))")
    }
    #expect(
      codes == [
        "404 unknown_user", #"200 {"kind":"conversation","id":"g1","type":"group"}"# + "\n",
        #"200 {"kind":"member","conversation":"g1","user":"u2","level":"me"#,
        #"200 {"kind":"app","rules":"easemob","timeZone":"UTC","devicePoli"#, "400 bad_request",
      ])
    try await server.stop()
  }

  @Test func `Nothing is done for a client whose time is over`() async throws {
    let server = try await TestServer.start(["--at-least-timeout", "60"])
    func timeout(_ milliseconds: String) -> [String: String] {
      DecideTests.ndjson.merging(["Push-Fanout-Timeout": milliseconds]) { $1 }
    }
    let app = try server.server.apps.front.app()
    let path = "/v1/decide?at-least=\(app.epoch):99"
    let waiting = try await server.post(path, TestServer.message, timeout("200"))
    #expect("\(waiting.status) \(waiting.code ?? "")" == "408 deadline_exceeded")
    let inTime = try await server.post("/v1/decide", TestServer.message, timeout("60000"))
    #expect(inTime.status == 200)
    for wrong in ["", "0", "-1", "1.5", "3600001"] {
      #expect(try await server.post("/v1/decide", TestServer.message, timeout(wrong)).status == 400)
    }
    // A write whose turn comes too late is not made, and one that is in time is answered.
    let (begun, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let body = #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#
    app.store.write(at: .zero, from: nil) { _ in
      begun.signal()
      go.wait()
    } then: { _ in
    }
    try await onThread { begun.wait() }
    async let late = server.post("/v1/settings", body, timeout("100"))
    async let early = server.post(
      "/v1/settings", body.replacing("u1", with: "u2"), timeout("60000"))
    try await Task.sleep(for: .milliseconds(500))
    go.signal()
    let (first, second) = try await (late, early)
    #expect("\(first.status) \(first.code ?? "") \(second.status)" == "408 deadline_exceeded 200")
    #expect(try await server.get("/v1/record?user=u1").text == #"{"kind":"user","id":"u1"}"# + "\n")
    let port = server.port
    let ends = try await onThread {
      // A body that does not come, and a stream.
      let connection = try Connection(port)
      try connection.send(
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
          + "Push-Fanout-Timeout: 100\r\n\r\n")
      let refused = try connection.response()
      let stream = try Connection(port)
      try stream.send(
        "GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
          + "Push-Fanout-Timeout: 300\r\n\r\n")
      var size = 0
      _ = try stream.head()
      while let chunk = try stream.chunk() { size += chunk.count }
      return (refused.status, refused.code, size > 0)
    }
    #expect(ends == (408, "deadline_exceeded", true))
    try await server.stop()
  }

  @Test func `at-least waits for a change, and gives up`() async throws {
    let server = try await TestServer.start(["--at-least-timeout", "1"])
    let number = try sequence(
      try await server.post(
        "/v1/settings", #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#,
        DecideTests.ndjson))
    let epoch = number.split(separator: ":")[0]
    let path = "/v1/decide?format=pushes&at-least=\(epoch):3"
    async let waiting = server.post(path, TestServer.message, DecideTests.ndjson)
    _ = try await server.post(
      "/v1/settings", #"{"op":"setSilentModeForAll","user":"u1","level":"all"}"#,
      DecideTests.ndjson)
    let waited = try await waiting
    #expect(waited.text == #"{"message":"m1","push":["u1"]}"# + "\n")
    let late = try await server.post(
      "/v1/decide?at-least=\(epoch):9", TestServer.message, DecideTests.ndjson)
    #expect("\(late.status) \(late.code ?? "")" == "409 not_yet")
    let other = String(repeating: "0", count: 32)
    let wrong = try await server.post(
      "/v1/decide?at-least=\(other):1", TestServer.message, DecideTests.ndjson)
    #expect("\(wrong.status) \(wrong.code ?? "")" == "409 other_epoch")
    try await server.stop()
  }

  @Test func `Events come as pages and as a stream`() async throws {
    let server = try await TestServer.start()
    let body = #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#
    let number = try sequence(try await server.post("/v1/settings", body, DecideTests.ndjson))
    let epoch = number.split(separator: ":")[0]
    let page = try await server.get("/v1/events?after=\(epoch):1")
    #expect(page.text.split(separator: "\n").count == 1)
    #expect(page.text.contains(#""change":"userLevel""#))
    #expect(page.text.contains(#""new":"none","old":"default","sequence":2,"user":"u1"}"#))
    #expect(try await server.get("/v1/events?after=\(epoch):7").status == 410)
    #expect(try await server.get("/v1/events?after=7-0000000000000000").status == 410)
    let port = server.port
    let stream = try await onThread {
      let connection = try Connection(port)
      try connection.send(
        "GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
      #expect(try connection.head().fields["content-type"] == "text/event-stream")
      let writer = try Connection(port)
      var text = ""
      while !text.contains("userLevel") {
        text += String(decoding: try connection.chunk() ?? [], as: UTF8.self)
      }
      let second = body.replacing("none", with: "all")
      try writer.send(
        "POST /v1/settings HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(second.utf8.count)\r\n\r\n\(second)"
      )
      #expect(try writer.response().status == 200)
      while !text.contains(#""sequence":3"#) {
        text += String(decoding: try connection.chunk() ?? [], as: UTF8.self)
      }
      return text
    }
    #expect(stream.contains("event: change\ndata: {\"at\":"))
    #expect(stream.contains(#""new":"all","old":"none","sequence":3"#))
    try await server.stop()
  }

  /// Whoever waits is sent something in time, whenever others began to wait.
  @Test func `Followers of events are sent a heartbeat in time`() async throws {
    let store = try SettingsStore(
      try TestServer.temporaryFolder().appending(path: "s").path, .create)
    let tail = FeedTail(store, heartbeat: .seconds(1))
    let cursor = try store.reader.endOfFeed()
    // A busy machine may be late; who is sent nothing for longer is so each time.
    var waits: [Duration] = []
    for _ in 0..<10 where !Self.areInTime(waits) {
      waits = try await Self.waits(for: tail, after: cursor)
    }
    #expect(Self.areInTime(waits), "\(waits)")
    try await store.close()
  }

  private static func areInTime(_ waits: [Duration]) -> Bool {
    !waits.isEmpty && waits.allSatisfy { $0 > .milliseconds(800) && $0 < .milliseconds(1300) }
  }

  private static func waits(
    for tail: FeedTail, after cursor: FeedCursor
  ) async throws -> [Duration] {
    try await withThrowingTaskGroup { group in
      for number in 0..<10 {
        group.addTask {
          try await Task.sleep(for: .milliseconds(130 * number))
          var longest = Duration.zero
          for _ in 0..<2 {
            let begin = ContinuousClock.now
            #expect(try await tail.next(after: cursor, of: nil).text.readableBytes == 0)
            longest = max(longest, ContinuousClock.now - begin)
          }
          return longest
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func `Members have a version, and explanations their steps`() async throws {
    let server = try await TestServer.start()
    let members = try await server.get("/v1/conversations/g1/members")
    #expect(members.text.hasPrefix(#"{"members":["u1","u2"],"#))
    let tag = try #require(members.fields["etag"])
    let path = "/v1/conversations/g1/members"
    #expect(try await server.get(path, ["If-None-Match": tag]).status == 304)
    _ = try await server.post(
      "/v1/settings", #"{"op":"addMember","user":"u7","conversation":"g1"}"#, DecideTests.ndjson)
    #expect(try await server.get(path, ["If-None-Match": tag]).status == 200)
    #expect(try await server.get("/v1/conversations/none/members").code == "unknown_conversation")
    let json = ["Content-Type": "application/json"]
    let explained = try await server.post(
      "/v1/explain", #"{"message":\#(TestServer.message),"user":"u2"}"#, json)
    #expect(explained.text.contains(#""reason":"notMentioned""#))
    let unknown = try await server.post(
      "/v1/explain", #"{"message":\#(TestServer.message),"user":"u99"}"#, json)
    #expect("\(unknown.status) \(unknown.code ?? "")" == "404 unknown_user")
    let next = try await server.get("/v1/next-change?conversation=g1&user=u1")
    #expect(next.text.hasPrefix(#"{"before":{"action":"push""#))
    let snapshot = try await server.get("/v1/snapshot")
    #expect(snapshot.status == 200)
    #expect(snapshot.fields["push-fanout-settings"]?.hasSuffix(":2") == true)
    try await server.stop()
  }
}
