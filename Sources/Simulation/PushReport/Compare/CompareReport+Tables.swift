internal import PushModel
internal import PushReplay

/// Tables of changed outcomes, rooms and users.
extension CompareReport {
  /// The most rows shown of a long table.
  private static let rowLimit = 20

  var reasons: Section {
    let series = [("A", \ComparedOutcome.a, "messages"), ("B", \ComparedOutcome.b, "pushes")]
    let families = OutcomeFamily.allCases.filter { family in
      result.outcomes.contains { OutcomeFamily(action: $0.action, reason: $0.reason) == family }
    }
    let bars = series.map { name, column, color in
      let counts = families.map { count($0, column) }
      let total = name == "A" ? result.a.decisions : result.b.decisions
      return GroupedBars.Series(
        name: name, shares: counts.map { Double($0) / Double(max(1, total)) },
        titles: counts.map {
          "\(name): \(Figures.exact($0)), \(Figures.share($0, of: total)) of all decisions"
        }, color: color)
    }
    let chart = GroupedBars(
      rows: families.map(\.shortName), series: bars,
      label: "Shares of decisions by what came of them, in A and in B.", isFull: true)
    let table = Table(
      columns: [
        ("Outcome", .text), ("A", .number), ("B", .number), ("B \u{2212} A", .number),
      ],
      rows: result.outcomes.sorted { max($0.a, $0.b) > max($1.a, $1.b) }.map { outcome in
        [
          ReplayReport.outcome(outcome.action, outcome.reason, outcome.scope),
          Table.Cell(outcome.a), Table.Cell(outcome.b), Table.Cell(from: outcome.a, to: outcome.b),
        ]
      }, becomesCards: true, caption: "Decisions by outcome", file: "outcomes")
    let kinds = Table(
      columns: [
        ("Kind", .text), ("A", .number), ("Share of A", .number), ("B", .number),
        ("Share of B", .number),
      ],
      rows: families.map { family in
        let (a, b) = (count(family, \.a), count(family, \.b))
        return [
          Table.Cell(family.name), Table.Cell(a), Table.Cell(a, of: result.a.decisions),
          Table.Cell(b), Table.Cell(b, of: result.b.decisions),
        ]
      }, file: "kinds")
    let figure = ChartFigure(
      title: "Shares of all decisions by kind of outcome", draw: chart.draw, legend: Self.legend,
      table: kinds)
    return Section(
      name: "outcomes", heading: "What came of the decisions",
      note: "Below the words: action, reason and scope, as other commands write them.",
      charts: [[figure]], tables: [table])
  }

  private func count(_ family: OutcomeFamily, _ side: KeyPath<ComparedOutcome, Int>) -> Int {
    result.outcomes.filter { OutcomeFamily(action: $0.action, reason: $0.reason) == family }
      .reduce(0) { $0 + $1[keyPath: side] }
  }

  var changes: Section? {
    guard !result.changes.isEmpty else { return nil }
    let shown = result.changes.prefix(Self.rowLimit)
    let most = shown.map(\.count).max() ?? 1
    let rows = result.changes.map { change in
      [
        ReplayReport.outcome(key: change.from), ReplayReport.outcome(key: change.to),
        Table.Cell(change.count),
        Table.Cell(change.count, of: result.changed).bar(change.count, of: most),
      ]
    }
    let table = Table(
      columns: [
        ("In A", .text), ("In B", .text), ("Decisions", .number), ("Share", .number),
      ], rows: Array(rows.prefix(Self.rowLimit)), becomesCards: true, caption: "Changed decisions",
      file: "changes", more: Array(rows.dropFirst(Self.rowLimit)))
    let more = result.changes.count - shown.count
    return Section(
      name: "changes", heading: "Changed outcomes",
      note: more > 0 ? "The most frequent changes; there are \(Figures.exact(more)) more." : "",
      charts: [], tables: [table])
  }

  var rooms: Section? {
    let moved = result.conversationTable.filter { $0.gained + $0.lost > 0 }
    guard !moved.isEmpty else { return nil }
    let shown = moved.prefix(Self.rowLimit)
    let most = shown.map { $0.gained + $0.lost }.max() ?? 1
    let rows = moved.map { room in
      [
        Table.Cell(room: room.id, name: room.name), Table.Cell(room.messages), Table.Cell(room.a),
        Table.Cell(room.b),
        Table.Cell(from: room.a, to: room.b).bar(room.gained + room.lost, of: most),
      ]
    }
    let table = Table(
      columns: [
        ("Room", .text), ("Messages", .number), ("Pushes in A", .number), ("Pushes in B", .number),
        ("B \u{2212} A", .number),
      ], rows: Array(rows.prefix(Self.rowLimit)), becomesCards: true,
      caption: "Rooms by pushes gained and lost", file: "rooms",
      more: Array(rows.dropFirst(Self.rowLimit)))
    return Section(
      name: "rooms", heading: "The rooms where most pushes move",
      note: "\(Figures.exact(moved.count)) of \(Figures.exact(result.conversations)) rooms have "
        + "pushes that are gained or lost.", charts: [], tables: [table])
  }

  var users: Section? {
    let tables = [
      ("Gain most", "gainers", result.users.gainers), ("Lose most", "losers", result.users.losers),
    ].filter { !$0.2.isEmpty }.map { caption, file, users in
      let rows = users.map { user in
        [
          Table.Cell(id: user.id), Table.Cell(user.gained), Table.Cell(user.lost),
          Table.Cell(from: user.lost, to: user.gained),
        ]
      }
      return Table(
        columns: [
          ("User", .text), ("Gained", .number), ("Lost", .number), ("Net", .number),
        ], rows: Array(rows.prefix(Self.rowLimit)), caption: caption, file: file,
        more: Array(rows.dropFirst(Self.rowLimit)))
    }
    guard !tables.isEmpty else { return nil }
    return Section(
      name: "users", heading: "Who is affected most",
      note: "\(Figures.count(result.users.more, "user gets", "users get")) more pushes in B, "
        + "\(Figures.exact(result.users.fewer)) fewer.", charts: [], tables: tables)
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
