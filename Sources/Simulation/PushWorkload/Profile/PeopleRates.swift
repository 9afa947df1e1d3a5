internal import Glibc
package import PushModel

/// What users have set: quiet hours, levels, zones.
struct PeopleRates {
  private let rules: RuleSet
  /// The numbers of zones by all names that were met.
  private var zoneNumbers: [String: Int32] = [:]
  /// The name by which a zone is compared.
  private let zoneName: (String) -> String
  /// The number of each user's zone, by the user's number; -1 for none.
  private(set) var zones = Zones()
  /// How many users have settings, are silent all day, have a window otherwise.
  private var declared = 0
  private var silent = 0
  private var windows = 0
  private var mentionLevels = 0
  private var noneLevels = 0
  /// RongCloud's windows, and those that let mentions through.
  private var spans = 0
  private var mentionWindows = 0
  /// Windows by their beginning, in minutes, and by their length.
  private var starts = [Int](repeating: 0, count: 1440)
  private var lengths = [Int](repeating: 0, count: 1441)

  /// The zones of users by number; -1 for users who have none.
  struct Zones {
    fileprivate var numbers: [Int32] = []
    subscript(user: Int) -> Int32 { user < numbers.count ? numbers[user] : -1 }
  }

  init(_ rules: RuleSet, zoneName: @escaping (String) -> String) {
    self.rules = rules
    self.zoneName = zoneName
  }

  mutating func add(_ user: UserSettings, user index: Int) {
    declared += 1
    if let zone = user.timeZone {
      while zones.numbers.count <= index { zones.numbers.append(-1) }
      zones.numbers[index] = zoneNumbers[zone] ?? newNumber(zone)
    }
    let level = rules.fields.contains(.userLevel) ? user.level : user.levels[.group]
    if level == .mention { mentionLevels += 1 }
    if level == .blocked { noneLevels += 1 }
    add(user.quietHours)
  }

  private mutating func newNumber(_ zone: String) -> Int32 {
    let name = zoneName(zone)
    let number = zoneNumbers[name] ?? Int32(zoneNumbers.count)
    zoneNumbers[name] = number
    zoneNumbers[zone] = number
    return number
  }

  private mutating func add(_ quietHours: QuietHours?) {
    switch quietHours {
    case nil: break
    case .interval(let interval):
      let start = Int(interval.startMinute)
      let end = Int(interval.endMinute)
      if start == 0, end == 0 { break }
      add(start: start, length: (end - start + 1440) % 1440)
    case .span(let span):
      let isAllDay = span.spanMinutes == QuietSpan.spanMinutesRange.upperBound
      add(start: Int(span.startSecond) / 60, length: isAllDay ? 0 : Int(span.spanMinutes))
      if !isAllDay {
        spans += 1
        if span.level == .mention { mentionWindows += 1 }
      }
    case .windows: windows += 1
    }
  }

  /// - Parameter length: in minutes; 0 for the whole day.
  private mutating func add(start: Int, length: Int) {
    if length == 0 {
      silent += 1
      return
    }
    windows += 1
    starts[start] += 1
    lengths[length] += 1
  }

  /// The probability that two users have the same zone, of those who have one; nil for fewer than
  /// two.
  var sameZoneByChance: Double? {
    var counts = [Int](repeating: 0, count: zoneNumbers.count)
    for zone in zones.numbers where zone >= 0 { counts[Int(zone)] += 1 }
    return Self.pairShare(counts)
  }

  /// The share of pairs that are of one kind; nil for fewer than two.
  static func pairShare(_ counts: some Collection<Int>) -> Double? {
    let count = counts.reduce(0, +)
    guard count > 1 else { return nil }
    let same = counts.reduce(0.0) { $0 + Double($1) * Double($1 - 1) }
    return same / (Double(count) * Double(count - 1))
  }

  // MARK: Rates

  func rates() -> [MeasuredRate] {
    let none = "no settings of users are given"
    let noWindows = "no user has a window at night"
    let share = { (count: Int) in RateEstimate(count, of: declared, "users") }
    let (start, startDeviation) = startEstimates
    let (length, lengthDeviation) = lengthEstimates
    return [
      MeasuredRate("quiet-share", .share, share(windows), missing: none),
      MeasuredRate("silent-share", .share, share(silent), missing: none),
      MeasuredRate("quiet-start", .clock, start, missing: noWindows),
      MeasuredRate("quiet-start-sd", .minutes, startDeviation, missing: noWindows),
      MeasuredRate("quiet-length", .minutes, length, missing: noWindows),
      MeasuredRate("quiet-length-sd", .minutes, lengthDeviation, missing: noWindows),
      MeasuredRate(
        "quiet-mention-share", .share, RateEstimate(mentionWindows, of: spans, "windows"),
        missing: "no windows of RongCloud's"),
      MeasuredRate("mention-level-share", .share, share(mentionLevels), missing: none),
      MeasuredRate("none-level-share", .share, share(noneLevels), missing: none),
    ]
  }

  /// The mean time of day, as a direction on a circle, and the deviation from it.
  private var startEstimates: (mean: RateEstimate?, deviation: RateEstimate?) {
    let count = starts.reduce(0, +)
    guard count > 1 else { return (nil, nil) }
    var (sine, cosine) = (0.0, 0.0)
    for (minute, count) in starts.enumerated() where count > 0 {
      let angle = Double(minute) / 1440 * 2 * Double.pi
      sine += sin(angle) * Double(count)
      cosine += cos(angle) * Double(count)
    }
    let direction = Int((atan2(sine, cosine) / (2 * .pi) * 1440).rounded())
    // Differences from the direction are less than half a day, and have an ordinary mean.
    let differences = starts.indices.map { (($0 - direction + 2160) % 1440 - 720, starts[$0]) }
    let (mean, deviation) = Self.moments(differences, count)
    return Self.estimates(mean + Double(direction), deviation, count)
  }

  private var lengthEstimates: (mean: RateEstimate?, deviation: RateEstimate?) {
    let count = lengths.reduce(0, +)
    guard count > 1 else { return (nil, nil) }
    let (mean, deviation) = Self.moments(lengths.indices.map { ($0, lengths[$0]) }, count)
    return Self.estimates(mean, deviation, count)
  }

  private static func moments(
    _ values: [(value: Int, count: Int)], _ count: Int
  ) -> (mean: Double, deviation: Double) {
    let sum = values.reduce(0.0) { $0 + Double($1.value * $1.count) }
    let mean = sum / Double(count)
    let squares = values.reduce(0.0) { sum, entry in
      sum + (Double(entry.value) - mean) * (Double(entry.value) - mean) * Double(entry.count)
    }
    return (mean, (squares / Double(count - 1)).squareRoot())
  }

  private static func estimates(
    _ mean: Double, _ deviation: Double, _ count: Int
  ) -> (RateEstimate?, RateEstimate?) {
    let root = Double(count).squareRoot()
    return (
      RateEstimate(
        mean, error: deviation / root, observations: count, "windows",
        bounds: -Double.infinity...Double.infinity),
      RateEstimate(
        deviation, error: deviation / (2 * Double(count - 1)).squareRoot(), observations: count,
        "windows")
    )
  }
}

extension UserSettings {
  /// Whether the quiet hours are the whole day: under RongCloud all of it but a minute.
  package var isSilentAllDay: Bool {
    switch quietHours {
    case .interval(let interval):
      interval.startMinute == interval.endMinute && interval.startMinute != 0
    case .span(let span): span.spanMinutes == QuietSpan.spanMinutesRange.upperBound
    case .windows, nil: false
    }
  }
}
