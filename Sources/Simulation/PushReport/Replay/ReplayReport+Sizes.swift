internal import PushModel
internal import PushReplay

/// How the size of rooms matters, and which rooms matter most.
extension ReplayReport {
  /// A chart has no more points than this.
  private static let pointLimit = 1000
  private static let roomLimit = 20

  /// Those whose messages had recipients.
  private var rooms: [ConversationTotal] {
    result.conversationTable.filter { $0.decisions > 0 }
      .sorted { ($0.decisions, $1.id) > ($1.decisions, $0.id) }
  }

  var sizes: Section {
    Section(
      name: "sizes", heading: "Small rooms and large ones", note: sizesInWords,
      charts: [[rateBySize, shareBySize]])
  }

  /// What the largest class of messages comes to.
  private var sizesInWords: String {
    guard let largest = result.sizes.last(where: { $0.messages > 0 }) else { return "" }
    return "Messages with \(Self.className(largest.from, unit: "recipients")) are "
      + "<strong>\(Figures.share(largest.messages, of: result.messages))</strong> of all messages, "
      + "<strong>\(Figures.share(largest.decisions, of: result.decisions))</strong> of the "
      + "decisions and "
      + "<strong>\(Figures.share(largest.pushes, of: result.pushes))</strong> of the pushes."
  }

  /// `10–99`
  static func className(_ from: Int, unit: String? = nil) -> String {
    let behind = unit.map { " \($0)" } ?? ""
    if from == 0 { return unit == nil ? "none" : "no\(behind)" }
    if from >= 1_000_000 { return "\(Figures.tick(Double(from))) or more\(behind)" }
    // From ten thousand on digit for digit it would be too long for an axis.
    let last = from < 10_000 ? Figures.exact(from * 10 - 1) : Figures.tick(Double(from * 10))
    return "\(Figures.tick(Double(from)))\u{2013}\(last)\(behind)"
  }

  // MARK: Push rate against size

  private var rateBySize: ChartFigure {
    let rooms = rooms
    let points = rooms.prefix(Self.pointLimit).map { room in
      Scatter.Point(
        x: Double(max(1, room.members)), y: Double(room.pushes) / Double(room.decisions),
        weight: Double(room.decisions),
        title: [
          String(room.id.prefix(60)),
          "\(Figures.count(room.members, "member")), "
            + "\(Figures.share(room.pushes, of: room.decisions)) of "
            + Figures.count(room.decisions, "decision"),
        ])
    }
    let classes = byMembers(rooms)
    let levels = classes.filter { $0.decisions > 0 }.map { size in
      Scatter.Level(
        range: Double(size.from)..<Double(size.from * 10),
        y: Double(size.pushes) / Double(size.decisions),
        title: "\(Self.className(size.from)) members: "
          + "\(Figures.share(size.pushes, of: size.decisions)) of all decisions")
    }
    let chart = Scatter(
      points: points, levels: levels, xName: "members of the room (logarithmic)",
      label: "Push rate against the size of the room. "
        + levels.map(\.title).joined(separator: ". "))
    let left = rooms.count - points.count
    let remark =
      "A point is a room whose messages had recipients, its area how many decisions it had. "
      + "The lines: all rooms of that size together."
    return ChartFigure(
      title: "Push rate by the size of the room", draw: chart.draw,
      remark: remark
        + (left == 0
          ? "" : " Of \(Figures.exact(rooms.count)) rooms those with most decisions are shown."),
      table: Table(
        columns: [
          ("Members", .text), ("Rooms", .number), ("Decisions", .number), ("Pushes", .number),
          ("Push rate", .number),
        ],
        rows: classes.map {
          [
            Table.Cell(html: Self.className($0.from), value: "\($0.from)"),
            Table.Cell($0.rooms), Table.Cell($0.decisions), Table.Cell($0.pushes),
            Table.Cell($0.pushes, of: $0.decisions),
          ]
        }, caption: "Rooms by members", file: "room-sizes"),
      detail: Table(
        columns: [
          ("Room", .text), ("Members", .number), ("Decisions", .number), ("Pushes", .number),
          ("Push rate", .number),
        ],
        rows: rooms.prefix(Self.pointLimit).map { room in
          [
            Table.Cell(room: room.id, name: room.name), Table.Cell(room.members),
            Table.Cell(room.decisions),
            Table.Cell(room.pushes), Table.Cell(room.pushes, of: room.decisions),
          ]
        }, caption: "The rooms of the chart"))
  }

