internal import Foundation
internal import PushModel

/// The system's clock.
enum WallClock {
  /// Whether the clock is set to an instant that settings may have.
  static var isUsable: Bool {
    let now = Date().timeIntervalSince1970
    return now >= 0 && now * 1000 <= Double(Instant.maximumMilliseconds)
  }

  /// Now; the first or last instant there is, if the clock is set to something beyond.
  static var now: Instant {
    let milliseconds = Int64(max(0, Date().timeIntervalSince1970) * 1000)
    return Instant(milliseconds: min(milliseconds, Instant.maximumMilliseconds))
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The `Date` field of an instant (RFC 9110).
  static func httpDate(_ instant: Instant) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let date = Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
    let parts = calendar.dateComponents(
      [.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
    func two(_ number: Int?) -> String {
      let text = "\(number ?? 0)"
      return text.utf8.count < 2 ? "0" + text : text
    }
    return "\(weekdays[(parts.weekday ?? 1) - 1]), \(two(parts.day)) "
      + "\(months[(parts.month ?? 1) - 1]) \(parts.year ?? 1970) \(two(parts.hour)):"
      + "\(two(parts.minute)):\(two(parts.second)) GMT"
  }
}
