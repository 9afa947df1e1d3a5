/// A POSIX TZ rule, which gives local time for all years: `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// - Source: POSIX.1-2017, "Other Environment Variables", TZ; with the extensions of RFC 9636,
///   section 3.3.1: transitions at -167 through 167 hours of their day.
struct ZoneRule: Equatable {
  /// Seconds east of UTC.
  let standardOffset: Int32
  /// nil for a zone that does not change its clocks.
  let daylight: Daylight?

  struct Daylight: Equatable {
    /// Seconds east of UTC.
    let offset: Int32
    let start, end: Day
  }

  /// A time of a day of each year, by the clock that is changed then.
  struct Day: Equatable {
    let kind: Kind
    /// Seconds from midnight, -604,800 < seconds < 604,800.
    let second: Int64

    enum Kind: Equatable {
      /// 1 through 365; 29 February is never counted.
      case julian(Int64)
      /// 0 through 365; 29 February is counted.
      case dayOfYear(Int64)
      /// Month 1 through 12, week 1 through 5 (the last), weekday 0 (Sunday) through 6.
      case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    /// Seconds from the epoch to this time of a year, as if the clock showed UTC.
    func second(inYear year: Int64) -> Int64 {
      let first = Self.daysFromEpoch(year, 1, 1)
      let day =
        switch kind {
        case .julian(let day): first + day - 1 + (Self.isLeap(year) && day >= 60 ? 1 : 0)
        case .dayOfYear(let day): first + day
        case .weekday(let month, let week, let weekday): Self.day(year, month, week, weekday)
        }
      return day * 86_400 + second
    }

    private static func day(
      _ year: Int64, _ month: Int64, _ week: Int64, _ weekday: Int64
    ) -> Int64 {
      let first = daysFromEpoch(year, month, 1)
      let next = month == 12 ? daysFromEpoch(year + 1, 1, 1) : daysFromEpoch(year, month + 1, 1)
      // 1970-01-01 was a Thursday.
      let firstWeekday = (first + 4) % 7
      let day = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
      return day < next ? day : day - 7
    }

    static func isLeap(_ year: Int64) -> Bool {
      year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// Days since 1970-01-01 of a date of the Gregorian calendar.
    ///
    /// Years are counted from March, so that a leap day is the last day of one.
    private static func daysFromEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
      let marchYear = month > 2 ? year : year - 1
      let (era, yearOfEra) = (marchYear / 400, marchYear % 400)
      let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
      let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
      return era * 146_097 + dayOfEra - 719_468
    }
  }

  /// The transitions of years, ascending; the offset that each begins.
  ///
  /// Where both clocks change at one instant, as where summer lasts all year, summer time goes on.
  ///
  /// - Parameter years: 1970 or later.
  func transitions(in years: ClosedRange<Int64>) -> [(at: Int64, offset: Int32)] {
    guard let daylight else { return [] }
    var found: [(at: Int64, offset: Int32)] = []
    for year in years {
      let start = daylight.start.second(inYear: year) - Int64(standardOffset)
      let end = daylight.end.second(inYear: year) - Int64(daylight.offset)
      found.append((start, daylight.offset))
      found.append((end, standardOffset))
    }
    found.sort {
      $0.at != $1.at
        ? $0.at < $1.at : $0.offset != daylight.offset && $1.offset == daylight.offset
    }
    var distinct: [(at: Int64, offset: Int32)] = []
    for transition in found {
      if distinct.last?.at == transition.at { distinct.removeLast() }
      distinct.append(transition)
    }
    return distinct
  }

  /// Seconds east of UTC at an instant, by the rule.
  func offset(at utcSeconds: Int64) -> Int32 {
    guard let daylight else { return standardOffset }
    // A rule repeats every 400 years, and years before 1970 are not looked at.
    let cycle = ZoneTable.cycleSeconds
    let folded = ((utcSeconds % cycle) + cycle) % cycle + cycle
    let year = 1970 + folded / 31_556_952
    let before = transitions(in: year - 2...year + 2).last { $0.at <= folded }
    return before?.offset ?? daylight.offset
  }
}

extension ZoneRule {
  /// - Returns: nil for a text that is no such rule.
  init?(_ text: some Collection<UInt8>) {
    var reader = Reader(text: Array(text))
    guard reader.name(), let standard = reader.offset() else { return nil }
    standardOffset = standard
    if reader.isAtEnd {
      daylight = nil
      return
    }
    guard reader.name() else { return nil }
    // An hour ahead by default.
    var offset = standard + 3600
    if reader.next != UInt8(ascii: ",") {
      guard let own = reader.offset() else { return nil }
      offset = own
    }
    guard ZoneFile.offsetRange.contains(offset), let start = reader.day(), let end = reader.day(),
      reader.isAtEnd
    else { return nil }
    daylight = Daylight(offset: offset, start: start, end: end)
  }

  private struct Reader {
    let text: [UInt8]
    private var position = 0

    init(text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { position == text.count }
    var next: UInt8? { isAtEnd ? nil : text[position] }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    /// Three letters or more, or anything of letters, digits and signs in angle brackets.
    mutating func name() -> Bool {
      let isQuoted = take("<")
      let start = position
      while let byte = next {
        let isOther = Self.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
        guard Self.isLetter(byte) || (isQuoted && isOther) else { break }
        position += 1
      }
      guard position - start >= 3 else { return false }
      return isQuoted ? take(">") : true
    }

    /// Seconds east of UTC: POSIX counts hours to the west.
    mutating func offset() -> Int32? {
      guard let seconds = time(upToHours: 24) else { return nil }
      return Int32(-seconds)
    }

    /// `,J60`, `,59` or `,M3.5.0`, with or without a time behind a slash.
    mutating func day() -> Day? {
      guard take(",") else { return nil }
      let kind: Day.Kind
      if take("J") {
        guard let day = number(in: 1...365) else { return nil }
        kind = .julian(day)
      } else if take("M") {
        guard let month = number(in: 1...12), take("."), let week = number(in: 1...5), take("."),
          let weekday = number(in: 0...6)
        else { return nil }
        kind = .weekday(month: month, week: week, weekday: weekday)
      } else {
        guard let day = number(in: 0...365) else { return nil }
        kind = .dayOfYear(day)
      }
      guard take("/") else { return Day(kind: kind, second: 7200) }
      guard let second = time(upToHours: 167) else { return nil }
      return Day(kind: kind, second: second)
    }

    /// `[+|-]h[:m[:s]]`, in seconds.
    private mutating func time(upToHours hours: Int64) -> Int64? {
      let isNegative = take("-")
      if !isNegative { _ = take("+") }
      guard let hour = number(in: 0...hours) else { return nil }
      var seconds = hour * 3600
      for unit: Int64 in [60, 1] where take(":") {
        guard let value = number(in: 0...59) else { return nil }
        seconds += value * unit
      }
      return isNegative ? -seconds : seconds
    }

    /// At most three digits.
    private mutating func number(in range: ClosedRange<Int64>) -> Int64? {
      var value: Int64 = 0
      var count = 0
      while let byte = next, Self.isDigit(byte), count < 3 {
        value = value * 10 + Int64(byte - 0x30)
        count += 1
        position += 1
      }
      return count > 0 && range.contains(value) ? value : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
      (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
  }
}
