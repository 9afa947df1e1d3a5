internal import PushReplay

/// The busiest day and the busiest moments, what was held, and what the run cost.
extension ReplayReport {
  // MARK: The busiest day

  var busiest: Section {
    let rows = peaks.map { peak, by in
      [
        Table.Cell(
          "\(peak.unit == "second" ? "Second" : "Minute") with most \(by.joined(separator: ", "))"),
        Table.Cell(html: "<span class=\"instant\">\(Self.instant(peak))</span>"),
        Table.Cell(peak.messages),
        Table.Cell(html: Figures.short(peak.decisions)),
        Table.Cell(html: Figures.short(peak.pushes)),
        Table.Cell(html: "<bdi>\(Escaping.identifier(peak.conversation))</bdi>"),
        Table.Cell(Self.speed(peak)),
      ]
    }
    let table = Table(
      columns: [
        ("Peak", .text), ("UTC", .text), ("Messages", .number), ("Decisions", .number),
        ("Pushes", .number), ("Most in", .text), ("Decided in", .text),
      ], rows: rows, becomesCards: true)
    let day = dayFigure
    return Section(
      name: "peaks", heading: day == nil ? "Peaks" : "The busiest day and the peaks", note: "",
      body: (day?.html ?? "") + "<div class=\"panel-box\">\(table.html)</div>\n")
  }

  /// The peaks with what there was most of in them; one instant may be the peak of all three.
  private var peaks: [(Peak, by: [String])] {
    result.peaks.reduce(into: []) { found, peak in
      let same = found.firstIndex { entry in
        (entry.0.unit, entry.0.at, entry.0.conversation)
          == (peak.unit, peak.at, peak.conversation)
      }
      if let same { found[same].by.append(peak.by) } else { found.append((peak, by: [peak.by])) }
    }
  }

  /// How long a peak's messages took, and how many times faster that is than they came.
  private static func speed(_ peak: Peak) -> String {
    guard let seconds = peak.decidingSeconds, seconds > 0 else { return "\u{2013}" }
    let times = (peak.unit == "second" ? 1 : 60) / seconds
    return "\(Figures.seconds(seconds)) (\(Figures.short(times))\u{D7} faster than it happened)"
  }

  private var dayFigure: ChartFigure? {
    // Of a short time the chart along time shows as much.
    guard let first = result.peakDay.at.first,
      (result.last ?? 0) - (result.first ?? 0) > 2 * CivilTime.dayMilliseconds
    else { return nil }
    let day = Day(first)
    let messages = day.column(result.peakDay.messages, at: result.peakDay.at)
    let pushes = day.column(result.peakDay.pushes, at: result.peakDay.at)
    let most = pushes.indices.max { pushes[$0] < pushes[$1] } ?? 0
    let chart = TimeChart(
      edges: day.edges,
      panels: [
        TimeChart.Panel(title: "Messages per minute", values: messages, color: "messages"),
        TimeChart.Panel(title: "Pushes per minute", values: pushes, color: "pushes"),
      ],
      hits: day.hits { minutes in
        "\(Figures.count(messages[minutes].reduce(0, +), "message")), "
          + "\(Figures.short(pushes[minutes].reduce(0, +))) pushes; at most "
          + "\(Figures.short(pushes[minutes].max() ?? 0)) pushes in a minute"
      },
      label: "Messages and pushes per minute on \(day.name). Most pushes in a minute: "
        + "\(Figures.exact(pushes[most])), at \(day.time(most)).")
    return ChartFigure(
      title: "\(day.name), minute by minute, UTC", draw: chart.draw,
      table: Table(
        columns: [
          ("Hour", .text), ("Messages", .number), ("Pushes", .number),
          ("Most pushes in a minute", .number),
        ],
        rows: day.hours.map { minutes in
          [
            Table.Cell(day.time(minutes.lowerBound)),
            Table.Cell(messages[minutes].reduce(0, +)),
            Table.Cell(html: Figures.short(pushes[minutes].reduce(0, +))),
            Table.Cell(html: Figures.short(pushes[minutes].max() ?? 0)),
          ]
        }))
  }

  // MARK: What was held

