import PushModel
import PushReplay
import PushReport
import PushSupport

/// A comparison as plain text.
struct CompareText {
  private let result: CompareResult
  private var lines: [String] = []
  /// The number of changes, conversations and users that are listed.
  private static let listed = 10

  init(_ result: CompareResult) {
    self.result = result
    lines += [CompareReport.answer(result), CompareReport.mentions(result), ""].compactMap { $0 }
    addTotals()
    addSizes()
    addPeople()
    addOutcomes()
    addChanges()
    addHours()
    addConversations()
    addUsers()
  }

  var text: String { TerminalText.lines(lines) + "\n" }

  private mutating func addTotals() {
    for (name, side) in [("A", result.a), ("B", result.b)] {
      let changes = side.what.joined(separator: " ")
      let what = changes.isEmpty || changes == side.name ? "" : " (\(changes))"
      lines.append("\(name): \(side.name)\(what), \(side.rules)")
    }
    lines += ["", TextTable.row(["", "A", "B", "B - A"], Self.widths)]
    add("messages", result.messages, result.messages)
    add("decisions", result.a.decisions, result.b.decisions)
    add("pushes", result.a.pushes, result.b.pushes)
    lines.append(
      TextTable.row(
        [
          "share of pushes", result.a.pushes.percentage(of: result.a.decisions),
          result.b.pushes.percentage(of: result.b.decisions), "",
        ], Self.widths))
    let most = max(result.a.decisions, result.b.decisions)
    lines.append(
      "\(result.changed.counted("decision")) \(result.changed == 1 ? "differs" : "differ") "
        + "(\(result.changed.percentage(of: most))): "
        + "\(result.gained.grouped) \(result.gained == 1 ? "push" : "pushes") in B only, "
        + "\(result.lost.grouped) in A only")
  }

  /// Rooms by their members, and in which most changes.
  private mutating func addSizes() {
    let classes = result.sizeClasses.filter { $0.a + $0.b > 0 }
    guard !classes.isEmpty else { return }
    lines += ["", TextTable.row(["pushes in rooms of", "A", "B", "B - A"], Self.widths)]
    let most = classes.map(\.changed).max() ?? 0
    let changed = result.gained + result.lost
    for size in classes {
      add("\(size.from.grouped) to \(size.to.grouped) members", size.a, size.b)
      guard size.changed == most, most > 0 else { continue }
      lines[lines.count - 1] += "  <- \(size.changed.percentage(of: changed)) of the change"
    }
  }

  private mutating func addPeople() {
    guard let people = result.people, people.personDays > 0 else { return }
    lines += ["", TextTable.row(["pushes a person and day", "A", "B", "B - A"], Self.widths)]
    add("median", people.a.median, people.b.median)
    add("90 % at most", people.a.p90, people.b.p90)
    add("99 % at most", people.a.p99, people.b.p99)
    add("the most", people.a.most, people.b.most)
    lines.append(CompareReport.peopleInWords(people))
  }

  private static let widths = [36, 18, 18, 18]

  private mutating func add(_ name: String, _ a: Int, _ b: Int) {
    let difference = (b > a ? "+" : "") + (b - a).grouped
    lines.append(
      TextTable.row([name, a.grouped, b.grouped, difference], Self.widths))
  }

  private mutating func addOutcomes() {
    guard !result.outcomes.isEmpty else { return }
    lines += ["", TextTable.row(["outcome", "A", "B", "B - A"], Self.widths)]
    for outcome in result.outcomes where outcome.a + outcome.b > 0 {
      let scope = outcome.scope.map { "/\($0)" } ?? ""
      add("\(outcome.action)/\(outcome.reason)\(scope)", outcome.a, outcome.b)
    }
  }

  private mutating func addChanges() {
    guard !result.changes.isEmpty else { return }
    lines += ["", "what becomes of what"]
    for change in result.changes.prefix(Self.listed) {
      lines.append(
        TextTable.left(change.count.grouped, 18)
          + "  \(change.from ?? "no recipient") -> \(change.to ?? "no recipient")")
    }
    addRest(result.changes.count)
  }

  private mutating func addRest(_ count: Int) {
    if count > Self.listed { lines.append("and \((count - Self.listed).grouped) more") }
  }

  private mutating func addHours() {
    guard result.a.pushes + result.b.pushes > 0 else { return }
    lines += [
      "",
      TextTable.row(
        ["pushes of a mean day at", "days", "A", "B", "B - A"], [26, 10] + Self.widths[1...]),
    ]
    for hour in 0..<24 {
      let rows = result.week.filter { $0.hour == hour }
      let (a, b) = (rows.mean(\.a), rows.mean(\.b))
      if a == 0, b == 0 { continue }
      lines.append(
        TextTable.row(
          [
            hour.padded(to: 2), rows.reduce(0) { $0 + $1.days }.grouped, a.grouped, b.grouped,
            (b > a ? "+" : "") + (b - a).grouped,
          ], [26, 10] + Self.widths[1...]))
    }
    lines.append("hours of the day in \(result.timeZone)")
  }

  private mutating func addConversations() {
    let moved = result.conversationTable.filter { $0.gained + $0.lost > 0 }
    guard !moved.isEmpty else { return }
    lines += ["", TextTable.row(["pushes in conversation", "A", "B", "B - A"], Self.widths)]
    for row in moved.prefix(Self.listed) { add(row.id, row.a, row.b) }
    addRest(moved.count)
  }

  /// Who lost mentions by name, and where.
  private mutating func addMentions(_ users: ComparedUsers) {
    guard let losers = users.mentionLosers, !losers.isEmpty else { return }
    lines += [
      "",
      TextTable.right("most mentions lost by", 31) + TextTable.right("in", 31)
        + TextTable.left("mentions", 12),
    ]
    for loser in losers.prefix(Self.listed) {
      lines.append(
        TextTable.right(loser.id, 31) + TextTable.right(loser.conversation, 31)
          + TextTable.left(loser.mentions.grouped, 12))
    }
  }

  private mutating func addUsers() {
    let users = result.users
    addMentions(users)
    let parts: [(word: String, count: Int)] = [
      ("fewer", users.fewer), ("more", users.more),
      ("the same number for other messages", users.asMany),
    ]
    let count = users.fewer + users.more + users.asMany
    guard count > 0 else { return }
    let people = count == 1 ? "1 person" : "\(count.grouped) people"
    let counts = parts.filter { $0.count > 0 }.map { "\($0.word) \($0.count.grouped)" }
    lines += ["", "A push more or less for \(people): \(counts.joined(separator: ", "))"]
    for (word, sign, steps) in [("gain", 1, users.gains), ("lose", -1, users.losses)]
    where !steps.isEmpty {
      lines += ["", TextTable.row(["\(word) most", "pushes each", "people"], [60, 18, 12])]
      for step in steps.prefix(Self.listed) {
        let more = step.users - step.examples.count
        let names = step.examples + (more > 0 ? ["\(more.grouped) more"] : [])
        lines.append(
          TextTable.row(
            [
              names.joined(separator: ", "),
              (sign > 0 ? "+" : "") + (sign * step.pushes).grouped, step.users.grouped,
            ], [60, 18, 12]))
      }
    }
  }
}
