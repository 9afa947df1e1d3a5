internal import PushReplay
internal import PushSupport

/// Pushes in A and in B along time, by the hour of the day and of the week, always on one scale.
extension CompareReport {
  // MARK: Over time

  var overTime: Section {
    let bins = TimeBins((result.first ?? 0)...(result.last ?? 0), least: result.hours.step)
    let series = result.hours
    let a = bins.sums(series.a, at: series.at)
    let b = bins.sums(series.b, at: series.at)
    let gained = bins.sums(series.gained, at: series.at)
    let lost = bins.sums(series.lost, at: series.at)
    let messages = bins.sums(series.messages, at: series.at)
    let most = { (values: [Int]) in
      let bin = values.indices.max { values[$0] < values[$1] } ?? 0
      return "\(Figures.exact(values[bin])), \(bins.step.text(bins.edges[bin]))"
    }
    let chart = TimeChart(
      edges: bins.edges,
      panels: [
        TimeChart.Panel(
          title: "Pushes per \(bins.step.name)", values: a, color: "a",
          over: (values: b, color: "b")),
        TimeChart.Panel(
          title: "B \u{2212} A", values: zip(a, b).map { $1 - $0 }, color: "b",
          isDifference: true),
      ],
      hits: (0..<bins.count).map { bin in
        TimeChart.Hit(
          range: bins.edges[bin]..<bins.edges[bin + 1],
          text: [
            bins.step.text(bins.edges[bin]),
            "A: \(Figures.exact(a[bin])), B: \(Figures.exact(b[bin])), B \u{2212} A: "
              + Figures.signed(b[bin] - a[bin]),
          ])
      },
      label: "Pushes in A and in B per \(bins.step.name), on one scale. Most in A: \(most(a)). "
        + "Most in B: \(most(b)).")
    let figure = ChartFigure(
      title: "Pushes, UTC", draw: chart.draw, legend: legend,
      remark: chart.remark { bins.step.text(bins.edges[$0]) },
      table: Table(
        columns: [("From", .text)] + Self.counted + [("Gained", .number), ("Lost", .number)],
        rows: (0..<bins.count).filter { messages[$0] > 0 }.map { bin in
          [Table.Cell(bins.step.text(bins.edges[bin]))]
            + Self.cells(messages[bin], a[bin], b[bin])
            + [Table.Cell(gained[bin]), Table.Cell(lost[bin])]
        }, caption: "Pushes per \(bins.step.name), UTC", file: "time"))
    return Section(name: "time", heading: "Over time", note: "", charts: [[figure]])
  }

  private static let counted: [(name: String, kind: Table.Kind)] = [
    ("Messages", .number), ("A", .number), ("B", .number), ("B \u{2212} A", .number),
  ]

  private static let columns = [(name: "Days", kind: Table.Kind.number)] + counted

  private static func cells(_ messages: Int, _ a: Int, _ b: Int) -> [Table.Cell] {
    [Table.Cell(messages), Table.Cell(a), Table.Cell(b), Table.Cell(from: a, to: b)]
  }

  /// - Parameter parts: how many of the hours make one of what the means are of.
  private static func means(
    _ hours: [ComparedWeekHour], parts: Double = 1,
    _ mean: ([ComparedWeekHour], (ComparedWeekHour) -> Int) -> Double
  ) -> [Table.Cell] {
    let (a, b) = (mean(hours, \.a), mean(hours, \.b))
    return [
      Table.Cell(mean: hours.reduce(0) { $0 + $1.days } / parts),
      Table.Cell(mean: mean(hours, \.messages)), Table.Cell(mean: a), Table.Cell(mean: b),
      Table.Cell(from: a, to: b),
    ]
  }

  // MARK: By hour

  private func ofHour(_ hour: Int) -> [ComparedWeekHour] {
    stride(from: hour, to: 168, by: 24).map { result.week[$0] }
  }

  /// By the recipient's clock, if that was counted.
  var hours: Section {
    guard let local = result.pushesByLocalHour else { return hours(utcHours) }
    // Each recipient's day is as long as the replay's.
    let days = max(1, result.week.reduce(0) { $0 + $1.days } / 24)
    let sides = [local.a, local.b].map { $0.map { Double($0) / days } }
    let words =
      "Between 22:00 and 07:00 of the recipient's day come "
      + "\(ReplayReport.nightShare(sides[0])) of the pushes in A, "
      + "\(ReplayReport.nightShare(sides[1])) in B."
    var figure = hourFigure(
      "Pushes of a mean day by hour, the recipient's clock", sides, words,
      Table(
        columns: [("Hour", .text), ("A", .number), ("B", .number), ("B \u{2212} A", .number)],
        rows: (0..<24).map { hour in
          [
            Table.Cell(hour.padded(to: 2)), Table.Cell(local.a[hour]), Table.Cell(local.b[hour]),
            Table.Cell(from: local.a[hour], to: local.b[hour]),
          ]
        }, caption: "Pushes by the hour of the recipient's day, the whole time",
        file: "local-hours"))
    figure.detail = hourTable
    return hours(figure)
  }

  private func hours(_ figure: ChartFigure) -> Section {
    Section(
      name: "hours", heading: "Hours of the day", note: "",
      charts: [[figure] + (weekdays.map { [$0] } ?? [])])
  }

