import Foundation
import NIOCore
import PushModel
import Testing

@testable import PushServer

/// Connections: TLS, HTTP/2, client certificates, load, and configuration.
@Suite struct ListeningTests {
  @discardableResult
  private func run(_ program: String, _ arguments: [String], in folder: URL? = nil) throws
    -> (status: Int32, text: String)
  {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/\(program)")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  /// A certificate for this machine, and one for a client, signed by the same authority.
  private func certificates() throws -> URL {
    let folder = try TestServer.temporaryFolder()
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try run(
      "openssl",
      ["req", "-x509"] + key + ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca"],
      in: folder)
    try "subjectAltName=IP:127.0.0.1".write(
      to: folder.appending(path: "names"), atomically: true, encoding: .utf8)
    for name in ["server", "client"] {
      try run(
        "openssl",
        ["req"] + key + ["-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)"],
        in: folder)
      try run(
        "openssl",
        ["x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key"]
          + ["-CAcreateserial", "-extfile", "names", "-out", "\(name).pem", "-days", "2"],
        in: folder)
    }
    return folder
  }

  /// Waits until a server that is asked by curl is ready.
  private func waitUntilReady(_ port: Int, _ access: [String]) async throws {
    let arguments = ["-sf", "-o", "/dev/null", "https://127.0.0.1:\(port)/readyz"] + access
    while try await onThread({ try run("curl", arguments) }).status != 0 {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  @Test func `TLS has HTTP/1.1 and HTTP/2, and client certificates count as keys`() async throws {
    let folder = try certificates()
    func path(_ name: String) -> String { folder.appending(path: name).path }
    let tls = ["--tls-certificate", path("server.pem"), "--tls-key", path("server.key")]
    let plain = try await TestServer.start(tls)
    try await waitUntilReady(plain.port, ["--cacert", path("ca.pem")])
    let curl = ["-s", "-m", "60", "--cacert", path("ca.pem"), "-w", " %{http_version}"]
    let message = ["-H", "Content-Type: application/x-ndjson", "-d", TestServer.message]
    let url = "https://127.0.0.1:\(plain.port)/v1/decide?format=pushes"
    let pushes = #"{"message":"m1","push":["u1"]}"# + "\n"
    let second = try await onThread { try run("curl", curl + ["--http2", url] + message) }
    #expect(second.text == pushes + " 2")
    let first = try await onThread { try run("curl", curl + ["--http1.1", url] + message) }
    #expect(first.text == pushes + " 1.1")
    try await plain.stop()

    let mutual = try await TestServer.start(
      tls + ["--client-ca", path("ca.pem"), "--client-scopes", "decide"])
    let other = "https://127.0.0.1:\(mutual.port)"
    let certificate = ["--cert", path("client.pem"), "--key", path("client.key")]
    try await waitUntilReady(mutual.port, ["--cacert", path("ca.pem")] + certificate)
    let decided = try await onThread {
      try run("curl", curl + certificate + ["\(other)/v1/decide?format=pushes"] + message)
    }
    #expect(decided.text == pushes + " 2")
    let events = try await onThread {
      try run(
        "curl",
        curl + certificate + ["-o", "/dev/null", "-w", "%{http_code}", other + "/v1/events"])
    }
    #expect(events.text.hasSuffix("403"))
    let without = try await onThread { try run("curl", curl + [other + "/livez"]) }
    #expect(without.status != 0)
    try await mutual.stop()
  }

  @Test func `Too much at a time is refused with 429, and health is still answered`() async throws {
    let server = try await TestServer.start(
      ["--requests-in-flight", "1", "--body-timeout", "600", "--idle-timeout", "600"])
    let port = server.port
    let load = server.server.apps.front.load
    let body = TestServer.message
    try await onThread {
      let slow = try Connection(port)
      try slow.send(
        "POST /v1/decide?format=pushes HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n{"
      )
      // Until it is under way; a question would be a second one.
      let end = ContinuousClock.now + .seconds(300)
      while load.counts.requests == 0, ContinuousClock.now < end { usleep(1000) }
      try #require(load.counts.requests == 1)
      let other = try Connection(port)
      try other.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let refused = try other.response()
      #expect(refused.status == 429)
      #expect("\(refused.code ?? "") \(refused.fields["retry-after"] ?? "")" == "overloaded 1")
      let health = try Connection(port)
      try health.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(try health.response().status == 200)
      try slow.send(String(body.dropFirst()))
      #expect(try slow.response().text == #"{"message":"m1","push":["u1"]}"# + "\n")
    }
    #expect(try await server.get("/metrics").text.contains("\npush_fanout_requests_in_flight 1\n"))
    try await server.stop()
  }

  @Test func `A server whose store cannot be opened ends with the error`() async throws {
    let folder = try TestServer.temporaryFolder()
    try Data("no store".utf8).write(to: folder.appending(path: "app.store"))
    await #expect(throws: (any Error).self) { _ = try await TestServer.start(in: folder) }
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `Clients that follow events are no load`() async throws {
    let server = try await TestServer.start(["--requests-in-flight", "1"])
    let port = server.port
    try await onThread {
      let followers = try (0..<5).map { _ in
        let follower = try Connection(port)
        try follower.send(
          "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(try follower.head().status == 200)
        // The first piece is sent when it is no longer counted.
        #expect(try follower.chunk() != nil)
        return follower
      }
      let other = try Connection(port)
      try other.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(try other.response().status == 200)
      withExtendedLifetime(followers) {}
    }
    try await server.stop()
  }

  @Test func `A connection takes requests one after the other, also before their answers`()
    async throws
  {
    let server = try await TestServer.start()
    let port = server.port
    let body = TestServer.message
    let request =
      "POST /v1/decide?format=pushes HTTP/1.1\r\nHost: localhost\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let texts = try await onThread {
      let connection = try Connection(port)
      try connection.send(String(repeating: request, count: 50))
      return try (0..<50).map { _ in try connection.response().text }
    }
    #expect(texts.count == 50)
    #expect(Set(texts) == [#"{"message":"m1","push":["u1"]}"# + "\n"])
    try await server.stop()
  }

  @Test func `Flags come before variables, and these before the file`() async throws {
    let file = try TestServer.temporaryFolder().appending(path: "server.json").path
    func options(_ json: String, _ flags: [String]) async throws -> ServerOptions {
      try json.write(toFile: file, atomically: true, encoding: .utf8)
      return try await ServerConfiguration(
        ["--config", file, "--insecure"] + flags,
        environment: ["PUSH_FANOUT_BODY_LIMIT": "2", "PUSH_FANOUT_THREADS": "3"]
      ).options
    }
    let read = try await options(
      #"{"store":"a","threads":1,"bodyLimit":1,"idleTimeout":7}"#, ["--body-limit=5"])
    #expect("\(read.bodyLimit) \(read.threads ?? 0) \(read.idleTimeout)" == "5 3 7")
    #expect(read.store == "a")
    await #expect(throws: OptionError.self) { try await options(#"{"store":"a","wrong":1}"#, []) }
    await #expect(throws: OptionError.self) { try await options("[]", []) }
    await #expect(throws: OptionError.self) {
      try await options(#"{"store":"a"}"#, ["--listen", "8080"])
    }
  }

  @Test func `The OpenAPI document has the routes, with their scopes and types of bodies`() throws {
    guard case .bytes(let bytes) = OpenAPIDocument.answer.body else { return #expect(Bool(false)) }
    let document = try JSONSerialization.jsonObject(with: Data(bytes.readableBytesView))
    let paths = try #require(
      (document as? [String: Any])?["paths"] as? [String: [String: [String: Any]]])
    var documented: Set<String> = []
    for (path, operations) in paths {
      for (method, operation) in operations {
        let text = operation["description"] as? String ?? ""
        let scope = text.firstMatch(of: /Needs the scope (\w+(?: or \w+)?)/).map { "\($0.1)" }
        let isOpen = operation["security"] as? [String] == []
        #expect(isOpen == (scope == nil), "\(path)")
        let content = (operation["requestBody"] as? [String: Any])?["content"] as? [String: Any]
        let parameters = (operation["parameters"] as? [[String: Any]] ?? []).compactMap {
          $0["$ref"] as? String == "#/components/parameters/AtLeast"
            ? "at-least" : $0["in"] as? String == "query" ? $0["name"] as? String : nil
        }
        documented.insert(
          "\(method.uppercased()) \(path) \(scope ?? "") \((content ?? [:]).keys.sorted()) "
            + "\(parameters.sorted())")
      }
    }
    // The page looks at methods itself.
    let routes = Route.all.compactMap { route in
      route.method.map { method in
        var scope = ""
        if case .scope(let first, let other) = route.access {
          scope = first.rawValue + (other.map { " or \($0.rawValue)" } ?? "")
        }
        return
          "\(method) \(route.paths[0]) \(scope) \(route.types.sorted()) \(route.parameters.sorted())"
      }
    }
    #expect(documented == Set(routes))
    #expect(Set(Route.all.map(\.name)).count == Route.all.count)
    for route in Route.all {
      for path in route.paths where !path.isEmpty {
        let found = Route.find(path.replacing(/\{.*\}/, with: "a%2Fb")[...])
        #expect(found.route.name == route.name && found.id == (path.contains("{") ? "a/b" : ""))
      }
    }
  }
}
