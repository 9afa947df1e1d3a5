internal import QuietTime

/// What a result file says that cannot be.
public struct ReportProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where, as a path of fields like `hours.pushes[3]`.
  public let place: String
  /// What is inconsistent, in one line.
  public let reason: String

  public var description: String { "\(place): \(reason)" }
}

extension ReportProblem {
  /// - Throws: when a result's time zone is none, or there is no time-zone database to look it up.
  static func check(timeZone name: String) throws(ReportProblem) {
    do throws(ZoneDataError) {
      if try ZoneDatabase.system.get().isName(name) { return }
    } catch {
      throw ReportProblem(place: "timeZone", reason: "\(error)")
    }
    throw ReportProblem(
      place: "timeZone", reason: "\"\(name)\" is not a time zone of the IANA database")
  }
}
