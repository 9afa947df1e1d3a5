internal import PushModel
internal import PushReplay
internal import PushSupport

/// Three pictures that come first: why, or why not; when; who.
extension ReplayReport {
  var pictures: Section {
    let pair = [when, who].compactMap { $0 }
    return Section(
      name: "pictures", heading: "At a glance", note: "",
      charts: [
        [
          Self.why(
            result.outcomes, result.decisions,
            "Why, or why not: \(Figures.short(result.decisions)) decisions on "
              + "\(Figures.count(result.messages, "message")), \(Figures.short(result.pushes)) pushes"
          )
        ], pair,
      ])
  }

  // MARK: Why, or why not

  /// One bar of all decisions, by what came of them.
  static func why(_ outcomes: [OutcomeTotal], _ decisions: Int, _ title: String) -> ChartFigure {
    let kinds = OutcomeFamily.kinds(of: outcomes)
    let bar = ShareBars.Bar(
      title: "",
      parts: kinds.map {
        ShareBars.Part(name: $0.family.name, count: $0.count, color: $0.family.color)
      })
    let chart = ShareBars(bars: [bar], label: "\(title). \(ShareBars.words(bar)).")
    return ChartFigure(
      title: title, draw: chart.draw,
      legend: kinds.map { kind in
        (
          name: "\(kind.family.name) \(Figures.share(kind.count, of: decisions))",
          color: kind.family.color
        )
      },
      table: Table(
        columns: [("Kind", .text), ("Decisions", .number), ("Share", .number)],
        rows: kinds.map { kind in
          [
            Table.Cell(kind.family.name), Table.Cell(kind.count),
            Table.Cell(kind.count, of: decisions),
          ]
        }, caption: "Decisions by kind of outcome", file: "kinds"))
  }

  // MARK: When

  /// Pushes by the recipients' own clocks, if they are known, else by the replay's.
  private var when: ChartFigure? {
    guard result.pushes > 0 else { return nil }
    let zone = result.timeZone
    guard let local = result.pushesByLocalHour else {
      let means = (0..<24).map { ofHour($0).mean(\.pushes) }
      return hoursChart(
        "When: pushes of a mean day by hour, \(zone)", means,
        words: "Between 22:00 and 07:00 come \(Self.nightShare(means)) of the pushes.", table: nil)
    }
    // Each recipient's day is as long as the replay's.
    let days = result.week.reduce(0) { $0 + $1.days } / 24
    let means = local.map { Double($0) / max(1, days) }
    return hoursChart(
      "When: pushes of a mean day by hour, the recipient's clock", means,
      words: "Between 22:00 and 07:00 of the recipient's day come "
        + "\(Self.nightShare(means)) of the pushes.",
      table: Table(
        columns: [("Hour", .text), ("Pushes", .number), ("Share", .number)],
        rows: (0..<24).map { hour in
          [
            Table.Cell(hour.padded(to: 2)), Table.Cell(local[hour]),
            Table.Cell(local[hour], of: result.pushes),
          ]
        }, caption: "Pushes by the hour of the recipient's day, the whole time",
        file: "local-hours"))
  }

  private func hoursChart(
    _ title: String, _ means: [Double], words: String, table: Table?
  ) -> ChartFigure {
    let chart = StackedColumns(
      names: Self.hourNames, titles: (0..<24).map(Self.hourText),
      series: [
        StackedColumns.Series(name: "pushes", values: means, color: OutcomeFamily.pushed.color)
      ], arrangement: .stacked, label: "\(title). \(words)")
    return ChartFigure(title: title, draw: chart.draw, words: words, table: table)
  }

  /// The share of the hours from 22:00 to 07:00.
  static func nightShare(_ hours: [Double]) -> String {
    let night = (hours[22...] + hours[..<7]).reduce(0, +)
    return Figures.percent(night / max(hours.reduce(0, +), .leastNonzeroMagnitude))
  }

  // MARK: Who

  /// Person-days by their pushes; nil for results without people.
  private var who: ChartFigure? {
    guard let people = result.people, people.personDays > 0 else { return nil }
    let used = PeopleFigures.used([people.pushes])
    let series = [
      PeopleFigures.series(
        "pushes", people.pushes, of: people.personDays, color: OutcomeFamily.pushed.color,
        used: used)
    ]
    let chart = GroupedBars(
      rows: Array(PeopleFigures.names.prefix(used)), series: series,
      label: PeopleFigures.words("Person-days by pushes", people.pushes))
    let isOneDay = Self.isOneDay(result)
    let count = Figures.count(people.people, "person", "people")
    return ChartFigure(
      title: "Who: \(isOneDay ? "people" : "person-days") by the pushes of the day",
      draw: chart.draw,
      words: isOneDay
        ? "\(count) who were a recipient of a message."
        : "\(count), \(Figures.short(people.personDays)) days of \(result.timeZone) on which a "
          + "message was for them.",
      table: PeopleFigures.table([("", people.pushes)], of: people.personDays))
  }
}
