internal import PushReplay

/// Words and tables about how many pushes people get a day.
enum PeopleFigures {
  /// `0`, `1–2`, and so on: the classes of a distribution.
  static let names: [String] = DailyPushes.classes.indices.map { index in
    let from = DailyPushes.classes[index]
    guard index + 1 < DailyPushes.classes.count else { return "over \(Figures.exact(from - 1))" }
    let to = DailyPushes.classes[index + 1] - 1
    return from == to ? Figures.exact(from) : "\(Figures.exact(from))\u{2013}\(Figures.exact(to))"
  }

  /// How many classes have a person-day, without the empty ones at the end.
  static func used(_ sides: [DailyPushes]) -> Int {
    (sides.compactMap { $0.classes.lastIndex { $0 > 0 } }.max() ?? -1) + 1
  }

  static func series(
    _ name: String, _ pushes: DailyPushes, of personDays: Int, color: String, used: Int
  ) -> GroupedBars.Series {
    let classes = pushes.classes.prefix(used)
    return GroupedBars.Series(
      name: name, shares: classes.map { Double($0) / Double(max(1, personDays)) },
      titles: classes.map {
        "\(name): \(Figures.exact($0)) person-days, \(Figures.share($0, of: personDays))"
      }, color: color)
  }

  /// `A: at most 3 pushes on half of the person-days, …`
  static func words(_ name: String, _ pushes: DailyPushes) -> String {
    "\(name): median \(Figures.exact(pushes.median)), 90 % at most \(Figures.exact(pushes.p90)), "
      + "99 % at most \(Figures.exact(pushes.p99)), the most \(Figures.exact(pushes.most))."
  }

  /// Person-days by class, and the quantiles.
  static func table(_ sides: [(name: String, pushes: DailyPushes)], of personDays: Int) -> Table {
    var rows = names.indices.prefix(used(sides.map(\.pushes))).map { index in
      [Table.Cell(names[index])]
        + sides.flatMap { side in
          let count = side.pushes.classes[index]
          return [Table.Cell(count), Table.Cell(count, of: personDays)]
        }
    }
    for (name, value) in [
      ("median", \DailyPushes.median), ("90th percentile", \DailyPushes.p90),
      ("99th percentile", \DailyPushes.p99), ("the most", \DailyPushes.most),
    ] {
      rows.append(
        [Table.Cell(name)]
          + sides.flatMap { [Table.Cell($0.pushes[keyPath: value]), Table.Cell("")] })
    }
    return Table(
      columns: [("Pushes a day", .text)]
        + sides.flatMap { side in
          let name = side.name.isEmpty ? "Person-days" : "Person-days in \(side.name)"
          return [(name, Table.Kind.number), ("Share", Table.Kind.number)]
        }, rows: rows, caption: "Person-days by the pushes of the day", file: "people")
  }
}
