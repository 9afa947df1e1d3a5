import Foundation
import FoundationXML
import PushReplay
import Testing

@testable import PushReport

/// Goal: a page says first what the result means for people, and what it shows of them is right.
@Suite struct PeoplePageTests {
  private static func result() -> ReplayResult {
    var result = SampleResult.make(hours: 30)
    result.people = SampleResult.people
    return result
  }

  @Test func roomsHaveNames() throws {
    var result = SampleResult.make(hours: 30, rooms: ["room & board", "middle", "large"])
    result.follow = SampleResult.follow
    result.nameConversations { $0 == "room & board" ? "Tea <3" : nil }
    result.follow?.user = nil
    result.follow?.conversation = "room & board"
    let pages = [
      try ReplayReport(result).html,
      try {
        result.follow = nil
        return try ReplayReport(result).html
      }(),
    ]
    #expect(pages[0].contains("<h1>What became of messages: Tea &lt;3</h1>"))
    let html = pages[1]
    let name = "<bdi>Tea &lt;3</bdi><span class=\"sub\"><bdi>room &amp; board</bdi></span>"
    #expect(html.contains(name))
    #expect(try ReplayReport(result).figures.allSatisfy { !$0.rows.joined().contains("Tea <3") })
    var compared = SampleComparison.make(hours: 30)
    compared.nameConversations { "the \($0)" }
    #expect(try CompareReport(compared).html.contains("<bdi>the room</bdi>"))
  }

