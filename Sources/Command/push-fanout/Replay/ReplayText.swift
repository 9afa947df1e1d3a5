import PushModel
import PushReplay
import PushReport
import PushSupport

/// A replay's result as plain text.
struct ReplayText {
  private let result: ReplayResult
  private var lines: [String] = []
  /// The number of conversations that are listed.
  private static let listed = 10

  init(_ result: ReplayResult) {
    self.result = result
    if result.decisions > 0 || result.follow != nil {
      lines += [ReplayReport.answer(result), ""]
    }
    if let follow = result.follow {
      addFollowed(follow)
      return
    }
    addTotals()
    addPeople()
    addTop()
    addOutcomes(result.outcomes)
    addPeaks()
    addHours()
    addSizes()
    addConversations()
    addHold()
  }

  var text: String { TerminalText.lines(lines) + "\n" }

  /// What became of the messages of one user or room, and nothing about all others.
  private mutating func addFollowed(_ follow: FollowResult) {
    addSpan()
    guard follow.count > 0 else { return }
    addOutcomes(follow.outcomes)
    let ofUser = follow.user != nil
    func row(
      _ at: String, _ id: String, _ room: String, _ from: String, _ mentions: String,
      _ counts: (String, String), _ outcome: String
    ) -> String {
      TextTable.right(at, 26) + TextTable.right(id, 13)
        + (follow.conversation == nil ? TextTable.right(room, 13) : "")
        + TextTable.right(from, 13) + TextTable.right(mentions, 10)
        + (ofUser ? "" : TextTable.left(counts.0, 10) + TextTable.left(counts.1, 10) + "  ")
        + outcome
    }
    if follow.messages.count < follow.count {
      lines += [
        "",
        "the last \(follow.messages.count.grouped) of \(follow.count.counted("message")); "
          + "--from and --to list others",
      ]
    }
    lines += [
      "",
      row(
        "at", "message", "conversation", "from", "mentions", ("recipients", "pushes"),
        ofUser ? "outcome" : "most often"),
    ]
    for message in follow.messages {
      let outcome = message.outcome.map { outcome in
        [outcome.action, outcome.reason, outcome.scope].compactMap { $0 }.joined(separator: "/")
      }
      lines.append(
        row(
          Self.time(message.at), message.id, message.conversation, message.sender ?? "-",
          message.mentions ? "by name" : message.mentionsEveryone ? "everyone" : "-",
          ((message.recipients ?? 0).grouped, (message.pushes ?? 0).grouped),
          outcome ?? "no recipient"))
    }
    if let explain = follow.explain { lines += ["", "why, rule by rule: \(explain) MESSAGE"] }
  }

  private mutating func addTotals() {
    let rows: [(String, Int)] = [
      ("messages", result.messages), ("conversations", result.conversations),
      ("decisions", result.decisions), ("joins", result.joins),
      ("presence rows", result.presenceRows), ("settings changes", result.settingsChanges),
    ]
    for (name, count) in rows where count > 0 || name == "messages" || name == "decisions" {
      lines.append(TextTable.right(name, 17) + TextTable.left(count.grouped, 16))
    }
    lines.append(
      TextTable.right("pushes", 17) + TextTable.left(result.pushes.grouped, 16)
        + TextTable.left(result.pushes.percentage(of: result.decisions), 10))
    addSpan()
  }

  private mutating func addSpan() {
    guard let first = result.first, let last = result.last else { return }
    lines.append(TextTable.right("from", 17) + Self.time(first))
    lines.append(TextTable.right("to", 17) + Self.time(last))
  }

  private mutating func addPeople() {
    guard let people = result.people, people.neverReached > 0 else { return }
    lines += ["", TextTable.right("never reached by", 30) + TextTable.left("people", 16)]
    for reason in people.neverReasons {
      lines.append(
        TextTable.right(reason.reason, 30) + TextTable.left(reason.people.grouped, 16))
    }
  }

  private mutating func addTop() {
    guard let top = result.top, let first = top.people.first else { return }
    func row(_ id: String, _ cells: [String], _ room: String, _ share: String) -> String {
      TextTable.right(id, 24) + TextTable.left(cells[0], 12) + TextTable.left(cells[1], 7) + "  "
        + TextTable.right(room, 22) + TextTable.left(share, 9)
    }
    lines += ["", row("most pushes to", ["pushes", "days"], "most from", "share")]
    for person in top.people {
      lines.append(
        row(
          person.id, [person.pushes.grouped, person.days.grouped], person.conversation,
          person.share.percentage(of: person.pushes)))
    }
    let follow = top.follow ?? "push-fanout replay … --follow-user"
    lines.append("what the first got: \(follow) \(TerminalText.shellWord(first.id))")
    lines += ["", Self.row(["most pushes by", "messages", "decisions", "pushes", "push rate"])]
    for sender in top.senders {
      lines.append(
        Self.row([
          sender.id, sender.messages.grouped, sender.decisions.grouped, sender.pushes.grouped,
          sender.pushes.percentage(of: sender.decisions),
        ]))
    }
  }

