import Foundation
import FoundationXML
import PushReplay
import Testing

@testable import PushReport

/// Goal: behind each chart are its exact figures, in a table that has a name and headings, and as plain
/// values.
@Suite struct FigureTableTests {
  private static func tables(_ html: String) throws -> [XMLElement] {
    try XMLDocument(xmlString: html).nodes(forXPath: "//*[local-name()='table']").compactMap {
      $0 as? XMLElement
    }
  }

  /// The sum of each of some columns of means, each row as often as it was.
  private static func sums(_ table: FigureTable?, _ columns: ClosedRange<Int>)
    -> [Int]
  {
    columns.map { column in
      let sum = (table?.rows ?? []).reduce(0.0) {
        $0 + (Double($1[1]) ?? .nan) * (Double($1[column]) ?? .nan)
      }
      return Int(sum.rounded())
    }
  }

  private static func column(_ table: FigureTable?, _ index: Int) -> [Int] {
    table?.rows.compactMap { Int($0[index]) } ?? []
  }

  @Test func tablesHaveNamesAndHeadings() throws {
    let pages = [
      try ReplayReport(SampleResult.make(hours: 24 * 30)).html,
      try CompareReport(SampleComparison.make(hours: 24 * 30)).html,
    ]
    for page in pages {
      let tables = try Self.tables(page)
      #expect(tables.count > 8)
      for table in tables {
        let part = { (path: String) in try table.nodes(forXPath: path) }
        let rows = try part("./*[local-name()='tbody']/*")
        let name = try part("./*[local-name()='caption']").first?.stringValue ?? ""
        let columns = try part("./*[local-name()='thead']//*[local-name()='th'][@scope='col']")
        let headings = try part("./*[local-name()='tbody']/*/*[local-name()='th'][@scope='row']")
        let cells = try part("./*[local-name()='tbody']/*/*")
        #expect(!name.isEmpty && headings.count == rows.count, "\(name)")
        #expect(cells.count == rows.count * columns.count, "\(name)")
        let isCards = table.attributes?.contains { $0.name == "class" } ?? false
        #expect(
          try part(".//*[@role='cell' or @role='rowheader']").count == (isCards ? cells.count : 0))
      }
    }
  }

  @Test func figuresAreExact() throws {
    let result = SampleResult.make(hours: 24 * 500)
    let tables = try ReplayReport(result).figures
    let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
    #expect(byName.count == tables.count)
    #expect(
      byName.keys.sorted() == [
        "held", "held-outcomes", "hour-outcomes", "hours", "kinds", "local-hours",
        "message-sizes",
        "outcomes", "peak-day", "peaks", "room-sizes", "rooms", "time", "week", "weekdays",
      ])
    #expect(
      tables.allSatisfy { table in table.rows.allSatisfy { $0.count == table.columns.count } })
    let totals = [result.messages, result.decisions, result.pushes]
    #expect((1...3).map { Self.column(byName["time"], $0).reduce(0, +) } == totals)
    #expect(Self.sums(byName["week"], 2...4) == totals)
    #expect(Self.sums(byName["hours"], 2...4) == totals)
    #expect(Self.column(byName["local-hours"], 1) == result.pushesByLocalHour)
    #expect(Self.column(byName["kinds"], 1).reduce(0, +) == result.decisions)
    #expect(byName["week"]?.rows.count == 168 && byName["week"]?.rows[31].first == "Tue 07")
    #expect(byName["outcomes"]?.rows.map(\.first).contains("none/quietHours/app") == true)
    let days = Dictionary(
      uniqueKeysWithValues: (byName["hours"]?.rows ?? []).map { ($0[0], $0[1]) })
    let decided = (byName["hour-outcomes"]?.rows ?? []).reduce(0.0) {
      $0 + (Double($1[2]) ?? .nan) * (Double(days[$1[0]] ?? "") ?? .nan)
    }
    #expect(Int(decided.rounded()) == result.decisions)
  }

  @Test func figuresOfAComparisonAreExact() throws {
    let result = SampleComparison.make(hours: 24 * 30)
    let tables = try ReplayFile.Content.comparison(result).figures()
    let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
    #expect(
      byName.keys.sorted() == [
        "changes", "hours", "kinds", "losers", "losses", "outcomes", "room-sizes", "rooms", "time",
        "week", "weekdays",
      ])
    let totals = [
      result.messages, result.a.pushes, result.b.pushes, result.b.pushes - result.a.pushes,
    ]
    #expect((1...4).map { Self.column(byName["time"], $0).reduce(0, +) } == totals)
    #expect(Self.sums(byName["week"], 2...5) == totals)
    #expect(Self.sums(byName["hours"], 2...5) == totals)
    #expect(byName["losses"]?.rows.last == ["-1", "1", "=u,2\""])
    #expect(byName["time"]?.columns == ["From", "Messages", "A", "B", "B - A", "Gained", "Lost"])
    #expect(byName["losers"]?.rows.last?.first == "=u,2\"")
    #expect(
      byName["changes"]?.rows == [
        ["push/allowed/default", "none/notMentioned/app", "\(result.lost)", "1.0"]
      ])
  }

  /// Whatever a page can have: people, costs, limits and what is followed too.
  @Test func everySectionHasItsFigures() throws {
    let replay = try ReplayReport(SampleResult.complete(), price: PushPrice("$2")).figures
    let compared = try CompareReport(SampleComparison.complete(), price: PushPrice("$2")).figures
    let found = [replay, compared].map { tables in
      Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.rows) })
    }
    let names = found.map { Set($0.keys) }
    #expect(
      names[0].isSuperset(of: [
        "people", "never-reached", "costs", "provider-limit", "top-people", "top-rooms",
        "top-senders",
      ]))
    #expect(
      names[1].isSuperset(of: [
        "people", "people-totals", "people-flow", "room-sizes", "costs", "provider-limit",
        "local-hours", "hours", "mention-losers",
      ]))
    let all = SampleResult.complete().pushes
    #expect(
      found[0]["top-people"] == [
        ["u<1>", "150", "2", "room & board", "0.5"], ["u2", "90", "1", "large", "1.0"],
      ])
    #expect(found[0]["top-senders"] == [["u2", "3", "300", "\(300 / Double(all))"]])
    #expect(found[0]["top-rooms"]?.map(\.first) == ["large", "middle"])
    #expect(
      found[1]["mention-losers"] == [["u1", "room", "4", "0.8"], ["=u,2\"", "room", "1", "0.2"]])
    #expect(found[0]["people"]?[1] == ["1\u{2013}2", "600", "\(600.0 / 1800)"])
    #expect(found[0]["never-reached"]?[0] == ["level none", "levelNone", "200", "\(200.0 / 203)"])
    let pushes = SampleResult.complete().pushes
    #expect(
      found[0]["costs"]?[0] == ["The whole time", "\(pushes)", "\(Double(pushes) * 2 / 1e6)"])
    #expect(
      found[0]["provider-limit"]?[7...] == [
        ["The longest backlog", "70"], ["It begins, UTC", "2016-03-03 00:00:00"],
        ["Most pushes that wait", "80"], ["At the end of the second, UTC", "2016-03-03 00:01:31"],
      ])
    var result = SampleResult.make(hours: 30)
    result.follow = SampleResult.follow
    let followed = try ReplayReport(result).figures
    #expect(followed.map(\.name) == ["kinds", "time", "outcomes", "messages"])
    #expect(
      followed[3].rows[0] == [
        "2016-03-03 01:01:01", "m0", "room & board", "u9", "by name", "push/allowed/app",
        "push-fanout explain --settings 'a & b.ndjson' --user 'u<1>' --message m0",
      ])
    #expect(followed[2].rows.map { $0[1] } == ["2", "1"])
    #expect(found[1]["people-totals"]?[3] == ["Get pushes in A and none in B", "1", "0.5"])
    #expect(found[1]["people-flow"]?[1] == ["1\u{2013}2 in A", "1", "1", "0", "2"])
    #expect(found[1]["room-sizes"]?[0].first == "101\u{2013}500")
    for table in replay + compared where table.rows.contains(where: { $0.contains("\u{A0}") }) {
      Issue.record("\(table.name) has a number with a unit")
    }
  }

  @Test func filesHaveRowsThatThePageCutsOff() throws {
    var result = SampleResult.make(hours: 30)
    for number in 0..<50 {
      var room = ConversationTotal(
        id: "quiet \(number)", members: 1, messages: 0, decisions: 0, pushes: 0,
        first: SampleResult.start, last: SampleResult.start)
      room.outcomes = result.outcomes.map { _ in 0 }
      result.conversationTable.append(room)
    }
    result.conversations += 50
    result.sizes[0].conversations += 50
    let report = try ReplayReport(result)
    #expect(report.figures.first { $0.name == "rooms" }?.rows.count == 53)
    #expect(!report.html.contains("quiet 7"))
  }
}
