internal import PushSupport

extension Instant {
  /// The instant of an RFC 3339 time, like `2024-06-03T08:00:00.5+08:00`.
  ///
  /// Digits past the millisecond are dropped. The offset, or `Z`, is required; a leap second is
  /// refused, as Unix time has none.
  ///
  /// - Returns: nil for another text, a date that is not in the calendar, or an instant outside the
  ///   range of ``Instant``.
  /// - Source: formats.md, "Values".
  public init?(rfc3339 text: String) {
    var scanner = DigitScanner(Array(text.utf8))
    guard let year = scanner.digits(4), scanner.take("-"),
      let month = scanner.digits(2), scanner.take("-"), let day = scanner.digits(2),
      scanner.take("T") || scanner.take("t"),
      let hour = scanner.digits(2), scanner.take(":"), let minute = scanner.digits(2),
      scanner.take(":"), let second = scanner.digits(2),
      (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var milliseconds: Int64 = 0
    if scanner.take(".") {
      guard let fraction = scanner.fractionMilliseconds() else { return nil }
      milliseconds = fraction
    }
    guard let offset = scanner.offsetMinutes(), scanner.isAtEnd else { return nil }
    let minutes = (Self.daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset
    let total = (minutes * 60 + second) * 1000 + milliseconds
    guard (0...Self.maximumMilliseconds).contains(total) else { return nil }
    self.init(milliseconds: total)
  }

  /// The instant of a whole number of milliseconds; nil outside the range of ``Instant``.
  public init?(exactMilliseconds milliseconds: Int64) {
    guard (0...Self.maximumMilliseconds).contains(milliseconds) else { return nil }
    self.init(milliseconds: milliseconds)
  }

  /// The instant of a text that is either: digits, or an RFC 3339 time.
  public init?(text: String) {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      guard let number = Int64(text) else { return nil }
      self.init(exactMilliseconds: number)
    } else {
      self.init(rfc3339: text)
    }
  }

  /// A time on a wall clock, like `2024-06-03 23:30:00` or `2024/6/3 23:30`, as the seconds that UTC
  /// would have then, and milliseconds behind them; nil for another text.
  ///
  /// A `T` may be between day and time; seconds, and digits behind a point, may be there.
  package static func localMilliseconds(
    _ text: String
  ) -> (seconds: Int64, milliseconds: Int64)? {
    var scanner = DigitScanner(Array(text.utf8))
    guard let year = scanner.digits(4) else { return nil }
    let isSlash = scanner.take("/")
    guard isSlash || scanner.take("-"), let month = scanner.oneOrTwoDigits(),
      scanner.take(isSlash ? "/" : "-"), let day = scanner.oneOrTwoDigits(),
      scanner.take(" ") || scanner.take("T"), let hour = scanner.oneOrTwoDigits(),
      scanner.take(":"), let minute = scanner.digits(2),
      (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
      hour < 24, minute < 60
    else { return nil }
    var (second, milliseconds): (Int64, Int64) = (0, 0)
    if scanner.take(":") {
      guard let written = scanner.digits(2), written < 60 else { return nil }
      second = written
      if scanner.take(".") {
        guard let fraction = scanner.fractionMilliseconds() else { return nil }
        milliseconds = fraction
      }
    }
    guard scanner.isAtEnd else { return nil }
    let minutes = (Self.daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute
    return (minutes * 60 + second, milliseconds)
  }

  /// The instant as an RFC 3339 time in UTC, with milliseconds if it has any. From year 10000 on,
  /// which RFC 3339 does not have, Unix milliseconds: ``init(text:)`` reads both.
  public var rfc3339: String {
    let secondOfDay = seconds % 86_400
    var (year, month, day) = Self.date(daysSinceEpoch: seconds / 86_400)
    if year > 9999 { return "\(milliseconds)" }
    year = max(year, 0)
    let fraction = milliseconds % 1000 == 0 ? "" : "." + (milliseconds % 1000).padded(to: 3)
    return year.padded(to: 4) + "-" + month.padded(to: 2) + "-" + day.padded(to: 2) + "T"
      + ClockTime.text(secondOfDay: secondOfDay) + fraction + "Z"
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    if month == 2 { return isLeap ? 29 : 28 }
    return [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  // Days from 1970-01-01 in the proleptic Gregorian calendar, with years that begin in March, so
  // that the leap day is the last. Source: Howard Hinnant, "chrono-Compatible Low-Level Date
  // Algorithms".
  package static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  package static func date(daysSinceEpoch days: Int64) -> (Int64, Int64, Int64) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}

/// Reads numbers of a known width from ASCII text.
private struct DigitScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func digits(_ count: Int) -> Int64? {
    guard position + count <= bytes.count else { return nil }
    var value: Int64 = 0
    for byte in bytes[position..<position + count] {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int64(byte) - 0x30
    }
    position += count
    return value
  }

  mutating func oneOrTwoDigits() -> Int64? { digits(2) ?? digits(1) }

  /// One digit or more; those past the third are dropped.
  mutating func fractionMilliseconds() -> Int64? {
    var value: Int64 = 0
    var count = 0
    while let digit = digits(1) {
      if count < 3 { value = value * 10 + digit }
      count += 1
    }
    guard count > 0 else { return nil }
    return count == 1 ? value * 100 : count == 2 ? value * 10 : value
  }

  /// `Z`, or a sign, hours and minutes.
  mutating func offsetMinutes() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let isWest = take("-")
    guard isWest || take("+"), let hours = digits(2), take(":"), let minutes = digits(2),
      hours < 24, minutes < 60
    else { return nil }
    return (isWest ? -1 : 1) * (hours * 60 + minutes)
  }
}
