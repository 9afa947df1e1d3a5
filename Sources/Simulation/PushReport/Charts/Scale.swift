internal import Glibc

/// Numbers laid along an axis.
struct LinearScale {
  /// The value at ``end``; the one at ``start`` is 0.
  let maximum: Double
  let start: Double
  let end: Double
  /// Round numbers from 0 to ``maximum``.
  let ticks: [Double]

  /// An axis from 0 to a round number that is no smaller than the greatest value.
  ///
  /// - Parameters:
  ///   - limit: a value that no axis need go beyond, like 1 for shares.
  ///   - isWhole: there is nothing between whole numbers.
  init(
    upTo greatest: Double, from start: Double, to end: Double, tickCount: Int = 4,
    limit: Double = .infinity, isWhole: Bool = false
  ) {
    var step = Self.roundStep(greatest > 0 ? greatest / Double(tickCount) : 1 / Double(tickCount))
    if isWhole { step = max(1, step) }
    let count = max(1, (greatest / step - 1e-9).rounded(.up))
    let ticks = (0...Int(count)).map { Double($0) * step }.filter { $0 <= limit * (1 + 1e-9) }
    self.ticks = ticks
    self.maximum = min(limit, count * step)
    self.start = start
    self.end = end
  }

  /// 1, 2 or 5 times a power of ten, no smaller than a number.
  static func roundStep(_ least: Double) -> Double {
    var power = 1.0
    while power < least { power *= 10 }
    while power / 10 >= least { power /= 10 }
    // Now power / 10 < least <= power.
    for share in [0.2, 0.5] where power * share >= least { return power * share }
    return power
  }

  func callAsFunction(_ value: Double) -> Double {
    start + (end - start) * min(1, max(0, value / maximum))
  }
}

/// Powers of ten laid along an axis.
struct LogScale {
  /// The exponents at both ends.
  let exponents: ClosedRange<Int>
  let start: Double
  let end: Double

  /// An axis of whole decades that holds a range.
  ///
  /// - Precondition: the values are positive.
  init(_ values: ClosedRange<Double>, from start: Double, to end: Double) {
    var low = 0
    while Self.power(low) > values.lowerBound { low -= 1 }
    while Self.power(low + 1) <= values.lowerBound { low += 1 }
    var high = low + 1
    while Self.power(high) < values.upperBound { high += 1 }
    exponents = low...high
    self.start = start
    self.end = end
  }

  func callAsFunction(_ value: Double) -> Double {
    let fraction = (log10(value) - Double(exponents.lowerBound)) / Double(exponents.count - 1)
    return start + (end - start) * min(1, max(0, fraction))
  }

  static func power(_ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<abs(exponent) { result *= 10 }
    return exponent < 0 ? 1 / result : result
  }
}