  var held: Section {
    guard let hold = result.hold else {
      return Section(
        name: "held", heading: "Held pushes and the morning peak",
        note: "This replay did not compute when suppressed pushes could be sent later; "
          + "<code>push-fanout replay --hold</code> does.", body: "")
    }
    guard hold.held > 0 else {
      return Section(
        name: "held", heading: "Held pushes and the morning peak",
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
    return Section(
      name: "held", heading: "Held pushes and the morning peak", note: note + ".",
      body: (holdFigure(hold)?.html ?? "")
        + "<div class=\"panel-box\">\(holdTable(hold).html)</div>\n"
    )
  }

  private func holdFigure(_ hold: HoldResult) -> ChartFigure? {
    let series = hold.peakDay
    guard let first = series.at.first else { return nil }
    let day = Day(first)
    let released = day.column(series.released, at: series.at)
    // The count stays until the next row; before the first it is what that began with.
    let before = series.waiting[0] - series.held[0] + series.released[0]
    let waiting = day.levels(series.waiting, at: series.at, before: max(0, before))
    let most = released.indices.max { released[$0] < released[$1] } ?? 0
    let chart = TimeChart(
      edges: day.edges,
      panels: [
        TimeChart.Panel(title: "Pushes that wait", values: waiting, color: "waiting"),
        TimeChart.Panel(
          title: "Pushes released per minute", values: released, color: "released"),
      ],
      hits: day.hits { minutes in
        "\(Figures.short(waiting[minutes.upperBound - 1])) wait at the end; "
          + "\(Figures.short(released[minutes].reduce(0, +))) released, at most "
          + "\(Figures.short(released[minutes].max() ?? 0)) in a minute"
      },
      label: "Held pushes on \(day.name). Most released in a minute: "
        + "\(Figures.exact(released[most])), at \(day.time(most)).")
    return ChartFigure(
      title: "\(day.name), the day with the greatest release, UTC", draw: chart.draw,
      table: Table(
        columns: [
          ("Hour", .text), ("Waiting at its end", .number), ("Released", .number),
          ("Most in a minute", .number),
        ],
        rows: day.hours.map { minutes in
          [
            Table.Cell(day.time(minutes.lowerBound)),
            Table.Cell(html: Figures.short(waiting[minutes.upperBound - 1])),
            Table.Cell(html: Figures.short(released[minutes].reduce(0, +))),
            Table.Cell(html: Figures.short(released[minutes].max() ?? 0)),
          ]
        }))
  }

  private func holdTable(_ hold: HoldResult) -> Table {
    let rows = hold.outcomes.sorted { $0.held > $1.held }.map { outcome in
      [
        Table.Cell(html: Self.outcomeName("none", outcome.reason, outcome.scope)),
        Table.Cell(outcome.held), Table.Cell(outcome.never),
        Table.Cell(Figures.share(outcome.held, of: outcome.held + outcome.never)),
      ]
    }
    return Table(
      columns: [
        ("Suppressed as", .text), ("Held", .number), ("Never pushed", .number),
        ("Share held", .number),
      ], rows: rows, becomesCards: true, caption: "What becomes of suppressed decisions")
  }

  // MARK: Cost

  var cost: Section? {
    guard let cost = result.cost else { return nil }
    var rows: [(String, String)] = []
    if let loading = cost.loadingSeconds {
      rows.append(("Loading the settings", Figures.seconds(loading)))
    }
    rows.append(("From the first message read to the last decided", Figures.seconds(cost.seconds)))
    rows.append(
      (
        "Spent on deciding, \(Figures.count(cost.threads, "thread")) together",
        Figures.seconds(cost.decidingSeconds)
      ))
    if let cpu = cost.cpuSeconds {
      rows.append(("Processor time of the whole run", Figures.seconds(cpu)))
    }
    rows.append(("Decisions a second", Figures.short(cost.decisionsPerSecond)))
    if let first = result.first, let last = result.last, last > first, cost.seconds > 0 {
      let times = Double(last - first) / 1000 / cost.seconds
      rows.append(("Faster than it happened", "\(Figures.short(times))\u{D7}"))
    }
    for (name, count) in [
      ("Joins while messages flowed", result.joins), ("Rows of presence", result.presenceRows),
      ("Settings changes", result.settingsChanges), ("Bad lines left out", result.skippedLines),
    ] where count > 0 {
      rows.append((name, Figures.exact(count)))
    }
    rows.append(("Users that the settings know", Figures.exact(result.users)))
    let table = Table(
      columns: [("What", .text), ("Figure", .number)],
      rows: rows.map { [Table.Cell($0.0), Table.Cell($0.1)] })
    return Section(
      name: "cost", heading: "What the run took", note: "",
      body: "<div class=\"panel-box\">\(table.html)</div>\n")
  }
}

/// The 1,440 minutes of a day.
private struct Day {
  let start: Int64
  private static let minute: Int64 = 60_000

  /// The day of an instant.
  init(_ at: Int64) { start = at / CivilTime.dayMilliseconds * CivilTime.dayMilliseconds }

  var edges: [Int64] { (0...1440).map { start + $0 * Self.minute } }
  /// `2021-02-01`
  var name: String { CivilTime(start).date }
  /// `13:14`
  func time(_ minute: Int) -> String { CivilTime(start + Int64(minute) * Self.minute).time }

  var hours: [Range<Int>] { stride(from: 0, to: 1440, by: 60).map { $0..<$0 + 60 } }

  private func minuteIndex(_ at: Int64) -> Int { Int((at - start) / Self.minute) }

  /// A value for each minute; 0 where there is no row.
  func column(_ values: [Int], at instants: [Int64]) -> [Int] {
    var column = [Int](repeating: 0, count: 1440)
    for (at, value) in zip(instants, values) { column[minuteIndex(at)] = value }
    return column
  }

  /// A value for each minute; where there is no row the one before.
  func levels(_ values: [Int], at instants: [Int64], before: Int) -> [Int] {
    var levels = [Int](repeating: before, count: 1440)
    for (at, value) in zip(instants, values) {
      for minute in minuteIndex(at)..<1440 { levels[minute] = value }
    }
    return levels
  }

  func hits(_ text: (Range<Int>) -> String) -> [TimeChart.Hit] {
    stride(from: 0, to: 1440, by: 10).map { minute in
      let from = start + Int64(minute) * Self.minute
      return TimeChart.Hit(
        range: from..<from + 10 * Self.minute,
        text: ["\(time(minute)) to \(time(minute + 10))", text(minute..<minute + 10)])
    }
  }
}
