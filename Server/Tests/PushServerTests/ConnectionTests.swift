import Foundation
import NIOCore
import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import Testing

@testable import PushServer

/// Requests on one connection, and the decisions of one body.
@Suite struct ConnectionTests {
  private static let pushes = #"{"message":"m1","push":["u1"]}"# + "\n"

  private static func decide(_ query: String, _ body: String, _ more: String = "") -> String {
    "POST /v1/decide?\(query) HTTP/1.1\r\nHost: localhost\r\n\(more)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// `g1` with 3002 members.
  private static let largeRoom =
    ([TestServer.settings]
    + (0..<3000).map {
      #"{"kind":"member","conversation":"g1","user":"a-user-with-a-name-\#($0)""#
        + ($0 % 3 == 0 ? #","level":"none"}"# : "}")
    }).joined(separator: "\n")

  @Test func `Answers that are made at once do not overtake those that take longer`() async throws {
    let server = try await TestServer.start()
    let port = server.port
    let events = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let live = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let decided = Self.decide("format=pushes", TestServer.message)
    let found = try await onThread {
      let connection = try Connection(port)
      try connection.send(String(repeating: events + live + decided, count: 20))
      return try (0..<60).map { _ in try connection.response().text }
    }
    let feed = try await server.get("/v1/events").text
    #expect(feed.contains("imported"))
    #expect(found == (0..<20).flatMap { _ in [feed, "ok\n", Self.pushes] })
    try await server.stop()
  }

  @Test func `A client that has sent everything and closes its side is answered`() async throws {
    let server = try await TestServer.start(["--threads", "1"])
    let port = server.port
    let events = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let decided = Self.decide("format=pushes", TestServer.message)
    let answers = try await onThread {
      let connection = try Connection(port)
      try connection.send(events + decided)
      connection.endSending()
      return try connection.rest().components(separatedBy: "HTTP/1.1 200 OK")
    }
    #expect(answers.count == 3)
    #expect(answers.last?.hasSuffix(Self.pushes) == true)
    // One that ends within a request is not waited for.
    let rest = try await onThread {
      let connection = try Connection(port)
      try connection.send(String(decided.dropLast(5)))
      connection.endSending()
      return try connection.rest()
    }
    #expect(!rest.contains("200"))
    #expect(try await server.get("/metrics").text.contains("\npush_fanout_requests_in_flight 1\n"))
    try await server.stop()
  }

  @Test func `A connection ends behind the answer to a request that asks for it`() async throws {
    let server = try await TestServer.start()
    let port = server.port
    let closing = Self.decide("format=pushes", TestServer.message, "Connection: Close\r\n")
    let text = try await onThread {
      let connection = try Connection(port)
      try connection.send(closing + closing)
      return try connection.rest()
    }
    #expect(text.components(separatedBy: "HTTP/1.1 200 OK").count == 2)
    #expect(text.hasSuffix(Self.pushes))
    try await server.stop()
  }

  @Test func `Targets may be whole addresses, and HEAD has no body`() async throws {
    let server = try await TestServer.start()
    let port = server.port
    let found = try await onThread {
      let connection = try Connection(port)
      var found: [String] = []
      for target in ["http://h/livez", "http://h", "/livez?a=http://b", "*"] {
        try connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let response = try connection.response()
        found.append("\(response.status) \(response.code ?? String(response.text.prefix(3)))")
      }
      let end = " /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
      try connection.send("HEAD\(end)GET\(end)")
      found.append("\(try connection.head().status)")
      found.append("\(try connection.response().text)")
      return found
    }
    #expect(found == ["200 ok\n", "200 <!D", "400 bad_request", "404 not_found", "200", "ok\n"])
    try await server.stop()
  }

  @Test func `A client that reads late gets all answers in order`() async throws {
    let server = try await TestServer.start(settings: Self.largeRoom)
    let port = server.port
    let texts = try await onThread {
      let connection = try Connection(port)
      // 60 answers of 100 kB: more than the system keeps for a connection.
      let requests = (0..<60).map {
        Self.decide("format=pushes", TestServer.message.replacing("m1", with: "m\($0)"))
      }
      try connection.send(requests.joined())
      usleep(200_000)
      return try (0..<60).map { _ in try connection.response().text }
    }
    #expect(texts.map { $0.prefix(16) } == (0..<60).map { #"{"message":"m\#($0)","#.prefix(16) })
    #expect(texts.allSatisfy { $0.utf8.count > 40_000 && $0.hasSuffix("]}\n") })
    try await server.stop()
  }

  // MARK: One body

  private func opened() async throws -> OpenedApp {
    let path = try TestServer.temporaryFolder().appending(path: "app.store").path
    let store = try SettingsStore(path, .create)
    try await FanoutService(StoreBackend(store)).change(
      ndjson: Array(TestServer.settings.utf8), at: .zero)
    try await store.close()
    return try OpenedApp(ServerOptions(flags: ["--store", path, "--insecure"]))
  }

  @Test func `All messages of a body are decided by one version, whatever is written meanwhile`()
    async throws
  {
    let app = try await opened()
    let body = ByteBuffer(string: "\(TestServer.message)\n\(TestServer.message)\n")
    let deciding = try Deciding(body, app, .counts, showsDevices: false)
    #expect(try deciding.decide(upTo: 1) == .enoughBytes)
    let first = String(buffer: deciding.takeBytes(isLast: true))
    let line = #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#
    let operation = try SettingsOperation(JSONObject(Array(line.utf8)), .easemob)
    try await app.store.write(at: .zero) { write in _ = try operation.apply(to: &write) }
    #expect(try deciding.decide(upTo: .max) == .complete)
    #expect(String(buffer: deciding.takeBytes(isLast: true)) == first)
    // The next body is by what was written.
    let next = try Deciding(body, app, .counts, showsDevices: false)
    #expect(try next.decide(upTo: .max) == .complete)
    let after = String(buffer: next.takeBytes(isLast: true))
    #expect(after.contains("levelNone") && !first.contains("levelNone"))
    #expect(next.settings != deciding.settings)
    try await app.store.close()
  }

  @Test func `Messages to many members are left to another thread, and nothing is decided twice`()
    async throws
  {
    let app = try await opened()
    let body = ByteBuffer(string: "\(TestServer.message)\n\(TestServer.message)\n")
    for format in AnswerFormat.allCases {
      let whole = try Deciding(body, app, format, showsDevices: false)
      #expect(try whole.decide(upTo: .max) == .complete)
      let parts = try Deciding(body, app, format, showsDevices: false)
      // Each goes to two members.
      #expect(try parts.decide(upTo: .max, members: 1) == .tooManyMembers)
      #expect(try parts.decide(upTo: .max, members: 3) == .tooManyMembers)
      #expect(parts.messageCount == 1)
      #expect(try parts.decide(upTo: .max) == .complete)
      #expect(parts.takeBytes(isLast: true) == whole.takeBytes(isLast: true))
      #expect(parts.messageCount == 2)
    }
    try await app.store.close()
  }

  @Test func `An answer that is complete is sent with its length, however large`() async throws {
    let server = try await TestServer.start(settings: Self.largeRoom)
    let port = server.port
    // Frames of 3034 bytes: the 87th is the first one beyond 256 KiB.
    var found: [String] = []
    for count in [87, 88] {
      let body = String(repeating: TestServer.message + "\n", count: count)
      let response = try await onThread {
        let connection = try Connection(port)
        try connection.send(Self.decide("format=codes", body))
        return try connection.response()
      }
      let length = response.fields["content-length"] ?? "chunked"
      found.append("\(response.body.count) \(length)")
    }
    #expect(found == ["\(87 * 3034) \(87 * 3034)", "\(88 * 3034) chunked"])
    try await server.stop()
  }
}
