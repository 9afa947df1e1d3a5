internal import PushModel
internal import PushReplay
internal import PushSupport

/// What became of each message to one user or in one room, and nothing about all others.
extension ReplayReport {
  func follow(_ follow: FollowResult) -> [Section] {
    guard let first = follow.hours.at.first, let last = follow.hours.at.last else {
      return [
        Section(
          name: "empty", heading: "Nothing to show",
          note: "No message of the replay was to be followed.", body: "")
      ]
    }
    let title =
      follow.user == nil
      ? "Why, or why not: \(Figures.count(follow.decisions, "decision")) on "
        + Figures.count(follow.count, "message")
      : "Why, or why not: \(Figures.count(follow.count, "message"))"
    let hour: Int64 = 3_600_000
    let chart = strip(
      follow, (result.first ?? first) / hour * hour...((result.last ?? last) / hour + 1) * hour)
    return [
      Section(
        name: "pictures", heading: "At a glance", note: "",
        charts: [[Self.why(follow.outcomes, follow.decisions, title)], [chart]]),
      Section(
        name: "outcomes", heading: "All outcomes", note: "", charts: [],
        tables: [Self.outcomeTable(follow.outcomes, follow.decisions)]),
      Section(
        name: "messages", heading: "The messages", note: Self.note(follow), charts: [],
        tables: [table(follow)]),
    ]
  }

  // MARK: Along time

  /// A mark for each message if all are listed; else columns for each step.
  private func strip(_ follow: FollowResult, _ range: ClosedRange<Int64>) -> ChartFigure {
    let hasMarks = follow.messages.count == follow.count
    let bins = TimeBins(range.lowerBound...range.upperBound - 1, least: follow.hours.step)
    let columns = OutcomeFamily.allCases.map { family in
      (follow.hours.outcomes ?? []).indices.filter {
        let outcome = follow.outcomes[$0]
        return OutcomeFamily(action: outcome.action, reason: outcome.reason) == family
      }.map { bins.sums(follow.hours.outcomes![$0], at: follow.hours.at) }
        .reduce(into: [Int](repeating: 0, count: bins.count)) { sums, column in
          for bin in sums.indices { sums[bin] += column[bin] }
        }
    }
    let lanes = zip(OutcomeFamily.allCases, columns).compactMap { family, counts -> Strip.Lane? in
      guard counts.contains(where: { $0 > 0 }) else { return nil }
      return hasMarks
        ? Strip.Lane(
          name: family.laneName, color: family.color,
          at: follow.messages.filter { Self.family($0) == family }.map(\.at))
        : Strip.Lane(name: family.laneName, color: family.color, counts: counts)
    }
    let title =
      hasMarks
      ? "Messages by what became of them, UTC"
      : "What became of them, per \(bins.step.name), UTC"
    var chart = Strip(
      range: hasMarks ? range : bins.edges[0]...bins.edges[bins.count], lanes: lanes,
      label: "\(title). "
        + OutcomeFamily.kinds(of: follow.outcomes).map {
          "\($0.family.name): \(Figures.exact($0.count))"
        }.joined(separator: ", ") + ".")
    if !hasMarks { chart.edges = bins.edges }
    let most = lanes.flatMap(\.counts).max() ?? 0
    return ChartFigure(
      title: title, draw: chart.draw,
      remark: hasMarks
        ? follow.user == nil
          ? "Each mark is a message, in the lane of what became of it for most recipients." : nil
        : "The highest column is \(Figures.exact(most)); all lanes have one scale.",
      table: table(of: lanes, columns, bins))
  }

  private func table(of lanes: [Strip.Lane], _ columns: [[Int]], _ bins: TimeBins) -> Table {
    let used = OutcomeFamily.allCases.indices.filter { columns[$0].contains { $0 > 0 } }
    return Table(
      columns: [("From", .text)] + used.map { (OutcomeFamily.allCases[$0].name, .number) },
      rows: (0..<bins.count).filter { bin in used.contains { columns[$0][bin] > 0 } }.map { bin in
        [Table.Cell(bins.step.text(bins.edges[bin]))] + used.map { Table.Cell(columns[$0][bin]) }
      }, caption: "Decisions per \(bins.step.name), UTC", file: "time")
  }

  // MARK: The messages

  private static func note(_ follow: FollowResult) -> String {
    let listed = follow.messages.count
    var text =
      listed == follow.count
      ? "All \(Figures.count(listed, "message"))."
      : "The last <strong>\(Figures.exact(listed))</strong> of "
        + "\(Figures.exact(follow.count)) messages; <code>replay --from --to</code> lists others."
    guard let explain = follow.explain else { return text }
    text +=
      explains(follow)
      ? " Each row has the command that explains it rule by rule."
      : " What explains one, with its id: <code>\(Escaping.identifier(explain, limit: 2000))</code>"
    return text
  }

  private static func family(_ message: FollowedMessage) -> OutcomeFamily? {
    message.outcome.map { OutcomeFamily(action: $0.action, reason: $0.reason) }
  }

  /// Whether rows have commands, which must not make the page much longer.
  private static func explains(_ follow: FollowResult) -> Bool {
    (follow.explain?.utf8.count ?? 0) * follow.messages.count <= 130_000
  }

  private func table(_ follow: FollowResult) -> Table {
    let names = roomNames
    let ofUser = follow.user != nil
    var columns: [(name: String, kind: Table.Kind)] = [("Time, UTC", .text), ("Message", .text)]
    if follow.conversation == nil { columns.append(("Room", .text)) }
    columns += [("From", .text), ("Mentions", .text)]
    if !ofUser { columns += [("Recipients", .number), ("Pushes", .number)] }
    columns.append((ofUser ? "Outcome" : "Most often", .prose))
    let explain = Self.explains(follow) ? follow.explain : nil
    if explain != nil { columns.append(("Explain", .prose)) }
    let rows = follow.messages.map { message in
      let time = CivilTime(message.at)
      var row = [Table.Cell("\(time.date) \(time.timeWithSeconds)"), Table.Cell(id: message.id)]
      if follow.conversation == nil {
        row.append(Table.Cell(room: message.conversation, name: names[message.conversation]))
      }
      row += [
        message.sender.map { Table.Cell(id: $0) } ?? Table.Cell("\u{2013}", value: ""),
        Table.Cell(Self.mentions(message, ofUser)),
      ]
      if !ofUser {
        row += [Table.Cell(message.recipients ?? 0), Table.Cell(message.pushes ?? 0)]
      }
      row.append(
        message.outcome.map { Self.outcome($0.action, $0.reason, $0.scope) }
          ?? Table.Cell("There was no recipient."))
      if let explain {
        let command = "\(explain) \(TerminalText.shellWord(message.id))"
        row.append(
          Table.Cell(
            html: "<code>\(Escaping.identifier(command, limit: 400))</code>", value: command))
      }
      return row
    }
    return Table(
      columns: columns, rows: rows, becomesCards: true,
      caption: "Messages, and why each did or did not push", file: "messages", openRows: 50)
  }

  private static func mentions(_ message: FollowedMessage, _ ofUser: Bool) -> String {
    switch (message.mentions, message.mentionsEveryone) {
    case (true, true): ofUser ? "by name, everyone" : "some by name, everyone"
    case (true, false): ofUser ? "by name" : "some by name"
    case (false, true): "everyone"
    case (false, false): "\u{2013}"
    }
  }
}

extension OutcomeFamily {
  /// As short as a lane wants it.
  fileprivate var laneName: String { self == .noDevice ? "no device" : name }
}
