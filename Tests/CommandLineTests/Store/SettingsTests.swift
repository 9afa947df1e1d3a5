import Foundation
import PushModel
import PushStore
import Testing

/// Goal: `settings` does the vendors' operations on a store, prints what is set then, and says in one
/// line why it does not.
@Suite struct SettingsTests {
  static let at = ["--at", "2025-11-25T12:00:00Z"]

  /// A store in which u1 and u2 are members of a conversation of every kind, named after it.
  static func withStore(_ rules: RuleSet, _ body: (Workplace) throws -> Void) throws {
    try withWorkplace { place in
      let store = try SettingsStore(place.path("app.store"), .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setApp(AppSettings(rules: rules))
        for kind in ConversationKind.allCases where kind.exists(under: rules) {
          let id = Identifier(kind.rawValue)
          let isThread = kind == .thread
          try write.setConversation(
            id, ConversationSettings(kind: kind, parent: isThread ? "group" : nil))
          for user: Identifier in ["u1", "u2"] where !isThread {
            try write.setMember(user, of: id)
          }
        }
      }
      try store.close()
      try body(place)
    }
  }

  /// What follows `settings`, and what is printed. Each goes on where the one before has ended.
  struct Step: Sendable {
    let arguments: String
    let output: String

    init(_ arguments: String, _ output: String) {
      self.arguments = arguments
      self.output = output
    }
  }

  static func run(_ arguments: String, in place: Workplace) throws -> Run {
    let words = arguments.split(separator: " ").map { $0 == "''" ? "" : String($0) }
    return try place.run(["settings"] + words + ["--store", "app.store"])
  }

  func expect(_ steps: [Step], _ rules: RuleSet) throws {
    try Self.withStore(rules) { place in
      for step in steps {
        let run = try Self.run(step.arguments, in: place)
        #expect(run.output == step.output, "\(step.arguments)")
        let isEmptyList =
          step.output.isEmpty && ["list", "blocked"].contains(step.arguments.prefix { $0 != " " })
        #expect(run.errors == (isEmptyList ? "there are none\n" : ""), "\(step.arguments)")
        #expect(run.status == 0, "\(step.arguments)")
      }
    }
  }

  private static let noon = "--at 2025-11-25T12:00:00Z"

