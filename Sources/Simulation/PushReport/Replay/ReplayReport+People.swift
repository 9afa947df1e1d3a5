internal import PushModel
internal import PushReplay

/// How many pushes people get a day, and who is never reached.
extension ReplayReport {
  var people: Section? {
    guard let people = result.people, people.personDays > 0 else { return nil }
    let series = [PeopleFigures.series("", people.pushes, of: people.personDays, color: "pushes")]
    let chart = GroupedBars(
      rows: PeopleFigures.names, series: series,
      label: PeopleFigures.words("Person-days by pushes", people.pushes))
    let figure = ChartFigure(
      title: "Person-days by the pushes of the day", draw: chart.draw,
      table: PeopleFigures.table([("", people.pushes)], of: people.personDays))
    guard people.neverReached > 0 else {
      return Section(
        name: "people", heading: "People", note: peopleInWords(people), charts: [[figure]])
    }
    let never = never(people)
    return Section(
      name: "people", heading: "People", note: peopleInWords(people),
      body: Section.pair(figure.html, never.boxed), tables: figure.tables + [never])
  }

  private func peopleInWords(_ people: PeopleResult) -> String {
    "A person gets <strong>\(Figures.exact(people.pushes.median))</strong> pushes on the median day, "
      + "at most \(Figures.exact(people.pushes.p90)) on nine days in ten and "
      + "\(Figures.exact(people.pushes.p99)) on 99 in a hundred; the most are "
      + "\(Figures.exact(people.pushes.most)). Days are those of "
      + "\(Escaping.text(result.timeZone)) on which a message had the person as a recipient: "
      + "\(Figures.exact(people.personDays)) person-days of "
      + "\(Figures.count(people.people, "person", "people")); "
      + "<strong>\(Figures.exact(people.neverReached))</strong> of these people never get a push."
  }

  private func never(_ people: PeopleResult) -> Table {
    let most = people.neverReasons.map(\.people).max() ?? 1
    return Table(
      columns: [
        ("Mostly because", .text), ("Reason", .text), ("People", .number), ("Share", .number),
      ],
      rows: people.neverReasons.map { reason in
        [
          Table.Cell(OutcomeFamily(action: "none", reason: reason.reason).name),
          Table.Cell(reason.reason), Table.Cell(reason.people),
          Table.Cell(reason.people, of: people.neverReached).bar(reason.people, of: most),
        ]
      }, caption: "Why people never get a push: the reason of most of their decisions",
      file: "never-reached")
  }
}
