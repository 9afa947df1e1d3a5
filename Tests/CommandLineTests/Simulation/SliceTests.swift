import Foundation
import PushReplay
import TestSupport
import Testing

/// Goal: `--from`, `--to`, `--conversation` and `--user` mean the same in every command: what is left
/// is decided as it is without them.
@Suite struct SliceTests {
  private static let world = ["--settings", "world.ndjson", "--messages", "all.ndjson"]

  /// Three days of messages to two groups, one every two hours from 2 June 2024, 16:00 UTC, on.
  private func withDays<Result>(_ body: (Workplace) throws -> Result) throws -> Result {
    try withWorkplace { place in
      let members = ["u1", "u3"].map { #"{"kind":"member","conversation":"g2","user":"\#($0)"}"# }
      try place.write(SmallWorld.settings + members, as: "world.ndjson")
      let messages = (0..<36).map { number in
        let at = 1_717_344_000_000 + number * 7_200_000
        return
          #"{"id":"m\#(number)","conversation":"g\#(number % 2 + 1)","sender":"u9","at":\#(at)"#
          + (number % 3 == 0 ? #","mentions":["u2"]}"# : "}")
      }
      try place.write(messages, as: "all.ndjson")
      return try body(place)
    }
  }

  private func rows(_ arguments: [String], in place: Workplace) throws -> [String] {
    let run = try place.run(["evaluate"] + Self.world + ["--format", "csv"] + arguments)
    #expect(run.status == 0, "\(arguments): \(run.errors)")
    return Array(run.lines.dropFirst())
  }

  /// The number of the message of a row.
  private func number(_ row: String) -> Int {
    Int(row.dropFirst().prefix { $0 != "," }) ?? -1
  }

  private static let slices: [(arguments: [String], numbers: Range<Int>, user: String?)] = [
    (["--from", "2024-06-03"], 4..<36, nil), (["--to", "2024-06-03"], 0..<4, nil),
    (["--from", "2024-06-02T18:00", "--to", "1717365600001"], 1..<4, nil),
    (["--from", "2024-06-03", "--to", "2024-06-04", "--zone", "Asia/Shanghai"], 0..<12, nil),
    (["--from", "2024-06-03", "--user", "u1"], 4..<36, "u1"),
    (["--user", "u2"], 0..<36, "u2"),
  ]

  @Test func whatIsLeftIsDecidedAsWithoutThem() throws {
    try withDays { place in
      let all = try rows([], in: place)
      #expect(all.count == 18 * 3 + 18 * 2)
      for (arguments, numbers, user) in Self.slices {
        let expected = all.filter { row in
          numbers.contains(number(row)) && user.map { row.contains(",\($0),") } ?? true
        }
        #expect(!expected.isEmpty && expected.count < all.count)
        let found = try rows(arguments, in: place)
        #expect(found == expected, "\(arguments)")
        let reference = try rows(arguments + ["--engine", "reference"], in: place)
        #expect(reference == expected, "\(arguments)")
      }
      let one = try rows(["--conversation", "g2"], in: place)
      #expect(one == all.filter { number($0) % 2 == 1 })
    }
  }

  /// The other commands count what `evaluate` decides.
  @Test func everyCommandTakesThem() throws {
    try withDays { place in
      for arguments in Self.slices.map(\.arguments) + [["--conversation", "g2", "--user", "u3"]] {
        let rows = try rows(arguments, in: place)
        let pushes = rows.count { $0.contains(",push,") }
        let messages = try place.run(
          ["evaluate"] + Self.world + ["--format", "counts"] + arguments
        ).lines.count
        let replay = try place.run(
          ["replay", "--per-person"] + Self.world + arguments + ["--json"])
        let replayed = try JSONDecoder().decode(
          ReplayResult.self, from: Data(replay.output.utf8))
        #expect(replayed.messages == messages && replayed.decisions == rows.count, "\(arguments)")
        #expect(replayed.pushes == pushes, "\(arguments)")
        let compare = try place.run(
          ["compare"] + Self.world + arguments + ["--b", "everyone.level=none", "--json"])
        let compared = try JSONDecoder().decode(
          CompareResult.self, from: Data(compare.output.utf8))
        #expect(compared.messages == messages && compared.a.pushes == pushes, "\(arguments)")
        #expect(compared.b.pushes == 0 && compared.a.decisions == rows.count, "\(arguments)")
        let profile = try place.run(["profile"] + Self.world + arguments)
        #expect(
          profile.errors.hasPrefix("\(messages) messages, "), "\(arguments) \(profile.errors)")
      }
    }
  }

  /// Settings that change and who is online come from before; a change cannot bring back a member
  /// who is not decided for, and conditions on rooms see all members.
  @Test func settingsAndPresenceComeFromBefore() throws {
    try withDays { place in
      try place.write(
        [
          #"{"kind":"user","id":"u3","level":"none","at":1717344000000}"#,
          #"{"kind":"member","conversation":"g1","user":"u2","level":"all","at":1717344000000}"#,
        ], as: "changes.ndjson")
      try place.write(
        ["ts,conversation,user,online", "1717344000000,g1,u1,1"], as: "presence.csv")
      let more = ["--changes", "changes.ndjson", "--presence", "presence.csv", "--json"]
      let slice = [
        "--from", "2024-06-04T10:00", "--to", "2024-06-04T14:00", "--conversation", "g1",
      ]
      let run = try place.run(["replay"] + Self.world + more + slice)
      let result = try JSONDecoder().decode(ReplayResult.self, from: Data(run.output.utf8))
      #expect(result.messages == 1 && result.decisions == 3, "\(run.errors)")
      let outcomes = Set(result.outcomes.map { "\($0.action)/\($0.reason)" })
      #expect(outcomes == ["none/online", "push/allowed", "none/levelNone"], "\(outcomes)")
      let one = try place.run(["replay"] + Self.world + more + slice + ["--user", "u1"])
      let alone = try JSONDecoder().decode(ReplayResult.self, from: Data(one.output.utf8))
      #expect(alone.decisions == 1 && alone.pushes == 0)

      let compared = try place.run(
        ["compare"] + Self.world + [
          "--user", "u3", "--b", "rooms>2.everyone.level=none", "--json",
        ])
      let comparison = try JSONDecoder().decode(
        CompareResult.self, from: Data(compared.output.utf8))
      #expect(comparison.a.pushes - comparison.b.pushes == 18, "\(compared.errors)")
    }
  }

  /// Messages of one id are told apart.
  @Test func explainTakesOneOfSeveral() throws {
    try withWorkplace { place in
      let world = ["explain"] + SmallWorld.evaluate.dropFirst()
      let explain = world + ["--message", "m1", "--user", "u1", "--json"]
      #expect(try place.run(explain).lines.count == 2)
      #expect(try place.run(explain + ["--conversation", "g1"]).lines.count == 1)
      #expect(try place.run(explain + ["--from", "2024-06-03T10:00"]).lines.count == 1)
      let none = try place.run(explain + ["--from", "2025-01-01"])
      #expect(none.errors == "push-fanout: no message in messages.ndjson has the id \"m1\"\n")
    }
  }
}
