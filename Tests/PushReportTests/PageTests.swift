import Foundation
import FoundationXML
import PushReplay
import Testing

@testable import PushReport

/// Goal: a page is well-formed, needs nothing but itself, draws only numbers, shows every figure
/// beside its chart, and lets nothing from the result be more than text.
@Suite struct PageTests {
  private static func page(_ result: ReplayResult, title: String? = nil) throws -> XMLElement {
    let html = try ReplayReport(result, title: title).html
    return try #require(try XMLDocument(xmlString: html).rootElement())
  }

  private static func all(_ name: String, in element: XMLElement) throws -> [XMLElement] {
    try element.nodes(forXPath: "//*[local-name()='\(name)']").compactMap { $0 as? XMLElement }
  }

  private static func attribute(_ name: String, of element: XMLElement) -> String? {
    // attribute(forName:) finds none in a document with a namespace.
    element.attributes?.first { $0.name == name }?.stringValue
  }

  /// Results of every length, with and without what may be missing.
  private static let results: [ReplayResult] = {
    var bare = SampleResult.make(hours: 30, hold: false)
    bare.cost = nil
    bare.peaks = []
    bare.peakDay = TimeSeries(step: 60_000)
    return [
      SampleResult.make(hours: 1), SampleResult.make(hours: 30), bare,
      SampleResult.make(hours: 24 * 500), SampleResult.make(hours: 24 * 365 * 20),
    ]
  }()

  @Test(arguments: results.indices)
  func aPageIsWellFormedAndNeedsNothing(index: Int) throws {
    let root = try Self.page(Self.results[index])
    #expect(root.name == "html")
    for name in ["script", "img", "iframe", "object", "image", "use", "foreignObject"] {
      #expect(try Self.all(name, in: root).isEmpty, "\(name)")
    }
    let links = try root.nodes(forXPath: "//@href | //@src").map { $0.stringValue ?? "" }
    let fragments = links.filter { $0.hasPrefix("#") }
    #expect(links.filter { !$0.hasPrefix("#") } == ["data:,"])
    let names = try root.nodes(forXPath: "//*[local-name()='h2']/@id").map { $0.stringValue ?? "" }
    #expect(fragments == names.map { "#\($0)" } && names.count > 5)
    let html = try ReplayReport(Self.results[index]).html
    let addresses = html.components(separatedBy: "://").count - 1
    // The name of XHTML, which nobody asks for.
    #expect(addresses == 1 && html.contains("xmlns=\"http://www.w3.org/1999/xhtml\""))
    #expect(!html.contains("url(") && !html.contains("@import"))
  }

  @Test(arguments: results.indices)
  func chartsAreNumbersWithWords(index: Int) throws {
    let root = try Self.page(Self.results[index])
    let charts = try Self.all("svg", in: root)
    #expect(charts.count >= 12)
    let kinds = charts.map { Self.attribute("class", of: $0) }
    #expect(kinds.count { $0 == "wide" } == kinds.count / 2)
    #expect(kinds.count { $0 == "narrow" } == kinds.count / 2)
    #expect(charts.allSatisfy { Self.attribute("role", of: $0) == "img" })
    #expect(charts.allSatisfy { (Self.attribute("aria-label", of: $0) ?? "").count > 20 })
    #expect(charts.allSatisfy { Self.attribute("viewBox", of: $0) != nil })
    let places = try root.nodes(
      forXPath: "//*[local-name()='svg']//@*[local-name()!='class' and local-name()!='d' "
        + "and local-name()!='text-anchor' and local-name()!='aria-label' "
        + "and local-name()!='role' and local-name()!='viewBox']"
    ).map { $0.stringValue ?? "" }
    #expect(places.count > 100)
    #expect(places.filter { Double($0)?.isFinite != true } == [])
    let paths = try Self.all("path", in: root).map { Self.attribute("d", of: $0) ?? "" }
    let isPath = paths.allSatisfy {
      $0.wholeMatch(of: /M[-0-9. ]+(([HV][-0-9.]+)+|l5 7h-10)Z/) != nil
    }
    #expect(isPath && !paths.isEmpty)
    let figures = try Self.all("figure", in: root)
    let tables = try figures.filter {
      try !$0.nodes(forXPath: ".//*[local-name()='table']").isEmpty
    }
    #expect(tables.count == figures.count)
  }

