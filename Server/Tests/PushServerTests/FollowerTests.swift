import Foundation
import PushService
import PushStore
import Testing

@testable import PushServer

/// Goal: a follower decides as its primary does, loses nothing when either is restarted, writes
/// nothing, and after a promotion the old primary takes no part any more.
@Suite struct FollowerTests {
  private static let ndjson = ["Content-Type": "application/x-ndjson"]

  private static func follow(
    _ server: TestServer, in folder: URL? = nil, _ options: [String] = []
  ) async throws -> TestServer {
    try await TestServer.start(
      ["--follow", "http://127.0.0.1:\(server.port)"] + options, in: folder)
  }

  /// Writes records, and gives the number of the change.
  private static func write(_ server: TestServer, _ lines: String) async throws -> String {
    let response = try await server.post("/v1/settings", lines, ndjson)
    #expect(response.status == 200, "\(response.text)")
    return String(response.text.split(separator: "\"")[3])
  }

  /// The decisions by a change.
  private static func counts(_ server: TestServer, _ number: String) async throws -> String {
    let response = try await server.post(
      "/v1/decide?format=rows&at-least=\(number)", TestServer.message, ndjson)
    #expect(response.status == 200, "\(response.text)")
    return response.text
  }

  private static func metric(_ server: TestServer, _ name: String) async throws -> String? {
    try await server.get("/metrics").text.split(separator: "\n")
      .first { $0.hasPrefix("push_fanout_\(name) ") }?.split(separator: " ").last.map(String.init)
  }

