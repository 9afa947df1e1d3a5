import Foundation
import FoundationXML
import PushReplay
import TestSupport
import Testing

@testable import PushReport

/// Goal: tooltips have lines, whatever ids are in them, and figures of a page that differ for a reason
/// say the reason.
@Suite struct PageWordTests {
  private static func tooltips(_ html: String) throws -> [String] {
    try XMLDocument(xmlString: html).nodes(
      forXPath: "//*[local-name()='svg']//*[local-name()='title']"
    ).map { $0.stringValue ?? "" }
  }

  @Test func tooltipsHaveLines() throws {
    let html = try ReplayReport(SampleResult.make(hours: 24 * 500)).html
    let tooltips = try Self.tooltips(html)
    let lines = Set(tooltips.map { $0.split(separator: "\n").count })
    #expect(lines == [1, 2])
    #expect(tooltips.contains { $0.hasPrefix("00:00 to 01:00\nquiet hours: ") })
    #expect(tooltips.contains { $0.hasPrefix("large\n900 members, ") })
    #expect(!html.contains("U+000A"))
  }

  @Test func charactersOfIDsAreNoLines() throws {
    let result = SampleResult.make(hours: 30, rooms: ["a\nb", "c\u{2028}\rd", "e\u{202E}<"])
    let tooltips = try Self.tooltips(try ReplayReport(result).html)
    let rooms = tooltips.filter { $0.contains(" members, ") }.map { $0.split(separator: "\n") }
    #expect(
      Set(rooms.map { $0[0] }) == [
        "a\u{27E8}U+000A\u{27E9}b", "c\u{27E8}U+2028\u{27E9}\u{27E8}U+000D\u{27E9}d",
        "e\u{27E8}U+202E\u{27E9}<",
      ])
    #expect(Set(rooms.map(\.count)) == [2])
  }

  @Test func committedPagesHaveLines() throws {
    let reports = Repository.root.appending(path: "reports")
    let pages = try FileManager.default.contentsOfDirectory(
      at: reports, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "html" }
    #expect(!pages.isEmpty)
    let wrong = try pages.filter { try String(contentsOf: $0, encoding: .utf8).contains("U+000A") }
    #expect(wrong.map(\.lastPathComponent) == [])
  }

  // MARK: The answer of a comparison

  @Test func theTitleIsTheQuestion() throws {
    func title(_ b: [String], _ a: [String] = [], name: String? = nil) throws -> String {
      var result = SampleComparison.make(hours: 3)
      result.a = ComparedSide(what: a, rules: "easemob")
      result.b = ComparedSide(name: name, what: b, rules: "easemob")
      let sample = SampleComparison.make(hours: 3)
      (result.a.decisions, result.a.pushes) = (sample.a.decisions, sample.a.pushes)
      (result.b.decisions, result.b.pushes) = (sample.b.decisions, sample.b.pushes)
      let html = try CompareReport(result).html
      return String(html.split(separator: "<h1>")[1].split(separator: "</h1>")[0])
    }
    #expect(
      try title(["unset.quietHours=22:00-07:00"]) == "Quiet hours 22:00\u{2013}07:00 by default?")
    #expect(
      try title(["zone=Asia/*.unset.quietHours=22:00-07:00"])
        == "Quiet hours 22:00\u{2013}07:00 by default for users in Asia/*?")
    #expect(try title(["b.ndjson"], ["a/b.ndjson"]) == "b.ndjson instead of a/b.ndjson?")
    #expect(try title(["unset.level=none"], name: "silence") == "Silence?")
  }

  @Test func whoLosesMentions() throws {
    var result = SampleComparison.complete()
    result.nameConversations { _ in "Tea" }
    let words = "5 mentions by name lost by 2 people: u1 4 in Tea, =u,2\" 1 in Tea."
    #expect(CompareReport.mentions(result) == words)
    let html = try CompareReport(result, price: PushPrice("$2")).html
    #expect(html.contains("<p class=\"second\">\(words.replacing("\"", with: "&quot;"))</p>"))
    #expect(html.contains("At $2.00 a million pushes that is $1.80 \u{2192} $0.018 a month.</p>"))
    #expect(html.contains("of the recipient&#39;s day come 100.0\u{A0}% of the pushes in A, 0.0"))
    result.mentionsLost = 9
    #expect(CompareReport.mentions(result)?.hasSuffix("=u,2\" 1 in Tea, \u{2026}") == true)
    #expect(CompareReport.mentions(SampleComparison.make(hours: 3)) == nil)
    for (message, defect) in [
      ("users.lostMentions: they add up", { $0.users.lostMentions = 9 }),
      ("users.mentionLosers, mentions: they", { $0.users.mentionLosers![0].mentions = 5 }),
      ("users.mentionLosers: are more", { $0.users.lostMentions = 1 }),
      ("pushesByLocalHour.a: they add", { $0.pushesByLocalHour!.a[1] += 1 }),
      ("b.reach: has settings", { $0.b.reach = [ChangeReach(users: 1, unmet: "nothing")] }),
    ] as [(String, (inout CompareResult) -> Void)] {
      var bad = SampleComparison.complete()
      defect(&bad)
      let error = #expect(throws: ReportProblem.self) { try CompareReport(bad) }
      #expect("\(error!)".hasPrefix(message), "\(error!)")
    }
  }

  @Test func whatNothingMeetsIsSaid() throws {
    var result = SampleComparison.make(hours: 3)
    result.b.reach = [ChangeReach(unmet: "no room has <5")]
    #expect(CompareReport.answer(result) == "No room has <5, so nothing changes.")
    #expect(
      try CompareReport(result).html.contains(
        "(<code><bdi>unset.level=mention</bdi></code>, no room has &lt;5)"))
    result.a.what = ["app.timeZone=UTC"]
    result.a.reach = [ChangeReach()]
    #expect(
      CompareReport.answer(result).hasSuffix(
        ". No room has <5, so unset.level=mention changes nothing."))
  }

  // MARK: Rooms with recipients and without

  private static func note(_ text: String, _ result: ReplayResult) throws -> Bool {
    let root = try XMLDocument(xmlString: try ReplayReport(result).html).rootElement()
    let words = (root?.stringValue ?? "").split { $0 == " " || $0 == "\n" }
    return words.joined(separator: " ").contains(text)
  }

  @Test func roomsWithoutRecipientsAreExplained() throws {
    var result = SampleResult.make(hours: 30)
    #expect(try Self.note("3 rooms.", result))
    #expect(try !Self.note("Not counted", result))
    for number in 0..<2 {
      var room = ConversationTotal(
        id: "alone \(number)", members: 1, messages: 1, decisions: 0, pushes: 0,
        first: SampleResult.start, last: SampleResult.start)
      room.outcomes = result.outcomes.map { _ in 0 }
      result.conversationTable.append(room)
    }
    result.conversations += 2
    result.messages += 2
    result.hours.messages[0] += 2
    result.week[72].messages += 2
    result.sizes[0].messages += 2
    result.sizes[0].conversations += 2
    let texts = [
      "5 rooms.",
      "The first 3 of 3 rooms have",
      "Not counted: 2 rooms of all 5, where no message had a recipient.",
      "those whose messages had no recipients are counted under \u{201C}none\u{201D}.",
    ]
    #expect(try texts.filter { try !Self.note($0, result) } == [])
  }
}
