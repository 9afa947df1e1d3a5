/// What the results of a replay and of a comparison have in common, by which files of both are
/// written, read and checked.
///
/// - Source: docs/replay.md and docs/compare.md, "The result file".
public protocol ResultFrame: Codable, Equatable, Sendable {
  /// The version of the format that this library writes and reads.
  static var format: Int { get }
  /// The field that has the version of the format. Its name tells what a file is the result of.
  static var formatField: String { get }

  /// The version of the format that this result has.
  var formatVersion: Int { get }
  /// The IANA zone of the hours of the week.
  var timeZone: String { get }
  /// Messages that were decided.
  var messages: Int { get }
  /// When the first message came; nil without messages.
  var first: Int64? { get }
  /// When the last message came; nil without messages.
  var last: Int64? { get }
  /// What the run cost; not the same in every run.
  var cost: ReplayCost? { get }
}

extension ResultFrame {
  /// How many days of ``timeZone`` have a part of some hours; nil if that zone is unknown.
  ///
  /// - Parameter hours: when hours of UTC begin, in milliseconds.
  package func dayCount(ofHours hours: [Int64]) -> Int? {
    guard let clock = try? WeekClock(timeZone) else { return nil }
    return Set(hours.flatMap { [clock.day($0), clock.day($0 + 3_599_999)] }).count
  }
}
