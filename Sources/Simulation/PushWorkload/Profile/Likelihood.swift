internal import Glibc

/// Exponents of the generator's distributions by maximum likelihood.
enum Likelihood {
  /// Where a function that rises and then falls is greatest.
  static func maximum(_ range: ClosedRange<Double>, _ value: (Double) -> Double) -> Double {
    var (low, high) = (range.lowerBound, range.upperBound)
    let ratio = 0.381966011250105
    var (left, right) = (low + (high - low) * ratio, high - (high - low) * ratio)
    var (atLeft, atRight) = (value(left), value(right))
    while high - low > 1e-5 {
      if atLeft < atRight {
        low = left
        (left, atLeft) = (right, atRight)
        right = high - (high - low) * ratio
        atRight = value(right)
      } else {
        high = right
        (right, atRight) = (left, atLeft)
        left = low + (high - low) * ratio
        atLeft = value(left)
      }
    }
    return (low + high) / 2
  }

  /// The exponent e of whole numbers that are at least k with the probability (from / k)^(e - 1),
  /// for k at least `from`; what is `limit` or more counts as at least `limit`.
  ///
  /// - Parameter counts: how often there was which number; numbers below `from` are left out.
  /// - Returns: nil for fewer than ten numbers, or when all are the same.
  static func paretoExponent(
    _ counts: [Int: Int], from: Int, limit: Int
  ) -> (exponent: Double, error: Double, count: Int)? {
    let known = counts.filter { $0.key >= from }.sorted { $0.key < $1.key }
    let count = known.reduce(0) { $0 + $1.value }
    guard count >= 10, known.count > 1 else { return nil }
    let first = Double(from)
    let likelihood = { (slope: Double) in
      known.reduce(0.0) { sum, entry in
        let k = Double(entry.key)
        let logarithm =
          entry.key >= limit
          ? slope * log(first / Double(limit))
          : slope * log(first / k) + log(1 - pow(k / (k + 1), slope))
        return sum + logarithm * Double(entry.value)
      }
    }
    let slope = maximum(0.05...9, likelihood)
    return (slope + 1, error(of: slope, likelihood), count)
  }

  /// The exponent s of a room's senders: the one of rank r sends a share of about r^-s,
  /// with the distribution function that the generator inverts.
  ///
  /// - Parameter counts: the messages of each sender, in any order; two at least.
  static func senderExponent(_ counts: [Int]) -> Double {
    let sorted = counts.sorted(by: >).map(Double.init)
    let total = sorted.reduce(0, +)
    return maximum(0.01...3) { exponent in
      let power = 1 - exponent
      let isOne = abs(power) < 1e-9
      let primitive = { (rank: Double) in isOne ? log(rank) : (pow(rank, power) - 1) / power }
      var before = 0.0
      var sum = 0.0
      for (index, count) in sorted.enumerated() {
        let next = primitive(Double(index + 2))
        sum += count * log(next - before)
        before = next
      }
      return sum - total * log(before)
    }
  }

  /// The standard error at a maximum, of the curvature there.
  private static func error(of value: Double, _ likelihood: (Double) -> Double) -> Double {
    let step = 1e-3
    let bend = likelihood(value + step) - 2 * likelihood(value) + likelihood(value - step)
    return bend < 0 ? step / (-bend).squareRoot() : .infinity
  }
}
