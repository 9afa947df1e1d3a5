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
    var result = SampleResult.complete()
    result.nameConversations { $0 == "room & board" ? "Tea <3" : nil }
    result.follow?.user = nil
    result.follow?.conversation = "room & board"
    let html = try ReplayReport(result).html
    #expect(html.contains("Messages in Tea &lt;3</h2>"))
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
        == "Pushes a person and day: median 1, 90 % at most 7, 99 % at most 60. Busiest minute: "
        + "\(Figures.short(result.peaks.first { $0.unit == "minute" && $0.by == "pushes" }!.pushes))"
        + " pushes (\(CivilTime.text(result.peaks[0].at)) UTC). Held pushes would make "
        + "\(Figures.short(result.hold!.releasePeak!.count)) in the minute "
        + "\(CivilTime.text(result.hold!.releasePeak!.at)) UTC. Never reached: 203 of 940 people, "
        + "mostly by \u{201C}level none\u{201D} (200).")
    let root = try XMLDocument(xmlString: try ReplayReport(result).html).rootElement()
    let header = try root?.nodes(forXPath: "//*[local-name()='header']/*[2]").first
    #expect(header?.stringValue == ReplayReport.answer(result))
  }

  @Test func whoIsNeverReached() throws {
    let html = try ReplayReport(Self.result()).html
    let text = try XMLDocument(xmlString: html).rootElement()?.stringValue ?? ""
    for words in [
      "1,800 person-days of 940 people; 203 of these people never get a push.", "over 1,000",
      "level nonelevelNone20098.5",
    ] { #expect(text.contains(words), "\(words)") }
    var nobody = SampleResult.make(hours: 30)
    nobody.people = PeopleResult()
    #expect(try !ReplayReport(nobody).html.contains(">People</h2>"))
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
