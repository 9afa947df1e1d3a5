internal import PushModel
internal import PushReplay
internal import PushSupport

/// What happened along time, by the hour of the day and of the week.
extension ReplayReport {
  // MARK: Along time

  var alongTime: Section {
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
        TimeChart.Panel(title: "Pushes per \(bins.step.name)", values: pushes, color: "pushes"),
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
      "The \(bins.step.name) with most messages began "
      + "<strong>\(bins.step.text(bins.edges[most]))</strong> "
      + "(\(Figures.exact(messages[most]))), the one with most pushes "
      + "<strong>\(bins.step.text(bins.edges[mostPushes]))</strong> "
      + "(\(Figures.short(pushes[mostPushes]))). "
      + (quiet == 0
        ? ""
        : "In \(Figures.exact(quiet)) of \(Figures.exact(bins.count)) there was "
          + "no message at all.")
    return Section(name: "time", heading: "Along time", note: note, charts: [[figure]])
  }

  // MARK: By the hour of the day

  var hours: Section {
    let families = families
    let series = families.map { entry in
      StackedColumns.Series(
        name: entry.family.name,
        values: (0..<24).map { hour in
          ofHour(hour).reduce(0) { sum, row in
            entry.indices.reduce(sum) { $0 + row.outcomes[$1] }
          }
        }, color: entry.family.color)
    }
    let decisions = (0..<24).map { ofHour($0).reduce(0) { $0 + $1.decisions } }
    let pushes = (0..<24).map { ofHour($0).reduce(0) { $0 + $1.pushes } }
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
      name: "hours", heading: "Outcomes by hour of the day",
      note: Escaping.text(hoursInWords(decisions, pushes)),
      charts: [
        [
          ChartFigure(
            title: "Decisions", draw: chart(.stacked).draw, legend: legend,
            table: hourTotals(decisions, pushes)),
          ChartFigure(
            title: "Shares of the hour\u{2019}s decisions", draw: chart(.shares).draw,
            legend: legend, table: hourOutcomes(series, decisions)),
        ]
      ])
  }

  private func hourTotals(_ decisions: [Int], _ pushes: [Int]) -> Table {
    Table(
      columns: [
        ("Hour", .text), ("Messages", .number), ("Decisions", .number), ("Pushes", .number),
        ("Push rate", .number),
      ],
      rows: (0..<24).map { hour in
        [
          Table.Cell(hour.padded(to: 2)),
          Table.Cell(ofHour(hour).reduce(0) { $0 + $1.messages }), Table.Cell(decisions[hour]),
          Table.Cell(pushes[hour]), Table.Cell(pushes[hour], of: decisions[hour]),
        ]
      }, caption: "By hour of the day", file: "hours")
  }

  private func hourOutcomes(_ series: [StackedColumns.Series], _ decisions: [Int]) -> Table {
    Table(
      columns: [
        ("Hour", .text), ("Outcome", .text), ("Decisions", .number), ("Share", .number),
      ],
      rows: (0..<24).flatMap { hour in
        series.filter { $0.values[hour] > 0 }.map { part in
          [
            Table.Cell(hour.padded(to: 2)), Table.Cell(part.name), Table.Cell(part.values[hour]),
            Table.Cell(part.values[hour], of: decisions[hour]),
          ]
        }
      }, caption: "Outcomes by hour of the day", file: "hour-outcomes")
  }

  private func ofHour(_ hour: Int) -> [WeekHour] {
    stride(from: hour, to: 168, by: 24).map { result.week[$0] }
  }

  /// Where the push rate is highest and lowest, of hours that have a thousandth of all decisions.
  private func hoursInWords(_ decisions: [Int], _ pushes: [Int]) -> String {
    let rates = (0..<24).filter { decisions[$0] * 1000 >= result.decisions }
      .map { (hour: $0, rate: Double(pushes[$0]) / Double(max(1, decisions[$0]))) }
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
    let busiest = result.week.max { $0.pushes < $1.pushes }
    let note = busiest.map {
      "Most pushes fall on \(Self.weekdays[$0.weekday - 1]) from \(Self.hourText($0.hour)): "
        + "\(Figures.share($0.pushes, of: result.pushes)) of all."
    }
    let pushes = weekMap(
      "Pushes by weekday and hour. \(note ?? "")", text: { Figures.short($0) }
    ) { $0.decisions == 0 ? nil : Double($0.pushes) }
    let rate = weekMap(
      "Push rate by weekday and hour.", text: { Figures.percent($0, isExact: $0 == 1) }
    ) { $0.decisions == 0 ? nil : Double($0.pushes) / Double($0.decisions) }
    return Section(
      name: "week", heading: "Hours of the week",
      note: result.pushes > 0 ? note ?? "" : "",
      charts: [
        [
          ChartFigure(
            title: "Pushes, all weeks together", draw: pushes.draw,
            remark: QuantileScale.remark, table: weekdayTable),
          ChartFigure(title: "Push rate", draw: rate.draw, table: weekTable),
        ]
      ])
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
          [
            "\(Self.weekdays[$0.weekday - 1]), \(Self.hourText($0.hour))",
            "\(Figures.exact($0.pushes)) pushes of \(Figures.exact($0.decisions)) decisions "
              + "(\(Figures.share($0.pushes, of: $0.decisions))), "
              + Figures.count($0.messages, "message"),
          ]
        }
      }, text: text, scale: QuantileScale(values.joined().compactMap { $0 }), label: label)
  }

  private static let weekColumns: [(name: String, kind: Table.Kind)] = [
    ("Messages", .number), ("Decisions", .number), ("Pushes", .number), ("Push rate", .number),
  ]

  private var weekdayTable: Table {
    Table(
      columns: [("Weekday", .text)] + Self.weekColumns,
      rows: (0..<7).map { day in
        [Table.Cell(Self.weekdays[day])] + Self.cells(result.week[day * 24..<day * 24 + 24])
      }, caption: "By weekday", file: "weekdays")
  }

  private var weekTable: Table {
    Table(
      columns: [("Hour", .text)] + Self.weekColumns,
      rows: result.week.map {
        [Table.Cell(Self.hourOfWeek($0.weekday, $0.hour))] + Self.cells([$0])
      },
      caption: "By weekday and hour", file: "week")
  }

  private static func cells(_ hours: ArraySlice<WeekHour>) -> [Table.Cell] {
    let decisions = hours.reduce(0) { $0 + $1.decisions }
    let pushes = hours.reduce(0) { $0 + $1.pushes }
    return [
      Table.Cell(hours.reduce(0) { $0 + $1.messages }), Table.Cell(decisions), Table.Cell(pushes),
      Table.Cell(pushes, of: decisions),
    ]
  }

  /// `Mon 07`
  static func hourOfWeek(_ weekday: Int, _ hour: Int) -> String {
    "\(weekdays[weekday - 1].prefix(3)) \(hour.padded(to: 2))"
  }
}
