internal import PushModel
internal import PushSupport

/// An instant as a date and time of day in UTC.
struct CivilTime: Equatable {
  var year: Int64
  var month: Int64
  var day: Int64
  var hour: Int64
  var minute: Int64
  var second: Int64

  static let dayMilliseconds: Int64 = 86_400_000

  /// - Parameter milliseconds: since the epoch, not negative.
  init(_ milliseconds: Int64) {
    (year, month, day) = Instant.date(daysSinceEpoch: milliseconds / Self.dayMilliseconds)
    let second = milliseconds / 1000 % 86_400
    hour = second / 3600
    minute = second / 60 % 60
    self.second = second % 60
  }

  /// Milliseconds since the epoch of the beginning of a month; months past December run on.
  static func month(_ year: Int64, _ month: Int64) -> Int64 {
    let years = year + (month - 1) / 12
    return Instant.daysSinceEpoch(years, (month - 1) % 12 + 1, 1) * dayMilliseconds
  }

  /// `2016-03-03`
  var date: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))" }
  /// `13:14`
  var time: String { "\(hour.padded(to: 2)):\(minute.padded(to: 2))" }
  /// `13:14:59`
  var timeWithSeconds: String { "\(time):\(second.padded(to: 2))" }
  /// `3 Mar`
  var dayAndMonth: String { "\(day) \(monthName)" }
  /// `Mar`
  var monthName: String {
    [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ][Int(month) - 1]
  }

  /// `2016-03-03 13:14`, of an instant.
  static func text(_ milliseconds: Int64) -> String {
    let time = CivilTime(milliseconds)
    return "\(time.date) \(time.time)"
  }
}
