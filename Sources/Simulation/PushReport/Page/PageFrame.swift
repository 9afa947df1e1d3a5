/// What the pages of all kinds of results have in common, and what a caller may ask of them.
struct PageFrame {
  let title: String
  let price: PushPrice?
  /// What readers are to know before they read, such as where the data is from.
  let note: String?
  /// Whether folded sections and figures are printed.
  let printsFigures: Bool

  /// - Parameters:
  ///   - answer: the first sentences, which stand together; text.
  ///   - second: what stands below them; text, nil for nothing.
  ///   - frame: what the page is about: time, rules, zone; HTML.
  func html(
    answer: [String], second: String? = nil, frame: String, _ sections: [Section], foot: String
  ) -> String {
    let first = answer.filter { !$0.isEmpty }.joined(separator: " ")
    var lead = first.isEmpty ? "" : "<p class=\"answer\">\(Escaping.text(first))</p>\n"
    if let second { lead += "<p class=\"second\">\(Escaping.text(second))</p>\n" }
    if let note, !note.isEmpty {
      lead += "<p class=\"caveat\">\(Escaping.text(note))</p>\n"
    }
    return Page(
      title: title, lead: lead + "<p>\(frame)</p>", sections: sections, foot: foot,
      printsFigures: printsFigures
    ).html
  }

  /// `2016-03-03 00:08 to 23:59 UTC`, and how long that is.
  static func span(_ first: Int64, _ last: Int64) -> String {
    let end = CivilTime(last).date == CivilTime(first).date
    let to = end ? CivilTime(last).time : CivilTime.text(last)
    return "<strong>\(CivilTime.text(first)) to \(to) UTC</strong> (\(duration(first, last)))"
  }

  private static func duration(_ first: Int64, _ last: Int64) -> String {
    let days = (last - first) / CivilTime.dayMilliseconds
    if days >= 800 { return "\(Figures.fixed(Double(days) / 365.2425, decimals: 1)) years" }
    if days >= 3 { return Figures.count(Int(days) + 1, "day") }
    return Figures.seconds(Double(last - first) / 1000)
  }

  /// What is said once of all times of a page.
  static func zone(_ name: String) -> String {
    name == "UTC"
      ? "All times are UTC."
      : "Hours of the day and weekdays are those of <strong>\(Escaping.text(name))</strong>, "
        + "other times UTC."
  }
}
