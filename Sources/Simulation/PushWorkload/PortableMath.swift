/// Logarithm, exponential and normal quantile that give the same bits on every machine.
///
/// A C library's functions differ in their last bits from version to version, and a world must not.
/// Here are only additions, multiplications, divisions and square roots, which IEEE 754 defines to
/// the bit, and which the compiler neither fuses nor reorders.
enum PortableMath {
  /// The logarithm of a positive, normal number to base 2, to about 15 digits.
  static func log2(_ value: Double) -> Double {
    // value = 2^exponent * mantissa, with the mantissa around 1, where the series is short.
    var exponent = Double(Int(value.bitPattern >> 52) - 1023)
    var mantissa = Double(bitPattern: value.bitPattern & (1 << 52 - 1) | 1023 << 52)
    if mantissa > 1.4142135623730951 {
      mantissa *= 0.5
      exponent += 1
    }
    // ln m = 2 (t + t^3/3 + t^5/5 + ...) with t = (m - 1) / (m + 1), here at most 0.172.
    let t = (mantissa - 1) / (mantissa + 1)
    let square = t * t
    var sum = 0.0
    var odd = 21.0
    while odd > 0 {
      sum = sum * square + 1 / odd
      odd -= 2
    }
    return exponent + 2 * t * sum * 1.4426950408889634
  }

  /// 2 to the power of a number of -1000 through 1000, to about 15 digits.
  static func exp2(_ value: Double) -> Double {
    precondition(abs(value) <= 1000)
    let whole = Int(value + (value < 0 ? -0.5 : 0.5))
    // e^x = 1 + x (1 + x/2 (1 + x/3 (...))), with x at most ln 2 / 2.
    let x = (value - Double(whole)) * 0.6931471805599453
    var sum = 1.0
    var divisor = 14.0
    while divisor > 0 {
      sum = 1 + sum * x / divisor
      divisor -= 1
    }
    return sum * Double(bitPattern: UInt64(whole + 1023) << 52)
  }

  /// A positive number to a power.
  static func power(_ base: Double, _ exponent: Double) -> Double {
    if exponent == 1 { return base }
    if exponent == -1 { return 1 / base }
    return exp2(log2(base) * exponent)
  }

  /// The quantile of the standard normal distribution, to about 9 digits.
  ///
  /// - Parameter share: more than 0 and less than 1.
  /// - Source: P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution
  ///   function", 2003.
  static func normalQuantile(_ share: Double) -> Double {
    if share < 0.02425 { return tail(share) }
    if share > 1 - 0.02425 { return -tail(1 - share) }
    let q = share - 0.5
    let r = q * q
    let top =
      ((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r
        + 138.3577518672690) * r - 30.66479806614716) * r + 2.506628277459239
    let bottom =
      ((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r
        + 66.80131188771972) * r - 13.28068155288572) * r + 1
    return top * q / bottom
  }

  private static func tail(_ share: Double) -> Double {
    let q = (-2 * log2(share) * 0.6931471805599453).squareRoot()
    let top =
      ((((-0.007784894002430293 * q - 0.3223964580411365) * q - 2.400758277161838) * q
        - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783
    let bottom =
      (((0.007784695709041462 * q + 0.3224671290700398) * q + 2.445134137142996) * q
        + 3.754408661907416) * q + 1
    return top / bottom
  }
}