  private struct Members {
    let from: Int
    var rooms = 0
    var decisions = 0
    var pushes = 0
  }

  /// Rooms by the decade of their members.
  private func byMembers(_ rooms: [ConversationTotal]) -> [Members] {
    var classes: [Members] = []
    for room in rooms {
      var from = 1
      while room.members / 10 >= from { from *= 10 }
      let index = classes.firstIndex { $0.from == from } ?? classes.count
      if index == classes.count { classes.append(Members(from: from)) }
      classes[index].rooms += 1
      classes[index].decisions += room.decisions
      classes[index].pushes += room.pushes
    }
    return classes.sorted { $0.from < $1.from }
  }

  // MARK: Shares by recipients

  private var shareBySize: ChartFigure {
    let sizes = result.sizes.filter { $0.messages > 0 }
    let series = [
      ("messages", "messages", result.messages, sizes.map(\.messages)),
      ("decisions", OutcomeFamily.other.color, result.decisions, sizes.map(\.decisions)),
      ("pushes", OutcomeFamily.pushed.color, result.pushes, sizes.map(\.pushes)),
    ].map { name, color, total, counts in
      GroupedBars.Series(
        name: name, shares: counts.map { Double($0) / Double(max(1, total)) },
        titles: counts.map {
          "\(Figures.exact($0)) \(name), \(Figures.share($0, of: total)) of all"
        }, color: color)
    }
    let chart = GroupedBars(
      rows: sizes.map { Self.className($0.from) }, series: series,
      label: "Shares of messages, decisions and pushes by the number of recipients of a message. "
        + "Shares of decisions: "
        + sizes.map {
          "\(Self.className($0.from)) \(Figures.share($0.decisions, of: result.decisions))"
        }.joined(separator: ", ") + ".")
    return ChartFigure(
      title: "Shares by recipients of a message", draw: chart.draw,
      legend: series.map { (name: $0.name, color: $0.color) },
      remark: "Rooms are counted by the largest message that they had"
        + (rooms.count == result.conversations
          ? "."
          : "; those whose messages had no recipients are counted under \u{201C}none\u{201D}."),
      table: Table(
        columns: [
          ("Recipients", .text), ("Rooms", .number), ("Messages", .number), ("Decisions", .number),
          ("Pushes", .number),
        ],
        rows: sizes.map {
          [
            Table.Cell(html: Self.className($0.from), value: "\($0.from)"),
            Table.Cell($0.conversations), Table.Cell($0.messages), Table.Cell($0.decisions),
            Table.Cell($0.pushes),
          ]
        }, file: "message-sizes"))
  }

  // MARK: The top rooms

  var conversations: Section {
    let rooms = rooms
    let top = rooms.prefix(Self.roomLimit)
    let sum = top.reduce(0) { $0 + $1.decisions }
    let shown = Set(top.map(\.id))
    let table = Table(
      columns: [
        ("Room", .text), ("Members", .number), ("Messages", .number), ("Decisions", .number),
        ("Pushes", .number), ("Push rate", .number),
      ], rows: top.map(row), becomesCards: true, caption: "Rooms by decisions",
      file: "rooms",
      more: result.conversationTable.filter { room in !shown.contains(room.id) }
        .map(row))
    let others = result.conversations - rooms.count
    let left =
      others == 0
      ? ""
      : " Not counted: \(Figures.count(others, "room")) of all "
        + "\(Figures.exact(result.conversations)), where no message had a recipient."
    let note =
      rooms.count <= 1
      ? ""
      : "The first \(Figures.exact(top.count)) of \(Figures.exact(rooms.count)) rooms have "
        + "<strong>\(Figures.share(sum, of: result.decisions))</strong> of all decisions." + left
    return Section(
      name: "rooms", heading: "The rooms with most decisions", note: note, charts: [],
      tables: [table])
  }

  private func row(_ room: ConversationTotal) -> [Table.Cell] {
    [
      Table.Cell(room: room.id, name: room.name), Table.Cell(room.members),
      Table.Cell(room.messages),
      Table.Cell(room.decisions).bar(room.decisions, of: result.decisions, color: "messages"),
      Table.Cell(room.pushes),
      Table.Cell(room.pushes, of: room.decisions),
    ]
  }
}
