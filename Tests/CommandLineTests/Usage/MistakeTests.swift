import Foundation
import PushReplay
import TestSupport
import Testing

/// Goal: what is mistyped is answered with what was most likely meant, and the same kind of mistake
/// ends with the same status: 2 for wrong usage, 1 for what is in files.
@Suite struct MistakeTests {
  private typealias Case = Workplace.Case

  private static let messages = "--settings world.ndjson --messages messages.ndjson"
  static let columns =
    "id, conversation, channel, sender, at, sentAt, mentions, mentionsAll, isMentioned, force, "
    + "silent, body, pushContent, persisted, backlog, reply, replyTo"

  private static let classes =
    "plain, me, everyone, role, thread, private, reply, keyword, sender"
  private static let levels =
    "Levels are default, all, mention, mentionUsers, mentionAll, none, mentions, direct, or classes "
    + "with commas between: \(classes)."

  private static let commands: [Case] = [
    ("evalute --users u.csv", 2, "Error: there is no command evalute; did you mean evaluate?"),
    ("help evalute", 2, "Error: there is no command evalute; did you mean evaluate?"),
    ("hepl", 2, "Error: there is no command hepl; did you mean help?"),
    ("frobnicate", 2, "Error: there is no command frobnicate"),
    (
      "settings gte --user u1", 2,
      "Error: there is no command settings gte; did you mean settings get?"
    ),
    (
      "settings device lst", 2,
      "Error: there is no command settings device lst; did you mean settings device list?"
    ),
    ("evaluate \(messages) --usr u1", 2, "Error: Unknown option '--usr'. Did you mean '--user'?"),
    (
      "settings set --store s --user u1 --level mentio", 2,
      "Error: The value 'mentio' is invalid for '--level <level>'. \(levels) Did you mean 'mention'?"
    ),
    (
      "settings set --store s --user u1 --level plain,mee", 2,
      "Error: The value 'plain,mee' is invalid for '--level <level>'. \(levels) Did you mean "
        + "'plain,me'?"
    ),
    (
      "settings quiet add 1:0-2:0 --store s --user u1 --allow loud", 2,
      "Error: The value 'loud' is invalid for '--allow <classes>'. They are all, mentions, direct, "
        + "none, or classes with commas between: \(classes)."
    ),
    ("store create s", 2, "Error: there is no command store create; store import makes one"),
    (
      "store check s", 2,
      "Error: Missing expected argument '--store <file>'. Did you mean '--store s'?"
    ),
    (
      "evaluate \(messages) --format ndjsn", 2,
      "Error: The value 'ndjsn' is invalid for '--format <format>'. Please provide one of ndjson, "
        + "csv, counts, pushlist, summary, npy. Did you mean 'ndjson'?"
    ),
    (
      "check world.ndjson -", 2,
      "Error: check needs files, which it reads more than once; - is standard input."
    ),
    (
      "evaluate --settings world.ndjson --messages messages.ndjson --delimiter ';'", 2,
      "Error: --delimiter, --columns and --zone are for CSV; for a file of another name write "
        + "csv:FILE."
    ),
    (
      "evaluate --settings world.ndjson --messages csv:- --columns 'snder=From'", 2,
      "Error: --columns snder=From: messages have no column \"snder\"; did you mean sender=From? "
        + "Their columns are \(columns)."
    ),
    (
      "evaluate --settings world.ndjson --messages csv:- --columns From", 2,
      "Error: --columns From: \"From\" is not like at=Timestamp."
    ),
    (
      "evaluate --settings world.ndjson --messages csv:- --delimiter ab", 2,
      "Error: --delimiter ab is not one character like ';' or '|', or the word tab."
    ),
    (
      "evaluate --settings world.ndjson --messages csv:- --zone Asia/Shanghia", 2,
      "Error: --zone Asia/Shanghia is not a time zone; give an IANA name."
    ),
    (
      "evaluate \(messages) --from noon", 2,
      "Error: --from noon is not an instant; give a day like 2024-06-03, a time like "
        + "2024-06-03T12:00 or 2024-06-03T12:00:00Z, or Unix milliseconds."
    ),
    (
      "evaluate \(messages) --from 2024-06-03 --to 2024-06-03", 2,
      "Error: --from 2024-06-03 is not before --to 2024-06-03."
    ),
    (
      "evaluate \(messages) --user nobody", 1, "push-fanout: there is no user \"nobody\""
    ),
    (
      "evaluate \(messages) --conversation g2", 1,
      "push-fanout: there is no conversation \"g2\""
    ),
  ]

