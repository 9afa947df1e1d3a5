internal import PushModel
internal import PushReplay

/// Tables of outcomes and rooms.
extension CompareReport {
  /// The most rows shown of a long table.
  private static let rowLimit = 20

  var reasons: Section {
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
    return Section(
      name: "outcomes", heading: "All outcomes",
      note: "Below the words: action, reason and scope, as other commands write them.",
      charts: [], tables: [table])
  }

  var changes: Section? {
    guard !result.changes.isEmpty else { return nil }
    let shown = result.changes.prefix(Self.rowLimit)
    let rows = result.changes.map { change in
      [
        ReplayReport.outcome(key: change.from), ReplayReport.outcome(key: change.to),
        Table.Cell(change.count),
        Table.Cell(change.count, of: result.changed).bar(
          change.count, of: result.changed, color: "b"),
      ]
    }
    let table = Table(
      columns: [
        ("In A", .text), ("In B", .prose), ("Decisions", .number), ("Share", .number),
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
    let changed = result.gained + result.lost
    let rows = moved.map { room in
      [
        Table.Cell(room: room.id, name: room.name), Table.Cell(room.messages), Table.Cell(room.a),
        Table.Cell(room.b),
        Table.Cell(from: room.a, to: room.b).bar(room.gained + room.lost, of: changed, color: "b"),
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
      name: "rooms", heading: "Rooms that change most",
      note: "\(Figures.exact(moved.count)) of \(Figures.exact(result.conversations)) rooms have "
        + "pushes that are gained or lost. The bars are shares of all of these.", charts: [],
      tables: [table])
  }
}