  @Test func theFirstSentenceIsTheAnswer() throws {
    let result = Self.result()
    #expect(
      ReplayReport.answer(result)
        == "\(result.pushes) pushes to 737 of 940 people. Half of the person-days had at most 1 "
        + "push, one in ten more than 7, one in a hundred more than 60. Busiest minute: "
        + "\(Figures.short(result.peaks.first { $0.unit == "minute" && $0.by == "pushes" }!.pushes))"
        + " pushes, \(CivilTime.text(result.peaks[0].at)) UTC. If pushes were held until they may be "
        + "sent, \(Figures.short(result.hold!.releasePeak!.count)) would go out in one minute, "
        + "\(CivilTime.text(result.hold!.releasePeak!.at)) UTC (08:00 in Europe/Berlin). 203 people never got one, the "
        + "most frequent reason: level none (200).")
    let root = try XMLDocument(xmlString: try ReplayReport(result).html).rootElement()
    let header = try root?.nodes(forXPath: "//*[local-name()='header']/*[2]").first
    #expect(header?.stringValue == ReplayReport.answer(result))
  }

  /// What most got is said, whatever the distribution; of one day the days of people are people.
  @Test(arguments: [
    (
      [0, 76, 788, 1233],
      "Half of the people had none that day, one in ten more than 76, one in a "
        + "hundred more than 788"
    ),
    ([1, 1, 1, 1], "Nobody had more than 1 push that day"),
    ([0, 0, 0, 0], "Nobody had one that day"),
    ([0, 0, 0, 5], "99 in a hundred of the people had none that day, the most 5"),
    (
      [2, 2, 9, 12],
      "Nine in ten of the people had at most 2 pushes that day, one in a hundred more "
        + "than 9"
    ),
    ([0, 9, 9, 9], "Half of the people had none that day, the most 9"),
    ([0, 7, 9, 9], "Half of the people had none that day, one in ten more than 7, the most 9"),
  ])
  func howPushesAreSpread(counts: [Int], words: String) {
    var result = SampleResult.make(hours: 3, start: SampleResult.start + 6 * 3_600_000)
    var people = PeopleResult()
    (people.people, people.personDays, people.mostDays) = (500, 500, 1)
    (people.pushes.median, people.pushes.p90) = (counts[0], counts[1])
    (people.pushes.p99, people.pushes.most) = (counts[2], counts[3])
    result.people = people
    let answer = ReplayReport.answer(result)
    #expect(answer.hasPrefix("\(result.pushes) push"))
    #expect(answer.contains(" to 500 people. \(words). "), "\(answer)")
    #expect(!answer.contains("never"))
    people.neverReached = 500
    result.people = people
    #expect(ReplayReport.answer(result).hasPrefix("No push to 500 people. "))
  }

  @Test func whoGetsMost() throws {
    var result = SampleResult.complete()
    result.nameConversations { $0 == "large" ? "Large & loud" : nil }
    let html = try ReplayReport(result).html
    let text = try XMLDocument(xmlString: html).rootElement()?.stringValue ?? ""
    for words in [
      "People with most pushes", "The first 2 of 737 people who got one have",
      "push-fanout replay --settings 'a & b.ndjson' --follow-user 'u<1>'",
      "u<1>1502room & board50.0", "u2901Large & loudlarge100", "Rooms by pushes",
      "Senders by the pushes of their messages",
    ] { #expect(text.contains(words), "\(words)") }
    // The table of all rooms is for specialists then.
    #expect(html.contains("<summary><h2 id=\"rooms\">"))
    result.top?.follow = nil
    #expect(try ReplayReport(result).html.contains("<code>replay --follow-user &#39;u&lt;1&gt;"))
    let defects: [(String, (inout TopPushes) -> Void)] = [
      ("top: lists more than 1", { $0.limit = 1 }),
      ("top.people: are not in order", { $0.people.swapAt(0, 1) }),
      ("top.people[0]: has a share or days", { $0.people[0].share = 151 }),
      ("top.people[1]: has a share or days", { $0.people[1].days = 3 }),
      ("top.people.pushes: they add up to", { $0.people[0].pushes = 1 << 40 }),
      ("top.senders.messages: they add up to", { $0.senders[0].messages = 1000 }),
    ]
    for (message, defect) in defects {
      var bad = SampleResult.complete()
      defect(&bad.top!)
      let error = #expect(throws: ReportProblem.self) { try ReplayReport(bad) }
      #expect("\(error!)".hasPrefix(message), "\(error!)")
    }
  }

  /// A user's many messages are folded after the first.
  @Test func longListsAreFolded() throws {
    var result = SampleResult.make(hours: 30)
    result.follow = SampleResult.follow
    #expect(try !ReplayReport(result).html.contains("<summary>Rows"))
    let message = result.follow!.messages[0]
    result.follow!.messages = (0..<120).map { number in
      var other = message
      other.id = "m\(number)"
      return other
    }
    result.follow!.count = 120
    result.follow!.outcomes[0].count = 1
    result.follow!.outcomes[1].count = 119
    result.follow!.hours.messages = [1, 119, 0]
    result.follow!.hours.decisions = [1, 119, 0]
    result.follow!.hours.pushes = [0, 119, 0]
    result.follow!.hours.outcomes = [[1, 0, 0], [0, 119, 0]]
    let report = try ReplayReport(result)
    #expect(report.html.contains("<details><summary>Rows 51 to 120</summary><table"))
    #expect(report.figures.last?.rows.count == 120)
    let tables = try XMLDocument(xmlString: report.html).nodes(
      forXPath: "//*[@id='messages']/..//*[local-name()='tbody']")
    #expect(tables.map(\.childCount) == [50, 70])
  }

  @Test func whoIsNeverReached() throws {
    let html = try ReplayReport(Self.result()).html
    let text = try XMLDocument(xmlString: html).rootElement()?.stringValue ?? ""
    for words in [
      "940 people, 1,800 days of Europe/Berlin on which a message was for them.", "over 1,000",
      "203 of 940 people.", "level nonelevelNone20098.5",
    ] { #expect(text.contains(words), "\(words)") }
    var nobody = SampleResult.make(hours: 30)
    nobody.people = PeopleResult()
    #expect(try !ReplayReport(nobody).html.contains("person-days"))
  }

  @Test func whatPeopleCannotGetIsRefused() throws {
    let cases: [(defect: (inout PeopleResult) -> Void, message: String)] = [
      (
        { $0.personDays = 1801 },
        "people.pushes.classes: they add up to 1800, and the total is 1801"
      ),
      ({ $0.pushes.classes.removeLast() }, "people.pushes.classes: has 8 entries where 9 belong"),
      (
        { $0.pushes.p90 = 0 },
        "people.pushes: the median, p90, p99 and the most are not in this order"
      ),
      ({ $0.neverReached = 204 }, "people.neverReasons: they add up to 203, and the total is 204"),
      (
        {
          $0.neverReasons[0].people += 800
          $0.neverReached += 800
        }, "people.neverReached: are more than all people"
      ),
      (
        { $0.people = 800 },
        "people.personDays: 800 people with at most 2 days cannot have 1800 person-days"
      ),
      (
        { $0.mostDays = 1 },
        "people.personDays: 940 people with at most 1 days cannot have 1800 person-days"
      ),
      ({ $0.mostDays = 4 }, "people.mostDays: is 4, and 2 days had messages"),
      ({ $0.people = 1801 }, "people.people: 1801 people cannot have 1800 person-days"),
    ]
    let found = cases.map { row in
      var result = Self.result()
      row.defect(&result.people!)
      do throws(ReportProblem) { _ = try ReplayReport(result).html } catch { return "\(error)" }
      return "nothing"
    }
    #expect(found == cases.map(\.message))
  }
}
