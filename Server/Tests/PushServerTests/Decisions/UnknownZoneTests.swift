import Foundation
import PushModel
import PushStore
import QuietTime
import Testing

@testable import PushServer

/// Goal: a server whose machine lacks the time zone of a user serves all others, says so, and a
/// follower goes on when its primary has such a zone.
@Suite struct UnknownZoneTests {
  private static let ndjson = ["Content-Type": "application/x-ndjson"]

  private static let settings = """
    {"kind":"app","rules":"easemob","timeZone":"UTC"}
    {"kind":"member","conversation":"g","user":"ben"}
    {"kind":"member","conversation":"h","user":"ben"}
    {"kind":"member","conversation":"h","user":"mia"}
    """

  private static func message(_ conversation: String) -> String {
    #"{"id":"m1","conversation":"\#(conversation)","at":1717400000000}"#
  }

  /// A server whose store has mia in a zone of another machine's data.
  private static func start(_ options: [String] = []) async throws -> TestServer {
    let folder = try TestServer.temporaryFolder()
    let path = folder.appending(path: "app.store").path
    try await TestServer.make(path, settings)
    let store = try SettingsStore(path)
    try await store.write(at: .zero) { write in
      write.unknownZones = .refuse
      try write.updateUser("mia") { $0.timeZone = "Mars/\"Base" }
    }
    try await store.close()
    return try await TestServer.start(options, in: folder)
  }

  @Test func `Others are decided for, and it is said who is not`() async throws {
    let server = try await Self.start()
    let ready = try await server.get("/readyz")
    #expect(ready.status == 200)
    #expect(ready.text.hasPrefix(#"ok\#nnot decided: user "mia" (time zone "Mars/"Base"): this "#))
    #expect(ready.text.contains("install tzdata-legacy"))
    let metrics = try await server.get("/metrics").text
    #expect(
      metrics.contains(#"push_fanout_unknown_time_zone_users{time_zone="Mars/\"Base"} 1"#))
    for (conversation, users) in [("g", ["ben"]), ("h", ["ben"])] {
      let pushes = try await server.post(
        "/v1/decide?format=pushes", Self.message(conversation), Self.ndjson)
      #expect(pushes.status == 200)
      #expect(pushes.text == "{\"message\":\"m1\",\"push\":[\"\(users[0])\"]}\n")
      #expect(pushes.fields["push-fanout-refused-users"] == "1")
    }
    let rows = try await server.post("/v1/decide", Self.message("h"), Self.ndjson)
    let lines = rows.text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""user":"ben""#))
    #expect(
      lines[1].hasPrefix(
        #"{"message":"m1","user":"mia","error":{"code":"unknown_time_zone","message":"user "#))
    // One message is answered as well.
    let one = try await server.post(
      "/v1/decide", Self.message("h"), ["Content-Type": "application/json"])
    #expect(one.status == 200)
    let question = { (user: String) in #"{"message":\#(Self.message("h")),"user":"\#(user)"}"# }
    let json = ["Content-Type": "application/json"]
    #expect(try await server.post("/v1/explain", question("ben"), json).status == 200)
    let mia = try await server.post("/v1/explain", question("mia"), json)
    #expect(mia.status == 422)
    #expect(mia.code == "unknown_time_zone")
    let next = try await server.get("/v1/next-change?conversation=h&user=mia")
    #expect(next.status == 422)
    #expect(next.code == "unknown_time_zone")
    // What clients write is checked as before; the zone that is there may stay.
    let wrong = try await server.post(
      "/v1/settings", #"{"op":"setTimeZone","user":"ben","timeZone":"Mars/Base"}"#, Self.ndjson)
    #expect(wrong.code == "invalid_setting")
    let level = try await server.post(
      "/v1/settings", #"{"op":"setSilentModeForAll","user":"mia","level":"none"}"#, Self.ndjson)
    #expect(level.status == 200, "\(level.text)")
    let known = try await server.post(
      "/v1/settings", #"{"op":"setTimeZone","user":"mia","timeZone":"UTC"}"#, Self.ndjson)
    #expect(known.status == 200)
    #expect(try await server.get("/readyz").text == "ok\n")
    #expect(try await server.get("/metrics").text.contains("push_fanout_unknown_time_zone_users 0"))
    try await server.stop()
  }

  @Test func `An ignored zone means no quiet hours`() async throws {
    let server = try await Self.start(["--unknown-zones", "ignore"])
    #expect(try await server.get("/readyz").text.hasPrefix("ok\ndecided without quiet hours: user"))
    let pushes = try await server.post(
      "/v1/decide?format=pushes", Self.message("h"), Self.ndjson)
    #expect(pushes.text == "{\"message\":\"m1\",\"push\":[\"ben\",\"mia\"]}\n")
    #expect(pushes.fields["push-fanout-refused-users"] == nil)
    try await server.stop()
    await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--unknown-zones", "keep"])
    }
  }

  @Test func `A follower goes on`() async throws {
    let primary = try await Self.start()
    let follower = try await TestServer.start(["--follow", "http://127.0.0.1:\(primary.port)"])
    // The change is of the whole record, with the zone.
    for level in ["none", "all"] {
      let written = try await primary.post(
        "/v1/settings",
        #"""
        {"op":"setSilentModeForAll","user":"mia","level":"\#(level)"}
        {"op":"setSilentModeForAll","user":"ben","level":"\#(level)"}
        """#, Self.ndjson)
      #expect(written.status == 200, "\(written.text)")
      let number = String(written.text.split(separator: "\"")[3])
      let counts = try await follower.post(
        "/v1/decide?format=pushes&at-least=\(number)", Self.message("h"), Self.ndjson)
      #expect(counts.status == 200, "\(counts.text)")
      #expect(counts.text == "{\"message\":\"m1\",\"push\":[\(level == "all" ? "\"ben\"" : "")]}\n")
    }
    #expect(
      try await follower.get("/metrics").text.contains("push_fanout_follower_snapshots_total 1"))
    #expect(try await follower.get("/readyz").text.contains("not decided: user \"mia\""))
    try await follower.stop()
    try await primary.stop()
  }
}
