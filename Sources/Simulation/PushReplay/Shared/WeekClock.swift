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

  /// How many seconds of each hour of the week lie between two instants, of which the hours are
  /// counted whole: 168 numbers from Monday's first hour on.
  ///
  /// - Complexity: O(changes of the zone's offset in between).
  func seconds(from first: Int64, to last: Int64) -> [Int64] {
    var seconds = [Int64](repeating: 0, count: 168)
    let hour: Int64 = 3600
    var at = first / 1000 - zone.localSecond(at: first / 1000) % hour
    let end = last / 1000 + hour - zone.localSecond(at: last / 1000) % hour
    while at < end {
      // Up to where another offset begins hours follow each other.
      let next = min(end, zone.nextTransition(after: at) ?? end)
      let weeks = (next - at) / (168 * hour)
      for index in seconds.indices { seconds[index] += weeks * hour }
      at += weeks * 168 * hour
      while at < next {
        let step = min(next, at + hour - zone.localSecond(at: at) % hour)
        seconds[hourOfWeek(at * 1000)] += step - at
        at = step
      }
    }
    return seconds
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
