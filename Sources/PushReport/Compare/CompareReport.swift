public import PushReplay
internal import PushSupport

/// A comparison of two worlds as one HTML page, as ``ReplayReport`` is one of a replay.
///
/// - Complexity: O(the numbers of the result).
/// - Source: docs/report.md
public struct CompareReport {
  let result: CompareResult
  let title: String
  let pushPrice: PushPrice?

  /// A page of a result.
  ///
  /// - Parameters:
  ///   - title: the page's heading; nil for one that names what was compared.
  ///   - price: what pushes cost; nil for no costs on the page.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself.
  public init(
    _ result: CompareResult, title: String? = nil, price: PushPrice? = nil
  ) throws(ReportProblem) {
    try CompareCheck.check(result)
    self.result = result
    pushPrice = price
    self.title = title ?? "Two worlds, \(Figures.count(result.messages, "message"))"
  }

  /// The whole file.
  public var html: String {
    Page(title: title, lead: lead, sections: sections, foot: foot).html
  }

  private var sections: [Section] {
    guard result.a.decisions + result.b.decisions > 0 else {
      return [
        Section(
          name: "empty", heading: "Nothing to show", note: "No message had a recipient.", body: "")
      ]
    }
    return [headline, sizes, people, price, alongTime, week, reasons, changes, rooms, users]
      .compactMap {
        $0
      }
  }

  private var lead: String {
    func world(_ name: String, _ side: ComparedSide) -> String {
      let what =
        side.what.isEmpty
        ? "as it is"
        : side.what.map { "<code><bdi>\(Escaping.identifier($0))</bdi></code>" }.joined(
          separator: " ")
      return "<strong>\(name)</strong>: \(Escaping.text(side.rules)), \(what)"
    }
    var text = "<p class=\"answer\">\(Escaping.text(Self.answer(result)))</p>\n"
    text += "<p>\(world("A", result.a)). \(world("B", result.b)). "
    if let reach = reachInWords { text += "\(reach) " }
    if let first = result.first, let last = result.last {
      text += "<strong>\(CivilTime.text(first)) to \(CivilTime.text(last)) UTC</strong>. "
    }
    return text + "Hours of the day and weekdays are those of "
      + "<strong>\(Escaping.text(result.timeZone))</strong>, all other times UTC.</p>"
  }

  private var foot: String {
    "<p>A <em>decision</em> is one recipient of one message. It <em>differs</em> when its action, "
      + "reason or scope do. A push is <em>gained</em> when it is in B only, <em>lost</em> when it "
      + "is in A only. Made by push-fanout from a comparison\u{2019}s result file.</p>"
  }

  // MARK: At a glance

  private var headline: Section {
    let most = max(result.a.decisions, result.b.decisions)
    let difference = result.b.pushes - result.a.pushes
    let tiles: [(String, String, String)] = [
      (
        "Pushes in A", Figures.short(result.a.pushes),
        "\(Figures.exact(result.a.pushes)); "
          + "\(Figures.share(result.a.pushes, of: result.a.decisions)) of all decisions"
      ),
      (
        "Pushes in B", Figures.short(result.b.pushes),
        "\(Figures.exact(result.b.pushes)); "
          + "\(Figures.share(result.b.pushes, of: result.b.decisions)) of all decisions"
      ),
      (
        "Difference", (difference > 0 ? "+" : "") + Figures.short(difference),
        "\(Figures.short(result.gained)) gained, \(Figures.short(result.lost)) lost"
      ),
      (
        "Decisions that differ", Figures.share(result.changed, of: most),
        "\(Figures.exact(result.changed)) of \(Figures.exact(most))"
      ),
      (
        "Users with fewer pushes", Figures.exact(result.users.fewer),
        "more: \(Figures.exact(result.users.more)); as many, but others: "
          + Figures.exact(result.users.asMany)
      ),
    ]
    let entries = tiles.map { name, figure, more in
      "<div><dt>\(name)</dt><dd class=\"figure\">\(figure)</dd>"
        + "<dd class=\"more\">\(more)</dd></div>\n"
    }
    return Section(
      name: "headline", heading: "At a glance", note: "",
      body: "<dl class=\"tiles\">\n\(entries.joined())</dl>\n")
  }

  // MARK: Along time

  private var alongTime: Section {
    let bins = TimeBins((result.first ?? 0)...(result.last ?? 0), least: result.hours.step)
    let series = result.hours
    let columns = [
      ("Pushes in A", bins.sums(series.a, at: series.at), "messages"),
      ("Pushes in B", bins.sums(series.b, at: series.at), "pushes"),
    ]
    let messages = bins.sums(series.messages, at: series.at)
    let chart = TimeChart(
      edges: bins.edges,
      panels: columns.map { name, values, color in
        TimeChart.Panel(title: "\(name) per \(bins.step.name)", values: values, color: color)
      },
      hits: (0..<bins.count).map { bin in
        TimeChart.Hit(
          range: bins.edges[bin]..<bins.edges[bin + 1],
          text: [bins.step.text(bins.edges[bin])]
            + columns.map { "\($0.0): \(Figures.exact($0.1[bin]))" })
      }, label: "Pushes in A and in B per \(bins.step.name).")
    let figure = ChartFigure(
      title: "Pushes, UTC", draw: chart.draw,
      remark: "Each has an axis of its own.",
      table: Table(
        columns: [("From", .text), ("A", .number), ("B", .number), ("B \u{2212} A", .number)],
        rows: (0..<bins.count).filter { messages[$0] > 0 }.map { bin in
          [
            Table.Cell(bins.step.text(bins.edges[bin])), Table.Cell(columns[0].1[bin]),
            Table.Cell(columns[1].1[bin]),
            Table.Cell(Figures.exact(columns[1].1[bin] - columns[0].1[bin])),
          ]
        }))
    return Section(name: "time", heading: "Along time", note: "", body: figure.html)
  }

  // MARK: By hour

  private var week: Section {
    func map(_ name: String, _ value: (ComparedWeekHour) -> Int) -> ChartFigure {
      let rows = (0..<7).map { Array(result.week[$0 * 24..<$0 * 24 + 24]) }
      let chart = HeatMap(
        rows: ReplayReport.weekdays.map { String($0.prefix(3)) }, columns: ReplayReport.hourNames,
        values: rows.map { $0.map { $0.messages == 0 ? nil : Double(value($0)) } },
        titles: rows.map { row in
          row.map {
            [
              "\(ReplayReport.weekdays[$0.weekday - 1]), \(ReplayReport.hourText($0.hour))",
              "\(Figures.exact(value($0))) pushes in \(name)",
            ]
          }
        }, text: { Figures.short($0) }, label: "Pushes in \(name) by weekday and hour.")
      let hours = (0..<24).map { hour in
        stride(from: hour, to: 168, by: 24).reduce(0) { $0 + value(result.week[$1]) }
      }
      return ChartFigure(
        title: "Pushes in \(name), all weeks together", draw: chart.draw,
        table: Table(
          columns: [("Hour of the day", .text), ("Pushes", .number)],
          rows: (0..<24).map { [Table.Cell($0.padded(to: 2)), Table.Cell(hours[$0])] },
          isDense: true))
    }
    return Section(
      name: "week", heading: "Hours of the week", note: "",
      body: Section.pair(map("A", \.a).html, map("B", \.b).html))
  }
}
