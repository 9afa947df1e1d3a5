import Foundation
import Synchronization
import Testing

@testable import PushServer

/// Who may do what, and clients that mean no good.
@Suite struct SecurityTests {
  /// A file of keys, and their characters by name.
  private func keys(
    _ scopes: [String: Set<Scope>]
  ) throws -> (path: String, secrets: [String: String]) {
    let path = try TestServer.temporaryFolder().appending(path: "keys").path
    var (lines, secrets): ([String], [String: String]) = (["# keys", ""], [:])
    for (name, scopes) in scopes.sorted(by: { $0.key < $1.key }) {
      let made = KeyFile.make(name: name, scopes: scopes)
      lines.append(made.line)
      secrets[name] = made.secret
    }
    try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return (path, secrets)
  }

  private func bearer(_ secret: String?) -> [String: String] {
    ["Authorization": "Bearer \(secret ?? "")", "Content-Type": "application/x-ndjson"]
  }

  /// 100,001 writes of a caller, failed ones and then others, push out no answer of another caller.
  @Test func `Answers are pushed out by answers of the same caller alone`() {
    let keys = IdempotencyKeys()
    func isKept(_ key: String, of caller: String) -> Bool {
      guard case .answered(let answer) = keys.begin(key, of: caller, "body".utf8) else {
        keys.finish(key, of: caller, nil)
        return false
      }
      return answer == Array(key.utf8)
    }
    func write(_ key: String, of caller: String, fails: Bool = false) {
      _ = keys.begin(key, of: caller, "body".utf8)
      keys.finish(key, of: caller, fails ? nil : Array(key.utf8))
    }
    write("first", of: "a")
    write("first", of: "b")
    for number in 0...IdempotencyKeys.limit { write("\(number)", of: "a", fails: true) }
    #expect(isKept("first", of: "a") && isKept("first", of: "b"))
    #expect(!isKept("7", of: "a"))
    for number in 0..<IdempotencyKeys.limit - 1 { write("\(number)", of: "a") }
    #expect(isKept("first", of: "a"))
    write("last", of: "a")
    #expect(!isKept("first", of: "a") && isKept("0", of: "a") && isKept("last", of: "a"))
    #expect(isKept("first", of: "b"))
  }

