import Foundation
import Testing

@testable import PushServer

/// Goal: several apps in one process are apart: a key reaches the settings of its own app alone, and
/// the limits, metrics and files of one are not those of another.
@Suite struct AppsTests {
  /// Two apps: in `one` u1 gets a push, in `two` u2 does.
  private struct Apps {
    let server: TestServer
    let folder: URL
    var secrets: [String: String] = [:]
    let config: String

    init(
      _ more: [String: String] = [:], general: String = "", operatorKeys: Bool = false
    ) async throws {
      folder = try TestServer.temporaryFolder()
      var apps: [String] = []
      for (name, pushed, muted) in [("one", "u1", "u2"), ("two", "u2", "u1")] {
        let made = KeyFile.make(name: "all", scopes: Set(Scope.allCases))
        secrets[name] = made.secret
        try (made.line + "\n").write(
          to: folder.appending(path: "\(name).keys"), atomically: true, encoding: .utf8)
        try await TestServer.make(
          folder.appending(path: "\(name).store").path,
          """
          {"kind":"app","rules":"easemob"}
          {"kind":"member","conversation":"g1","user":"\(pushed)"}
          {"kind":"member","conversation":"g1","user":"\(muted)","level":"none"}
          """)
        apps.append(
          #""\#(name)":{"store":"\#(folder.path)/\#(name).store","#
            + #""keys":"\#(folder.path)/\#(name).keys"\#(more[name] ?? "")}"#)
      }
      var general = general
      if operatorKeys {
        let made = KeyFile.make(name: "operator", scopes: [.admin, .decide])
        secrets["operator"] = made.secret
        let path = folder.appending(path: "operator.keys").path
        try made.line.write(toFile: path, atomically: true, encoding: .utf8)
        general += #","keys":"\#(path)""#
      }
      config = folder.appending(path: "server.json").path
      try #"{"apps":{\#(apps.joined(separator: ","))}\#(general)}"#
        .write(toFile: config, atomically: true, encoding: .utf8)
      server = try await TestServer.start(["--config", config], in: folder)
    }

    func fields(_ name: String) -> [String: String] {
      [
        "Authorization": "Bearer \(secrets[name] ?? "")", "Content-Type": "application/x-ndjson",
      ]
    }

    func pushed(_ name: String) async throws -> String {
      try await server.post("/v1/decide?format=pushes", TestServer.message, fields(name)).text
    }
  }

  @Test func `A key decides and writes in its own app`() async throws {
    let apps = try await Apps()
    #expect(try await apps.pushed("one") == #"{"message":"m1","push":["u1"]}"# + "\n")
    #expect(try await apps.pushed("two") == #"{"message":"m1","push":["u2"]}"# + "\n")
    let line =
      #"{"op":"setSilentModeForConversation","user":"u1","conversation":"g1","level":"all"}"#
    let written = try await apps.server.post("/v1/settings", line, apps.fields("two"))
    #expect(written.status == 200)
    #expect(try await apps.pushed("one") == #"{"message":"m1","push":["u1"]}"# + "\n")
    #expect(try await apps.pushed("two") == #"{"message":"m1","push":["u2","u1"]}"# + "\n")
    // A number of one store is not one of the other.
    let number = String(written.text.split(separator: "\"")[3])
    let other = try await apps.server.post(
      "/v1/decide?at-least=\(number)", TestServer.message, apps.fields("one"))
    #expect(other.code == "other_epoch")
    for key in ["", "Bearer pf_wrong"] {
      let fields = key.isEmpty ? [:] : ["Authorization": key]
      #expect(try await apps.server.get("/v1/events", fields).status == 401)
    }
    #expect(try await apps.server.get("/livez").status == 200)
    try await apps.server.stop()
  }

  @Test func `Limits, audits and decision logs are an app's own`() async throws {
    let folder = try TestServer.temporaryFolder()
    let (audit, log) = (folder.path + "/two.audit", folder.path + "/two.log")
    let apps = try await Apps([
      "one": #","bodyLimit":10,"rateLimit":1000"#,
      "two": #","audit":"\#(audit)","decisionLog":"\#(log)""#,
    ])
    let large = try await apps.server.post("/v1/decide", TestServer.message, apps.fields("one"))
    #expect(large.code == "too_large")
    // The same without a length.
    let (port, key) = (apps.server.port, apps.secrets["one"] ?? "")
    let unknown = try await onThread {
      let connection = try Connection(port)
      let size = String(TestServer.message.utf8.count, radix: 16)
      try connection.send(
        "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(TestServer.message)\r\n0\r\n\r\n")
      return try connection.response()
    }
    #expect(unknown.code == "too_large")
    #expect(try await apps.pushed("two").contains("u2"))
    let user = #"{"kind":"user","id":"n"}"#
    #expect(try await apps.server.post("/v1/settings", user, apps.fields("two")).status == 200)
    #expect(try String(contentsOfFile: audit, encoding: .utf8).split(separator: "\n").count == 1)
    await apps.server.end()
    #expect(try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count == 1)
    try FileManager.default.removeItem(at: folder)
    try FileManager.default.removeItem(at: apps.folder)
  }

