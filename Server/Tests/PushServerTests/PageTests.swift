import Foundation
import NIOCore
import PushFiles
import PushModel
import PushService
import Testing

@testable import PushServer

/// Goal: the support page answers as explain does, changes nothing, and can be asked neither without
/// a login nor by a page of another site.
@Suite struct PageTests {
  /// A server with one key that may read, and one that may only decide.
  private struct Logins {
    let server: TestServer
    let reader: String
    let decider: String

    init() async throws {
      let folder = try TestServer.temporaryFolder()
      let (reader, readerLine) = KeyFile.make(name: "support", scopes: [.read])
      let (decider, deciderLine) = KeyFile.make(name: "gateway", scopes: [.decide])
      let keys = folder.appending(path: "keys")
      try Data("\(readerLine)\n\(deciderLine)\n".utf8).write(to: keys)
      server = try await TestServer.start(["--keys", keys.path], in: folder)
      (self.reader, self.decider) = (reader, decider)
    }

    func logIn(_ key: String, _ fields: [String: String] = [:]) async throws -> TestResponse {
      let all = ["Content-Type": "application/json"].merging(fields) { $1 }
      return try await server.post("/page/session", "{\"key\":\"\(key)\"}", all)
    }

    /// What a page sends after a login.
    func session() async throws -> [String: String] {
      let response = try await logIn(reader)
      let object = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
      let cookie = try #require(response.fields["set-cookie"]?.split(separator: ";").first)
      return [
        "Cookie": String(cookie), "Push-Fanout-CSRF": try #require(object?["csrf"] as? String),
        "Content-Type": Answer.ndjson, "Origin": "http://localhost",
        "Sec-Fetch-Site": "same-origin",
      ]
    }
  }

