import Foundation
import PushFiles
import PushModel
import PushService
import Synchronization
import Testing

@testable import PushServer

/// Answers are those of the engine by itself, also while settings change.
@Suite struct EqualityTests {
  /// Fixed, so that a plain run is repeatable; one that `PUSH_SEED` names instead.
  private static let seeds: [UInt64] = {
    let named = ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) }
    return named.map { [$0] } ?? [1, 2, 3, 4]
  }()

  /// A random world, and messages to it.
  private func world(
    _ rules: RuleSet, _ seed: UInt64
  ) -> (settings: String, messages: String) {
    var generator = SplitMix(state: seed)
    func isChosen() -> Bool { .random(using: &generator) }
    let levels: [String] =
      switch rules {
      case .easemob: [#""all""#, #""mention""#, #""none""#]
      case .rongcloud: [#""all""#, #""mention""#, #""mentionUsers""#, #""none""#]
      case .open: [#""all""#, #""mentions""#, #""direct""#, #""none""#, #"["plain","keyword"]"#]
      }
    func level() -> String { levels.randomElement(using: &generator) ?? "" }
    func quietHours(from hour: Int) -> String {
      switch rules {
      case .easemob: #","quietHours":{"start":"\#(hour):00","end":"07:30"}"#
      case .rongcloud:
        #","quietHours":{"start":"\#(hour):00:00","spanMinutes":500,"level":"none"}"#
      case .open:
        #","quiet":[{"start":"\#(hour):00","end":"7:30","days":["mon","tue"],"allow":\#(level())}]"#
      }
    }
    var lines = [#"{"kind":"app","rules":"\#(rules.rawValue)","timeZone":"Asia/Shanghai"}"#]
    for user in 0..<30 {
      var line = #"{"kind":"user","id":"u\#(user)""#
      if rules != .rongcloud, isChosen() { line += #","level":\#(level())"# }
      if isChosen() { line += quietHours(from: .random(in: 10..<24, using: &generator)) }
      if rules == .open, isChosen() {
        line += #","keywords":["on call"],"mutedAllow":\#(level()),"mutedUntil":1717440000000"#
      }
      lines.append(line + "}")
    }
    for group in 0..<6 {
      lines.append(#"{"kind":"conversation","id":"g\#(group)","type":"group"}"#)
      for user in 0..<30 where isChosen() {
        let own = isChosen() ? #","level":\#(level())"# : ""
        lines.append(#"{"kind":"member","conversation":"g\#(group)","user":"u\#(user)"\#(own)}"#)
      }
    }
    let messages = (0..<60).map { index in
      let at = 1_717_400_000_000 + Int64.random(in: 0..<86_400_000, using: &generator)
      let sender = Int.random(in: 0..<32, using: &generator)
      var line = #"{"id":"m\#(index)","conversation":"g\#(index % 7)","at":\#(at)"#
      line += #","sender":"u\#(sender)""#
      if isChosen() { line += #","mentions":["u\#(sender / 2)"]"# }
      if rules == .open, isChosen() { line += #","text":"Who is on call?","replyToUser":"u3""# }
      return line + "}"
    }
    return (lines.joined(separator: "\n"), messages.joined(separator: "\n"))
  }

  @Test(arguments: RuleSet.allCases, seeds)
  func `Random worlds are decided as by the engine`(rules: RuleSet, seed: UInt64) async throws {
    let (settings, messages) = world(rules, seed)
    let server = try await TestServer.start(settings: settings)
    let service = try FanoutService(ndjson: Array(settings.utf8))
    for (format, name) in [(DecisionFormat.ndjson, "rows"), (.counts, "counts")] {
      let found = try await server.post(
        "/v1/decide?format=\(name)", messages, DecideTests.ndjson)
      let wanted = try service.decide(ndjson: Array(messages.utf8), as: format)
      #expect(found.body == wanted, "\(rules), PUSH_SEED=\(seed), \(name)")
    }
    // Something is decided, and not all alike.
    let summary = try service.decide(ndjson: Array(messages.utf8), as: .ndjson)
    let text = String(decoding: summary, as: UTF8.self)
    #expect(text.contains(#""action":"push""#) && text.contains(#""reason":"quietHours""#))
    try await server.stop()
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
