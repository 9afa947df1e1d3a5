import Foundation
import PushReplay
import Testing

/// Goal: `report` writes a page of a result, and a file that is none is refused with a sentence and
/// leaves nothing behind.
@Suite struct ReportTests {
  /// One message to two people, one of whom gets a push.
  private static let result: ReplayResult = {
    var result = ReplayResult(rules: "rongcloud", timeZone: "Asia/Shanghai")
    result.users = 3
    result.conversations = 1
    result.messages = 1
    result.decisions = 2
    result.pushes = 1
    result.first = 1_717_401_600_000  // a Monday, 16:00 in Shanghai
    result.last = result.first
    result.outcomes = [
      OutcomeTotal(action: "none", reason: "online", scope: nil, count: 1),
      OutcomeTotal(action: "push", reason: "allowed", scope: "default", count: 1),
    ]
    result.hours.at = [1_717_401_600_000]
    result.hours.messages = [1]
    result.hours.decisions = [2]
    result.hours.pushes = [1]
    result.hours.outcomes = [[1], [1]]
    result.week = (0..<168).map { row in
      var hour = WeekHour(weekday: row / 24 + 1, hour: row % 24)
      hour.outcomes = row == 16 ? [1, 1] : [0, 0]
      hour.days = row == 16 ? 1 : 0
      (hour.messages, hour.decisions, hour.pushes) = row == 16 ? (1, 2, 1) : (0, 0, 0)
      return hour
    }
    var room = ConversationTotal(
      id: "<g&1>", members: 3, messages: 1, decisions: 2, pushes: 1, first: 1_717_401_600_000,
      last: 1_717_401_600_000)
    room.outcomes = [1, 1]
    result.conversationTable = [room]
    result.sizes = [SizeClass(from: 1)]
    result.sizes[0].messages = 1
    result.sizes[0].decisions = 2
    result.sizes[0].pushes = 1
    result.sizes[0].conversations = 1
    return result
  }()

  private static func write(_ place: Workplace, _ result: ReplayResult = result) throws {
    try JSONEncoder().encode(result).write(to: place.url.appending(path: "a.json"))
  }

  @Test func aResultBecomesAPage() throws {
    try withWorkplace { place in
      try Self.write(place)
      let run = try place.run("report", "a.json", "--title", "A & <b>", "--output", "a.html")
      #expect(run.status == 0 && run.output == "" && run.errors == "")
      let page = try place.read("a.html")
      #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
      #expect(page.contains("<h1>A &amp; &lt;b&gt;</h1>") && page.contains("&lt;g&amp;1&gt;"))
      #expect(page.contains("RongCloud") && page.contains("Asia/Shanghai"))
      let printed = try place.run("report", "a.json", "--title", "A & <b>")
      #expect(printed.status == 0 && printed.output == page)
      let noted = try place.run("report", "a.json", "--note", "Made up & true", "--print-figures")
      #expect(noted.output.contains("<p class=\"caveat\">Made up &amp; true</p>"))
      #expect(noted.output.contains("<body class=\"figures-on-paper\">"))
      let unpacked = try place.shell(
        "gzip -k a.json && \"$0\" report a.json.gz --title 'A & <b>' && rm a.json.gz")
      #expect(unpacked.status == 0 && unpacked.output == page)
      let piped = try place.shell("\"$0\" report - --title 'A & <b>' <a.json")
      #expect(piped.status == 0 && piped.output == page)
      #expect(place.names() == ["a.html", "a.json", "messages.ndjson", "world.ndjson"])
    }
  }

