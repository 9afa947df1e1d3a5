public import PushReplay
internal import PushSupport

/// A comparison of two worlds as one HTML page, as ``ReplayReport`` is one of a replay.
///
/// - Complexity: O(the numbers of the result).
/// - Source: docs/report.md
public struct CompareReport {
  let result: CompareResult
  let frame: PageFrame

  /// A page of a result.
  ///
  /// - Parameters:
  ///   - title: the page's heading; nil for the question that was asked.
  ///   - price: what pushes cost; nil for no costs on the page.
  ///   - note: what readers are to know first, below the answer; nil for nothing.
  ///   - printsFigures: whether folded sections and the figures behind charts are printed.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself.
  public init(
    _ result: CompareResult, title: String? = nil, price: PushPrice? = nil, note: String? = nil,
    printsFigures: Bool = false
  ) throws(ReportProblem) {
    try CompareCheck.check(result)
    self.result = result
    frame = PageFrame(
      title: title ?? Self.sentence(Self.what(result)) + "?", price: price, note: note,
      printsFigures: printsFigures)
  }

  /// The whole file.
  public var html: String {
    frame.html(
      answer: [Self.answer(result), costs?.sentence ?? ""], second: Self.mentions(result),
      frame: about, sections, foot: foot)
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
      pictures, overTime, hours, rooms, users, price, people?.folded, week?.folded, reasons.folded,
      changes?.folded, limits.folded,
    ].compactMap { $0 }
  }

  private var about: String {
    var text = worlds + " "
    if let first = result.first, let last = result.last {
      text += PageFrame.span(first, last) + ". "
    }
    return text + PageFrame.zone(result.timeZone)
  }

  private var foot: String {
    "<p>A <em>decision</em> is one recipient of one message. "
      + "\(Figures.exact(result.changed)) of them "
      + "<em>\(result.changed == 1 ? "differs" : "differ")</em>: their action, reason or scope. "
      + "A push is <em>gained</em> when it is in B only (\(Figures.exact(result.gained))), "
      + "<em>lost</em> when it is in A only (\(Figures.exact(result.lost))). "
      + byClass + "Made by push-fanout "
      + "from a comparison's result file.\(RunCost.words(result.cost))</p>"
  }

  private var byClass: String {
    let counts = Self.lostClasses(result)
    if counts.isEmpty { return "" }
    let words = counts.map { "\($0.name) \(Figures.exact($0.count))" }.joined(separator: ", ")
    return "Of those lost, by <em>class</em> of the message for the recipient: \(words); one push "
      + "may have several of them, and be a mention too. "
  }

  private var limits: Section {
    Section(
      name: "limits", heading: "What this does not know", note: "",
      body: Limits.list(Limits.reactions + Limits.assumed))
  }
}