  private var hourTable: Table {
    Table(
      columns: [("Hour", .text)] + Self.columns,
      rows: (0..<24).map { hour in
        [Table.Cell(hour.padded(to: 2))] + Self.means(ofHour(hour)) { $0.mean($1) }
      }, caption: "A mean day by the hour, \(result.timeZone)", file: "hours")
  }

  /// By the clock of the result's zone.
  private var utcHours: ChartFigure {
    hourFigure(
      "Pushes of a mean day by hour, \(result.timeZone)",
      [\ComparedWeekHour.a, \.b].map { column in
        (0..<24).map { ofHour($0).mean { $0[keyPath: column] } }
      }, nil, hourTable)
  }

  private func hourFigure(
    _ title: String, _ sides: [[Double]], _ words: String?, _ table: Table
  ) -> ChartFigure {
    let series = zip(legend, sides).map { entry, values in
      StackedColumns.Series(name: entry.name, values: values, color: entry.color)
    }
    let chart = StackedColumns(
      names: ReplayReport.hourNames, titles: (0..<24).map(ReplayReport.hourText), series: series,
      arrangement: .beside, label: "Pushes in A and in B by hour of the day, on one scale.",
      isFull: !isWeek)
    return ChartFigure(
      title: title, draw: chart.draw, legend: legend, words: words, table: table)
  }

  /// Whether there is something of each weekday.
  private var isWeek: Bool { ReplayReport.isWeek(result.first ?? 0, result.last ?? 0) }

  /// Pushes of each world by weekday; nil for less than seven days.
  private var weekdays: ChartFigure? {
    guard isWeek else { return nil }
    let days = (0..<7).map { result.week[$0 * 24..<$0 * 24 + 24] }
    let bars = zip(legend, [\ComparedWeekHour.a, \.b]).map { entry, column in
      let means = days.map { $0.sumOfMeans { $0[keyPath: column] } }
      let total = max(means.reduce(0, +), .leastNonzeroMagnitude)
      return GroupedBars.Series(
        name: entry.name, shares: means.map { $0 / total },
        titles: means.map {
          "\(entry.name): \(Figures.mean($0)), \(Figures.percent($0 / total)) of a mean week"
        }, color: entry.color)
    }
    let chart = GroupedBars(
      rows: ReplayReport.weekdays.map { String($0.prefix(3)) }, series: bars,
      label: "Shares of the pushes of a mean week by weekday, in A and in B.")
    return ChartFigure(
      title: "Shares of a mean week's pushes by weekday, \(result.timeZone)",
      draw: chart.draw, legend: legend,
      table: Table(
        columns: [("Weekday", .text)] + Self.columns,
        rows: (0..<7).map { day in
          [Table.Cell(ReplayReport.weekdays[day])]
            + Self.means(Array(days[day]), parts: 24) { $0.sumOfMeans($1) }
        }, caption: "Means of each weekday", file: "weekdays"))
  }

  /// nil for less than seven days, of which most of the week would be empty.
  var week: Section? {
    guard isWeek else { return nil }
    let scale = QuantileScale(
      result.week.filter { $0.messages > 0 }.flatMap { hour in
        [CollectionOfOne(hour).mean(\.a), CollectionOfOne(hour).mean(\.b)]
      })
    return Section(
      name: "week", heading: "Hours of the week",
      note: "The colours of A and of B are the same.",
      charts: [
        [
          weekMap("A", \.a, scale),
          weekMap(
            "B", \.b, scale,
            table: Table(
              columns: [("Hour", .text)] + Self.columns,
              rows: result.week.map { hour in
                [Table.Cell(ReplayReport.hourOfWeek(hour.weekday, hour.hour))]
                  + Self.means([hour]) { $0.mean($1) }
              }, caption: "Means of each hour of the week, in A and in B", file: "week")),
        ]
      ])
  }

  private func weekMap(
    _ name: String, _ column: KeyPath<ComparedWeekHour, Int>, _ scale: QuantileScale,
    table: Table? = nil
  ) -> ChartFigure {
    let rows = (0..<7).map { Array(result.week[$0 * 24..<$0 * 24 + 24]) }
    let chart = HeatMap(
      rows: ReplayReport.weekdays.map { String($0.prefix(3)) }, columns: ReplayReport.hourNames,
      values: rows.map {
        $0.map { $0.messages == 0 ? nil : CollectionOfOne($0).mean { $0[keyPath: column] } }
      },
      titles: rows.map { row in
        row.map {
          [
            "\(ReplayReport.weekdays[$0.weekday - 1]), \(ReplayReport.hourText($0.hour))",
            "\(Figures.mean(CollectionOfOne($0).mean { $0[keyPath: column] })) pushes in \(name), "
              + "mean of \(Figures.mean($0.days))",
          ]
        }
      }, text: { Figures.short($0) }, scale: scale,
      label: "Pushes in \(name) by weekday and hour.")
    return ChartFigure(
      title: "\(self.name(name)): pushes of a mean week", draw: chart.draw,
      remark: table == nil ? QuantileScale.remark : "The figures of both are below.", table: table)
  }
}
