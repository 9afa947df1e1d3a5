internal import PushReplay
internal import PushSupport

/// When pushes come by the recipients' own clocks.
extension ReplayReport {
  /// nil for results without people, and without pushes.
  var localTime: Section? {
    guard let local = result.pushesByLocalHour, result.pushes > 0 else { return nil }
    var utc = [Int](repeating: 0, count: 24)
    for (at, pushes) in zip(result.hours.at, result.hours.pushes) {
      utc[Int(at / 3_600_000 % 24)] += pushes
    }
    let legend = [(name: "UTC", color: "messages"), (name: "recipient", color: "pushes")]
    let chart = StackedColumns(
      names: Self.hourNames, titles: (0..<24).map(Self.hourText),
      series: zip(legend, [utc, local]).map { entry, values in
        StackedColumns.Series(name: entry.name, values: values, color: entry.color)
      }, arrangement: .beside,
      label: "Pushes by the hour of the day, in UTC and by the recipients\u{2019} own clocks. "
        + Self.nightWords(local, of: result.pushes), isFull: true)
    let figure = ChartFigure(
      title: "Pushes by hour of the day, UTC and the recipient\u{2019}s own", draw: chart.draw,
      legend: legend,
      remark:
        "The recipient\u{2019}s hour is that of the user\u{2019}s time zone; without one that "
        + "of the quiet hours\u{2019} zone, and else the app\u{2019}s.",
      table: Table(
        columns: [
          ("Hour", .text), ("Pushes, UTC", .number), ("Share", .number),
          ("Pushes, recipient", .number), ("Share", .number),
        ],
        rows: (0..<24).map { hour in
          [
            Table.Cell(hour.padded(to: 2)), Table.Cell(utc[hour]),
            Table.Cell(utc[hour], of: result.pushes), Table.Cell(local[hour]),
            Table.Cell(local[hour], of: result.pushes),
          ]
        }, caption: "Pushes by hour of the day", file: "local-hours"))
    return Section(
      name: "local", heading: "The recipients\u{2019} own time",
      note: Escaping.text(Self.nightWords(local, of: result.pushes)), charts: [[figure]])
  }

  /// How many pushes come in the evening and at night.
  private static func nightWords(_ local: [Int], of pushes: Int) -> String {
    let night = (local[22...] + local[..<7]).reduce(0, +)
    return "Between 22:00 and 07:00 of the recipient\u{2019}s own day come "
      + "\(Figures.share(night, of: pushes)) of the pushes."
  }
}