  private mutating func addOutcomes(_ outcomes: [OutcomeTotal]) {
    guard !outcomes.isEmpty else { return }
    let all = outcomes.reduce(0) { $0 + $1.count }
    lines += ["", Self.outcome("action", "reason", "scope", "count", "share")]
    for outcome in outcomes.sorted(by: { $0.count > $1.count }) {
      lines.append(
        Self.outcome(
          outcome.action, outcome.reason, outcome.scope ?? "-", outcome.count.grouped,
          outcome.count.percentage(of: all)))
    }
  }

  private mutating func addPeaks() {
    guard !result.peaks.isEmpty else { return }
    lines += [
      "",
      TextTable.right("busiest", 8) + TextTable.right("by", 11) + TextTable.right("at", 22)
        + TextTable.left("messages", 10) + TextTable.left("decisions", 14)
        + TextTable.left("pushes", 13)
        + TextTable.left("decided in", 13) + "  most in",
    ]
    for peak in result.peaks {
      let spent = peak.decidingSeconds.map { Number.text($0 * 1000) + " ms" } ?? "-"
      lines.append(
        TextTable.right(peak.unit, 8) + TextTable.right(peak.by, 11)
          + TextTable.right(Self.time(peak.at), 22)
          + TextTable.left(peak.messages.grouped, 10)
          + TextTable.left(peak.decisions.grouped, 14)
          + TextTable.left(peak.pushes.grouped, 13) + TextTable.left(spent, 13)
          + "  \(peak.conversation)")
    }
  }

  private mutating func addHours() {
    guard result.messages > 0 else { return }
    lines += [
      "", Self.hour(["hour", "days", "messages", "decisions", "pushes", "push rate"]),
    ]
    for hour in 0..<24 {
      let rows = result.week.filter { $0.hour == hour }
      lines.append(
        Self.hour([
          hour.padded(to: 2), rows.reduce(0) { $0 + $1.days }.grouped,
          rows.mean(\.messages).grouped, rows.mean(\.decisions).grouped,
          rows.mean(\.pushes).grouped,
          rows.reduce(0) { $0 + $1.pushes }.percentage(of: rows.reduce(0) { $0 + $1.decisions }),
        ]))
    }
    lines.append("means of a day; hours of the day in \(result.timeZone)")
  }

  private mutating func addSizes() {
    guard !result.sizes.isEmpty else { return }
    lines += ["", Self.row(["recipients", "messages", "decisions", "pushes", "push rate"])]
    for size in result.sizes {
      lines.append(
        Self.row([
          size.from == 0 ? "0" : "from \(size.from.grouped)",
          size.messages.grouped,
          size.decisions.grouped, size.pushes.grouped,
          size.pushes.percentage(of: size.decisions),
        ]))
    }
  }

  private mutating func addConversations() {
    guard result.conversations > 1 else { return }
    let top = result.top
    let rooms =
      top == nil
      ? result.conversationTable
      : result.conversationTable.sorted {
        ($0.pushes, $0.decisions) > ($1.pushes, $1.decisions)
      }
    let (name, listed) = (top == nil ? "conversation" : "most pushes in", top?.limit ?? Self.listed)
    lines += ["", Self.row([name, "messages", "decisions", "pushes", "push rate"])]
    for row in rooms.prefix(listed) {
      lines.append(
        Self.row([
          row.id, row.messages.grouped, row.decisions.grouped,
          row.pushes.grouped, row.pushes.percentage(of: row.decisions),
        ]))
    }
    let more = result.conversations - listed
    if more > 0 { lines.append("and \(more.grouped) more") }
  }

  private mutating func addHold() {
    guard let hold = result.hold else { return }
    lines += [
      "",
      TextTable.right("suppressed", 30) + TextTable.left("held", 16) + TextTable.left("never", 16),
    ]
    for outcome in hold.outcomes {
      let name = outcome.reason + (outcome.scope.map { "/\($0)" } ?? "")
      lines.append(
        TextTable.right(name, 30) + TextTable.left(outcome.held.grouped, 16)
          + TextTable.left(outcome.never.grouped, 16))
    }
    lines.append(
      TextTable.right("all", 30) + TextTable.left(hold.held.grouped, 16)
        + TextTable.left(hold.never.grouped, 16))
    if let peak = hold.releasePeak {
      lines.append(
        "most are released in the minute \(Self.time(peak.at)): \(peak.count.grouped)")
    }
    if let peak = hold.waitingPeak {
      lines.append(
        "most wait at the end of the minute \(Self.time(peak.at)): \(peak.count.grouped)"
      )
    }
  }

  // MARK: Cells

  private static func time(_ milliseconds: Int64) -> String {
    Instant(milliseconds: milliseconds).rfc3339
  }

  private static func outcome(
    _ action: String, _ reason: String, _ scope: String, _ count: String, _ share: String
  ) -> String {
    TextTable.right(action, 8) + TextTable.right(reason, 19) + TextTable.right(scope, 16)
      + TextTable.left(count, 16) + TextTable.left(share, 10)
  }

  private static func hour(_ cells: [String]) -> String {
    TextTable.row(cells, [8, 9, 12, 18, 16, 11])
  }

  private static func row(_ cells: [String]) -> String {
    TextTable.row(cells, [17, 12, 18, 16, 11])
  }
}
