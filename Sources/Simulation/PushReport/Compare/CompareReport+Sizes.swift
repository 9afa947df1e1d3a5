internal import PushReplay

/// How much the size of rooms matters to a comparison.
extension CompareReport {
  var sizes: Section? {
    let classes = result.sizeClasses.filter { $0.decisions > 0 }
    if classes.isEmpty { return nil }
    let rates = [("A", \ComparedSizeClass.a, "messages"), ("B", \ComparedSizeClass.b, "pushes")]
      .map { name, column, color in
        GroupedBars.Series(
          name: name,
          shares: classes.map { Double($0[keyPath: column]) / Double(max(1, $0.decisions)) },
          titles: classes.map {
            "\(name): \(Figures.exact($0[keyPath: column])) pushes, "
              + "\(Figures.share($0[keyPath: column], of: $0.decisions)) of the decisions"
          }, color: color)
      }
    let changed = result.gained + result.lost
    let moved = [
      GroupedBars.Series(
        name: "Pushes gained and lost",
        shares: classes.map { Double($0.changed) / Double(max(1, changed)) },
        titles: classes.map {
          "\(Figures.exact($0.gained)) gained, \(Figures.exact($0.lost)) lost"
        }, color: "waiting")
    ]
    let names = classes.map(Self.name)
    let table = table(classes)
    return Section(
      name: "sizes", heading: "Small rooms and large ones", note: sizesInWords(classes),
      body: Section.pair(
        figure("Push rate by members of the room", names, rates),
        figure("Share of all pushes that change, by members of the room", names, moved))
        + table.boxed, tables: [table])
  }

  private func figure(
    _ title: String, _ names: [String], _ series: [GroupedBars.Series]
  ) -> String {
    let words = names.indices.map { row in
      names[row] + ": "
        + series.map { "\($0.name) \(Figures.percent($0.shares[row]))" }.joined(separator: ", ")
    }
    let chart = GroupedBars(
      rows: names, series: series, label: "\(title). \(words.joined(separator: "; ")).")
    return ChartFigure(
      title: title, draw: chart.draw, legend: series.map { (name: $0.name, color: $0.color) }
    ).html
  }

  /// The class that matters most first.
  private func table(_ classes: [ComparedSizeClass]) -> Table {
    let changed = result.gained + result.lost
    let most = classes.map(\.changed).max() ?? 1
    let order = classes.sorted { ($0.changed, $1.to) > ($1.changed, $0.to) }
    return Table(
      columns: [
        ("Members", .text), ("Rooms", .number), ("Messages", .number), ("Pushes in A", .number),
        ("Pushes in B", .number), ("B \u{2212} A", .number), ("Share of the change", .number),
      ],
      rows: order.map { size in
        [
          Table.Cell(Self.name(size)), Table.Cell(size.rooms), Table.Cell(size.messages),
          Table.Cell(size.a), Table.Cell(size.b),
          Table.Cell(from: size.a, to: size.b),
          Table.Cell(size.changed, of: changed).bar(size.changed, of: most),
        ]
      }, becomesCards: true, caption: "Rooms by their members, most changed pushes first",
      file: "room-sizes")
  }

  /// The class that matters most.
  private func sizesInWords(_ classes: [ComparedSizeClass]) -> String {
    let changed = result.gained + result.lost
    guard let most = classes.max(by: { $0.changed < $1.changed }), changed > 0 else {
      return "No push changes in any room."
    }
    return "<strong>\(Figures.share(most.changed, of: changed))</strong> of all pushes that change "
      + "do so in the \(Figures.count(most.rooms, "room")) of <strong>\(Self.name(most)) members"
      + "</strong>: \(Figures.exact(most.a)) pushes in A, \(Figures.exact(most.b)) in B."
  }

  /// `101–500`
  private static func name(_ size: ComparedSizeClass) -> String {
    size.from == 0
      ? "up to \(size.to)" : "\(Figures.exact(size.from))\u{2013}\(Figures.exact(size.to))"
  }
}
