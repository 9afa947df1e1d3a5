public import PushReplay
internal import PushSupport

/// A comparison of two worlds as one HTML page, as ``ReplayReport`` is one of a replay.
///
/// - Complexity: O(the numbers of the result).
/// - Source: docs/report.md
public struct CompareReport {
  let result: CompareResult
  let title: String
  let pushPrice: PushPrice?

  /// A page of a result.
  ///
  /// - Parameters:
  ///   - title: the page's heading; nil for one that names what was compared.
  ///   - price: what pushes cost; nil for no costs on the page.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself.
  public init(
    _ result: CompareResult, title: String? = nil, price: PushPrice? = nil
  ) throws(ReportProblem) {
    try CompareCheck.check(result)
    self.result = result
    pushPrice = price
    self.title = title ?? "Two worlds, \(Figures.count(result.messages, "message"))"
  }

  /// The whole file.
  public var html: String {
    Page(title: title, lead: lead, sections: sections, foot: foot).html
  }

  /// The exact figures behind each chart, and those of the tables.
  public var figures: [FigureTable] { sections.flatMap(\.figures) }

  private var sections: [Section] {
    guard result.a.decisions + result.b.decisions > 0 else {
      return [
        Section(
          name: "empty", heading: "Nothing to show", note: "No message had a recipient.", body: "")
      ]
    }
    return [
      headline, sizes, people, price, alongTime, hours, week, reasons, changes, rooms, users,
      limits,
    ].compactMap { $0 }
  }

  private var lead: String {
    func world(_ name: String, _ side: ComparedSide) -> String {
      let what =
        side.what.isEmpty
        ? "as it is"
        : side.what.map { "<code><bdi>\(Escaping.identifier($0))</bdi></code>" }.joined(
          separator: " ")
      return "<strong>\(name)</strong>: \(Escaping.text(side.rules)), \(what)"
    }
    var text = "<p class=\"answer\">\(Escaping.text(Self.answer(result)))</p>\n"
    text += "<p>\(world("A", result.a)). \(world("B", result.b)). "
    if let reach = reachInWords { text += "\(reach) " }
    if let first = result.first, let last = result.last {
      text += "<strong>\(CivilTime.text(first)) to \(CivilTime.text(last)) UTC</strong>. "
    }
    return text + "Hours of the day and weekdays are those of "
      + "<strong>\(Escaping.text(result.timeZone))</strong>, all other times UTC.</p>"
  }

  private var foot: String {
    "<p>A <em>decision</em> is one recipient of one message. It <em>differs</em> when its action, "
      + "reason or scope do. A push is <em>gained</em> when it is in B only, <em>lost</em> when it "
      + "is in A only. Made by push-fanout from a comparison\u{2019}s result file."
      + "\(RunCost.words(result.cost))</p>"
  }

  // MARK: At a glance

  private var headline: Section {
    let most = max(result.a.decisions, result.b.decisions)
    let difference = result.b.pushes - result.a.pushes
    let tiles: [(String, String, String)] = [
      (
        "Pushes in A", Figures.short(result.a.pushes),
        "\(Figures.exact(result.a.pushes)); "
          + "\(Figures.share(result.a.pushes, of: result.a.decisions)) of all decisions"
      ),
      (
        "Pushes in B", Figures.short(result.b.pushes),
        "\(Figures.exact(result.b.pushes)); "
          + "\(Figures.share(result.b.pushes, of: result.b.decisions)) of all decisions"
      ),
      (
        "Difference", (difference > 0 ? "+" : "") + Figures.short(difference),
        "\(Figures.short(result.gained)) gained, \(Figures.short(result.lost)) lost"
      ),
      (
        "Decisions that differ", Figures.share(result.changed, of: most),
        "\(Figures.exact(result.changed)) of \(Figures.exact(most))"
      ),
      (
        "Users with fewer pushes", Figures.exact(result.users.fewer),
        "more: \(Figures.exact(result.users.more)); as many, but others: "
          + Figures.exact(result.users.asMany)
      ),
    ]
    let entries = tiles.map { name, figure, more in
      "<div><dt>\(name)</dt><dd class=\"figure\">\(figure)</dd>"
        + "<dd class=\"more\">\(more)</dd></div>\n"
    }
    return Section(
      name: "headline", heading: "At a glance", note: "",
      body: "<dl class=\"tiles\">\n\(entries.joined())</dl>\n")
  }

  private var limits: Section {
    Section(
      name: "limits", heading: "What this does not know", note: "",
      body: Limits.list(Limits.reactions + Limits.assumed))
  }
}