  @Test func figuresAreFiles() throws {
    try withWorkplace { place in
      try Self.write(place)
      let run = try place.run("report", "a.json", "--figures", "figures", "-o", "a.html")
      #expect(run.status == 0 && run.output == "" && run.errors == "")
      let rooms = try place.read("figures/rooms.csv")
      #expect(
        rooms == "Room,Members,Messages,Decisions,Pushes,Push rate\n<g&1>,3,1,2,1,0.5\n", "\(rooms)"
      )
      let outcomes = try place.read("figures/outcomes.csv")
      #expect(
        outcomes == "Outcome,Decisions,Share\nnone/online,1,0.5\npush/allowed/default,1,0.5\n")
      let page = try place.read("a.html")
      // Nothing is replaced, and nothing is left of what could not be finished.
      let again = try place.run("report", "a.json", "--figures", "figures", "-o", "b.html")
      #expect(again.status == 1 && again.errorLines.count == 1)
      let refusal = "cannot write figures: there is something of that name"
      #expect(again.errors.contains(refusal), "\(again.errors)")
      let bad = try place.run("report", "world.ndjson", "--figures", "other", "-o", "b.html")
      #expect(bad.status == 1)
      let same = try place.run("report", "a.json", "--figures", "b.html", "-o", "b.html")
      #expect(same.status != 0)
      let full = try place.shell("\"$0\" report a.json --figures other >/dev/full")
      #expect(full.status == 1)
      #expect(
        place.names() == ["a.html", "a.json", "figures", "messages.ndjson", "world.ndjson"])
      let printed = try place.run("report", "a.json", "--figures", "other")
      #expect(printed.output == page && place.names().contains("other"))
    }
  }

  /// What a file holds, and what is said of it.
  private static let bad: [(text: String, message: String)] = [
    ("", "bad.json: the file is empty"),
    ("{", "bad.json: no result of a replay: not JSON: Unexpected end of file"),
    ("[1]", "bad.json: no result of a replay: the result is not an object"),
    (#"{"kind":"app"}"#, "bad.json: no result of a replay: the field pushFanoutReplay is missing"),
    (
      #"{"pushFanoutReplay":2}"#, "bad.json: the result's format is 2; this program reads 1"
    ),
    (
      #"{"pushFanoutReplay":"1"}"#,
      "bad.json: no result of a replay: pushFanoutReplay is not a whole number"
    ),
    (#"{"pushFanoutReplay":1}"#, "bad.json: the field rules is missing"),
  ]

  @Test(arguments: bad.indices)
  func whatIsNoResultIsRefused(index: Int) throws {
    try withWorkplace { place in
      try Data(Self.bad[index].text.utf8).write(to: place.url.appending(path: "bad.json"))
      let run = try place.run("report", "bad.json", "--output", "bad.html")
      #expect(run.status == 1 && run.output == "" && run.errorLines.count == 1)
      #expect(run.errors.hasPrefix(Self.bad[index].message), "\(run.errors)")
      #expect(!place.names().contains { $0.hasPrefix("bad.html") })
    }
  }

  @Test func wrongFieldsAndContradictionsAreNamed() throws {
    try withWorkplace { place in
      try Self.write(place)
      let text = try place.read("a.json")
      let changes = [
        (#""pushes":[1]"#, #""pushes":["1"]"#, "a.json: hours.pushes[0] is not a whole number"),
        (#""pushes":[1]"#, #""pushes":[1.5]"#, "a.json: hours.pushes[0] is not a whole number\n"),
        (
          #""pushes":[1]"#, #""pushes":[99999999999999999999]"#,
          "a.json: hours.pushes[0] is not a whole number\n"
        ),
        (#""pushes":[1]"#, #""pushes":[2]"#, "a.json: hours.pushes: they add up to 2, and the tot"),
        (
          #""pushes":[1]"#, #""pushes":[1,1]"#, "a.json: hours.pushes: has 2 entries where 1 belong"
        ),
        (#""users":3"#, #""users":null"#, "a.json: the field users is missing"),
        (
          #""users":3"#, #""users":3,"users":3"#,
          "a.json: the key \"users\" is repeated in one object\n"
        ),
        (
          #""weekday":7"#, #""weekday":7,"weekd\u0061y":7"#,
          "a.json: the key \"weekday\" is repeated in one object\n"
        ),
        (
          #""users":3"#, #""users":3,"pushFanoutCompare":1"#,
          "a.json: is the result of a replay and of a comparison at once: it has both fields "
        ),
        (
          #"Asia\/Shanghai"#, "Asia/Shangha",
          "a.json: timeZone: \"Asia/Shangha\" is not a time zone of the IANA database\n"
        ),
      ]
      for (old, new, message) in changes {
        try #require(text.contains(old), "\(old)")
        try Data(text.replacing(old, with: new).utf8)
          .write(to: place.url.appending(path: "a.json"))
        let run = try place.run("report", "a.json", "-o", "a.html")
        #expect(run.status == 1 && run.errorLines.count == 1)
        #expect(run.errors.hasPrefix(message), "\(run.errors)")
      }
      let missing = try place.run("report", "none.json", "-o", "a.html")
      #expect(missing.status == 1)
      #expect(missing.errors == "none.json: cannot be opened: No such file or directory\n")
      let folder = try place.run("report", ".", "-o", "a.html")
      #expect(folder.errors == ".: is a directory; name a file\n")
      #expect(place.names() == ["a.json", "messages.ndjson", "world.ndjson"])
    }
  }
}
