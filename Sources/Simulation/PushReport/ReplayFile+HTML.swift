public import PushReplay

extension ReplayFile.Content {
  /// The result as one HTML page, with all that it needs.
  ///
  /// - Parameters:
  ///   - title: the page's heading; nil for that of the kind of result.
  ///   - price: what pushes cost; nil for no costs on the page.
  ///   - note: what readers are to know first, below the answer; nil for nothing.
  ///   - printsFigures: whether folded sections and the figures behind charts are printed.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself.
  public func html(
    title: String? = nil, price: PushPrice? = nil, note: String? = nil, printsFigures: Bool = false
  ) throws(ReportProblem) -> String {
    switch self {
    case .replay(let result):
      try ReplayReport(
        result, title: title, price: price, note: note, printsFigures: printsFigures
      ).html
    case .comparison(let result):
      try CompareReport(
        result, title: title, price: price, note: note, printsFigures: printsFigures
      ).html
    }
  }

  /// The exact figures behind each chart of the page, and those of its tables.
  ///
  /// - Parameter price: what pushes cost; nil for no costs.
  /// - Throws: as ``html(title:price:note:printsFigures:)``.
  public func figures(price: PushPrice? = nil) throws(ReportProblem) -> [FigureTable] {
    switch self {
    case .replay(let result): try ReplayReport(result, price: price).figures
    case .comparison(let result): try CompareReport(result, price: price).figures
    }
  }
}