  @Test func everySectionIsThere() throws {
    let root = try Self.page(SampleResult.make(hours: 24 * 500))
    #expect(
      try Self.all("h2", in: root).map { $0.stringValue } == [
        "At a glance", "Over time", "Hours of the week",
        "If pushes were held until they may be sent", "The rooms with most decisions",
        "All outcomes", "Outcomes by hour of the day, Europe/Berlin",
        "Small rooms and large ones", "The busiest day, seconds and minutes",
        "What went in, and what this does not know",
      ])
    let folded = try root.nodes(
      forXPath: "//*[@class='folded']/*[local-name()='details']/*[local-name()='summary']/*")
    #expect(folded.count == 5 && folded.first?.stringValue == "All outcomes")
    let text = root.stringValue ?? ""
    #expect(text.contains("How many pushes from 2016-03-03 to 2017-07-15?"))
    #expect(text.contains("2016-03-03 00:00 to 2017-07-15 21:00 UTC"))
    #expect(text.contains("Stopped by the user's quiet hours"))
    #expect(text.contains("Europe/Berlin"))
  }

  @Test func whatIsMissingIsLeftOutOrSaid() throws {
    let text = try Self.page(Self.results[2]).stringValue ?? ""
    #expect(text.contains("push-fanout replay --hold does."))
    #expect(!text.contains("decisions a second"))
    var old = Self.results[3]
    old.pushesByLocalHour = nil
    #expect(try Self.page(old).stringValue?.contains("the recipient's clock") == false)
    #expect(try Self.page(old).stringValue?.contains("mean day by hour, Europe/Berlin") == true)
    let empty = try Self.page(Self.empty)
    #expect(empty.stringValue?.contains("There were no messages.") == true)
    #expect(try Self.all("svg", in: empty).isEmpty)
    var alone = Self.empty
    alone.messages = 1
    alone.conversations = 1
    alone.first = 0
    alone.last = 0
    alone.hours.at = [0]
    alone.hours.messages = [1]
    alone.hours.decisions = [0]
    alone.hours.pushes = [0]
    alone.week[72].messages = 1
    alone.week[72].days = 1
    alone.sizes = [SizeClass(from: 0)]
    alone.sizes[0].messages = 1
    alone.sizes[0].conversations = 1
    alone.conversationTable = [
      ConversationTotal(
        id: "a", members: 0, messages: 1, decisions: 0, pushes: 0, first: 0, last: 0)
    ]
    let lonely = try Self.page(alone)
    #expect(lonely.stringValue?.contains("No message had a recipient.") == true)
  }

  static let empty: ReplayResult = {
    var result = ReplayResult(rules: "easemob", timeZone: "UTC")
    result.week = (0..<168).map { WeekHour(weekday: $0 / 24 + 1, hour: $0 % 24) }
    return result
  }()

  @Test func notesAndFiguresOnPaper() throws {
    let result = SampleResult.make(hours: 30)
    let plain = try ReplayReport(result).html
    #expect(!plain.contains("class=\"caveat\"") && plain.contains("<body>"))
    let noted = try ReplayReport(result, note: "Drawn <b>", printsFigures: true).html
    #expect(noted.contains("<p class=\"caveat\">Drawn &lt;b&gt;</p>"))
    #expect(noted.contains("<body class=\"figures-on-paper\">"))
    let compared = try CompareReport(SampleComparison.complete(), note: "Drawn").html
    #expect(compared.contains("<p class=\"caveat\">Drawn</p>"))
  }

  @Test func nothingFromTheResultIsMarkup() throws {
    let hostile = "</title></style><script>alert(1)</script>\u{0}\u{202E}&amp;\"'><img src=x>"
    var result = SampleResult.make(
      hours: 300, rooms: [hostile, String(repeating: "é", count: 100_000), ""])
    result.rules = hostile
    result.outcomes[0].reason = hostile
    result.outcomes[1].scope = hostile
    result.outcomes[4].action = hostile
    result.outcomes[3] = OutcomeTotal(
      action: "push", reason: hostile, scope: nil, count: result.pushes)
    // What was pushed must stay so many.
    let quiet = SampleResult.make(hours: 300).outcomes[3].count
    result.outcomes[4].count = quiet
    result.hold = SampleResult.hold(of: result.outcomes)
    let column = result.hours.outcomes![3]
    result.hours.outcomes![3] = result.hours.outcomes![4]
    result.hours.outcomes![4] = column
    result.peaks[0].conversation = hostile
    let html = try ReplayReport(result, title: hostile).html
    #expect(!html.contains("<script") && !html.contains("<img") && !html.contains("\u{202E}"))
    let root = try Self.page(result, title: hostile)
    #expect(try Self.all("script", in: root).isEmpty)
    #expect(root.stringValue?.contains("</style><script>alert(1)</script>") == true)
    #expect(html.utf8.count < 1_000_000)
  }

  @Test func longTimesAndManyRoomsMakeNoLongPage() throws {
    let years = try ReplayReport(Self.results[4]).html
    #expect(years.utf8.count < 700_000)
    var many = SampleResult.make(hours: 30)
    for number in 0..<20_000 {
      var room = ConversationTotal(
        id: "room \(number)", members: number, messages: 0, decisions: 0, pushes: 0,
        first: SampleResult.start, last: SampleResult.start)
      room.outcomes = many.outcomes.map { _ in 0 }
      room.outcomes[4] = 1
      room.decisions = 1
      room.pushes = 1
      many.conversationTable.append(room)
    }
    many.conversations += 20_000
    many.decisions += 20_000
    many.pushes += 20_000
    many.pushesByLocalHour![0] += 20_000
    many.outcomes[4].count += 20_000
    many.hours.decisions[0] += 20_000
    many.hours.pushes[0] += 20_000
    many.hours.outcomes![4][0] += 20_000
    many.week[72].decisions += 20_000
    many.week[72].pushes += 20_000
    many.week[72].outcomes[4] += 20_000
    many.sizes[3].decisions += 20_000
    many.sizes[3].pushes += 20_000
    many.sizes[3].conversations += 20_000
    let html = try ReplayReport(many).html
    #expect(html.utf8.count < 1_000_000)
    #expect(html.contains("Of 20,003 rooms those with most decisions are shown."))
  }

  @Test func theSameResultGivesTheSameBytes() throws {
    let pages = try (0..<2).map { _ in try ReplayReport(Self.results[3]).html }
    #expect(pages[0] == pages[1])
  }
}
