internal import PushReplay

/// What a comparison is for people.
extension CompareReport {
  var people: Section? {
    guard let people = result.people, people.personDays > 0 else { return nil }
    let names = PeopleFigures.names
    let series = [("A", people.a, "messages"), ("B", people.b, "pushes")].map { name, side, color in
      PeopleFigures.series(name, side, of: people.personDays, color: color)
    }
    let chart = GroupedBars(
      rows: names, series: series,
      label: "Person-days by pushes, in A and in B. "
        + PeopleFigures.words("A", people.a) + " " + PeopleFigures.words("B", people.b))
    let figure = ChartFigure(
      title: "Person-days by the pushes of the day", draw: chart.draw,
      legend: series.map { (name: $0.name, color: $0.color) },
      table: PeopleFigures.table(
        [("A", people.a), ("B", people.b)], of: people.personDays))
    let (totals, flow) = (totals(people), flow(people))
    return Section(
      name: "people", heading: "People", note: peopleInWords(people),
      body: Section.pair(figure.html, totals.boxed) + flow.boxed,
      tables: figure.tables + [totals, flow])
  }

  private func peopleInWords(_ people: ComparedPeople) -> String {
    "Of \(Figures.count(people.people, "person", "people")) who were a recipient, "
      + "<strong>\(Figures.exact(result.users.fewer))</strong> get fewer pushes in B, "
      + "<strong>\(Figures.exact(result.users.more))</strong> more; "
      + "<strong>\(Figures.exact(people.noneAnyMore))</strong> get none any more. A person-day is "
      + "a person and a day of \(Escaping.text(result.timeZone)) on which a message had that person "
      + "as a recipient; there are \(Figures.exact(people.personDays))."
  }

  private func totals(_ people: ComparedPeople) -> Table {
    let rows: [(String, Int)] = [
      ("Get fewer pushes in B", result.users.fewer), ("Get more pushes in B", result.users.more),
      ("As many, but for other messages", result.users.asMany),
      ("Get pushes in A and none in B", people.noneAnyMore),
      ("Get none in A and some in B", people.firstTime), ("Get none in either", people.never),
      ("All who were a recipient", people.people),
    ]
    return Table(
      columns: [("People", .text), ("How many", .number), ("Share", .number)],
      rows: rows.map { name, count in
        [
          Table.Cell(name), Table.Cell(count), Table.Cell(count, of: people.people),
        ]
      }, caption: "People over the whole time", file: "people-totals")
  }

  /// Where person-days go.
  private func flow(_ people: ComparedPeople) -> Table {
    let names = PeopleFigures.names
    let used = names.indices.filter { index in
      people.flow[index].contains { $0 > 0 } || people.flow.contains { $0[index] > 0 }
    }
    return Table(
      columns: [("In A", .text)] + used.map { ("\(names[$0]) in B", .number) } + [("All", .number)],
      rows: used.map { row in
        [Table.Cell("\(names[row]) in A")]
          + used.map { column in
            let count = people.flow[row][column]
            return row == column && count > 0
              ? Table.Cell(html: "<strong>\(Figures.exact(count))</strong>", value: "\(count)")
              : Table.Cell(count)
          } + [Table.Cell(people.flow[row].reduce(0, +))]
      }, scrolls: true,
      caption: "Person-days by pushes of the day: rows are classes in A, columns those in B; what "
        + "stays in its class is bold", file: "people-flow")
  }
}
