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