  @Test func `The page is served with a policy that lets it load nothing else`() async throws {
    let server = try await TestServer.start()
    for (path, file) in PageFiles.files {
      let response = try await server.get(path)
      #expect(response.status == 200)
      #expect(response.body == Array(file.bytes.readableBytesView))
      #expect(response.fields["content-security-policy"] == PageFiles.policy)
      #expect(response.fields["content-type"] == file.type)
      let again = try await server.get(path, ["If-None-Match": file.tag])
      #expect(again.status == 304)
      #expect(try await server.post(path, "").status == 405)
    }
    let page = String(buffer: try #require(PageFiles.files["/"]).bytes)
    // Every file that a page or a module names is served, and nothing of it is inline.
    let named = PageFiles.files.values.flatMap { file in
      String(buffer: file.bytes)
        .matches(of: /(?:src|href)="(\/[^"]+)"|from "\.\/([^"]+)"/)
        .compactMap { match in match.1.map { "\($0)" } ?? match.2.map { "/page/\($0)" } }
    }
    #expect(Set(named).subtracting(PageFiles.files.keys) == [])
    #expect(Set(named).count == PageFiles.files.count - 1)
    #expect(page.matches(of: /<script(?![^>]*src=)|<style| style=| on[a-z]+=/).isEmpty)
    #expect(try await server.get("/page/other.js").status == 404)
    try await server.stop()
  }

  @Test func `Only a key that may read logs in`() async throws {
    let logins = try await Logins()
    let response = try await logins.logIn(logins.reader)
    #expect(response.status == 200)
    let cookie = try #require(response.fields["set-cookie"])
    #expect(cookie.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"))
    #expect(try await logins.logIn(logins.decider).status == 403)
    #expect(try await logins.logIn("pf_unknown").status == 401)
    let unknown = try await logins.server.post(
      "/page/session", "{\"key\":\"\(logins.reader)\",\"app\":\"other\"}",
      ["Content-Type": "application/json"])
    #expect(unknown.status == 401)
    #expect(try await logins.server.get("/page/session").status == 401)
    try await logins.server.stop()
  }

  @Test func `A forged request is refused`() async throws {
    let logins = try await Logins()
    let session = try await logins.session()
    let path = "/page/inspect?user=u1"
    func status(_ change: (inout [String: String]) -> Void) async throws -> Int {
      var fields = session
      change(&fields)
      return try await logins.server.post(path, TestServer.message, fields).status
    }
    #expect(try await status { _ in } == 200)
    #expect(try await status { $0["Push-Fanout-CSRF"] = nil } == 403)
    #expect(try await status { $0["Push-Fanout-CSRF"] = String(repeating: "0", count: 64) } == 403)
    #expect(try await status { $0["Origin"] = "https://example.org" } == 403)
    #expect(try await status { $0["Origin"] = "null" } == 403)
    #expect(try await status { $0["Sec-Fetch-Site"] = "cross-site" } == 403)
    #expect(try await status { $0["Cookie"] = nil } == 401)
    #expect(try await status { $0["Cookie"] = "push-fanout-page=0" } == 401)
    // A login that another site sends is refused too.
    #expect(try await logins.logIn(logins.reader, ["Origin": "https://example.org"]).status == 403)
    #expect(try await logins.logIn(logins.reader, ["Content-Type": "text/plain"]).status == 415)
    // The cookie opens nothing else.
    let body = "{\"message\":\(TestServer.message),\"user\":\"u1\"}"
    var fields = session
    fields["Content-Type"] = "application/json"
    #expect(try await logins.server.post("/v1/explain", body, fields).status == 401)
    try await logins.server.stop()
  }

  @Test func `A session ends by logging out, and with its key`() async throws {
    let logins = try await Logins()
    let session = try await logins.session()
    let other = try await logins.session()
    #expect(try await logins.server.get("/page/session", session).status == 200)
    let ended = try await logins.server.send("DELETE", "/page/session", session)
    #expect(ended.status == 200)
    #expect(ended.fields["set-cookie"]?.contains("Max-Age=0") == true)
    #expect(try await logins.server.get("/page/session", session).status == 401)
    #expect(try await logins.server.get("/page/session", other).status == 200)
    try await logins.server.stop()

    let sessions = PageSessions()
    let now = ContinuousClock.now
    let (cookie, _) = sessions.begin(key: "k", app: "default", at: now)
    #expect(sessions.find(cookie, at: now + .seconds(29 * 60)) != nil)
    #expect(sessions.find(cookie, at: now + .seconds(58 * 60)) != nil)
    #expect(sessions.find(cookie, at: now + .seconds(89 * 60)) == nil)
    let (long, _) = sessions.begin(key: "k", app: "default", at: now)
    for minute in stride(from: 0, to: 12 * 60, by: 20) {
      #expect(sessions.find(long, at: now + .seconds(minute * 60)) != nil)
    }
    #expect(sessions.find(long, at: now + .seconds(12 * 3600)) == nil)
  }

  @Test func `The page is answered as the library answers, and writes nothing`() async throws {
    let logins = try await Logins()
    let session = try await logins.session()
    func ask(_ path: String, _ body: String) async throws -> TestResponse {
      try await logins.server.post(path, body, session)
    }
    let service = try FanoutService(ndjson: Array(TestServer.settings.utf8))
    let message = try #require(
      try MessageReader(Array(TestServer.message.utf8), rules: .easemob).next())
    for user in ["u1", "u2", "u3"] {
      let found = try await ask("/page/inspect?user=\(user)", TestServer.message)
      let expected = service.inspect(
        message, for: Identifier(user),
        until: Instant(milliseconds: message.at.milliseconds + 7 * 86_400_000))
      #expect(
        Self.comparable(found.body) == Self.comparable(ServiceJSON.inspection(expected)))
    }
    let quiet = """
      {"kind":"app","rules":"easemob","timeZone":"UTC"}
      {"kind":"user","id":"u1","level":"none"}
      {"kind":"member","conversation":"g1","user":"u1"}
      """
    let other = try await ask("/page/inspect?user=u1", TestServer.message + "\n" + quiet)
    #expect(other.text.contains(#""reason":"levelNone""#))
    let same = try await ask("/page/inspect?user=u1", TestServer.message)
    #expect(same.text.contains(#""reason":"allowed""#))
    let members = try await ask("/page/conversation", TestServer.message)
    #expect(members.text.contains(#""recipients":2"#))
    // What is wrong is said with its line, the message's being the first.
    let wrong = try await ask("/page/inspect?user=u1", TestServer.message + "\n{\"kind\":\"x\"}")
    #expect(wrong.status == 422)
    #expect(wrong.text.contains(#""line":2"#))
    #expect(try await ask("/page/inspect?user=u1", "").status == 400)
    #expect(try await ask("/page/inspect", TestServer.message).status == 400)
    let two = TestServer.message + "\n" + TestServer.message
    #expect(try await ask("/page/inspect?user=u1", two).status == 422)
    #expect(try await ask("/page/conversation", two).status == 400)
    try await logins.server.stop()
  }

  /// Without what differs from engine to engine.
  private static func comparable(_ bytes: [UInt8]) -> NSDictionary? {
    var object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
    object?["settings"] = nil
    // Of when a store's settings are, which the library does not know.
    if var explanation = object?["explanation"] as? [String: Any] {
      explanation["settings"] = nil
      object?["explanation"] = explanation
    }
    return object.map { $0 as NSDictionary }
  }
}
