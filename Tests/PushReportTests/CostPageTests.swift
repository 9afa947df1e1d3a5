import Foundation
import FoundationXML
import PushModel
import PushReplay
import Testing

@testable import PushReport

/// Goal: costs, limits and what is followed are on the page as the result has them, and what cannot
/// be is refused.
@Suite struct CostPageTests {
  private static func text(_ result: ReplayResult, price: PushPrice? = nil) throws -> String {
    let html = try ReplayReport(result, price: price).html
    return try XMLDocument(xmlString: html).rootElement()?.stringValue ?? ""
  }

  @Test func prices() {
    let rows: [(text: String, amounts: [String]?)] = [
      ("0.50", ["0.00", "0.50", "1,234.50"]), ("$0.50", ["$0.00", "$0.50", "$1,234.50"]),
      ("0.50 EUR", ["0.00 EUR", "0.50 EUR", "1,234.50 EUR"]),
      ("€2", ["€0.00", "€2.00", "€4,938.00"]),
      ("0", ["0.00", "0.00", "0.00"]), ("0.01", ["0.00", "0.010000", "24.69"]),
      ("", nil), ("free", nil), ("-1", nil), ("1.2.3", nil), ("1 of 2", nil), ("1e400", nil),
    ]
    let found = rows.map { row in
      PushPrice(row.text).map { price in [0, 1e6, 2.469e9].map(price.text) }
    }
    #expect(found == rows.map(\.amounts))
  }

  @Test func whatPushesCost() throws {
    var result = SampleResult.make(hours: 72)
    let days = 3
    let text = try Self.text(result, price: PushPrice("$1000"))
    #expect(text.contains("A day is the mean of \(days) days, 2016-03-03 to 2016-03-05 UTC"))
    let all = Double(result.pushes)
    for amount in [all, all / 3, all * 10] {
      #expect(text.contains("$\(Figures.fixed(amount / 1000, decimals: 2))"), "\(amount)")
    }
    #expect(try !Self.text(result).contains("Costs and the provider"))
    result.rateLimit = RateLimitResult(perSecond: 10_000)
    #expect(try Self.text(result).contains("10,000 pushes a second are never exceeded"))
    result.rateLimit = SampleResult.limit
    let limited = try Self.text(result)
    for words in [
      "5 pushes a second are exceeded in 9 seconds; at worst 80 pushes wait, at 2016-03-03 00:01:31",
      "the longest backlog lasts 70.0\u{A0}s, from 2016-03-03 00:00:00",
      "Pushes sent later than they came120",
    ] { #expect(limited.contains(words), "\(words)") }
  }

  private static func followed() -> ReplayResult {
    var result = SampleResult.make(hours: 30)
    result.follow = SampleResult.follow
    return result
  }

  @Test func aDayOfOneUser() throws {
    let html = try ReplayReport(Self.followed()).html
    let text = try XMLDocument(xmlString: html).rootElement()?.stringValue ?? ""
    for words in [
      "Messages to u<1>", "2 messages, 1 of them were pushed. 1 later messages are not listed",
      "2016-03-03 01:01:01room & boardu9by name"
        + "\(OutcomePhrases.phrase("push", "allowed", "app"))push/allowed/app",
      "2016-03-03 02:01:01room & boardu9\u{2013}"
        + "\(OutcomePhrases.phrase("none", "quietHours", "app"))none/quietHours/app",
    ] { #expect(text.contains(words), "\(words)") }
    #expect(html.contains("pushed: 1, quiet hours: 1. The table below has every message."))
    #expect(html.contains("<path d=\"M") && html.contains("class=\"family-5\""))
  }

  /// A room with a message in every few seconds makes a page that is no larger than others.
  @Test func manyMessagesMakeNoLongPage() throws {
    var result = SampleResult.make(hours: 30)
    let empty = try ReplayReport(result).html.utf8.count
    var follow = FollowResult(user: nil, conversation: "large")
    follow.count = FollowResult.limit
    for index in 0..<FollowResult.limit {
      var message = FollowedMessage(
        id: "m\(index)", conversation: "large", at: SampleResult.start + Int64(index) * 60_000,
        outcome: FollowedOutcome(action: "none", reason: "notMentioned", scope: "conversation"))
      (message.recipients, message.pushes, message.sender) = (900, 10, "u\(index)")
      follow.messages.append(message)
    }
    result.follow = follow
    let html = try ReplayReport(result).html
    #expect(html.utf8.count - empty < 900 * FollowResult.limit)
    #expect(html.contains("of their recipients 10,000 got a push"))
  }

  @Test func whatCannotBeIsRefused() throws {
    var limited = SampleResult.make(hours: 30)
    limited.rateLimit = RateLimitResult(perSecond: 5)
    let cases: [(ReplayResult, defect: (inout ReplayResult) -> Void, message: String)] = [
      (
        limited, { $0.rateLimit!.delayed = -1 }, "rateLimit.delayed: -1 is not 0...9007199254740991"
      ),
      (limited, { $0.rateLimit!.delayed = 1_000_000 }, "rateLimit: has more minutes than seconds"),
      (limited, { $0.rateLimit!.secondsOver = 2 }, "rateLimit.longest: a backlog belongs to"),
      (Self.followed(), { $0.follow!.count = 1 }, "follow.messages: are 2, of 1, and at most 1000"),
      (
        Self.followed(), { $0.follow!.messages.swapAt(0, 1) },
        "follow.messages[1].at: is out of order, or outside of first and last"
      ),
      (
        Self.followed(), { $0.follow!.messages[0].pushes = 1 },
        "follow.messages[0].pushes: are more than the recipients"
      ),
    ]
    let found = cases.map { row in
      var result = row.0
      row.defect(&result)
      do throws(ReportProblem) { _ = try ReplayReport(result).html } catch {
        return String("\(error)".prefix(row.message.count))
      }
      return "nothing"
    }
    #expect(found == cases.map(\.message))
  }
}