  @Test func easemob() throws {
    try expect(
      [
        Step("get --user u1", "user u1: level default\n"),
        Step(
          "set --user u1 --level mention --quiet-hours 22:0-8:00 --minutes 240 \(Self.noon)",
          "user u1: level mention, muted until 2025-11-25T16:00:00Z, "
            + "quiet hours 22:00-08:00\n"),
        Step(
          "get --user u1 --json",
          #"{"level":"mention","mutedUntil":1764086400000,"#
            + #""quietHours":{"end":"08:00","start":"22:00"},"user":"u1"}"# + "\n"),
        Step(
          "set --user u1 --time-zone Asia/Shanghai --remove-quiet-hours --minutes 0",
          "user u1: level mention, time zone Asia/Shanghai\n"),
        Step("clear --user u1 --quiet-hours", "user u1: level mention, time zone Asia/Shanghai\n"),
        Step("set --user u1 --remove-time-zone", "user u1: level mention\n"),
        Step(
          "set --user u1 --conversation group --level NONE --quiet-hours 1:0-2:0 --from p1",
          "user u1, conversation group: level none, "
            + "quiet hours ignored: only the app level has them\n"),
        Step(
          "set --user u1 --conversation thread --minutes 5 \(Self.noon)",
          "user u1, conversation thread: level default, muted until 2025-11-25T12:05:00Z\n"),
        Step(
          "get --user u1 --batch thread private group --at 2025-11-25T12:05:00Z --json",
          #"{"conversation":"group","level":"none","user":"u1"}"# + "\n"),
        Step("blocked --user u1 --type group private --json", "{\"conversation\":\"group\"}\n"),
        Step(
          "list --user u1 --at 2025-11-25T12:04:59.999Z",
          """
          user u1, group group: level none
          user u1, thread thread: level default, muted until 2025-11-25T12:05:00Z\n
          """),
        Step("list --user u1 --at 2025-11-25T12:05:00Z", "user u1, group group: level none\n"),
        Step("list --user u1", "user u1, group group: level none\n"),
        Step("list --user u1 --limit 1 --after thread", ""),
        Step(
          "clear --user u1 --conversation thread",
          "user u1, conversation thread: level default, muted until 2025-11-25T12:05:00Z\n"),
        Step(
          "set --user u1 --conversation group --legacy push",
          "user u1, conversation group: level default\n"),
        Step("set --user u2 --legacy 0-24", "user u2: level default, quiet hours 12:00-12:00\n"),
        Step("set --user u2 --legacy 22-24", "user u2: level default, quiet hours 22:00-00:00\n"),
        Step("set --user u2 --legacy 22-8", "user u2: level default, quiet hours 22:00-08:00\n"),
        // Empty is not set (E-4).
        Step("set --user u2 --quiet-hours ''", "user u2: level default\n"),
        Step(
          "set --user u2 --quiet-hours 1:00-2:00",
          "user u2: level default, quiet hours 01:00-02:00\n"),
        Step("set --user u2 --quiet-hours=", "user u2: level default\n"),
      ], .easemob)
  }

  @Test func rongcloud() throws {
    try expect(
      [
        Step("get --user u1", "user u1: nothing set\n"),
        Step("set --user u1 --type group --level 5", "user u1, group: level none\n"),
        Step(
          "set --user u1 --quiet-hours 22:00:00+600 --quiet-level none --quiet-zone Asia/Shanghai",
          "user u1: group none, quiet hours 22:00:00+600 level none in Asia/Shanghai\n"),
        Step(
          "get --user u1 --json",
          #"{"levels":{"group":"none"},"quietHours":{"level":"none","spanMinutes":600,"#
            + #""start":"22:00:00","timeZone":"Asia/Shanghai"},"user":"u1"}"# + "\n"),
        Step("clear --user u1 --quiet-hours", "user u1: group none\n"),
        Step("clear --user u1 --type group", "user u1, group: level default\n"),
        Step(
          "set --user u1 --conversation group --level -1",
          "user u1, conversation group: level all\n"),
        Step(
          "get --user u1 --conversation group --legacy",
          "user u1, conversation group: notify\n"),
        Step(
          "set --user u1 --conversation group --legacy dnd --json",
          #"{"conversation":"group","level":"none","user":"u1"}"# + "\n"),
        Step(
          "set --user u1 --conversation ultraGroup --channel c --level mention",
          "user u1, conversation ultraGroup, channel \"c\": level mention\n"),
        Step(
          "list --user u1 --json",
          #"{"conversation":"group","level":"none","type":"group","user":"u1"}"# + "\n"
            + #"{"channels":{"c":"mention"},"conversation":"ultraGroup","level":"default","#
            + #""type":"ultraGroup","user":"u1"}"# + "\n"),
        Step("blocked --user u1", "group\n"),
        Step("blocked --user u1 --type private", ""),
        Step(
          "defaults --conversation ultraGroup --level mention",
          "ultra group ultraGroup: level mention\n"),
        Step(
          "defaults --conversation ultraGroup --channel c --level -1 --json",
          #"{"channel":"c","conversation":"ultraGroup","level":"all"}"# + "\n"),
        Step(
          "defaults --conversation ultraGroup --channel c",
          "ultra group ultraGroup, channel \"c\": level all\n"),
        Step("defaults --app --level 0", "App Key: level default\n"),
        Step(
          "clear --user u1 --conversation group", "user u1, conversation group: level default\n"),
      ], .rongcloud)
  }

  @Test func devices() throws {
    try expect(
      [
        Step("device list --user u1", "user u1, device default: mobile, offline, token\n"),
        Step(
          "device bind --user u1 --device p1 --notifier apns",
          "user u1, device p1: mobile, offline, token of apns\n"),
        Step(
          "device state background --user u1 --device p1 \(Self.noon) --json",
          #"{"backgroundSince":1764072000000,"id":"p1","notifier":"apns","state":"background","#
            + #""token":true,"type":"mobile","user":"u1"}"# + "\n"),
        Step(
          "device state background --user u1 --device p1",
          "user u1, device p1: mobile, background since 2025-11-25T12:00:00Z, token of apns\n"),
        Step(
          "device kick --user u1 --device p1", "user u1, device p1: mobile, kicked, token of apns\n"
        ),
        Step(
          "device logout --user u1 --device p1 --keep-token",
          "user u1, device p1: mobile, loggedOut, token of apns\n"),
        Step(
          "device unbind --user u1 --device p1", "user u1, device p1: mobile, loggedOut, no token\n"
        ),
        Step("device remove --user u1 --device p1", ""),
        Step(
          "device bind --user u1 --device w --kind web", "user u1, device w: web, offline, token\n"),
      ], .easemob)
  }

  /// E-13, R-36: what has changed, and who is told.
  @Test func events() throws {
    try Self.withStore(.easemob) { place in
      let noon = "--at 2025-11-25T12:00:00Z"
      let earlier = try Self.run("events", in: place).lines
      let before = try #require(earlier.last?.split(separator: " ").first)
      for arguments in [
        "set --user u1 --level mention --minutes 5 --from p1 \(noon)",
        "set --user u1 --conversation group --level none --from p2 \(noon)",
        "set --user u1 --conversation group --level none --from p2 \(noon)",
        "device bind --user u2 --device p \(noon)",
      ] { #expect(try Self.run(arguments, in: place).status == 0) }
      let cursors = try Self.run("events", in: place).lines.suffix(4).map {
        String($0.prefix { $0 != " " })
      }
      let first = earlier.count + 1
      #expect(cursors.map { $0.prefix { $0 != "-" } } == (first..<first + 4).map { "\($0)" })
      let time = "2025-11-25T12:00:00Z"
      let lines = [
        "\(cursors[0]) \(time) userLevel, user u1, from p1: default -> mention",
        "\(cursors[1]) \(time) userMute, user u1, from p1: none -> 2025-11-25T12:05:00Z",
        "\(cursors[2]) \(time) memberLevel, user u1, conversation group, from p2: default -> none",
        "\(cursors[3]) \(time) devices, user u2: none -> p: mobile, offline, token",
      ]
      #expect(try Self.run("events --after \(before)", in: place).lines == lines)
      #expect(
        try Self.run("events --after \(before) --user u1", in: place).lines
          == Array(lines[0...2]))
      #expect(
        try Self.run("events --after \(before) --user u1 --announced --on p1", in: place).lines
          == [lines[2]])
      #expect(
        try Self.run("events --after \(cursors[1]) --json", in: place).output
          == #"{"at":1764072000000,"change":"memberLevel","conversation":"group","cursor":""#
          + "\(cursors[2])\",\"device\":\"p2\",\"new\":\"none\",\"old\":\"default\",\"sequence\":\(first + 2),\"user\":\"u1\"}\n"
          + "{\"at\":1764072000000,\"change\":\"devices\",\"cursor\":\"\(cursors[3])\","
          + "\"new\":\"p: mobile, offline, token\",\"sequence\":\(first + 3),\"user\":\"u2\"}\n")
    }
  }

  /// The channel "" is one like others (R-9, R-11), and can be named in both ways.
  @Test func theEmptyChannel() throws {
    let scope = "--user u1 --conversation ultraGroup"
    try expect(
      [
        Step(
          "set \(scope) --channel= --level none",
          "user u1, conversation ultraGroup, channel \"\": level none\n"),
        Step(
          "get \(scope) --channel ''",
          "user u1, conversation ultraGroup, channel \"\": level none\n"),
        Step("get \(scope)", "user u1, conversation ultraGroup: level default\n"),
        Step(
          "defaults --conversation ultraGroup --channel= --level mention",
          "ultra group ultraGroup, channel \"\": level mention\n"),
      ], .rongcloud)
  }

  /// Names that look alike are told apart, and stand in the order of their bytes.
  @Test func channelsThatLookAlike() throws {
    try Self.withStore(.rongcloud) { place in
      for (name, level) in [("\u{E9}", "none"), ("e\u{301}", "mention")] {
        _ = try place.run(
          "settings", "set", "--store", "app.store", "--user", "u1", "--conversation", "ultraGroup",
          "--channel", name, "--level", level)
      }
      let list = try Self.run("list --user u1 --json", in: place).output
      let wanted =
        "{\"channels\":{\"e\u{301}\":\"mention\",\"\u{E9}\":\"none\"},"
        + "\"conversation\":\"ultraGroup\",\"level\":\"default\",\"type\":\"ultraGroup\","
        + "\"user\":\"u1\"}\n"
      #expect(Array(list.utf8) == Array(wanted.utf8))
      let text = try Self.run("list --user u1", in: place).output
      #expect(
        Array(text.utf8)
          == Array(
            ("user u1, ultraGroup ultraGroup: level default, channel e\u{301} mention, "
              + "channel \u{E9} none\n").utf8))
    }
  }

  /// One process follows what another one writes.
  @Test func followedEvents() throws {
    try Self.withStore(.easemob) { place in
      try place.shell(
        """
        "$0" settings events --store app.store --after 1000-0123456789abcdef --follow > early.txt 2> early.errors &
        early=$!
        last=$("$0" settings events --store app.store | tail -n 1 | cut -d ' ' -f 1)
        "$0" settings events --store app.store --after "$last" --follow > events.txt 2> /dev/null &
        follower=$!
        "$0" settings set --store app.store --user u1 --level all > /dev/null
        for tenth in $(seq 2000); do
          if [ -s events.txt ]; then break; fi
          sleep 0.1
        done
        wait $early
        echo $? >> early.errors
        kill $follower
        wait
        """)
      #expect(try place.read("events.txt").contains(" userLevel, user u1: "))
      #expect(try place.read("early.txt") == "")
      let refused =
        "push-fanout: app.store does not have change 1000-0123456789abcdef: it was replaced by an "
        + "older copy or import; changes were missed, so read everything again\n1\n"
      #expect(try place.read("early.errors") == refused)
    }
  }
}