  @Test func `Metrics have the app as a label, and an app's key reads its own`() async throws {
    let apps = try await Apps(operatorKeys: true)
    _ = try await apps.pushed("one")
    let own = try await apps.server.get("/metrics", apps.fields("one")).text
    #expect(own.contains("\npush_fanout_messages_total{app=\"one\"} 1\n"))
    #expect(!own.contains("app=\"two\""))
    let all = try await apps.server.get("/metrics", apps.fields("operator")).text
    #expect(all.contains("\npush_fanout_messages_total{app=\"one\"} 1\n"))
    #expect(all.contains("\npush_fanout_messages_total{app=\"two\"} 0\n"))
    #expect(
      all.contains("{app=\"one\",endpoint=\"decide\",le=\"+Inf\"} 1\n"))
    // Each metric is described once, and its lines stand together.
    let heads = all.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
    #expect(Set(heads).count == heads.count)
    // The operator's key is of no app.
    let decided = try await apps.server.post(
      "/v1/decide", TestServer.message, apps.fields("operator"))
    #expect("\(decided.status) \(decided.code ?? "")" == "403 forbidden")
    try await apps.server.stop()
  }

  @Test func `The support page asks for the app, and ready is each of them`() async throws {
    let apps = try await Apps()
    func logIn(_ app: String, _ key: String) async throws -> Int {
      try await apps.server.post(
        "/page/session", #"{"app":"\#(app)","key":"\#(apps.secrets[key] ?? "")"}"#,
        ["Content-Type": "application/json"]
      ).status
    }
    var found: [Int] = []
    for (app, key) in [("one", "one"), ("two", "two"), ("one", "two"), ("none", "one")] {
      found.append(try await logIn(app, key))
    }
    #expect(found == [200, 200, 401, 401])
    let path = apps.folder.appending(path: "two.store").path
    try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
    var ready = try await apps.server.get("/readyz")
    while ready.status == 200 {
      try await Task.sleep(for: .milliseconds(50))
      ready = try await apps.server.get("/readyz")
    }
    #expect(ready.text.contains("two: nothing can be written"))
    #expect(try await apps.server.get("/readyz", apps.fields("one")).status == 200)
    try await apps.server.stop()
  }

  @Test func `A key of two apps is refused, at the start and later`() async throws {
    let apps = try await Apps(operatorKeys: true)
    let (one, two) = (apps.folder.path + "/one.keys", apps.folder.path + "/two.keys")
    let before = try String(contentsOfFile: two, encoding: .utf8)
    let both = before + (try String(contentsOfFile: one, encoding: .utf8))
    try both.write(toFile: two, atomically: true, encoding: .utf8)
    let refused = try await apps.server.post("/v1/keys/reload", "", apps.fields("operator"))
    #expect(refused.status == 422)
    #expect(refused.text.contains("also one of the app one"))
    #expect(try await apps.pushed("one").contains("u1"))
    #expect(try await apps.pushed("two").contains("u2"))
    await apps.server.end()
    await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--config", apps.config], in: apps.folder, waits: false)
    }
    try FileManager.default.removeItem(at: apps.folder)
  }

  @Test func `Wrong configurations of apps are refused with what to do`() async throws {
    let path = try TestServer.temporaryFolder().appending(path: "server.json").path
    func problem(_ json: String, _ flags: [String] = []) async throws -> String {
      try json.write(toFile: path, atomically: true, encoding: .utf8)
      do {
        _ = try await ServerConfiguration(["--config", path] + flags, environment: [:])
        return ""
      } catch { return "\(error)".replacing(path, with: "FILE") }
    }
    let one = #""one":{"store":"a","keys":"k"}"#
    #expect(
      try await [
        problem(#"{"apps":{}}"#), problem(#"{"apps":{"o.n":{}}}"#),
        problem(#"{"apps":{"one":{"keys":"k"}}}"#),
        problem(#"{"apps":{"one":{"store":"a"}}}"#),
        problem(#"{"apps":{"one":{"store":"a","keys":"k","threads":2}}}"#),
        problem(#"{"apps":{"one":{"store":"a","keys":"k","wrong":2}}}"#),
        problem(#"{"apps":{"one":{"store":"a","keys":"k","bodyLimit":"x"}}}"#),
        problem(#"{"apps":{\#(one),"two":{"store":"./a","keys":"l"}}}"#),
        problem(#"{"apps":{\#(one)}}"#, ["--store", "b"]),
        problem(#"{"apps":{\#(one)}}"#, ["--insecure"]),
        problem(#"{"apps":{\#(one)},"audit":"x"}"#), problem(#"{"apps":{\#(one)}}"#),
      ] == [
        "FILE: apps is not an object of apps, each with options by their keys",
        "FILE: the name of an app \"o.n\" is not 1 to 64 letters, digits, - or _",
        "the app one: no store: give --store FILE, PUSH_FANOUT_STORE or \"store\" in the file",
        "the app one: no authentication: give --keys FILE (push-fanout-server key makes a key), "
          + "--client-ca FILE with TLS, or --insecure to give every client all scopes",
        "FILE: \"threads\" of the app one is an option of the whole server: move it out of apps",
        "FILE: \"wrong\" of the app one is no option",
        "the app one: FILE: \"apps.one.bodyLimit\" x is not a number",
        "\(FileManager.default.currentDirectoryPath)/a is there twice: for the app one, and for two",
        "--store and apps contradict each other: each app has its own store",
        "the app one: --keys and --insecure contradict each other",
        "--audit is an option of each app: move it into apps", "",
      ])
    let options = try await {
      try
        #"{"bodyLimit":7,"apps":{"one":{"store":"a","keys":"k","rateLimit":3},"two":{"store":"b","keys":"l"}}}"#
        .write(toFile: path, atomically: true, encoding: .utf8)
      return try await ServerConfiguration(
        ["--config", path, "--rate-limit", "5"],
        environment: ["PUSH_FANOUT_APPS_TWO_BODY_LIMIT": "9"])
    }()
    #expect(
      options.apps.map { "\($0.name) \($0.options.bodyLimit) \($0.options.rateLimit)" }
        == ["one 7 3", "two 9 5"])
  }
}
