internal import PushReplay
internal import PushSupport

/// Pushes in A and in B along time, by the hour of the day and of the week, always on one scale.
extension CompareReport {
  static let legend = [(name: "A", color: "messages"), (name: "B", color: "pushes")]

  // MARK: Along time

  var alongTime: Section {
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
          title: "Pushes per \(bins.step.name)", values: a, color: "messages",
          over: (values: b, color: "pushes"))
      ],
      hits: (0..<bins.count).map { bin in
        TimeChart.Hit(
          range: bins.edges[bin]..<bins.edges[bin + 1],
          text: [
            bins.step.text(bins.edges[bin]),
            "A: \(Figures.exact(a[bin])), B: \(Figures.exact(b[bin]))",
          ])
      },
      label: "Pushes in A and in B per \(bins.step.name), on one scale. Most in A: \(most(a)). "
        + "Most in B: \(most(b)).")
    let figure = ChartFigure(
      title: "Pushes, UTC", draw: chart.draw, legend: Self.legend,
      remark: chart.remark { bins.step.text(bins.edges[$0]) },
      table: Table(
        columns: [("From", .text)] + Self.columns + [("Gained", .number), ("Lost", .number)],
        rows: (0..<bins.count).filter { messages[$0] > 0 }.map { bin in
          [Table.Cell(bins.step.text(bins.edges[bin]))]
            + Self.cells(messages[bin], a[bin], b[bin])
            + [Table.Cell(gained[bin]), Table.Cell(lost[bin])]
        }, caption: "Pushes per \(bins.step.name), UTC", file: "time"))
    return Section(name: "time", heading: "Along time", note: "", charts: [[figure]])
  }

  private static let columns: [(name: String, kind: Table.Kind)] = [
    ("Messages", .number), ("A", .number), ("B", .number), ("B \u{2212} A", .number),
  ]

  private static func cells(_ messages: Int, _ a: Int, _ b: Int) -> [Table.Cell] {
    [Table.Cell(messages), Table.Cell(a), Table.Cell(b), Table.Cell(from: a, to: b)]
  }

  private static func cells(_ hours: some Sequence<ComparedWeekHour>) -> [Table.Cell] {
    let sum = hours.reduce(into: (messages: 0, a: 0, b: 0)) {
      $0.messages += $1.messages
      $0.a += $1.a
      $0.b += $1.b
    }
    return cells(sum.messages, sum.a, sum.b)
  }

  // MARK: By hour

  private func ofHour(_ hour: Int) -> [ComparedWeekHour] {
    stride(from: hour, to: 168, by: 24).map { result.week[$0] }
  }

  var hours: Section {
    let series = zip(Self.legend, [\ComparedWeekHour.a, \.b]).map { entry, column in
      StackedColumns.Series(
        name: entry.name,
        values: (0..<24).map { ofHour($0).reduce(0) { $0 + $1[keyPath: column] } },
        color: entry.color)
    }
    let chart = StackedColumns(
      names: ReplayReport.hourNames, titles: (0..<24).map(ReplayReport.hourText), series: series,
      arrangement: .beside, label: "Pushes in A and in B by hour of the day, on one scale.",
      isFull: !isWeek)
    let figure = ChartFigure(
      title: "Pushes by hour of the day", draw: chart.draw, legend: Self.legend,
      table: Table(
        columns: [("Hour", .text)] + Self.columns,
        rows: (0..<24).map { [Table.Cell($0.padded(to: 2))] + Self.cells(ofHour($0)) },
        file: "hours"))
    return Section(
      name: "hours", heading: "Hours of the day", note: "",
      charts: [[figure] + (weekdays.map { [$0] } ?? [])])
  }

  /// Whether there is something of each weekday.
  private var isWeek: Bool { ReplayReport.isWeek(result.first ?? 0, result.last ?? 0) }

  /// Pushes of each world by weekday; nil for less than seven days.
  private var weekdays: ChartFigure? {
    guard isWeek else { return nil }
    let days = (0..<7).map { result.week[$0 * 24..<$0 * 24 + 24] }
    let bars = [("A", \ComparedWeekHour.a, "messages"), ("B", \ComparedWeekHour.b, "pushes")].map {
      name, column, color in
      let counts = days.map { $0.reduce(0) { $0 + $1[keyPath: column] } }
      let total = counts.reduce(0, +)
      return GroupedBars.Series(
        name: name, shares: counts.map { Double($0) / Double(max(1, total)) },
        titles: counts.map {
          "\(name): \(Figures.exact($0)), \(Figures.share($0, of: total)) of its pushes"
        }, color: color)
    }
    let chart = GroupedBars(
      rows: ReplayReport.weekdays.map { String($0.prefix(3)) }, series: bars,
      label: "Shares of the pushes by weekday, in A and in B.")
    return ChartFigure(
      title: "Shares of each world\u{2019}s pushes by weekday", draw: chart.draw,
      legend: Self.legend,
      table: Table(
        columns: [("Weekday", .text)] + Self.columns,
        rows: (0..<7).map { [Table.Cell(ReplayReport.weekdays[$0])] + Self.cells(days[$0]) },
        caption: "Pushes by weekday", file: "weekdays"))
  }

  /// nil for less than seven days, of which most of the week would be empty.
  var week: Section? {
    guard isWeek else { return nil }
    let scale = QuantileScale(
      result.week.filter { $0.messages > 0 }.flatMap { [Double($0.a), Double($0.b)] })
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
              rows: result.week.map {
                [Table.Cell(ReplayReport.hourOfWeek($0.weekday, $0.hour))]
                  + Self.cells(CollectionOfOne($0))
              }, caption: "Pushes in A and in B by weekday and hour", file: "week")),
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
      values: rows.map { $0.map { $0.messages == 0 ? nil : Double($0[keyPath: column]) } },
      titles: rows.map { row in
        row.map {
          [
            "\(ReplayReport.weekdays[$0.weekday - 1]), \(ReplayReport.hourText($0.hour))",
            "\(Figures.exact($0[keyPath: column])) pushes in \(name)",
          ]
        }
      }, text: { Figures.short($0) }, scale: scale,
      label: "Pushes in \(name) by weekday and hour.")
    return ChartFigure(
      title: "Pushes in \(name), all weeks together", draw: chart.draw,
      remark: table == nil ? QuantileScale.remark : "The figures of both are below.", table: table)
  }
}
