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
        == "Half of the person-days had at most 1 push, nine in ten at most 7, 99 in a hundred at "
        + "most 60. Busiest minute: "
        + "\(Figures.short(result.peaks.first { $0.unit == "minute" && $0.by == "pushes" }!.pushes))"
        + " pushes, \(CivilTime.text(result.peaks[0].at)) UTC. If pushes were held until they may be "
        + "sent, \(Figures.short(result.hold!.releasePeak!.count)) would go out in one minute, "
        + "\(CivilTime.text(result.hold!.releasePeak!.at)) UTC (08:00 in Europe/Berlin). 203 of 940 people never got one, the "
        + "most frequent reason: level none (200).")
    let root = try XMLDocument(xmlString: try ReplayReport(result).html).rootElement()
    let header = try root?.nodes(forXPath: "//*[local-name()='header']/*[2]").first
    #expect(header?.stringValue == ReplayReport.answer(result))
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
