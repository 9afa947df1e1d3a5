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
      ("0", ["0.00", "0.00", "0.00"]), ("0.01", ["0.00", "0.010", "24.69"]),
      ("0.0069", ["0.00", "0.0069", "17.04"]), ("$0.00002", ["$0.00", "<\u{A0}$0.0001", "$0.049"]),
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
    result.rateLimit!.most = 117
    let never = try Self.text(result)
    #expect(
      never.contains(
        "The limit of 10,000 a second is never reached; the busiest second has 117."))
    #expect(!never.contains("Pushes sent later"))
    result.rateLimit = RateLimitResult(perSecond: 117)
    result.rateLimit!.most = 117
    #expect(try Self.text(result).contains("117 a second is never exceeded; the busiest"))
    result.rateLimit = SampleResult.limit
    let limited = try Self.text(result)
    for words in [
      "The limit of 5 a second is exceeded in 9 seconds; at worst 80 pushes wait, at 2016-03-03 00:01:31",
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
      "What became of messages: u<1>", "u<1>: 3 messages, 1 pushed (33.3\u{A0}%); 2 quiet hours.",
      "The last 2 of 3 messages",
      "2016-03-03 01:01:01m0room & boardu9by name"
        + "\(OutcomePhrases.phrase("push", "allowed", "app"))push/allowed/app"
        + "push-fanout explain --settings 'a & b.ndjson' --user 'u<1>' --message m0",
      "2016-03-03 02:01:01m1room & boardu9\u{2013}"
        + "\(OutcomePhrases.phrase("none", "quietHours", "app"))none/quietHours/app",
    ] { #expect(text.contains(words), "\(words)") }
    #expect(html.contains("pushed: 1, quiet hours: 2."))
    #expect(html.contains("<path d=\"M") && html.contains("class=\"family-5\""))
    // Nothing of everybody.
    for words in ["Over time", "Rooms with most", "person-day", "2,822", "682 pushes"] {
      #expect(!text.contains(words), "\(words)")
    }
  }

  /// A room with a message in every few seconds makes a page that is no larger than others.
  @Test func manyMessagesMakeNoLongPage() throws {
    var result = SampleResult.make(hours: 30)
    var follow = FollowResult(user: nil, conversation: "large")
    follow.count = FollowResult.limit
    follow.outcomes = [
      OutcomeTotal(action: "push", reason: "allowed", scope: nil, count: 1_000)
    ]
    follow.hours.at = [SampleResult.start]
    (follow.hours.messages, follow.hours.decisions) = ([FollowResult.limit], [1_000])
    (follow.hours.pushes, follow.hours.outcomes) = ([1_000], [[1_000]])
    follow.explain = "push-fanout explain --users u --members m --messages q --message"
    for index in 0..<FollowResult.limit {
      var message = FollowedMessage(
        id: "m\(index)", conversation: "large", at: SampleResult.start + Int64(index) * 60_000,
        outcome: FollowedOutcome(action: "none", reason: "notMentioned", scope: "conversation"))
      (message.recipients, message.pushes, message.sender) = (900, 10, "u\(index)")
      follow.messages.append(message)
    }
    result.follow = follow
    let html = try ReplayReport(result).html
    #expect(html.utf8.count < 800_000)
    #expect(html.contains("large: 1,000 messages, 1,000 decisions, 1,000 pushed (100"))
    // What would make it long is left out.
    let long = String(repeating: "x", count: 131)
    result.follow?.explain = long
    let once = try ReplayReport(result).html
    #expect(once.utf8.count < html.utf8.count && once.contains("<code>\(long)</code>"))
  }

  @Test func whatCannotBeIsRefused() throws {
    var limited = SampleResult.make(hours: 30)
    limited.rateLimit = RateLimitResult(perSecond: 5)
    let cases: [(ReplayResult, defect: (inout ReplayResult) -> Void, message: String)] = [
      (
        limited, { $0.rateLimit!.delayed = -1 }, "rateLimit.delayed: -1 is not 0...9007199254740991"
      ),
      (limited, { $0.rateLimit!.most = 6 }, "rateLimit.most: is 6, which does not agree with 0"),
      (limited, { $0.rateLimit!.delayed = 1_000_000 }, "rateLimit: has more minutes than seconds"),
      (
        limited,
        { (result: inout ReplayResult) in
          (result.rateLimit!.secondsOver, result.rateLimit!.most) = (2, 6)
        }, "rateLimit.longest: a backlog belongs to"
      ),
      (Self.followed(), { $0.follow!.count = 1 }, "follow.messages: are 2, of 1, and at most 1000"),
      (
        Self.followed(), { $0.follow!.outcomes[0].count = 3 },
        "follow.hours.outcomes[0]: they add up to 2, and the total is 3"
      ),
      (
        Self.followed(), { $0.follow!.hours.messages[0] = 2 },
        "follow.hours.messages: they add up to 4, and the total is 3"
      ),
      (
        Self.followed(),
        { (result: inout ReplayResult) in
          result.follow!.outcomes[1].count = 2
          result.follow!.hours.outcomes![1][1] = 2
          result.follow!.hours.decisions[1] = 2
        }, "follow.outcomes: are 4, and there are 3 messages"
      ),
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
