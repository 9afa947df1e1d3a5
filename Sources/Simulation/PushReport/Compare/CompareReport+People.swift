internal import PushReplay

/// What a comparison is for people, day by day, and for whom most.
extension CompareReport {
  var people: Section? {
    guard let people = result.people, people.personDays > 0 else { return nil }
    let used = PeopleFigures.used([people.a, people.b])
    let names = Array(PeopleFigures.names.prefix(used))
    let series = zip(legend, [people.a, people.b]).map { entry, side in
      PeopleFigures.series(
        entry.name, side, of: people.personDays, color: entry.color, used: used)
    }
    let chart = GroupedBars(
      rows: names, series: series,
      label: "Person-days by pushes, in A and in B. "
        + PeopleFigures.words("A", people.a) + " " + PeopleFigures.words("B", people.b),
      isFull: true)
    let figure = ChartFigure(
      title: "Person-days by the pushes of the day", draw: chart.draw, legend: legend,
      table: PeopleFigures.table([("A", people.a), ("B", people.b)], of: people.personDays))
    return Section(
      name: "people", heading: "Pushes a person and day",
      note: "A person-day is a person and a day of \(Escaping.text(result.timeZone)) on which a "
        + "message had that person as a recipient; there are \(Figures.exact(people.personDays)).",
      charts: [[figure]], tables: [flow(people)])
  }

  /// Where person-days go, the darker the more.
  private func flow(_ people: ComparedPeople) -> Table {
    let names = PeopleFigures.names
    let used = names.indices.filter { index in
      people.flow[index].contains { $0 > 0 } || people.flow.contains { $0[index] > 0 }
    }
    let sorted = people.flow.joined().filter { $0 > 0 }.sorted()
    let shade = { (count: Int) in
      1 + (sorted.firstIndex { $0 >= count } ?? 0) * 4 / max(1, sorted.count)
    }
    return Table(
      columns: [("In A", .text)] + used.map { ("\(names[$0]) in B", .number) } + [("All", .number)],
      rows: used.map { row in
        [Table.Cell("\(names[row]) in A")]
          + used.map { column in
            let count = people.flow[row][column]
            guard count > 0 else { return Table.Cell(html: "", value: "0") }
            var cell =
              row == column
              ? Table.Cell(html: "<strong>\(Figures.short(count))</strong>", value: "\(count)")
              : Table.Cell(html: Figures.short(count), value: "\(count)")
            cell.shade = shade(count)
            return cell
          } + [
            Table.Cell(
              html: Figures.short(people.a.classes[row]), value: "\(people.a.classes[row])")
          ]
      }, scrolls: true, caption: "Person-days from class to class; bold: the same class in B",
      file: "people-flow")
  }

  // MARK: Who gains and loses most

  /// The most rows of each table.
  private static let rowLimit = 10

  var users: Section? {
    let sides = [
      ("lose", "loses", result.users.losses, result.users.losers, -1),
      ("gain", "gains", result.users.gains, result.users.gainers, 1),
    ].filter { !$0.2.isEmpty }
    guard !sides.isEmpty else { return nil }
    let notes = sides.map { many, one, steps, _, _ in
      let most = steps[0]
      return most.users == 1
        ? "One person \(one) most, <strong>\(Figures.exact(most.pushes))</strong> pushes"
          + room(of: most) + "."
        : "<strong>\(Figures.exact(most.users))</strong> people \(many) most, "
          + "<strong>\(Figures.exact(most.pushes))</strong> pushes each\(room(of: most))."
    }
    let steps = sides.map { many, _, steps, _, sign in
      stepTable("People who \(many) most", many == "lose" ? "losses" : "gains", steps, sign)
    }
    let lists = sides.map { many, _, _, users, _ in
      Table(
        columns: [("User", .text), ("Gained", .number), ("Lost", .number), ("Net", .number)],
        rows: users.map { user in
          [
            Table.Cell(id: user.id), Table.Cell(user.gained), Table.Cell(user.lost),
            Table.Cell(from: user.lost, to: user.gained),
          ]
        }, file: many == "lose" ? "losers" : "gainers")
    }
    let shown = steps + [mentionTable].compactMap { $0 }
    return Section(
      name: "users", heading: "Who is affected most", note: notes.joined(separator: " "),
      body: shown.map(\.boxed).joined(), tables: shown + lists)
  }

  /// Who loses mentions by name, and where; nil without any.
  private var mentionTable: Table? {
    guard let losers = result.users.mentionLosers, !losers.isEmpty else { return nil }
    let names = roomNames
    let rows = losers.map { loser in
      [
        Table.Cell(id: loser.id),
        Table.Cell(room: loser.conversation, name: names[loser.conversation]),
        Table.Cell(loser.mentions),
        Table.Cell(loser.mentions, of: result.mentionsLost),
      ]
    }
    return Table(
      columns: [("User", .text), ("Room", .text), ("Mentions lost", .number), ("Share", .number)],
      rows: Array(rows.prefix(Self.rowLimit)), becomesCards: true,
      caption: "People who lose most mentions by name, and where", file: "mention-losers",
      more: Array(rows.dropFirst(Self.rowLimit)))
  }

  /// The room that has as many messages, if there is one alone.
  private func room(of step: ComparedUsersStep) -> String {
    let rooms = result.conversationTable.filter {
      $0.messages == step.pushes && $0.gained + $0.lost >= step.pushes * step.users
    }
    guard rooms.count == 1, let room = rooms.first else { return "" }
    return ": as many as <bdi>\(Escaping.identifier(room.name ?? room.id))</bdi> has messages"
  }

  private func stepTable(
    _ caption: String, _ file: String, _ steps: [ComparedUsersStep], _ sign: Int
  ) -> Table {
    let rows = steps.map { step in
      let more = step.users - step.examples.count
      let names = step.examples.map { "<bdi>\(Escaping.identifier($0))</bdi>" }
      return [
        Table.Cell(step.pushes * sign), Table.Cell(step.users),
        Table.Cell(
          html: (names + (more > 0 ? ["\(Figures.exact(more)) more"] : [])).joined(separator: ", "),
          value: step.examples.joined(separator: " ")),
      ]
    }
    return Table(
      columns: [("Pushes each", .text), ("People", .number), ("Who", .prose)],
      rows: Array(rows.prefix(Self.rowLimit)), becomesCards: true, caption: caption, file: file,
      more: Array(rows.dropFirst(Self.rowLimit)))
  }
}
