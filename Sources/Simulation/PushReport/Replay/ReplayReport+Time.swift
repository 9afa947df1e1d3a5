internal import PushModel
internal import PushReplay
internal import PushSupport

/// What happened along time, by the hour of the day and of the week.
extension ReplayReport {
  // MARK: Over time

  var overTime: Section {
    let bins = bins
    let series = series
    let messages = bins.sums(series.messages, at: series.at)
    let decisions = bins.sums(series.decisions, at: series.at)
    let pushes = bins.sums(series.pushes, at: series.at)
    let most = messages.indices.max { messages[$0] < messages[$1] } ?? 0
    let mostPushes = pushes.indices.max { pushes[$0] < pushes[$1] } ?? 0
    let chart = TimeChart(
      edges: bins.edges,
      panels: [
        TimeChart.Panel(
          title: "Messages per \(bins.step.name)", values: messages, color: "messages"),
        TimeChart.Panel(
          title: "Pushes per \(bins.step.name)", values: pushes,
          color: OutcomeFamily.pushed.color),
      ],
      hits: (0..<bins.count).map { bin in
        TimeChart.Hit(
          range: bins.edges[bin]..<bins.edges[bin + 1],
          text: [
            bins.step.text(bins.edges[bin]),
            "\(Figures.count(messages[bin], "message")), "
              + "\(Figures.count(pushes[bin], "push", "pushes"))",
          ])
      },
      label: "Messages and pushes per \(bins.step.name). Most messages: "
        + "\(Figures.exact(messages[most])), \(bins.step.text(bins.edges[most])). Most pushes: "
        + "\(Figures.exact(pushes[mostPushes])), \(bins.step.text(bins.edges[mostPushes])).")
    let rows = (0..<bins.count).filter { messages[$0] > 0 }.map { bin in
      [
        Table.Cell(bins.step.text(bins.edges[bin])), Table.Cell(messages[bin]),
        Table.Cell(decisions[bin]), Table.Cell(pushes[bin]),
        Table.Cell(pushes[bin], of: decisions[bin]),
      ]
    }
    let figure = ChartFigure(
      title: "Messages and pushes, UTC", draw: chart.draw,
      remark: chart.remark { bins.step.text(bins.edges[$0]) },
      table: Table(
        columns: [
          ("From", .text), ("Messages", .number), ("Decisions", .number), ("Pushes", .number),
          ("Push rate", .number),
        ], rows: rows, caption: "Messages and pushes per \(bins.step.name), UTC", file: "time"))
    let quiet = messages.count { $0 == 0 }
    let note =
      "Most messages: <strong>\(Figures.exact(messages[most]))</strong>, "
      + "\(bins.step.text(bins.edges[most])); most pushes: "
      + "<strong>\(Figures.short(pushes[mostPushes]))</strong>, "
      + "\(bins.step.text(bins.edges[mostPushes])). "
      + (quiet == 0
        ? ""
        : "No message in \(Figures.exact(quiet)) of \(Figures.exact(bins.count)) steps.")
    return Section(name: "time", heading: "Over time", note: note, charts: [[figure]])
  }

  // MARK: By the hour of the day

  var hours: Section {
    let families = families
    let series = families.map { entry in
      StackedColumns.Series(
        name: entry.family.name,
        values: (0..<24).map { hour in
          ofHour(hour).mean { row in entry.indices.reduce(0) { $0 + row.outcomes[$1] } }
        }, color: entry.family.color)
    }
    let decisions = (0..<24).map { ofHour($0).mean(\.decisions) }
    let pushes = (0..<24).map { ofHour($0).mean(\.pushes) }
    let chart = { (arrangement: StackedColumns.Arrangement) in
      StackedColumns(
        names: Self.hourNames, titles: (0..<24).map(Self.hourText), series: series,
        arrangement: arrangement,
        label: (arrangement == .shares ? "Shares of outcomes" : "Outcomes")
          + " by hour of the day. "
          + self.hoursInWords(decisions, pushes))
    }
    let legend = series.map { (name: $0.name, color: $0.color) }
    return Section(
      name: "hours", heading: "Outcomes by hour of the day, \(result.timeZone)",
      note: Escaping.text(hoursInWords(decisions, pushes)),
      charts: [
        [
          ChartFigure(
            title: "Decisions of a mean day", draw: chart(.stacked).draw, legend: legend,
            table: hourTotals),
          ChartFigure(
            title: "Shares of the hour's decisions", draw: chart(.shares).draw,
            legend: legend, table: hourOutcomes(series, decisions)),
        ]
      ])
  }

  private var hourTotals: Table {
    Table(
      columns: [("Hour", .text)] + Self.meanColumns,
      rows: (0..<24).map { hour in
        [Table.Cell(hour.padded(to: 2))] + Self.means(ofHour(hour)) { $0.mean($1) }
      }, caption: "A mean day by the hour, \(result.timeZone)", file: "hours")
  }

  private func hourOutcomes(_ series: [StackedColumns.Series], _ decisions: [Double]) -> Table {
    Table(
      columns: [
        ("Hour", .text), ("Outcome", .text), ("Decisions", .number), ("Share", .number),
      ],
      rows: (0..<24).flatMap { hour in
        series.filter { $0.values[hour] > 0 }.map { part in
          [
            Table.Cell(hour.padded(to: 2)), Table.Cell(part.name),
            Table.Cell(mean: part.values[hour]),
            Table.Cell(share: part.values[hour] / decisions[hour]),
          ]
        }
      }, caption: "Outcomes of a mean day by the hour, \(result.timeZone)", file: "hour-outcomes")
  }

