internal import Glibc

/// A number that was measured, and how sure it is.
public struct RateEstimate: Hashable, Sendable {
  /// How much a measured number can be relied on.
  public enum Certainty: String, CaseIterable, Sendable {
    /// The interval is within a fifth of the value.
    case good
    /// The interval is wider.
    case fair
    /// Less than 30 observations or 8 independent groups of them; there may be no interval.
    case few
  }

  /// The number.
  public let value: Double
  /// Where the number lies with a confidence of about 95 %; nil when there are too few independent
  /// observations to say.
  public let interval: ClosedRange<Double>?
  /// How many observations the number was computed from.
  public let observations: Int
  /// What an observation is, in the plural: messages, rooms, users.
  public let unit: String
  /// How much it can be relied on.
  public let certainty: Certainty

  /// - Parameters:
  ///   - error: the standard error; nil when it is not known.
  ///   - groups: how many independent groups the observations are in; nil for as many as there are
  ///     observations.
  ///   - bounds: what values are possible, to which the interval is cut.
  init(
    _ value: Double, error: Double?, observations: Int, _ unit: String, groups: Int? = nil,
    bounds: ClosedRange<Double> = 0...Double.infinity
  ) {
    var interval: ClosedRange<Double>?
    if let error, error.isFinite {
      let low = min(max(value - 2 * error, bounds.lowerBound), value)
      interval = low...max(value, min(value + 2 * error, bounds.upperBound))
    }
    self.init(value, interval: interval, observations: observations, unit, groups: groups)
  }

  init(
    _ value: Double, interval: ClosedRange<Double>?, observations: Int, _ unit: String,
    groups: Int? = nil
  ) {
    let isFew = observations < 30 || (groups ?? observations) < Self.fewestGroups
    self.value = value
    self.observations = observations
    self.unit = unit
    self.interval = interval
    guard let interval, !isFew else {
      certainty = .few
      return
    }
    let reach = max(interval.upperBound - value, value - interval.lowerBound)
    certainty = reach <= 0.2 * abs(value) ? .good : .fair
  }

  /// Below so many independent groups an interval says little.
  static let fewestGroups = 8

  /// The share of `count` observations, independent of each other, that are of some kind; nil
  /// without observations.
  ///
  /// - Source: the score interval of E. B. Wilson (1927).
  init?(_ hits: Int, of count: Int, _ unit: String) {
    guard count > 0 else { return nil }
    let n = Double(count)
    let share = Double(hits) / n
    let center = (share + 2 / n) / (1 + 4 / n)
    let reach = 2 / (1 + 4 / n) * (share * (1 - share) / n + 1 / (n * n)).squareRoot()
    let low = hits == 0 ? 0 : max(0, min(center - reach, share))
    self.init(
      share, interval: low...min(1, max(center + reach, share)), observations: count, unit)
  }
}

/// A mean of observations that are not independent: those of a group may depend on each other,
/// groups do not.
///
/// The standard error is found by leaving out one group after the other (the delete-a-group
/// jackknife), so that a burst of a hundred messages does not count as a hundred observations.
struct GroupedMean {
  static let groupCount = 64
  private var sums = [Double](repeating: 0, count: groupCount)
  private(set) var counts = [Int](repeating: 0, count: groupCount)

  /// The group of a room on a day.
  static func group(room: Int, day: Int64) -> Int {
    Int(Draws.mix(UInt64(truncatingIfNeeded: room) << 32 ^ UInt64(bitPattern: day)) & 63)
  }

  /// The group of anything with a number.
  static func group(_ number: some BinaryInteger) -> Int {
    Int(Draws.mix(UInt64(truncatingIfNeeded: number)) & 63)
  }

  var count: Int { counts.reduce(0, +) }
  var sum: Double { sums.reduce(0, +) }

  mutating func add(_ value: Double, group: Int, count: Int = 1) {
    sums[group] += value
    counts[group] += count
  }

  mutating func add(_ hit: Bool, group: Int) { add(hit ? 1 : 0, group: group) }

  /// The mean; nil without observations.
  func estimate(_ unit: String, bounds: ClosedRange<Double> = 0...Double.infinity) -> RateEstimate?
  {
    let (count, sum) = (count, sum)
    guard count > 0 else { return nil }
    return Self.jackknife(counts, observations: count, unit, bounds: bounds) { without in
      guard let without else { return sum / Double(count) }
      return (sum - sums[without]) / Double(count - counts[without])
    }
  }

  /// The mean of zeros and ones; nil without observations.
  ///
  /// Where nothing was found, the interval ends at three of all observations ("rule of three").
  func share(_ unit: String) -> RateEstimate? {
    let count = count
    if count > 0, sum == 0 {
      let groups = counts.count { $0 > 0 }
      return RateEstimate(
        0, interval: 0...min(1, 3 / Double(count)), observations: count, unit, groups: groups)
    }
    return estimate(unit, bounds: 0...1)
  }

  /// A number that is computed from all groups, and, for its standard error, from all but one.
  ///
  /// - Parameters:
  ///   - counts: the observations of each group.
  ///   - value: the number without a group, or of all; nil for one that is not defined.
  static func jackknife(
    _ counts: [Int], observations: Int, _ unit: String,
    bounds: ClosedRange<Double> = 0...Double.infinity, _ value: (_ without: Int?) -> Double?
  ) -> RateEstimate? {
    guard let all = value(nil), all.isFinite else { return nil }
    let groups = counts.indices.filter { counts[$0] > 0 }
    var error: Double?
    if groups.count >= RateEstimate.fewestGroups {
      let values = groups.compactMap { value($0) }.filter { $0.isFinite }
      if values.count == groups.count {
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        error = (squares * Double(values.count - 1) / Double(values.count)).squareRoot()
      }
    }
    return RateEstimate(
      all, error: error, observations: observations, unit, groups: groups.count, bounds: bounds)
  }
}
