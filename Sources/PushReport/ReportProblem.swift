/// What a result file says that cannot be.
public struct ReportProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where, as a path of fields like `hours.pushes[3]`.
  public let place: String
  public let reason: String

  public var description: String { "\(place): \(reason)" }
}
