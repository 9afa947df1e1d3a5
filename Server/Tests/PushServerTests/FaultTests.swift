import Foundation
import Glibc
import PushFanout
import PushModel
import PushStore
import Synchronization
import Testing

@testable import PushServer

/// Goal: what a machine does to the server is refused with what to do, or served on; it never hangs,
/// and its memory stays bounded.
@Suite(.serialized) struct FaultTests {
  private static let ndjson = ["Content-Type": "application/x-ndjson"]

  // MARK: The disk

  @Test func `Without room on the disk writes are refused, decisions go on, and it recovers`()
    async throws
  {
    let folder = try TestServer.temporaryFolder()
    let server = try ServerProcess(folder, fileLimit: 600_000)
    try await onThread {
      let connection = try Connection(server.port)
      _ = try server.post(connection, "/v1/settings", #"{"kind":"app","rules":"easemob"}"#)
      let long = String(repeating: "x", count: 5000)
      var acknowledged = 0
      func write() throws -> TestResponse {
        let member = #"{"kind":"member","conversation":"g","user":"u\#(acknowledged)"}"#
        let more = #"{"kind":"member","conversation":"\#(acknowledged)\#(long)","user":"u"}"#
        let response = try server.post(connection, "/v1/settings", member + "\n" + more)
        if response.status == 200 { acknowledged += 1 }
        return response
      }
      var refused = try write()
      for _ in 0..<10_000 where refused.status == 200 { refused = try write() }
      #expect(refused.status == 503)
      #expect(
        "\(refused.code ?? "") \(refused.fields["retry-after"] ?? "")" == "store_unavailable 1")
      #expect(refused.text.contains("nothing was changed"))
      #expect(acknowledged > 0)

      func counts() throws -> String {
        try server.post(
          connection, "/v1/decide?format=counts", #"{"id":"m","conversation":"g","at":5}"#
        ).text
      }
      let before = acknowledged
      #expect(try counts().contains(#""push/allowed/default":\#(before)"#))
      #expect(try server.get(connection, "/v1/events").status == 200)
      #expect(try server.get(connection, "/readyz").status == 200)

      let raising = try Process.run(
        URL(filePath: "/usr/bin/prlimit"),
        arguments: ["--pid", "\(server.process.processIdentifier)", "--fsize=unlimited:"])
      raising.waitUntilExit()
      #expect(raising.terminationStatus == 0)
      for _ in 0..<5 { #expect(try write().status == 200) }
      #expect(try counts().contains(#""push/allowed/default":\#(before + 5)"#))
      #expect(server.end(SIGTERM) == 0)
      let store = try SettingsStore(folder.appending(path: "app.store").path)
      #expect(store.fanout.memberCount(of: "g") == before + 5)
      #expect(try store.reader.check() == [])
      try store.close()
    }
    try FileManager.default.removeItem(at: folder)
  }

  @Test(arguments: [true, false])
  func `A store that is taken away is written no more, and readyz says so`(
    isReplaced: Bool
  ) async throws {
    let server = try await TestServer.start()
    let other = server.folder.appending(path: "other.store").path
    try await TestServer.make(other, TestServer.settings)
    try FileManager.default.moveItem(atPath: server.store, toPath: server.store + ".moved")
    if isReplaced { try FileManager.default.moveItem(atPath: other, toPath: server.store) }
    let write = try await server.post("/v1/settings", #"{"kind":"user","id":"n"}"#, Self.ndjson)
    #expect("\(write.status) \(write.code ?? "")" == "503 store_unavailable")
    #expect(write.text.contains("removed, renamed or replaced"))
    // The next look at the file is within a second.
    var ready = try await server.get("/readyz")
    while ready.status == 200 {
      try await Task.sleep(for: .milliseconds(50))
      ready = try await server.get("/readyz")
    }
    #expect("\(ready.status) \(ready.code ?? "")" == "503 not_ready")
    #expect(ready.text.contains("\(server.store) is not the file that was opened any more"))
    let decided = try await server.post(
      "/v1/decide?format=pushes", TestServer.message, Self.ndjson)
    #expect(decided.text == #"{"message":"m1","push":["u1"]}"# + "\n")
    #expect(try await server.get("/v1/events").status == 200)
    #expect(try await server.get("/metrics").text.contains("\npush_fanout_ready 0\n"))
    try await server.stop()
  }

  // MARK: The clock

  private static let compiler = "/usr/bin/gcc"

  @Test(.enabled(if: FileManager.default.fileExists(atPath: compiler), "a C compiler is needed"))
  func `A clock that is set back or forward changes nothing but the time`() async throws {
    let folder = try TestServer.temporaryFolder()
    let file = folder.appending(path: "time").path
    @Sendable func set(_ offset: String) throws {
      try offset.write(toFile: file, atomically: true, encoding: .utf8)
    }
    try set("0")
    let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "clock/clock.c").path
    let library = folder.appending(path: "clock.so").path
    let compiling = try Process.run(
      URL(filePath: Self.compiler), arguments: ["-shared", "-fPIC", "-o", library, source])
    compiling.waitUntilExit()
    try #require(compiling.terminationStatus == 0)
    let server = try ServerProcess(
      folder, environment: ["LD_PRELOAD": library, "CLOCK_OFFSET": file])
    try await onThread {
      let connection = try Connection(server.port)
      func write(_ line: String) throws -> Int {
        let response = try server.post(connection, "/v1/settings", line)
        #expect(response.status == 200, "\(response.text)")
        return Int(response.text.split { !$0.isNumber }.last ?? "") ?? 0
      }
      /// The hour that the server has, once it has another than before.
      func hour() throws -> Int {
        let date = try server.get(connection, "/livez").fields["date"] ?? ""
        return Int(date.split { $0 == " " || $0 == ":" }[4]) ?? -1
      }
      func wait(forHour wanted: Int) throws {
        for _ in 0..<1200 {
          if try hour() == wanted { return }
          #expect(try server.get(connection, "/readyz").status == 200)
          usleep(50_000)
        }
        Issue.record("the clock of the server is not \(wanted) h")
      }
      /// The outcome at an instant so many hours from now.
      func outcome(afterHours hours: Double) throws -> String {
        let at = Int64((Date().timeIntervalSince1970 + hours * 3600) * 1000)
        return try server.post(
          connection, "/v1/decide?format=rows", #"{"id":"m","conversation":"g","at":\#(at)}"#
        ).text
      }
      _ = try write(
        #"{"kind":"app","rules":"easemob"}"# + "\n"
          + #"{"kind":"member","conversation":"g","user":"u"}"#)
      var last = try write(#"{"op":"setSilentModeForAll","user":"u","minutes":60}"#)
      #expect(try outcome(afterHours: 0.5).contains(#""action":"none""#))
      let begin = try hour()

      try set("-7200")
      try wait(forHour: (begin + 22) % 24)
      #expect(try outcome(afterHours: 0.5).contains(#""action":"none""#))
      let early = try write(#"{"op":"setSilentModeForAll","user":"u","minutes":30}"#)
      #expect(early > last)
      last = early
      // From the time of the server: an hour and a half ago it ended.
      #expect(try outcome(afterHours: 0).contains(#""action":"push""#))
      #expect(try outcome(afterHours: -1.75).contains(#""action":"none""#))

      try set("10800")
      try wait(forHour: (begin + 3) % 24)
      #expect(try server.get(connection, "/readyz").status == 200)
      #expect(try write(#"{"op":"setSilentModeForAll","user":"u","minutes":60}"#) > last)
      #expect(try outcome(afterHours: 3.5).contains(#""action":"none""#))
      let numbers = try server.get(connection, "/v1/events").text.split(separator: "\n").compactMap
      {
        $0.firstMatch(of: #/"sequence":(\d+)/#).flatMap { Int($0.1) }
      }
      #expect(numbers == Array(1...numbers.count))

      // Before 1970 there is no instant that a setting could have.
      try set("-2000000000")
      let refused = try server.post(
        connection, "/v1/settings", #"{"op":"setSilentModeForAll","user":"u","minutes":60}"#)
      #expect("\(refused.status) \(refused.code ?? "")" == "503 store_unavailable")
      #expect(refused.text.contains("before 1970"))
      #expect(server.end(SIGTERM) == 0)
    }
    try FileManager.default.removeItem(at: folder)
  }

  // MARK: Connections

  /// Raises the number of files that this process may have open.
  private static func raiseDescriptors(to count: Int) -> Bool {
    DescriptorLimit.raise(forConnections: count) >= count
  }

  /// `make -C Server soak` has ten thousand.
  private static let connections =
    ProcessInfo.processInfo.environment["PUSH_CONNECTIONS"].flatMap { Int($0) } ?? 2000

  @Test func `Thousands of idle connections cost bounded memory, and requests are answered`()
    async throws
  {
    let count = Self.connections
    guard Self.raiseDescriptors(to: count) else { return }
    let folder = try TestServer.temporaryFolder()
    let server = try ServerProcess(folder, ["--idle-timeout", "600"])
    try await onThread {
      #expect(try server.get(try Connection(server.port), "/livez").status == 200)
      let before = try server.memory()
      let idle = try (0..<count).map { _ in try Connection(server.port) }
      while try server.metric("connections") ?? 0 < count { usleep(50_000) }
      let grown = try server.memory() - before
      // Half of a stack of a thread each.
      #expect(grown < count * 64 * 1024, "\(grown / count) bytes a connection")
      #expect(try server.get(try Connection(server.port), "/readyz").status == 200)
      // The last one and the first one are served.
      for connection in [idle[0], idle[count - 1]] {
        #expect(try server.get(connection, "/livez").status == 200)
      }
      withExtendedLifetime(idle) {}
    }
    while try server.metric("connections") ?? 0 > 10 {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(server.end(SIGTERM) == 0)
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `A connection too many is refused with an answer, and others are served`()
    async throws
  {
    let server = try await TestServer.start(["--connections", "20"])
    let port = server.port
    try await onThread {
      func ask(_ connection: Connection) throws -> TestResponse {
        try connection.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try connection.response()
      }
      var open: [Connection] = []
      // Each is there when it was answered; connections of the start may still be closing.
      while open.count < 20 {
        let connection = try Connection(port)
        if try ask(connection).status == 200 { open.append(connection) }
      }
      let refused = try Connection(port)
      let answer = try refused.response()
      #expect("\(answer.status) \(answer.code ?? "")" == "503 too_many_connections")
      #expect(answer.fields["retry-after"] == "1")
      #expect(try refused.rest() == "")
      let metrics = try ask(open[0]).text
      #expect(metrics.contains("\npush_fanout_connections 20\n"))
      #expect(!metrics.contains("push_fanout_connections_refused_total 0\n"))
      open.removeLast()
      var again = 503
      while again == 503 { again = (try? ask(Connection(port)))?.status ?? 503 }
      #expect(again == 200)
    }
    try await server.stop()
  }

  @Test func `Clients that never read cost bounded memory, and are closed`() async throws {
    let folder = try TestServer.temporaryFolder()
    let members = (0..<5000).map {
      #"{"kind":"member","conversation":"g1","user":"a-user-with-a-name-\#($0)"}"#
    }
    try await TestServer.make(
      folder.appending(path: "app.store").path,
      ([TestServer.settings] + members).joined(separator: "\n"))
    let server = try ServerProcess(folder, ["--idle-timeout", "2"])
    try await onThread {
      #expect(
        try server.post(try Connection(server.port), "/v1/decide?format=rows", TestServer.message)
          .status == 200)
      let before = try server.memory()
      // Each asks for a gigabyte.
      let body = String(repeating: TestServer.message + "\n", count: 2000)
      let clients = try (0..<20).map { _ in
        let client = try Connection(server.port)
        try client.send(
          "POST /v1/decide?format=rows HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return client
      }
      var most = 0
      let ended = #"requests_total{endpoint="decide",status="5xx"} 20"#
      while try !server.get(try Connection(server.port), "/metrics").text.contains(ended) {
        most = max(most, try server.memory())
        usleep(50_000)
      }
      #expect(most - before < 400 << 20, "\((most - before) >> 20) MB")
      withExtendedLifetime(clients) {}
      #expect(server.end(SIGTERM) == 0)
    }
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `A reader of events that is slower than the feed keeps is told to read again`()
    async throws
  {
    let server = try await TestServer.start()
    let port = server.port
    let store = try #require(server.server.apps.front.openedApp?.store)
    let reader = try await onThread {
      let reader = try Connection(port)
      try reader.send(
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
      #expect(try reader.head().status == 200)
      return reader
    }
    // More than the buffers of both sides hold.
    let long = String(repeating: "x", count: 60_000)
    for round in 0..<5 {
      let records = (0..<100).map { #"{"kind":"user","id":"\#(round)-\#($0)-\#(long)"}"# }
      let written = try await server.post(
        "/v1/settings", records.joined(separator: "\n"), Self.ndjson)
      #expect(written.status == 200)
    }
    try store.compact(FeedRetention(entries: 10), at: WallClock.now)
    let (count, last) = try await onThread {
      var (end, count) = ([UInt8](), 0)
      while let chunk = try reader.chunk() {
        end = Array((end + chunk.suffix(4096)).suffix(4096))
        count += 1
      }
      return (count, String(decoding: end, as: UTF8.self))
    }
    // It was sent what it had asked for before, then what to do, and that is the end.
    #expect(count > 1)
    let end = last.components(separatedBy: "\n\n").dropLast().last ?? ""
    #expect(end.hasPrefix("event: reset\ndata: {\"message\":"))
    #expect(end.contains("read everything again"))
    let again = try await server.get("/v1/events?after=0")
    #expect("\(again.status) \(again.code ?? "")" == "410 events_unknown")
    try await server.stop()
  }

  @Test func `Bytes of bodies count when they arrive`() async throws {
    let server = try await TestServer.start(
      ["--bytes-in-flight", "100000", "--body-limit", "1000000"])
    let port = server.port
    try await onThread {
      // Announced, but not sent.
      let announced = try (0..<50).map { _ in
        let connection = try Connection(port)
        try connection.send(
          "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        return connection
      }
      let size = String(40_000, radix: 16) + "\r\n"
      func begin() throws -> Connection {
        let connection = try Connection(port)
        try connection.send(
          "POST /v1/decide?format=pushes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            + size + String(repeating: " ", count: 40_000) + "\r\n")
        return connection
      }
      func finish(_ connection: Connection) throws -> TestResponse {
        let size = String(TestServer.message.utf8.count, radix: 16)
        try connection.send("\(size)\r\n\(TestServer.message)\r\n0\r\n\r\n")
        return try connection.response()
      }
      func bytes() throws -> String? {
        let metrics = try Connection(port)
        try metrics.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try metrics.response().text.split(separator: "\n")
          .first { $0.hasPrefix("push_fanout_body_bytes_in_flight ") }.map(String.init)
      }
      let slow = [try begin(), try begin()]
      while try bytes() != "push_fanout_body_bytes_in_flight 80000" { usleep(10_000) }
      let refused = try begin().response()
      #expect("\(refused.status) \(refused.code ?? "")" == "429 overloaded")
      for each in slow {
        #expect(try finish(each).text == #"{"message":"m1","push":["u1"]}"# + "\n")
      }
      while try bytes() != "push_fanout_body_bytes_in_flight 0" { usleep(10_000) }
      #expect(try finish(try begin()).status == 200)
      withExtendedLifetime(announced) {}
    }
    try await server.stop()
  }
}
