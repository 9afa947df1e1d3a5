internal import PushModel
internal import PushReplay

/// Three pictures that come first: why, or why not; who; rooms of which size.
extension CompareReport {
  var pictures: Section {
    Section(
      name: "pictures", heading: "At a glance", note: "",
      charts: [[why], [who, bySize].compactMap { $0 }])
  }

  // MARK: Why, or why not

  private var families: [OutcomeFamily] {
    OutcomeFamily.allCases.filter { family in count(family, \.a) + count(family, \.b) > 0 }
  }

  private func count(_ family: OutcomeFamily, _ side: KeyPath<ComparedOutcome, Int>) -> Int {
    result.outcomes.filter { OutcomeFamily(action: $0.action, reason: $0.reason) == family }
      .reduce(0) { $0 + $1[keyPath: side] }
  }

  private var why: ChartFigure {
    func bar(_ letter: String, _ side: ComparedSide, _ column: KeyPath<ComparedOutcome, Int>)
      -> ShareBars.Bar
    {
      ShareBars.Bar(
        title: "\(name(letter)): \(Figures.exact(side.pushes)) pushes",
        shortTitle: "\(letter): \(Figures.exact(side.pushes)) pushes",
        parts: families.map {
          ShareBars.Part(name: $0.name, count: count($0, column), color: $0.color)
        })
    }
    var a = bar("A", result.a, \.a)
    let b = bar("B", result.b, \.b)
    let difference = result.b.pushes - result.a.pushes
    a.below =
      "B \u{2212} A: \(Figures.signed(difference)) pushes "
      + "(\(Self.change(result.a.pushes, result.b.pushes)))"
    let chart = ShareBars(
      bars: [a, b],
      label: "Decisions by kind of outcome. A: \(ShareBars.words(a)). B: \(ShareBars.words(b)).")
    return ChartFigure(
      title: "Why, or why not: decisions in A and in B", draw: chart.draw,
      legend: families.map { family in
        let shares = [
          Figures.share(count(family, \.a), of: result.a.decisions),
          Figures.share(count(family, \.b), of: result.b.decisions),
        ]
        return (
          name: "\(family.name) "
            + (shares[0] == shares[1] ? shares[0] : shares.joined(separator: " \u{2192} ")),
          color: family.color
        )
      },
      table: Table(
        columns: [
          ("Kind", .text), ("A", .number), ("Share of A", .number), ("B", .number),
          ("Share of B", .number), ("B \u{2212} A", .number),
        ],
        rows: families.map { family in
          let (a, b) = (count(family, \.a), count(family, \.b))
          return [
            Table.Cell(family.name), Table.Cell(a), Table.Cell(a, of: result.a.decisions),
            Table.Cell(b), Table.Cell(b, of: result.b.decisions), Table.Cell(from: a, to: b),
          ]
        }, caption: "Decisions by kind of outcome", file: "kinds"))
  }

  // MARK: Who

  private var who: ChartFigure? {
    guard let people = result.people, people.people > 0 else { return nil }
    let users = result.users
    let (withA, withB) = (
      people.people - people.never - people.firstTime,
      people.people - people.never - people.noneAnyMore
    )
    func bar(_ letter: String, _ count: Int, _ parts: [(String, Int, String)]) -> ShareBars.Bar {
      ShareBars.Bar(
        title: "\(letter): \(Figures.count(count, "person gets", "people get")) pushes",
        shortTitle: "\(letter): \(Figures.count(count, "person", "people"))",
        parts: parts.filter { $0.1 > 0 }.map {
          ShareBars.Part(name: $0.0, count: $0.1, color: $0.2)
        })
    }
    let bars = [
      bar("A", withA, [("get pushes in A", withA, "messages")]),
      bar(
        "B", withB,
        [
          ("none any more", people.noneAnyMore, "b"),
          ("fewer", users.fewer - people.noneAnyMore, "b-part"),
          ("as many", people.people - people.never - users.fewer - users.more, "a"),
          ("more", users.more - people.firstTime, "more-part"),
          ("first ones", people.firstTime, "more"),
        ]),
    ]
    let chart = ShareBars(
      bars: bars,
      label: "People with pushes. A: \(ShareBars.words(bars[0])). B: \(ShareBars.words(bars[1])).",
      isFull: false)
    return ChartFigure(
      title: "Who: \(Figures.count(people.people, "person", "people")), by what they get in B",
      draw: chart.draw,
      legend: bars.flatMap(\.parts).map {
        (name: "\($0.name) \(Figures.exact($0.count))", color: $0.color)
      },
      words: Self.peopleInWords(people), table: totals(people))
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
        [Table.Cell(name), Table.Cell(count), Table.Cell(count, of: people.people)]
      }, caption: "People over the whole time", file: "people-totals")
  }

  // MARK: Rooms of which size

  private var bySize: ChartFigure? {
    let classes = result.sizeClasses.filter { $0.decisions > 0 }
    let changed = result.gained + result.lost
    if classes.isEmpty || changed == 0 { return nil }
    let most = classes.indices.max { classes[$0].changed < classes[$1].changed } ?? 0
    let rows = classes.map { size in
      (
        name: Self.name(size), difference: size.b - size.a,
        title: "\(Figures.exact(size.a)) pushes in A, \(Figures.exact(size.b)) in B"
      )
    }
    let chart = DifferenceBars(
      rows: rows,
      label: "Pushes in B less those in A, by members of the room. "
        + rows.map { "\($0.name): \(Figures.signed($0.difference))" }.joined(separator: "; ") + ".")
    return ChartFigure(
      title: "Which rooms: B \u{2212} A, by members of the room", draw: chart.draw,
      words:
        "\(Figures.share(classes[most].changed, of: changed)) of the pushes that change are in "
        + "\(Figures.count(classes[most].rooms, "room")) of \(rows[most].name) members.",
      table: Table(
        columns: [
          ("Members", .text), ("Rooms", .number), ("A", .number), ("B", .number),
          ("B \u{2212} A", .number),
        ],
        rows: classes.map { size in
          [
            Table.Cell(Self.name(size)), Table.Cell(size.rooms), Table.Cell(size.a),
            Table.Cell(size.b), Table.Cell(from: size.a, to: size.b),
          ]
        }, caption: "Pushes by the members of the room", file: "room-sizes",
        marked: most))
  }

  /// `101–500`
  private static func name(_ size: ComparedSizeClass) -> String {
    size.from == 0
      ? "up to \(size.to)" : "\(Figures.exact(size.from))\u{2013}\(Figures.exact(size.to))"
  }
}