  @Test func `Copies that are sent leave no files`() async throws {
    let folder = try TestServer.temporaryFolder()
    for suffix in ["", "-wal", "-shm"] {
      // Of a process that was killed.
      try Data().write(to: folder.appending(path: "app.store.sent-7" + suffix))
    }
    let primary = try await TestServer.start(in: folder)
    let follower = try await Self.follow(primary)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.filter { $0.contains(".sent-") } == [])
    try await follower.stop()
    try await primary.stop()
  }

  @Test func `A follower decides by every write of its primary`() async throws {
    let primary = try await TestServer.start()
    let follower = try await Self.follow(primary)
    for round in 0..<40 {
      let level = ["all", "mention", "none"][round % 3]
      let number = try await Self.write(
        primary,
        """
        {"op":"addMember","user":"n\(round)","conversation":"g1"}
        {"op":"setSilentModeForAll","user":"n\(round)","level":"\(level)"}
        {"op":"setSilentModeForConversation","user":"u1","conversation":"g1","level":"\(level)"}
        """)
      // The number of the primary is understood by the follower.
      let (one, other) = (
        try await Self.counts(primary, number), try await Self.counts(follower, number)
      )
      #expect(one == other)
      #expect(one.contains("n\(round)"))
    }
    let removed = try await Self.write(
      primary, #"{"op":"removeMember","user":"n3","conversation":"g1"}"#)
    #expect(try await Self.counts(follower, removed) == Self.counts(primary, removed))
    #expect(try await !Self.counts(follower, removed).contains("\"n3\""))
    #expect(try await Self.metric(follower, "follower_snapshots_total") == "1")
    let fields = try await follower.post("/v1/decide", TestServer.message, Self.ndjson).fields
    #expect(fields["push-fanout-settings"] == removed)

    for (path, body) in [("/v1/settings", #"{"kind":"user","id":"x"}"#)] {
      let response = try await follower.post(path, body, Self.ndjson)
      #expect(response.status == 409)
      #expect(response.code == "follower")
    }
    for path in ["/v1/events", "/v1/snapshot", "/v1/changes?after=0"] {
      #expect(try await follower.get(path).code == "follower")
    }
    #expect(try await follower.get("/v1/role").text.contains(#""role":"follower""#))
    try await follower.stop()
    try await primary.stop()
  }

  @Test func `Records are followed one by one, unless they are too many`() async throws {
    let primary = try await TestServer.start()
    let follower = try await Self.follow(primary)
    let listed = try await Self.write(
      primary,
      """
      {"kind":"app","rules":"easemob","timeZone":"Asia/Tokyo"}
      {"kind":"user","id":"u7","level":"none"}
      {"kind":"conversation","id":"g1"}
      {"kind":"member","conversation":"g1","user":"u7"}
      """)
    #expect(try await Self.counts(follower, listed) == Self.counts(primary, listed))
    #expect(try await Self.metric(follower, "follower_snapshots_total") == "1")
    let imported = try await Self.write(
      primary,
      (0...10_000).map { #"{"kind":"user","id":"i\#($0)","level":"none"}"# }
        .joined(separator: "\n") + "\n" + #"{"kind":"member","conversation":"g1","user":"i9"}"#)
    #expect(try await Self.counts(follower, imported) == Self.counts(primary, imported))
    #expect(try await Self.metric(follower, "follower_snapshots_total") == "2")
    let later = try await Self.write(
      primary, #"{"op":"setSilentModeForAll","user":"u7","level":"all"}"#)
    #expect(try await Self.counts(follower, later) == Self.counts(primary, later))
    try await follower.stop()
    try await primary.stop()
  }

  @Test func `A follower goes on after restarts of both`() async throws {
    let folder = try TestServer.temporaryFolder()
    var primary = try await TestServer.start(in: folder)
    let follower = try await Self.follow(primary)
    let port = primary.port
    await follower.end()
    let first = try await Self.write(
      primary, #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#)
    let again = try await Self.follow(primary, in: follower.folder)
    #expect(try await Self.counts(again, first) == Self.counts(primary, first))
    #expect(try await Self.metric(again, "follower_snapshots_total") == "0")
    await primary.end()
    // It decides by what it has while nobody answers.
    #expect(try await again.post("/v1/decide", TestServer.message, Self.ndjson).status == 200)
    primary = try await TestServer.start(["--listen", "127.0.0.1:\(port)"], in: folder)
    let second = try await Self.write(
      primary, #"{"op":"setSilentModeForAll","user":"u2","level":"none"}"#)
    var response = try await again.post(
      "/v1/decide?format=rows&at-least=\(second)", TestServer.message, Self.ndjson)
    while response.code == "not_yet" {
      response = try await again.post(
        "/v1/decide?format=rows&at-least=\(second)", TestServer.message, Self.ndjson)
    }
    #expect(try await response.text == Self.counts(primary, second))
    #expect(try await Self.metric(again, "follower_snapshots_total") == "0")
    try await again.stop()
    try await primary.stop()
  }

  @Test func `After a promotion the old primary is refused`() async throws {
    let folder = try TestServer.temporaryFolder()
    let old = try await TestServer.start(in: folder)
    let follower = try await Self.follow(old)
    let number = try await Self.write(
      old, #"{"op":"setSilentModeForAll","user":"u1","level":"none"}"#)
    let before = try await Self.counts(follower, number)
    let promoted = try await follower.post("/v1/promote", "")
    #expect(promoted.status == 200, "\(promoted.text)")
    #expect(promoted.text.contains(#""role":"primary""#))
    #expect(try await follower.post("/v1/promote", "").status == 409)
    // What the old one takes now is in its own settings alone.
    _ = try await Self.write(old, #"{"op":"setSilentModeForAll","user":"u1","level":"all"}"#)
    let own = try await Self.write(
      follower, #"{"op":"setTimeZone","user":"u2","timeZone":"Asia/Tokyo"}"#)
    #expect(own.split(separator: ":")[0] != number.split(separator: ":")[0])
    #expect(try await Self.counts(follower, own) == before)
    let unknown = try await follower.post(
      "/v1/decide?at-least=\(number)", TestServer.message, Self.ndjson)
    #expect(unknown.code == "other_epoch")

    // A follower of the new one follows it, and is not turned back to the old one.
    let second = try await Self.follow(follower)
    let url = "http://127.0.0.1:\(follower.port)"
    #expect(try await Self.counts(second, own) == before)
    await second.end()
    let turned = try await TestServer.start(
      ["--follow", "http://127.0.0.1:\(old.port)"], in: second.folder, waits: false)
    var reason = ""
    while !reason.contains("superseded") { reason = try await turned.get("/readyz").text }
    #expect(
      try await turned.post("/v1/decide?format=rows", TestServer.message, Self.ndjson).text
        == before)
    try await turned.stop()

    // The old one does not start beside the new one, neither as a primary nor as a follower.
    await old.end()
    await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--peers", url], in: folder, waits: false).ended()
    }
    await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(["--follow", url], in: folder, waits: false).ended()
    }
    // A promoted store is a primary from then on, and a copy that was not promoted is none.
    let home = follower.folder
    await follower.end()
    let restarted = try await TestServer.start(in: home)
    #expect(try await restarted.get("/v1/role").text.contains(#""role":"primary""#))
    try await restarted.stop()
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `A copy becomes a primary with promote alone`() async throws {
    let primary = try await TestServer.start()
    let follower = try await Self.follow(primary)
    await follower.end()
    await #expect(throws: OptionError.self) {
      _ = try await TestServer.start(in: follower.folder, waits: false).ended()
    }
    let promoted = try await TestServer.start(["--promote"], in: follower.folder)
    _ = try await Self.write(promoted, #"{"kind":"user","id":"x"}"#)
    try await promoted.stop()
    try await primary.stop()
  }

  @Test func `A primary that was superseded while it runs stops deciding`() async throws {
    let folder = try TestServer.temporaryFolder()
    let first = try await TestServer.start(in: folder)
    let follower = try await Self.follow(first)
    await first.end()
    let old = try await TestServer.start(
      ["--peers", "http://127.0.0.1:\(follower.port)"], in: folder)
    #expect(try await old.post("/v1/decide", TestServer.message, Self.ndjson).status == 200)
    #expect(try await follower.post("/v1/promote", "").status == 200)
    while try await old.get("/readyz").status == 200 {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(try await old.post("/v1/decide", TestServer.message, Self.ndjson).code == "superseded")
    let write = try await old.post("/v1/settings", #"{"kind":"user","id":"x"}"#, Self.ndjson)
    #expect(write.code == "superseded")
    try await follower.stop()
    try await old.stop()
  }
}
