import Foundation
import TestSupport
import Testing

/// Goal: `profile` measures files as other commands read them, prints a table, JSON or flags that
/// `generate` takes, and reports bad input.
@Suite struct ProfileTests {
  private struct Document: Decodable {
    struct Rate: Decodable {
      let name: String
      let part: String?
      let value, low, high: Double?
      let certainty, unit, reason: String?
      let observations: Int?
    }
    let users, rooms, memberships, messages, otherMessages, presenceRows, changes: Int
    let first, last: Int64?
    let giants: [Int]
    let rates: [Rate]
    let flags: [String]

    func value(_ name: String) -> Double? { rates.first { $0.name == name }?.value }
  }

  /// A room of three and a bot, five messages, a session and a change.
  private static func writeSmall(in place: Workplace) throws {
    try place.write(
      ["conversation,user,level"]
        + ["r,a,", "r,b,none", "r,c,", "r,bot,"],
      as: "members.csv")
    try place.write(
      [
        "id,timeZone,quietStart,quietEnd", "a,Asia/Shanghai,,", "b,Asia/Shanghai,22:00,06:00",
        "c,Europe/Paris,,",
      ], as: "users.csv")
    // 1,767,621,600 is 2026-01-05T14:00:00Z, 22:00 in Shanghai.
    try place.write(
      [
        "at,conversation,sender,mentions,mentionsAll,reply,replyTo",
        "1767621540000,r,b,,,0,", "1767621600000,r,b,a,,1,", "1767621601000,r,bot,a,,,",
        "1767621602000,r,a,bot,,,b", "1767621609000,r,c,,1,,", "1767621609001,r,a,,,,",
      ], as: "messages.csv")
    try place.write(["user,source", "bot,here"], as: "bots.csv")
    try place.write(
      ["ts,user,online", "1767621599000,b,1", "1767621609000,b,0"], as: "presence.csv")
    try place.write(
      [#"{"kind":"user","id":"a","level":"none","at":1767621600000}"#], as: "changes.ndjson")
  }

  private static let small = [
    "profile", "--members", "members.csv", "--users", "users.csv", "--messages", "messages.csv",
    "--bots", "bots.csv", "--presence", "presence.csv", "--changes", "changes.ndjson",
  ]

  @Test func everyFileIsMeasured() throws {
    try withWorkplace { place in
      try Self.writeSmall(in: place)
      let run = try place.run(Self.small + ["--json"])
      #expect(run.status == 0, "\(run.errors)")
      let found = try JSONDecoder().decode(Document.self, from: Data(run.output.utf8))
      let counts = [found.users, found.rooms, found.memberships, found.messages]
      #expect(counts == [3, 1, 3, 5])
      #expect(found.otherMessages == 1 && found.presenceRows == 2 && found.changes == 1)
      #expect(found.first == 1_767_621_540_000 && found.last == 1_767_621_609_001)
      let names = [
        "mention-share", "small-all-share", "reply-share", "quiet-writing-share",
        "sender-online-share", "burst-gap", "same-sender-share", "quiet-share",
      ]
      // b wrote a minute before the quiet hours and in them; who is behind the last row of presence
      // is not known.
      let third = 1 / 3.0
      let values: [Double?] = [0.2, 0.2, 0.4, 0.5, 0.5, 17.25025, 0.25, third]
      #expect(names.map { found.value($0) } == values)
      let mention = try #require(found.rates.first { $0.name == "mention-share" })
      #expect(mention.observations == 5 && mention.unit == "messages")
      #expect(mention.certainty == "few")
      #expect(found.value("hour-ratio") == nil)
      #expect(found.flags.prefix(6) == ["--users", "3", "--rooms", "1", "--messages", "5"])
    }
  }

  /// As in `PeopleProfileTests`: members who write a zone's old name and its new one share it.
  @Test func twoNamesOfAZoneAreOne() throws {
    try withWorkplace { place in
      let rooms = [("r", "abd"), ("s", "abc")].flatMap { room, users in
        users.map { "\(room),\($0)" }
      }
      try place.write(["conversation,user"] + rooms, as: "members.csv")
      try place.write(["at,conversation", "1767621540000,r"], as: "messages.csv")
      for (other, shared) in [("Kolkata", 2 / 3.0), ("Calcutta", 2 / 3.0), ("Tokyo", 0)] {
        let zones = ["Kolkata", other, "Seoul", "Kolkata", "Seoul", "Seoul"]
        let users = zip("abcdef", zones).map { "\($0),Asia/\($1)" }
        try place.write(["id,timeZone"] + users, as: "users.csv")
        let run = try place.run(
          "profile", "--members", "members.csv", "--users", "users.csv", "--messages",
          "messages.csv", "--json")
        #expect(run.status == 0, "\(run.errors)")
        let found = try JSONDecoder().decode(Document.self, from: Data(run.output.utf8))
        #expect(found.value("shared-zone") == shared, "\(other)")
      }
    }
  }

  @Test func theTableHasALineForEachNumber() throws {
    try withWorkplace { place in
      try Self.writeSmall(in: place)
      try place.shell("gzip messages.csv members.csv")
      let run = try place.run(
        "profile", "--members", "members.csv.gz", "--messages", "messages.csv.gz")
      #expect(run.status == 0, "\(run.errors)")
      let lines = run.lines
      #expect(lines.first == "users                          4")
      #expect(
        lines.contains(
          "--mention-share                                0.5                       -  few   6 messages"
        ),
        "\(run.output)")
      #expect(
        lines.contains {
          $0.hasPrefix("--quiet-share ") && $0.hasSuffix("no settings of users are given")
        })
      #expect(run.errorLines.count == 1)
      #expect(run.errorLines[0].hasPrefix("6 messages, 1 room, 4 users, "))
      // No id of a user or a room is printed.
      #expect(!run.output.contains("bot"))
    }
  }

