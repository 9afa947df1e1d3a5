internal import PushFanout
internal import QuietTime

/// Says which hour of the week an instant is in, and on which date, in a time zone.
struct WeekClock: Sendable {
  private let zone: ZoneTable

  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  init(_ name: String) throws(FanoutError) {
    do throws(ZoneDataError) {
      zone = try ZoneTable(named: name)
    } catch {
      throw FanoutError(error)
    }
  }

  var name: String { zone.name }

  /// The date of an instant, in days since 1970-01-01.
  func day(_ milliseconds: Int64) -> Int { Int(dayAndSecond(milliseconds).day) }

  private func dayAndSecond(_ milliseconds: Int64) -> (day: Int64, local: Int64) {
    let second = milliseconds / 1000
    let local = second + zone.offsetSeconds(at: second)
    // West of Greenwich the first hours of 1970 are those of the day before.
    return ((local - (local % 86_400 + 86_400) % 86_400) / 86_400, local)
  }

  /// The hour of the week of an instant: 24 times the weekday, from 0 for Monday, and the hour.
  func hourOfWeek(_ milliseconds: Int64) -> Int {
    let (day, local) = dayAndSecond(milliseconds)
    let hour = (local - day * 86_400) / 3600
    // 1970-01-01 was a Thursday.
    let weekday = (day + 3 + 7) % 7
    return Int(weekday * 24 + hour)
  }
}
