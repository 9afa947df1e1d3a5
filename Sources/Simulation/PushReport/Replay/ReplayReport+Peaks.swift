internal import PushModel
internal import PushReplay

/// The busiest day and the busiest moments.
extension ReplayReport {
  var busiest: Section {
    let names = roomNames
    let rows = peaks.map { peak, by in
      [
        Table.Cell(
          "\(peak.unit == "second" ? "Second" : "Minute") with most \(by.joined(separator: ", "))"),
        Table.Cell(
          html: "<span class=\"instant\">\(Self.instant(peak))</span>", value: Self.instant(peak)),
        Table.Cell(peak.messages), Table.Cell(peak.decisions), Table.Cell(peak.pushes),
        Table.Cell(room: peak.conversation, name: names[peak.conversation]),
      ]
    }
    let table = Table(
      columns: [
        ("Peak", .text), ("UTC", .text), ("Messages", .number), ("Decisions", .number),
        ("Pushes", .number), ("Most in", .text),
      ], rows: rows, becomesCards: true, caption: "The busiest seconds and minutes",
      file: "peaks")
    let day = dayFigure
    return Section(
      name: "peaks",
      heading: day == nil
        ? "The busiest seconds and minutes" : "The busiest day, seconds and minutes", note: "",
      charts: [[day].compactMap { $0 }], tables: [table])
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

  /// nil for a short time, of which the chart along time shows as much.
  private var dayFigure: ChartFigure? {
    guard let first = result.peakDay.at.first,
      (result.last ?? 0) - (result.first ?? 0) > 2 * CivilTime.dayMilliseconds
    else { return nil }
    let day = MinuteSpan(first / CivilTime.dayMilliseconds * CivilTime.dayMilliseconds, hours: 24)
    let messages = day.column(result.peakDay.messages, at: result.peakDay.at)
    let pushes = day.column(result.peakDay.pushes, at: result.peakDay.at)
    let most = pushes.indices.max { pushes[$0] < pushes[$1] } ?? 0
    let name = CivilTime(day.start).date
    let chart = TimeChart(
      edges: day.edges,
      panels: [
        TimeChart.Panel(title: "Messages per minute", values: messages, color: "messages"),
        TimeChart.Panel(
          title: "Pushes per minute", values: pushes,
          color: OutcomeFamily.pushed.color),
      ],
      hits: day.hits { minutes in
        "\(Figures.count(messages[minutes].reduce(0, +), "message")), "
          + "\(Figures.short(pushes[minutes].reduce(0, +))) pushes; at most "
          + "\(Figures.short(pushes[minutes].max() ?? 0)) pushes in a minute"
      },
      label: "Messages and pushes per minute on \(name). Most pushes in a minute: "
        + "\(Figures.exact(pushes[most])), at \(day.time(most)).")
    return ChartFigure(
      title: "\(name), minute by minute, UTC", draw: chart.draw, remark: chart.remark(day.time),
      table: Table(
        columns: [
          ("Hour", .text), ("Messages", .number), ("Pushes", .number),
          ("Most in a minute", .number),
        ],
        rows: day.hours.map { minutes in
          [
            Table.Cell(day.time(minutes.lowerBound)),
            Table.Cell(messages[minutes].reduce(0, +)), Table.Cell(pushes[minutes].reduce(0, +)),
            Table.Cell(pushes[minutes].max() ?? 0),
          ]
        }, caption: "\(name), hour by hour", file: "peak-day"))
  }

  /// When a peak was: to the second, if it is of a second.
  private static func instant(_ peak: Peak) -> String {
    let time = CivilTime(peak.at)
    return "\(time.date) \(peak.unit == "second" ? time.timeWithSeconds : time.time)"
  }
}