  /// What is measured of a generated world is taken by `generate`, and found in what it makes.
  @Test func flagsMakeAWorldLikeIt() throws {
    try withWorkplace { place in
      let files = { (folder: String) in
        [
          "profile", "--settings", "\(folder)/settings.ndjson", "--users", "\(folder)/users.csv",
          "--members", "\(folder)/members.csv", "--messages", "\(folder)/messages.csv",
          "--presence", "\(folder)/presence.csv",
        ]
      }
      let make = [
        "generate", "--users", "1500", "--messages", "6000", "--duration", "3d",
        "--mention-share", "0.4", "--quiet-share", "0.2", "--output", "first",
      ]
      #expect(try place.run(make).status == 0)
      let flags = try place.run(files("first") + ["--flags"])
      #expect(flags.status == 0, "\(flags.errors)")
      #expect(flags.lines.count == 1)
      let words = flags.lines[0].split(separator: " ").map(String.init)
      #expect(words.prefix(2) == ["--users", "1500"])
      let again = try place.run(["generate", "--output", "second"] + words)
      #expect(again.status == 0, "\(again.errors) \(words)")
      let json = try place.run(files("second") + ["--json"])
      let found = try JSONDecoder().decode(Document.self, from: Data(json.output.utf8))
      #expect(abs((found.value("mention-share") ?? 0) - 0.4) < 0.04)
      #expect(abs((found.value("quiet-share") ?? 0) - 0.2) < 0.04)
      #expect(found.users == 1500 && found.messages == 6000)
      // What was left out is named, and is not among the flags.
      let left = flags.errorLines[0]
      #expect(left.hasPrefix("push-fanout: left out, "))
      let names = left.split(separator: " ").filter { $0.hasPrefix("--") }.map(String.init)
      #expect(!names.isEmpty && Set(names).isDisjoint(with: words))
    }
  }

