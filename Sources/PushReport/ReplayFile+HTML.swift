public import PushReplay

extension ReplayFile.Content {
  /// The result as one HTML page, with all that it needs.
  ///
  /// - Parameter title: the page's heading; nil for that of the kind of result.
  /// - Throws: ``ReportProblem`` for a result that contradicts itself.
  public func html(title: String? = nil) throws(ReportProblem) -> String {
    switch self {
    case .replay(let result): try ReplayReport(result, title: title).html
    case .comparison(let result): try CompareReport(result, title: title).html
    }
  }

  /// The exact figures behind each chart of the page, and those of its tables.
  ///
  /// - Throws: as ``html(title:)``.
  public func figures() throws(ReportProblem) -> [FigureTable] {
    switch self {
    case .replay(let result): try ReplayReport(result).figures
    case .comparison(let result): try CompareReport(result).figures
    }
  }
}
