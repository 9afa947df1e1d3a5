import Foundation
import PushFiles
import PushService
import Synchronization
import Testing

@testable import PushServer

/// Answers are those of the engine by itself, also while settings change.
@Suite struct EqualityTests {
  /// A random world, and messages to it.
  private func world(_ seed: UInt64) -> (settings: String, messages: String) {
    var generator = SplitMix(state: seed)
    let isEasemob = Bool.random(using: &generator)
    let levels =
      isEasemob ? ["all", "mention", "none"] : ["all", "mention", "mentionUsers", "none"]
    var lines = [
      #"{"kind":"app","rules":"\#(isEasemob ? "easemob" : "rongcloud")","timeZone":"Asia/Shanghai"}"#
    ]
    func level() -> String { levels.randomElement(using: &generator) ?? "all" }
    for user in 0..<30 {
      var line = #"{"kind":"user","id":"u\#(user)""#
      if isEasemob, Bool.random(using: &generator) { line += #","level":"\#(level())""# }
      if Bool.random(using: &generator) {
        let hour = Int.random(in: 10..<24, using: &generator)
        line +=
          isEasemob
          ? #","quietHours":{"start":"\#(hour):00","end":"07:30"}"#
          : #","quietHours":{"start":"\#(hour):00:00","spanMinutes":500,"level":"none"}"#
      }
      lines.append(line + "}")
    }
    for group in 0..<6 {
      lines.append(#"{"kind":"conversation","id":"g\#(group)","type":"group"}"#)
      for user in 0..<30 where Bool.random(using: &generator) {
        let own = Bool.random(using: &generator) ? #","level":"\#(level())""# : ""
        lines.append(#"{"kind":"member","conversation":"g\#(group)","user":"u\#(user)"\#(own)}"#)
      }
    }
    let messages = (0..<60).map { index in
      let at = 1_717_400_000_000 + Int64.random(in: 0..<86_400_000, using: &generator)
      let sender = Int.random(in: 0..<32, using: &generator)
      let mention = Bool.random(using: &generator) ? #","mentions":["u\#(sender / 2)"]"# : ""
      return
        #"{"id":"m\#(index)","conversation":"g\#(index % 7)","at":\#(at),"sender":"u\#(sender)"\#(mention)}"#
    }
    return (lines.joined(separator: "\n"), messages.joined(separator: "\n"))
  }

  @Test func `Random worlds are decided as by the engine`() async throws {
    let seed =
      ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) }
      ?? .random(in: 1..<1 << 40)
    for offset in 0..<10 {
      let (settings, messages) = world(seed + UInt64(offset))
      let server = try await TestServer.start(settings: settings)
      let service = try FanoutService(ndjson: Array(settings.utf8))
      let rows = try await server.post("/v1/decide?format=rows", messages, DecideTests.ndjson)
      #expect(
        rows.body == (try service.decide(ndjson: Array(messages.utf8))), "seed \(seed) + \(offset)")
      let counts = try await server.post("/v1/decide?format=counts", messages, DecideTests.ndjson)
      #expect(
        counts.body == (try service.decide(ndjson: Array(messages.utf8), as: .counts)),
        "seed \(seed) + \(offset)")
      try await server.stop()
    }
  }

  @Test func `A client reads what it wrote, while others write and decide`() async throws {
    let members = (0..<8).map { #"{"kind":"member","conversation":"g1","user":"w\#($0)"}"# }
    let server = try await TestServer.start(
      settings: ([TestServer.settings] + members).joined(separator: "\n"))
    let port = server.port
    let problems = Problems()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          try await onThread {
            let connection = try Connection(port)
            func post(_ path: String, _ body: String) throws -> TestResponse {
              try connection.send(
                "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                  + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
              return try connection.response()
            }
            for round in 0..<60 {
              let level = round % 2 == 0 ? "none" : "all"
              let written = try post(
                "/v1/settings",
                #"{"op":"setSilentModeForConversation","user":"w\#(writer)","conversation":"g1","#
                  + #""level":"\#(level)"}"#)
              let number = written.text.split(separator: "\"").dropFirst(3).first ?? ""
              let decided = try post(
                "/v1/decide?format=pushes&at-least=\(number)", TestServer.message)
              let isPushed = decided.text.contains(#""w\#(writer)""#)
              let seen = decided.fields["push-fanout-settings"]?.split(separator: ":").last
              let isLate =
                Int(seen ?? "") ?? 0 < Int(number.split(separator: ":").last ?? "") ?? .max
              if isPushed != (level == "all") || isLate {
                problems.list.withLock {
                  $0.append("w\(writer) \(round): \(written.text) \(decided.text)")
                }
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(problems.list.withLock { $0 } == [])
    try await server.stop()
  }
}

private final class Problems: Sendable {
  let list = Mutex<[String]>([])
}