  /// What people do in a generated world, asked for with other numbers than the defaults, is measured
  /// of its files, time zones and clock changes included: within four standard errors, which is the
  /// width of the interval, and what the model is off.
  @Test func whatPeopleDoIsFound() throws {
    let asked: [(flag: String, numbers: [Double], model: Double)] = [
      // Four weeks have no interval. Members of other zones have the weekend of their room.
      ("weekend-ratio", [0.4], 0.1),
      // The first messages of a room have none to reply to.
      ("reply-share", [0.3], 0.03), ("changes", [0.05], 0),
      // The first of 13 members never joins.
      ("join-share", [0.3], 0.3 / 13),
      // In small rooms more is written there than the hours say, by up to a fifth.
      ("quiet-writing-share", [0.05], 0.01),
      // The busiest and the quietest of 24 hours are so by chance, too.
      ("hour-ratio", [6], 1),
      // How many are connected by chance is an estimate, of 9 % half.
      ("sender-online-share", [0.8], 0.01),
      // Zones with enough people for a room are large.
      ("shared-zone", [0.8, 0.6], 0.02),
      // A drawn day has no burst in one of 7.4 cases.
      ("active-shares", [0.1, 0.3, 0.6], 0.6 / 7.4), ("mention-share", [0.4], 0.002),
    ]
    try withWorkplace { place in
      var words = [
        "generate", "--output", "out", "--users", "2500", "--rooms", "700", "--giants", "none",
        "--messages", "40000", "--duration", "28d", "--join-days", "28",
      ]
      let filling = ["shared-zone": [0.4, 0.2], "active-shares": [0.8, 0.9]]
      for (flag, numbers, _) in asked {
        let all = numbers + (filling[flag] ?? [])
        words += ["--\(flag)", all.map { "\($0)" }.joined(separator: ",")]
      }
      let made = try place.run(words)
      #expect(made.status == 0, "\(made.errors)")
      let json = try place.run(
        "profile", "--settings", "out/settings.ndjson", "--users", "out/users.csv", "--members",
        "out/members.csv", "--messages", "out/messages.csv", "--presence", "out/presence.csv",
        "--changes", "out/changes.ndjson", "--json")
      let found = try JSONDecoder().decode(Document.self, from: Data(json.output.utf8))
      for (flag, numbers, model) in asked {
        let rates = found.rates.filter { $0.name == flag }
        let isFound = zip(rates, numbers).map { rate, number in
          abs((rate.value ?? -1) - number) <= (rate.high ?? 0) - (rate.low ?? 0) + model
        }
        #expect(isFound == numbers.map { _ in true }, "\(flag): \(rates)")
      }
    }
  }

  @Test func badInputStopsIt() throws {
    try withWorkplace { place in
      try Self.writeSmall(in: place)
      try place.write(["id", "bot"], as: "bad-bots.csv")
      try place.write(["user,source", ",x"], as: "no-user.csv")
      try place.write(["at,conversation,sender", "5,r,a", "4,r,a"], as: "unsorted.csv")
      try place.write(["at,conversation,sender", "5,r,a", "x,r,a", "6,r,a"], as: "bad.csv")
      let base = ["profile", "--members", "members.csv", "--messages"]
      let rows: [(arguments: [String], error: String)] = [
        (base + ["messages.csv", "--bots", "bad-bots.csv"], "bad-bots.csv:1: "),
        (base + ["messages.csv", "--bots", "no-user.csv"], "no-user.csv:2: "),
        (base + ["unsorted.csv"], "unsorted.csv:3: "), (base + ["bad.csv"], "bad.csv:3: "),
      ]
      for row in rows {
        let run = try place.run(row.arguments)
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(run.errorLines.count == 1 && run.errors.hasPrefix(row.error), "\(run.errors)")
      }
      let skipping = try place.run(base + ["bad.csv", "--skip-invalid"])
      #expect(skipping.status == 1)
      #expect(skipping.lines.contains { $0.hasPrefix("messages ") && $0.hasSuffix(" 2") })
      #expect(skipping.errorLines.dropFirst().first == "push-fanout: bad lines left out: 1")
      for wrong in [
        ["profile", "--messages", "messages.csv"],
        base + ["messages.csv", "--flags", "--json"],
        ["profile", "--members", "members.csv"],
      ] {
        #expect(try place.run(wrong).status == 2)
      }
    }
  }
}
