internal import PushReplay

/// Tables of changed outcomes, rooms and users.
extension CompareReport {
  /// The most rows shown of a long table.
  private static let rowLimit = 20

  private static func difference(_ a: Int, _ b: Int) -> String {
    (b > a ? "+" : "") + Figures.exact(b - a)
  }

  var reasons: Section {
    let series = [("A", \ComparedOutcome.a, "messages"), ("B", \ComparedOutcome.b, "pushes")]
    let families = OutcomeFamily.allCases.filter { family in
      result.outcomes.contains { OutcomeFamily(action: $0.action, reason: $0.reason) == family }
    }
    let bars = series.map { name, column, color in
      let counts = families.map { family in
        result.outcomes.filter { OutcomeFamily(action: $0.action, reason: $0.reason) == family }
          .reduce(0) { $0 + $1[keyPath: column] }
      }
      let total = name == "A" ? result.a.decisions : result.b.decisions
      return GroupedBars.Series(
        name: name, shares: counts.map { Double($0) / Double(max(1, total)) },
        titles: counts.map {
          "\(name): \(Figures.exact($0)), \(Figures.share($0, of: total)) of all decisions"
        }, color: color)
    }
    let chart = GroupedBars(
      rows: families.map(\.shortName), series: bars,
      label: "Shares of decisions by what came of them, in A and in B.")
    let rows = result.outcomes.sorted { max($0.a, $0.b) > max($1.a, $1.b) }.map { outcome in
      [
        Table.Cell(html: ReplayReport.outcomeName(outcome.action, outcome.reason, outcome.scope)),
        Table.Cell(outcome.a), Table.Cell(outcome.b),
        Table.Cell(Self.difference(outcome.a, outcome.b)),
        Table.Cell(ReasonWords.sentence(action: outcome.action, reason: outcome.reason)),
      ]
    }
    let table = Table(
      columns: [
        ("Outcome", .text), ("A", .number), ("B", .number), ("B \u{2212} A", .number),
        ("What it means", .prose),
      ], rows: rows, becomesCards: true)
    let figure = ChartFigure(
      title: "Shares of all decisions", draw: chart.draw,
      legend: bars.map { (name: $0.name, color: $0.color) })
    return Section(
      name: "outcomes", heading: "What came of the decisions", note: "",
      body: Section.pair(figure.html, weekdays.html)
        + "<div class=\"panel-box\">\(table.html)</div>\n")
  }

  /// On which weekdays the pushes of each world fall.
  private var weekdays: ChartFigure {
    let bars = [("A", \ComparedWeekHour.a, "messages"), ("B", \ComparedWeekHour.b, "pushes")].map {
      name, column, color in
      let days = (0..<7).map { day in
        result.week[day * 24..<day * 24 + 24].reduce(0) { $0 + $1[keyPath: column] }
      }
      let total = days.reduce(0, +)
      return GroupedBars.Series(
        name: name, shares: days.map { Double($0) / Double(max(1, total)) },
        titles: days.map {
          "\(name): \(Figures.exact($0)), \(Figures.share($0, of: total)) of its pushes"
        }, color: color)
    }
    let chart = GroupedBars(
      rows: ReplayReport.weekdays.map { String($0.prefix(3)) }, series: bars,
      label: "Shares of the pushes by weekday, in A and in B.")
    return ChartFigure(
      title: "Shares of the pushes by weekday", draw: chart.draw,
      legend: bars.map { (name: $0.name, color: $0.color) })
  }

  var changes: Section? {
    guard !result.changes.isEmpty else { return nil }
    let shown = result.changes.prefix(Self.rowLimit)
    let most = shown.map(\.count).max() ?? 1
    let rows = shown.map { change in
      [
        Table.Cell(change.from ?? "no recipient"), Table.Cell(change.to ?? "no recipient"),
        Table.Cell(change.count),
        Table.Cell(
          html: Escaping.text(Figures.share(change.count, of: result.changed))
            + ReplayReport.bar(change.count, of: most)),
      ]
    }
    let table = Table(
      columns: [
        ("In A", .text), ("In B", .text), ("Decisions", .number), ("Share", .number),
      ], rows: rows, becomesCards: true)
    let more = result.changes.count - shown.count
    return Section(
      name: "changes", heading: "Changed outcomes",
      note: more > 0 ? "The most frequent changes; there are \(Figures.exact(more)) more." : "",
      body: "<div class=\"panel-box\">\(table.html)</div>\n")
  }

  var rooms: Section? {
    let moved = result.conversationTable.filter { $0.gained + $0.lost > 0 }
    guard !moved.isEmpty else { return nil }
    let shown = moved.prefix(Self.rowLimit)
    let most = shown.map { $0.gained + $0.lost }.max() ?? 1
    let rows = shown.map { room in
      [
        Table.Cell(html: "<bdi>\(Escaping.identifier(room.id))</bdi>"), Table.Cell(room.messages),
        Table.Cell(room.a), Table.Cell(room.b),
        Table.Cell(
          html: Escaping.text(Self.difference(room.a, room.b))
            + ReplayReport.bar(room.gained + room.lost, of: most)),
      ]
    }
    let table = Table(
      columns: [
        ("Room", .text), ("Messages", .number), ("Pushes in A", .number), ("Pushes in B", .number),
        ("B \u{2212} A", .number),
      ], rows: rows, becomesCards: true)
    return Section(
      name: "rooms", heading: "The rooms where most pushes move",
      note: "\(Figures.exact(moved.count)) of \(Figures.exact(result.conversations)) rooms have "
        + "pushes that are gained or lost.",
      body: "<div class=\"panel-box\">\(table.html)</div>\n")
  }

  var users: Section? {
    let boxes = [("Gain most", result.users.gainers), ("Lose most", result.users.losers)]
      .filter { !$0.1.isEmpty }.map { caption, users in
        let rows = users.prefix(Self.rowLimit).map { user in
          [
            Table.Cell(html: "<bdi>\(Escaping.identifier(user.id))</bdi>"), Table.Cell(user.gained),
            Table.Cell(user.lost), Table.Cell(Self.difference(user.lost, user.gained)),
          ]
        }
        let table = Table(
          columns: [
            ("User", .text), ("Gained", .number), ("Lost", .number), ("Net", .number),
          ], rows: rows, caption: caption)
        return "<div class=\"panel-box\">\(table.html)</div>\n"
      }
    guard !boxes.isEmpty else { return nil }
    return Section(
      name: "users", heading: "Who is affected most",
      note: "\(Figures.count(result.users.more, "user gets", "users get")) more pushes in B, "
        + "\(Figures.exact(result.users.fewer)) fewer.",
      body: boxes.joined())
  }
}

extension OutcomeFamily {
  /// As short as the axis of a bar chart wants it.
  fileprivate var shortName: String {
    switch self {
    case .local: "local"
    case .noDevice: "no device"
    case .other: "other"
    default: name
    }
  }
}