  /// Changes of compare: behind `--b`.
  private static let changes: [Case] = {
    let quoting =
      "quote changes that contain >, as a shell writes to a file otherwise, like "
      + "'rooms>500.unset.level=mention', or write rooms.over=500"
    let easemob = "a level under easemob is one of default, all, mention, none"
    let rongcloud =
      "a level under rongcloud is one of default, all, mention, mentionUsers, mentionAll, none"
    let open =
      "a level under open is one of all, mentions, direct, none, default, or of classes with commas "
      + "between: \(classes)"
    return [
      (
        "'room>500.unset.level=none'",
        "room>500.unset.level=none is neither a change nor a file; room>500: room is compared with "
          + "= or !=, like room=c1,c2; for the number of members write rooms>500"
      ),
      ("rooms>500.unset.level=none", "rooms is neither a change nor a file; \(quoting)"),
      (
        "type=group.rooms>500.unset.level=none",
        "type=group.rooms is neither a change nor a file; \(quoting)"
      ),
      (
        "unsett.level=none",
        "unsett.level=none is neither a change nor a file; did you mean unset.level=none?"
      ),
      (
        "'rooms>500.unset.levl=none'",
        "rooms>500.unset.levl=none is no change; did you mean rooms>500.unset.level=none?"
      ),
      (
        "rooms.over=500.unset.level=metion",
        "rooms.over=500.unset.level=metion is no change: \(easemob); \(rongcloud); \(open); did you "
          + "mean mention?"
      ),
      (
        "unset.level=metion",
        "unset.level=metion is no change: \(easemob); \(open); did you mean mention?"
      ),
      // A level, but no rule set has it for users.
      (
        "everyone.level=mentionAll",
        "everyone.level=mentionAll is no change: \(easemob); \(open)"
      ),
      (
        "app.devicePolicy=anyOfline",
        "app.devicePolicy=anyOfline is no change: a device policy is one of allOffline, "
          + "anyOffline; did you mean anyOffline?"
      ),
      (
        "option.mentionBypassesDnd=tru",
        "option.mentionBypassesDnd=tru is no change: easemob has no option mentionBypassesDnd with "
          + "that value; did you mean true?"
      ),
      (
        "'romos>500.unset.level=none'",
        "romos>500.unset.level=none is neither a change nor a file; \"romos\" is not a condition; "
          + "did you mean rooms? Conditions are rooms, type, room, share, zone"
      ),
    ].map { ("compare \(messages) --b \($0.0)", 2, "Error: --b " + $0.1) }
  }()

  /// Ids of people and conversations that are near one that there is; numbers are not guessed.
  @Test func ids() throws {
    try withWorkplace { place in
      let world = SmallWorld.settings.map { line in
        line.replacing("u1", with: "ann").replacing("g1", with: "team")
      }
      try place.write(world, as: "world.ndjson")
      try place.write(
        [#"{"id":"m1","conversation":"taem","at":1717401600000}"#], as: "messages.ndjson")
      #expect(
        try place.run("store", "import", "--store", "s", "--settings", "world.ndjson").status == 0)
      let user = "push-fanout: there is no user \"anne\"; did you mean \"ann\"?"
      let room = "push-fanout: there is no conversation \"taem\"; did you mean \"team\"?"
      for source in ["--settings world.ndjson", "--store s"] {
        let messages = "\(source) --messages messages.ndjson"
        try place.expect(
          [
            ("explain \(messages) --message m1 --user anne", 1, user),
            ("render \(messages) --user anne", 1, user),
            ("evaluate \(messages) --user anne", 1, user),
            ("evaluate \(messages) --user anne --engine reference", 1, user),
            ("evaluate \(messages) --conversation taem", 1, room),
            ("profile \(messages) --user anne", 1, user),
            ("replay \(messages) --follow-user anne", 1, user),
            ("replay \(messages) --user anne", 1, user),
            ("next-change \(source) --user anne --conversation team", 1, user),
            ("next-change \(source) --user ann --conversation taem", 1, room),
            (
              "next-change \(source) --user u4 --conversation team", 1,
              "push-fanout: there is no user \"u4\""
            ),
            (
              "replay \(messages)", 1,
              "messages.ndjson:1: there is no conversation \"taem\" in the settings; did you mean "
                + "\"team\"?"
            ),
          ])
      }
      try place.expect(
        [
          ("settings get --store s --user anne", 1, user),
          ("settings get --store s --user ann --conversation taem", 1, room),
          ("settings remove user --store s --user anne", 1, user),
          ("store erase --store s --user anne", 1, user),
        ])
      let explained = try place.shell(
        "\"$0\" explain --settings world.ndjson --messages messages.ndjson --message m1 --user ann")
      #expect(explained.errors == room + "\n")
    }
  }

  @Test func arguments() throws {
    try withWorkplace { try $0.expect(Self.commands + Self.changes) }
  }

  /// The same as with `>` and `<`, which a shell takes for itself.
  @Test func changesNeedNoQuotes() throws {
    try withWorkplace { place in
      try place.write(ReplayTests.messages, as: "messages.ndjson")
      let changes = ["'rooms>2.", "rooms.over=2.", "'rooms<3.", "rooms.under=3.", "rooms.over=3."]
      let reached = try changes.map { text -> Int in
        let quote = text.hasPrefix("'") ? "'" : ""
        let run = try place.shell(
          "\"$0\" compare \(Self.messages) --b \(text)unset.level=none\(quote) --json")
        #expect(run.status == 0, "\(run.errors)")
        let result = try JSONDecoder().decode(CompareResult.self, from: Data(run.output.utf8))
        return try #require(result.b.reach.first).members
      }
      #expect(reached == [2, 2, 0, 0, 0])
    }
  }

  /// What only some rules have is known when the settings are read.
  @Test func levelsOfOtherRules() throws {
    try withWorkplace { place in
      try place.write(["{\"kind\":\"app\",\"rules\":\"open\"}"], as: "open.ndjson")
      let open = "compare --settings open.ndjson --messages messages.ndjson --b"
      try place.expect([
        (
          "\(open) unset.level=mention", 1,
          "push-fanout: unset.level=mention: a level under open is one of all, mentions, direct, "
            + "none, default, or of classes with commas between: \(Self.classes); did you mean "
            + "mentions?"
        ),
        (
          "compare \(Self.messages) --b unset.level=mentions", 1,
          "push-fanout: unset.level=mentions: a level under easemob is one of default, all, mention, "
            + "none; did you mean mention?"
        ),
      ])
    }
  }
}