  @Test func `It refuses to start without a way to tell who asks`() async throws {
    let error = await #expect(throws: OptionError.self) {
      _ = try await ServerConfiguration(["--store", "x"], environment: [:])
    }
    #expect(error?.description.contains("--keys") == true)
  }

  @Test func `A key allows what its scopes say`() async throws {
    let (path, secrets) = try keys([
      "all": Set(Scope.allCases), "decide": [.decide], "read": [.read], "write": [.write],
      "presence": [.presence], "send": [.send],
    ])
    let server = try await TestServer.start(["--keys", path])
    let operation = #"{"op":"setSilentModeForAll","user":"u1","level":"all"}"#
    let calls: [(String, String, String?)] = [
      ("decide", "/v1/decide", TestServer.message), ("read", "/v1/events", nil),
      ("write", "/v1/settings", operation), ("admin", "/metrics", nil),
      ("presence", "/v1/presence", #"{"user":"u1","device":"default","state":"foreground"}"#),
      ("send", "/v1/requests", TestServer.message),
    ]
    var found: [String] = []
    for name in ["all", "decide", "read", "write", "presence", "send", "nobody"] {
      var statuses: [Int] = []
      for (_, path, body) in calls {
        let fields = bearer(secrets[name] ?? "pf_wrong")
        let response =
          try await body == nil
          ? server.get(path, fields) : server.post(path, body ?? "", fields)
        statuses.append(response.status)
      }
      found.append("\(name) \(statuses)")
    }
    #expect(
      found == [
        "all [200, 200, 200, 200, 422, 422]", "decide [200, 403, 403, 403, 403, 403]",
        "read [403, 200, 403, 403, 403, 403]", "write [403, 403, 200, 403, 403, 403]",
        "presence [403, 403, 403, 403, 422, 403]", "send [403, 403, 403, 403, 403, 422]",
        "nobody [401, 401, 401, 401, 401, 401]",
      ])
    #expect(try await server.get("/v1/events").fields["www-authenticate"] == "Bearer")
    #expect(try await server.get("/livez").status == 200)
    try await server.stop()
  }

  @Test func `Keys are replaced while the server runs, and a wrong file changes nothing`()
    async throws
  {
    let (path, secrets) = try keys(["old": Set(Scope.allCases)])
    let server = try await TestServer.start(["--keys", path])
    let made = KeyFile.make(name: "new", scopes: Set(Scope.allCases))
    try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
    let refused = try await server.post("/v1/keys/reload", "", bearer(secrets["old"]))
    #expect("\(refused.status) \(refused.text.contains("\(path):1"))" == "422 true")
    #expect(try await server.get("/v1/events", bearer(secrets["old"])).status == 200)
    try made.line.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await server.post("/v1/keys/reload", "", bearer(secrets["old"])).status == 200)
    #expect(try await server.get("/v1/events", bearer(secrets["old"])).status == 401)
    #expect(try await server.get("/v1/events", bearer(made.secret)).status == 200)
    try await server.stop()
  }

  @Test func `Wrong files of keys are refused with their line`() throws {
    let path = try TestServer.temporaryFolder().appending(path: "keys").path
    let digest = String(repeating: "0", count: 64)
    var found: [String] = []
    for text in [
      "", "a read", "a all sha256:\(digest)", "a read sha256:12", "a read md5:\(digest)",
      "a read sha256:\(digest)\nb read sha256:\(digest)",
      "a read sha256:" + String(repeating: "+f", count: 32),
    ] {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let error = #expect(throws: OptionError.self) {
        _ = try KeyFile(path: path, ratePerSecond: 0, load: { .keyless })
      }
      found.append(String((error?.description ?? "").dropFirst(path.utf8.count).prefix(20)))
    }
    #expect(
      found == [
        " has no key; push-fa", ":1: 2 fields instead", ":1: scopes are decid",
        ":1: the digest is no", ":1: the digest is no", ":2: the key is there",
        ":1: the digest is no",
      ])
  }

  @Test func `A key that asks too often is told to wait`() async throws {
    let (path, secrets) = try keys(["a": [.read], "b": [.read]])
    let server = try await TestServer.start(["--keys", path, "--rate-limit", "3"])
    var statuses: Set<Int> = []
    // More than 3 a second, however slow the machine: until one is refused.
    for _ in 0..<10_000 where !statuses.contains(429) {
      let response = try await server.get("/v1/events", bearer(secrets["a"]))
      statuses.insert(response.status)
      if response.status == 429 { #expect(response.fields["retry-after"] == "1") }
    }
    #expect(statuses == [200, 429])
    #expect(try await server.get("/v1/events", bearer(secrets["b"])).status == 200)
    try await server.stop()
  }

  @Test func `Administration is on its own port`() async throws {
    let server = try await TestServer.start(["--admin-listen", "127.0.0.1:0"])
    let admin = try #require(server.adminPort)
    var found: [Int] = []
    for port in [server.port, admin] {
      for path in ["/metrics", "/v1/snapshot", "/v1/events", "/livez"] {
        found.append(try await server.send("GET", path, [:], port: port).status)
      }
    }
    #expect(found == [404, 404, 200, 200, 200, 200, 404, 200])
    try await server.stop()
  }

  @Test func `Writes are noted with who made them`() async throws {
    let (path, secrets) = try keys(["writer": [.write]])
    let file = try TestServer.temporaryFolder().appending(path: "audit").path
    let server = try await TestServer.start(["--keys", path, "--audit", file])
    let operation = #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#
    let record = #"{"kind":"member","conversation":"g1","user":"u3"}"#
    let body = "\(operation)\n\(operation)\n\(record)\n"
    let fields = bearer(secrets["writer"]).merging(["X-Request-Id": "r-1"]) { $1 }
      .merging(DecideTests.ndjson) { $1 }
    let response = try await server.post("/v1/settings", body, fields)
    #expect(response.fields["x-request-id"] == "r-1")
    let line = try String(contentsOfFile: file, encoding: .utf8)
    let names = #""names":{"record":1,"setSilentModeForAll":2}"#
    #expect(
      line.contains(#""caller":"writer","operations":3,\#(names),"request":"r-1","sequence":""#))
    #expect(!line.contains("u1"))
    try await server.stop()
  }

  // MARK: Connections

  private func exchange(_ server: TestServer, _ pieces: [String]) async throws -> String {
    let port = server.port
    return try await onThread {
      let connection = try Connection(port)
      for piece in pieces { try connection.send(piece) }
      return try connection.rest()
    }
  }

  @Test func `Headers and bodies that do not come, or come slowly, end with 408`() async throws {
    let server = try await TestServer.start(["--header-timeout", "1", "--body-timeout", "1"])
    #expect(try await exchange(server, ["GET /livez HTTP/1.1\r\nHost:"]).hasPrefix("HTTP/1.1 408"))
    let head = "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    #expect(try await exchange(server, [head]).hasPrefix("HTTP/1.1 408"))
    // A byte now and then does not prolong it.
    let port = server.port
    let drip = try await onThread {
      let connection = try Connection(port)
      try connection.send("GET /livez HTTP/1.1\r\nX: ")
      for _ in 0..<1200 {
        do { try connection.send("x") } catch { return true }
        usleep(100_000)
        if try connection.hasEnded() { return true }
      }
      return false
    }
    #expect(drip)
    try await server.stop()
  }

  @Test func `A connection that does nothing, or does not read, is closed`() async throws {
    let members = (0..<5000).map {
      #"{"kind":"member","conversation":"g1","user":"a-user-with-a-name-\#($0)"}"#
    }
    let settings = ([TestServer.settings] + members).joined(separator: "\n")
    let server = try await TestServer.start(["--idle-timeout", "1"], settings: settings)
    #expect(try await exchange(server, []) == "")
    let body = String(repeating: TestServer.message + "\n", count: 2000)
    let port = server.port
    // It asks for gigabytes and reads none of them.
    let connection = Mutex<Connection?>(nil)
    try await onThread {
      let made = try Connection(port)
      try made.send(
        "POST /v1/decide?format=rows HTTP/1.1\r\nHost: localhost\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      connection.withLock { $0 = made }
    }
    while true {
      let metrics = try await server.get("/metrics").text
      if metrics.contains(#"requests_total{endpoint="decide",status="5xx"} 1"#) { break }
      try await Task.sleep(for: .milliseconds(100))
    }
    connection.withLock { $0 = nil }
    try await server.stop()
  }

  @Test func `Ambiguous lengths and malformed requests are refused, and end the connection`()
    async throws
  {
    let server = try await TestServer.start()
    let next = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    var found: [String] = []
    for head in [
      "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
      "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: +4\r\n\r\nabcd",
      "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
      "POST /v1/decide HTTP/1.1\r\nHost : h\r\n\r\n",
      "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nX: \u{1}\r\n\r\n",
      "GET /v1/events HTTP/1.1\nnonsense\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
      "GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 5000) + "\r\n",
    ] {
      let answer = try await exchange(server, [head + next])
      let statuses = answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
      found.append(statuses.joined(separator: " "))
    }
    // One answer at most: what follows is not taken for another request.
    #expect(found == [String](repeating: "400", count: 9) + ["431", "431"])
    try await server.stop()
  }

  @Test func `Hostile bodies are refused and nothing ends`() async throws {
    let server = try await TestServer.start()
    var found: [String] = []
    let bodies: [[UInt8]] = [
      [0xFF, 0xFE], Array(String(repeating: "[", count: 1_000_000).utf8),
      Array((String(repeating: #"{"a":"#, count: 100_000) + "1").utf8), [0],
      Array(#"{"id":"m","id":"m","conversation":"g","at":1}"#.utf8),
      Array(#"{"id":"\ud800","conversation":"g","at":1}"#.utf8),
    ]
    for path in ["/v1/decide?format=counts", "/v1/explain", "/v1/settings"] {
      for body in bodies {
        let type = ["Content-Type": "application/json"]
        found.append("\(try await server.send("POST", path, type, body).status)")
      }
    }
    #expect(found.allSatisfy { $0 == "400" || $0 == "422" }, "\(found)")
    #expect(try await server.get("/readyz").status == 200)
    try await server.stop()
  }

  @Test func `Requests that wait are no load, and only so many wait`() throws {
    let load = Load(requests: 2, bytes: 10, waits: 2)
    let tickets = try (0..<2).map { _ in
      let ticket = try #require(Load.Ticket([load]))
      #expect(ticket.wait() && ticket.wait())
      return ticket
    }
    let third = try #require(Load.Ticket([load]))
    #expect(!third.wait())
    third.end()
    #expect(load.counts.requests == 0)
    tickets[0].resume()
    #expect(load.counts.requests == 1)
    #expect(tickets[0].add(10) && !tickets[1].add(1))
    for ticket in tickets + tickets { ticket.end() }
    #expect(load.counts == (0, 0))
    let one = try #require(Load.Ticket([load]))
    let two = try #require(Load.Ticket([load]))
    #expect(Load.Ticket([load]) == nil)
    for ticket in [one, two] { ticket.end() }
  }
}
