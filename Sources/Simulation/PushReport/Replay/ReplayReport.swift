internal import PushModel
public import PushReplay
internal import PushSupport

/// A replay as one HTML page: its figures, charts drawn as SVG, and the numbers behind them.
///
/// The page needs no network, no script and no other file. Everything that comes from the result is
/// escaped. The same result gives the same bytes. A result that follows one user or room has a page
/// of that alone.
///
/// - Complexity: O(the numbers of the result). A page is about 0.5 MB, however long the replay was.
/// - Source: docs/report.md
public struct ReplayReport {
  let result: ReplayResult
  let frame: PageFrame

  /// A page of a result.
  ///
  /// - Parameters:
  ///   - title: the page's heading; nil for a question of the days that it is about.
  ///   - price: what pushes cost; nil for no costs on the page.
  ///   - note: what readers are to know first, below the answer; nil for nothing.
  ///   - printsFigures: whether folded sections and the figures behind charts are printed.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself, so that no chart is drawn of
  ///   numbers that cannot be.
  public init(
    _ result: ReplayResult, title: String? = nil, price: PushPrice? = nil, note: String? = nil,
    printsFigures: Bool = false
  ) throws(ReportProblem) {
    try ResultCheck.check(result)
    self.result = result
    let usual =
      result.follow.map { "What became of messages: \($0.name(in: result))" }
      ?? Self.question(result)
    frame = PageFrame(
      title: title ?? usual, price: price, note: note, printsFigures: printsFigures)
  }

  /// What the page answers: `How many pushes on 2016-03-03?`
  private static func question(_ result: ReplayResult) -> String {
    guard let first = result.first, let last = result.last else { return "How many pushes?" }
    let (from, to) = (CivilTime(first).date, CivilTime(last).date)
    return "How many pushes \(from == to ? "on \(from)" : "from \(from) to \(to)")?"
  }

  /// The whole file.
  public var html: String {
    let answer = result.decisions > 0 || result.follow != nil ? Self.answer(result) : ""
    return frame.html(
      answer: result.follow == nil ? [answer, costs?.sentence ?? ""] : [answer], frame: about,
      sections, foot: foot)
  }

  /// The exact figures behind each chart, and those of the tables.
  public var figures: [FigureTable] { sections.flatMap(\.figures) }

  private var sections: [Section] {
    if let follow = result.follow { return self.follow(follow) + [limits.folded] }
    guard result.decisions > 0 else {
      let why = result.messages == 0 ? "There were no messages." : "No message had a recipient."
      return [
        Section(
          name: "empty", heading: "Nothing to show",
          note: "\(why) There is nothing that a chart could show.", body: "")
      ]
    }
    let top = top
    return [
      pictures, top, overTime, week, neverReached, held, price,
      top == nil ? conversations : conversations.folded, outcomes.folded, hours.folded,
      sizes.folded, busiest.folded, limits.folded,
    ].compactMap { $0 }
  }

  /// When, where, and by whose rules.
  private var about: String {
    var parts: [String] = []
    if let first = result.first, let last = result.last {
      parts.append(PageFrame.span(first, last))
    }
    if result.follow == nil { parts.append(Figures.count(result.conversations, "room")) }
    parts.append("Rules of \(Escaping.text(rulesName))")
    return parts.joined(separator: ". ") + ". " + PageFrame.zone(result.timeZone)
  }

  private var rulesName: String {
    RuleSet(rawValue: result.rules)?.vendorName ?? result.rules
  }

  private var foot: String {
    "<p>A <em>decision</em> is one recipient of one message; the <em>push rate</em> is the share of "
      + "decisions that end in a push. Made by push-fanout from a replay's result file; "
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
      name: "limits", heading: "What went in, and what this does not know",
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

  func ofHour(_ hour: Int) -> [WeekHour] {
    stride(from: hour, to: 168, by: 24).map { result.week[$0] }
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