  /// Where the push rate is highest and lowest, of hours that have a thousandth of all decisions.
  private func hoursInWords(_ decisions: [Double], _ pushes: [Double]) -> String {
    let all = decisions.reduce(0, +)
    let rates = (0..<24).filter { decisions[$0] > 0 && decisions[$0] * 1000 >= all }
      .map { (hour: $0, rate: pushes[$0] / decisions[$0]) }
    guard let highest = rates.max(by: { $0.rate < $1.rate }),
      let lowest = rates.min(by: { $0.rate < $1.rate }), highest.hour != lowest.hour
    else { return "" }
    return "The push rate is highest from \(Self.hourText(highest.hour)), "
      + "\(Figures.percent(highest.rate)), and lowest from \(Self.hourText(lowest.hour)), "
      + "\(Figures.percent(lowest.rate))."
  }

  // MARK: By the hour of the week

  /// nil for less than seven days, of which most of the week would be empty.
  var week: Section? {
    guard let first = result.first, let last = result.last, Self.isWeek(first, last) else {
      return nil
    }
    let note = Self.busiestHour(result.week, \.pushes)
    let pushes = weekMap(
      "Pushes of a mean week by weekday and hour. \(note)", text: { Figures.short($0) }
    ) { $0.decisions == 0 ? nil : CollectionOfOne($0).mean(\.pushes) }
    let rate = weekMap(
      "Push rate by weekday and hour.", text: { Figures.percent($0, isExact: $0 == 1) }
    ) { $0.decisions == 0 ? nil : Double($0.pushes) / Double($0.decisions) }
    return Section(
      name: "week", heading: "Hours of the week",
      note: note,
      charts: [
        [
          ChartFigure(
            title: "Pushes of a mean week, \(result.timeZone)", draw: pushes.draw,
            remark: QuantileScale.remark, table: weekdayTable),
          ChartFigure(title: "Push rate, \(result.timeZone)", draw: rate.draw, table: weekTable),
        ]
      ])
  }

  /// The hour of a mean week with most pushes; empty without any.
  static func busiestHour<Hour: CoveredHour>(_ week: [Hour], _ pushes: (Hour) -> Int) -> String {
    let means = week.map { CollectionOfOne($0).mean(pushes) }
    guard let most = means.indices.max(by: { means[$0] < means[$1] }), means[most] > 0 else {
      return ""
    }
    return "In a mean week most pushes fall on \(weekdays[most / 24]) from "
      + "\(hourText(most % 24)): \(Figures.percent(means[most] / means.reduce(0, +))) of all."
  }

  /// Whether there is something of each weekday.
  static func isWeek(_ first: Int64, _ last: Int64) -> Bool {
    last - first >= 7 * CivilTime.dayMilliseconds
  }

  private func weekMap(
    _ label: String, text: @escaping (Double) -> String, value: (WeekHour) -> Double?
  ) -> HeatMap {
    let rows = (0..<7).map { Array(result.week[$0 * 24..<$0 * 24 + 24]) }
    let values = rows.map { $0.map(value) }
    return HeatMap(
      rows: Self.weekdays.map { String($0.prefix(3)) }, columns: Self.hourNames,
      values: values,
      titles: rows.map { row in
        row.map {
          let hour = CollectionOfOne($0)
          return [
            "\(Self.weekdays[$0.weekday - 1]), \(Self.hourText($0.hour)), "
              + "mean of \(Figures.mean($0.days))",
            "\(Figures.mean(hour.mean(\.pushes))) pushes of "
              + "\(Figures.mean(hour.mean(\.decisions))) decisions "
              + "(\(Figures.share($0.pushes, of: $0.decisions)))",
          ]
        }
      }, text: text, scale: QuantileScale(values.joined().compactMap { $0 }), label: label)
  }

  private static let meanColumns: [(name: String, kind: Table.Kind)] = [
    ("Days", .number), ("Messages", .number), ("Decisions", .number), ("Pushes", .number),
    ("Push rate", .number),
  ]

  private var weekdayTable: Table {
    Table(
      columns: [("Weekday", .text)] + Self.meanColumns,
      rows: (0..<7).map { day in
        let hours = Array(result.week[day * 24..<day * 24 + 24])
        return [Table.Cell(Self.weekdays[day])]
          + Self.means(hours, parts: 24) { $0.sumOfMeans($1) }
      }, caption: "Means of each weekday", file: "weekdays")
  }

  private var weekTable: Table {
    Table(
      columns: [("Hour", .text)] + Self.meanColumns,
      rows: result.week.map { hour in
        [Table.Cell(Self.hourOfWeek(hour.weekday, hour.hour))] + Self.means([hour]) { $0.mean($1) }
      },
      caption: "Means of each hour of the week", file: "week")
  }

  /// - Parameter parts: how many of the hours make one of what the means are of.
  private static func means(
    _ hours: [WeekHour], parts: Double = 1, _ mean: ([WeekHour], (WeekHour) -> Int) -> Double
  ) -> [Table.Cell] {
    let (decisions, pushes) = (mean(hours, \.decisions), mean(hours, \.pushes))
    return [
      Table.Cell(mean: hours.reduce(0) { $0 + $1.days } / parts),
      Table.Cell(mean: mean(hours, \.messages)), Table.Cell(mean: decisions),
      Table.Cell(mean: pushes), Table.Cell(share: decisions > 0 ? pushes / decisions : nil),
    ]
  }

  /// `Mon 07`
  static func hourOfWeek(_ weekday: Int, _ hour: Int) -> String {
    "\(weekdays[weekday - 1].prefix(3)) \(hour.padded(to: 2))"
  }
}
