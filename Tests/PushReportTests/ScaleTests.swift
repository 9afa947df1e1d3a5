import Foundation
import FoundationXML
import PushReplay
import Testing

@testable import PushReport

/// Goal: what is compared is drawn on one scale, and a few large values do not flatten the rest.
@Suite struct ScaleTests {
  private static func charts(_ html: String, _ label: String) throws -> [XMLElement] {
    try XMLDocument(xmlString: html).nodes(
      forXPath: "//*[local-name()='svg'][@class='wide'][starts-with(@aria-label,'\(label)')]"
    ).compactMap { $0 as? XMLElement }
  }

  private static func values(_ attribute: String, of xPath: String, in chart: XMLElement)
    throws -> [String]
  {
    try chart.nodes(forXPath: ".//*[local-name()='\(xPath)']/@\(attribute)").map {
      $0.stringValue ?? ""
    }
  }

  @Test func pushesOfBothWorldsAreOneChart() throws {
    let html = try CompareReport(SampleComparison.make(hours: 24 * 16)).html
    let chart = try #require(try Self.charts(html, "Pushes in A and in B per hour").first)
    let paths = try Self.values("d", of: "path", in: chart)
    #expect(try Self.values("class", of: "path", in: chart) == ["area a", "line b", "area b"])
    // 120 of height are 2,400 pushes in A, and the line of B stays within a hundredth of it.
    let heights = try paths.map { path in
      let ends = path.matches(of: /V([0-9.]+)/).compactMap { Double($0.1) }
      return try #require(ends.min())
    }
    #expect(heights[0] < 60 && heights[1] > 152 && heights[1] < 154, "\(heights)")
    let columns = try #require(try Self.charts(html, "Pushes in A and in B by hour").first)
    let tall = try Self.values("height", of: "rect", in: columns).compactMap(Double.init)
    #expect(tall.count == 48 && tall.max()! > 200 && tall.min()! < 1)
  }

  @Test func heatMapsHaveTheSameColours() throws {
    let html = try CompareReport(SampleComparison.make(hours: 24 * 20)).html
    let maps = try Self.charts(html, "Pushes in A by weekday") + Self.charts(html, "Pushes in B by")
    let fields = try maps.map { map in
      try Self.values("class", of: "rect", in: map).prefix(168).map { String($0.suffix(1)) }
    }
    // All of A is above all of B, so that each has half of the colours.
    #expect(Set(fields[0]) == ["4", "5", "6", "7"] && Set(fields[1]) == ["0", "1", "2", "3"])
    let legends = try maps.map { try $0.nodes(forXPath: ".//*[@class='label legend']/text()") }
    #expect(legends[0].map(\.stringValue) == legends[1].map(\.stringValue))
    #expect(legends[0].count == 9)
    #expect(html.contains("Each colour has an eighth of the fields above 0"))
  }

  @Test func coloursAreForAsManyValues() {
    let scale = QuantileScale([0, 0] + (1...80).map(Double.init) + [1_000_000])
    #expect(scale.bounds == [1, 11, 21, 31, 41, 51, 61, 71, 1_000_000])
    #expect(
      [0, 1, 10, 11, 70, 71, 1_000_000].map { scale.color(of: $0) } == [
        "heat-zero", "heat-0", "heat-0", "heat-1", "heat-6", "heat-7", "heat-7",
      ])
    #expect(QuantileScale([0]).bounds == [])
    #expect(QuantileScale([5, 5]).color(of: 5) == "heat-7")
  }

  @Test func outliersAreCutAndNamed() {
    var values = (1...100).map { $0 * 10 }
    let usual = TimeChart.Panel(title: "Pushes", values: values, color: "pushes")
    #expect(usual.limit == 1000 && usual.cut == [] && usual.remark { "\($0)" } == nil)
    values[7] = 123_456
    let panel = TimeChart.Panel(title: "Pushes", values: values, color: "pushes")
    #expect(panel.limit == 1000 && panel.cut == [7])
    let named = "with a triangle: minute 7 (123,456)."
    #expect(panel.remark { "minute \($0)" }?.hasSuffix(named) == true)
    // Many large values are no outliers.
    let half = TimeChart.Panel(
      title: "", values: (0..<100).map { $0 % 2 == 0 ? 1 : 1000 }, color: "")
    #expect(half.limit == 1000 && half.cut == [])
    let over = TimeChart.Panel(
      title: "", values: (1...40).map { $0 }, color: "", over: (values: [5000], color: ""))
    #expect(over.limit == 40)
  }

  @Test func aWeekNeedsSevenDays() throws {
    let short = try ReplayReport(SampleResult.make(hours: 24 * 7)).html
    let long = try ReplayReport(SampleResult.make(hours: 24 * 8)).html
    #expect(!short.contains("Hours of the week") && long.contains("Hours of the week"))
    let compared = try [24 * 6, 24 * 8].map { try CompareReport(SampleComparison.make(hours: $0)) }
    #expect(!compared[0].html.contains("weekday and hour"))
    #expect(compared[1].html.contains("weekday and hour"))
  }

  @Test func whatIsHeldIsNotCutAtMidnight() {
    let minute: Int64 = 60_000
    let span = MinuteSpan(10 * minute, hours: 2)
    let at = [0, 5, 70, 130, 900].map { $0 * minute }
    #expect(
      span.column([1, 2, 3, 4, 5], at: at).enumerated().filter { $1 > 0 }.map(\.offset) == [60])
    // What waits before the first row: 7 at its end, less 3 that came, and 1 that went.
    let levels = span.levels([7, 9, 4, 2, 0], [3, 2, 0, 0, 0], [1, 0, 5, 2, 2], at: at)
    #expect([0, 59, 60, 119].map { levels[$0] } == [9, 9, 4, 4])
    let later = MinuteSpan(0, hours: 1).levels([7], [3], [1], at: [30 * minute])
    #expect([0, 29, 30, 59].map { later[$0] } == [5, 5, 7, 7])
    #expect(span.hours == [0..<60, 60..<120] && span.edges.count == 121)
  }

  @Test func theHoursAroundThePeakAreDrawn() throws {
    let html = try ReplayReport(SampleResult.make(hours: 24 * 500)).html
    let chart = try #require(try Self.charts(html, "Held pushes from").first)
    let label = try #require(chart.attributes?.first { $0.name == "aria-label" }?.stringValue)
    // The peak is at 07:00 of 3 March: 18 hours before it, and as many after.
    #expect(
      label.hasPrefix("Held pushes from 2016-03-02 13:00 to 2016-03-04 01:00 UTC."), "\(label)")
  }
}
