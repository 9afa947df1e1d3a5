internal import QuietTime

/// An inconsistency in a result file.
public struct ReportProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where, as a path of fields like `hours.pushes[3]`.
  public let field: String
  /// What is inconsistent, in one line.
  public let reason: String

  public var description: String { "\(field): \(reason)" }
}

extension ReportProblem {
  /// - Throws: when a result's time zone is unknown, or there is no time-zone database to look it
  ///   up.
  static func check(timeZone name: String) throws(ReportProblem) {
    do throws(ZoneDataError) {
      if try ZoneDatabase.system.get().isName(name) { return }
    } catch {
      throw ReportProblem(field: "timeZone", reason: "\(error)")
    }
    throw ReportProblem(
      field: "timeZone", reason: "\"\(name)\" is not a time zone of the IANA database")
  }
}
