internal import PushModel
internal import PushReplay

/// What was held, and when it would be released.
extension ReplayReport {
  var held: Section {
    guard let hold = result.hold else {
      return Section(
        name: "held", heading: "If pushes were held until they may be sent",
        note: "This replay did not compute when suppressed pushes could be sent later; "
          + "<code>push-fanout replay --hold</code> does.", body: "")
    }
    guard hold.held > 0 else {
      return Section(
        name: "held", heading: "If pushes were held until they may be sent",
        note: "Nothing that was suppressed would be pushed later.", body: "")
    }
    let suppressed = hold.held + hold.never
    var note =
      "Of the suppressed decisions <strong>\(Figures.share(hold.held, of: suppressed))"
      + "</strong> would become pushes if only time passed"
    if let peak = hold.releasePeak {
      note +=
        "; were they held and then sent, the minute <strong>\(CivilTime.text(peak.at))"
        + "</strong> would release <strong>\(Figures.short(peak.count))</strong> at once"
      if let usual = result.peaks.first(where: { $0.unit == "minute" && $0.by == "pushes" }),
        usual.pushes > 0
      {
        note +=
          "; of pushes that were sent as messages came, the busiest minute had "
          + "<strong>\(Figures.short(usual.pushes))</strong>"
      }
    }
    note += "."
    let ends = hold.windowsEnd.map {
      "\(Figures.count($0.users, "user")) in \(Escaping.text($0.zone)) (\(Escaping.text($0.time)))"
    }
    if !ends.isEmpty { note += " Quiet hours that end then: \(ends.joined(separator: ", "))." }
    return Section(
      name: "held", heading: "If pushes were held until they may be sent", note: note,
      charts: [[holdFigure(hold)].compactMap { $0 }], tables: [holdTable(hold)])
  }

  /// The hours before and after the greatest release that the chart has.
  private static let hoursAround = 18

  private func holdFigure(_ hold: HoldResult) -> ChartFigure? {
    guard let peak = hold.releasePeak else { return nil }
    let series = hold.minutes ?? hold.aroundPeak ?? hold.peakDay
    let hour: Int64 = 3_600_000
    let span = MinuteSpan(
      max(0, peak.at / hour - Int64(Self.hoursAround)) * hour, hours: 2 * Self.hoursAround)
    let released = span.column(series.released, at: series.at)
    let waiting = span.levels(series.waiting, series.held, series.released, at: series.at)
    let name = "from \(CivilTime.text(span.start)) to \(CivilTime.text(span.edges.last!)) UTC"
    let chart = TimeChart(
      edges: span.edges,
      panels: [
        TimeChart.Panel(
          title: "Pushes that wait", values: waiting, color: OutcomeFamily.quietHours.color),
        TimeChart.Panel(
          title: "Pushes released per minute", values: released,
          color: OutcomeFamily.pushed.color),
      ],
      hits: span.hits { minutes in
        "\(Figures.short(waiting[minutes.upperBound - 1])) wait at the end; "
          + "\(Figures.short(released[minutes].reduce(0, +))) released, at most "
          + "\(Figures.short(released[minutes].max() ?? 0)) in a minute"
      },
      label: "Held pushes \(name). Most released in a minute: "
        + "\(Figures.exact(peak.count)), at \(CivilTime.text(peak.at)).")
    return ChartFigure(
      title: "From 18 hours before the greatest release to 18 hours after it, UTC",
      draw: chart.draw,
      remark: chart.remark(span.time),
      table: Table(
        columns: [
          ("Hour", .text), ("Waiting at its end", .number), ("Released", .number),
          ("Most in a minute", .number),
        ],
        rows: span.hours.map { minutes in
          [
            Table.Cell(CivilTime.text(span.edges[minutes.lowerBound])),
            Table.Cell(waiting[minutes.upperBound - 1]),
            Table.Cell(released[minutes].reduce(0, +)),
            Table.Cell(released[minutes].max() ?? 0),
          ]
        }, caption: "Held pushes, hour by hour", file: "held"))
  }

  private func holdTable(_ hold: HoldResult) -> Table {
    let rows = hold.outcomes.sorted { $0.held > $1.held }.map { outcome in
      [
        Self.outcome(Action.suppress.name, outcome.reason, outcome.scope),
        Table.Cell(outcome.held), Table.Cell(outcome.never),
        Table.Cell(outcome.held, of: outcome.held + outcome.never),
      ]
    }
    return Table(
      columns: [
        ("Suppressed as", .text), ("Held", .number), ("Never pushed", .number),
        ("Share held", .number),
      ], rows: rows, becomesCards: true, caption: "What becomes of suppressed decisions",
      file: "held-outcomes")
  }
}
