internal import Algorithms

/// The activity at each instant of a day that repeats: a weight a millisecond, the same within
/// a minute, in whole numbers.
///
/// A *position* counts weight from the day's beginning at instant 0 on; equal steps of position are
/// equally busy.
struct DayCurve: Sendable {
  /// The weight of a millisecond in each minute of the day, and the positions of the minutes.
  private let weights: [UInt64]
  private let starts: [UInt64]

  static let dayMilliseconds: Int64 = 86_400_000

  /// The weight of a day.
  var day: UInt64 { starts[1440] }

  /// - Precondition: 1,440 weights of at least 1.
  init(weights: [UInt64]) {
    precondition(weights.count == 1440 && !weights.contains(0))
    self.weights = weights
    var sum: UInt64 = 0
    starts =
      weights.map { weight in
        defer { sum += weight * 60_000 }
        return sum
      } + [sum]
  }

  /// The share of the busiest minute that a minute of the day has.
  func weight(atMinute minute: Int) -> UInt64 { weights[minute] }

  /// The position of an instant, which is not before 0.
  func position(at milliseconds: Int64) -> UInt64 {
    let (day, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.dayMilliseconds)
    let (minute, within) = Int(rest).quotientAndRemainder(dividingBy: 60_000)
    return UInt64(day) * self.day + starts[minute] + weights[minute] * UInt64(within)
  }

  /// The last millisecond whose position is not behind the given one.
  func milliseconds(at position: UInt64) -> Int64 {
    let (day, rest) = position.quotientAndRemainder(dividingBy: self.day)
    let minute = starts.partitioningIndex { $0 > rest } - 1
    let within = (rest - starts[minute]) / weights[minute]
    return Int64(day) * Self.dayMilliseconds + Int64(minute) * 60_000 + Int64(within)
  }
}

extension DayCurve {
  /// Messages by hour of the day: what the busiest hour has above the quietest, in thousandths.
  ///
  /// - Source: the hours of three archives (Gitter freeCodeCamp, Zulip Lean, IRC #whatwg) with
  ///   people in many zones, each shifted so that its quietest hour is 04, averaged.
  static let hours = [
    241, 156, 90, 50, 0, 90, 226, 347, 382, 427, 492, 598, 764, 950, 980, 1000, 995, 940, 930, 899,
    809, 683, 497, 342,
  ]

  /// The same of single people, each by the own clock.
  ///
  /// - Source: the hours of people of four archives (Gitter freeCodeCamp, Zulip Lean, IRC #whatwg,
  ///   a question-and-answer group on Telegram), each shifted so that the person's quietest eight
  ///   hours begin at 23, averaged.
  static let ownHours = [
    76, 22, 11, 0, 22, 76, 207, 451, 696, 842, 913, 957, 957, 989, 1000, 962, 913, 848, 793, 772,
    777, 647, 435, 207,
  ]

  /// People's day by their own clocks, from hour to hour in straight lines.
  ///
  /// - Parameter ratio: how much busier the busiest hour is than the quietest.
  static func local(ratio: Double, hours: [Int] = hours) -> DayCurve {
    let values = hours.map { 1000 + (ratio - 1) * Double($0) }
    return DayCurve(weights: minutes(values).map { UInt64($0) })
  }

  /// The values of the minutes from those of hours, which are those of the middle of an hour.
  static func minutes(_ values: [Double]) -> [Double] {
    (0..<1440).map { minute in
      let (hour, within) = ((minute + 1410) % 1440).quotientAndRemainder(dividingBy: 60)
      let share = (Double(within) + 0.5) / 60
      return values[hour] * (1 - share) + values[(hour + 1) % 24] * share
    }
  }

  /// The day in UTC of people in several zones.
  ///
  /// - Parameter zones: how many people are how many minutes ahead of UTC.
  func combined(_ zones: [(people: UInt64, offsetMinutes: Int)]) -> DayCurve {
    let total = zones.reduce(0) { $0 + $1.people }
    return DayCurve(
      weights: (0..<1440).map { minute in
        let sum = zones.reduce(0 as UInt64) { sum, zone in
          sum + zone.people * weights[(minute + zone.offsetMinutes + 1440) % 1440]
        }
        // Ten times finer than one zone's, and at most some ten thousand.
        return max(1, sum * 10 / max(total, 1))
      })
  }
}
