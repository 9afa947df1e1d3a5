internal import PushModel
public import PushReplay
internal import PushSupport

/// A replay as one HTML page: its figures, charts drawn as SVG, and the numbers behind them.
///
/// The page needs no network, no script and no other file. Everything that comes from the result is
/// escaped. The same result gives the same bytes.
///
/// - Complexity: O(the numbers of the result). A page is about 0.5 MB, however long the replay was.
/// - Source: docs/report.md
public struct ReplayReport {
  let result: ReplayResult
  let title: String
  let pushPrice: PushPrice?

  /// A page of a result.
  ///
  /// - Parameters:
  ///   - title: the page's heading; nil for one with the number of messages.
  ///   - price: what pushes cost; nil for no costs on the page.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself, so that no chart is drawn of
  ///   numbers that cannot be.
  public init(
    _ result: ReplayResult, title: String? = nil, price: PushPrice? = nil
  ) throws(ReportProblem) {
    try ResultCheck.check(result)
    self.result = result
    pushPrice = price
    self.title = title ?? "Replay of \(Figures.count(result.messages, "message"))"
  }

  /// The whole file.
  public var html: String {
    Page(title: title, lead: lead, sections: sections, foot: foot).html
  }

  /// The exact figures behind each chart, and those of the tables.
  public var figures: [FigureTable] { sections.flatMap(\.figures) }

  private var sections: [Section] {
    guard result.decisions > 0 else {
      let why = result.messages == 0 ? "There were no messages." : "No message had a recipient."
      return [
        Section(
          name: "empty", heading: "Nothing to show",
          note: "\(why) There is nothing that a chart could show.", body: "")
      ]
    }
    return [
      headline, follow, alongTime, hours, localTime, week, sizes, people, busiest, held, price,
      conversations, outcomes, limits,
    ].compactMap { $0 }
  }

  private var lead: String {
    var parts = ["Rules of <strong>\(Escaping.text(rulesName))</strong>"]
    if let first = result.first, let last = result.last {
      let from = CivilTime.text(first)
      let to =
        CivilTime(last).date == CivilTime(first).date
        ? CivilTime(last).time : CivilTime.text(last)
      parts.insert("<strong>\(from) to \(to) UTC</strong> (\(duration(first, last)))", at: 0)
    }
    let zone =
      "Hours of the day and weekdays are those of "
      + "<strong>\(Escaping.text(result.timeZone))</strong>, all other times UTC."
    let answer = result.decisions > 0 ? Self.answer(result) : ""
    return (answer.isEmpty ? "" : "<p class=\"answer\">\(Escaping.text(answer))</p>\n")
      + "<p>\(parts.joined(separator: ". ")). \(zone)</p>"
  }

  private var rulesName: String {
    RuleSet(rawValue: result.rules)?.vendorName ?? result.rules
  }

  private func duration(_ first: Int64, _ last: Int64) -> String {
    let days = (last - first) / CivilTime.dayMilliseconds
    if days >= 800 { return "\(Figures.fixed(Double(days) / 365.2425, decimals: 1)) years" }
    if days >= 3 { return Figures.count(Int(days) + 1, "day") }
    return Figures.seconds(Double(last - first) / 1000)
  }

  private var foot: String {
    "<p>A <em>decision</em> is one recipient of one message; the <em>push rate</em> is the share of "
      + "decisions that end in a push. Made by push-fanout from a replay\u{2019}s result file; "
      + "the figures under each chart are all that it shows.\(RunCost.words(result.cost))</p>"
  }

  // MARK: What went in

  /// What the figures rest on, and what no replay knows.
  private var limits: Section {
    var counts: [(String, Int)] = [("users that the settings know", result.users)]
    counts += [
      ("joins while messages flowed", result.joins), ("rows of presence", result.presenceRows),
      ("settings changes", result.settingsChanges), ("bad lines left out", result.skippedLines),
    ].filter { $0.1 > 0 }
    let input = counts.map { "\(Figures.exact($0.1)) \($0.0)" }.joined(separator: ", ")
    return Section(
      name: "limits", heading: "What this rests on",
      note: "", body: Limits.list(["What went in: \(input)."] + Limits.assumed))
  }
}

// MARK: Words and sums that several sections need

extension ReplayReport {
  /// The families that occurred, with the outcomes of each by their indices in the result.
  var families: [(family: OutcomeFamily, indices: [Int])] {
    OutcomeFamily.allCases.compactMap { family in
      let indices = result.outcomes.indices.filter {
        let outcome = result.outcomes[$0]
        return outcome.count > 0
          && OutcomeFamily(action: outcome.action, reason: outcome.reason) == family
      }
      return indices.isEmpty ? nil : (family, indices)
    }
  }

  /// The names of the rooms that have one, by their ids.
  var roomNames: [String: String] {
    result.conversationTable.reduce(into: [:]) { names, room in
      if let name = room.name, !name.isEmpty { names[room.id] = name }
    }
  }

  /// The least steps that a series along the whole time can be shown in.
  var series: TimeSeries { result.minutes ?? result.hours }

  var bins: TimeBins {
    TimeBins((result.first ?? 0)...(result.last ?? 0), least: series.step)
  }

  static let weekdays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  /// `07:00 to 08:00`
  static func hourText(_ hour: Int) -> String {
    "\(ClockTime.text(minuteOfDay: hour * 60)) to \(ClockTime.text(minuteOfDay: (hour + 1) % 24 * 60))"
  }

  /// What stands below 24 columns: every third hour.
  static let hourNames = (0..<24).map { $0 % 3 == 0 ? $0.padded(to: 2) : "" }
}
