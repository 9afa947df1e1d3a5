import Foundation
import Testing

@testable import PushWorkload

/// Goal: intervals and exponents are those of the formulas, computed here by hand.
@Suite struct EstimateTests {
  /// Values of single observations in groups of their own: the jackknife's error of a mean is then
  /// the ordinary one.
  private static func mean(of values: [Double], in groups: Int? = nil) -> GroupedMean {
    var mean = GroupedMean()
    for (index, value) in values.enumerated() { mean.add(value, group: index % (groups ?? 64)) }
    return mean
  }

  @Test func theErrorOfAMeanIsTheOrdinaryOne() throws {
    let estimate = try #require(Self.mean(of: (1...40).map(Double.init)).estimate("things"))
    let error = (40 * 41 / 12.0 / 40).squareRoot()
    #expect(estimate.value == 20.5 && estimate.observations == 40 && estimate.unit == "things")
    let interval = try #require(estimate.interval)
    #expect(abs(interval.lowerBound - (20.5 - 2 * error)) < 1e-9, "\(interval)")
    #expect(abs(interval.upperBound - (20.5 + 2 * error)) < 1e-9, "\(interval)")
    #expect(estimate.certainty == .good)
  }

  /// A hundred observations that are ten times the same are no surer than ten.
  @Test func observationsOfAGroupCountAsOne() throws {
    let values = (0..<100).map { Double($0 % 10) }
    let grouped = try #require(Self.mean(of: values, in: 10).estimate("things")?.interval)
    let single = try #require(Self.mean(of: (0..<10).map(Double.init)).estimate("things")?.interval)
    #expect(abs(grouped.upperBound - single.upperBound) < 1e-9)
    #expect(abs(grouped.lowerBound - single.lowerBound) < 1e-9)
  }

  @Test func howSureItIs() {
    let ones = [Double](repeating: 1, count: 100)
    let sure = [
      // Too few observations; too few groups; enough of both; what differs more.
      Self.mean(of: Array(ones.prefix(29))), Self.mean(of: ones, in: 7), Self.mean(of: ones, in: 8),
      Self.mean(of: (0..<100).map { $0 % 20 == 0 ? 1 : 0 }),
    ].map { $0.share("things")?.certainty }
    #expect(sure == [.few, .few, .good, .fair])
    #expect(Self.mean(of: ones, in: 7).share("things")?.interval == nil)
    #expect(GroupedMean().share("things") == nil)
  }

  /// "Rule of three": nothing among n is at most 3 / n.
  @Test func nothingFoundIsNotNothing() {
    let none = Self.mean(of: [Double](repeating: 0, count: 300)).share("things")
    #expect(none?.interval == 0...0.01)
    #expect(none?.certainty == .fair)
  }

  /// By Wilson's formula with z = 2: 10 of 50 are (0.2 + 0.04) / 1.08 ± ….
  @Test func sharesHaveTheScoreInterval() throws {
    let estimate = try #require(RateEstimate(10, of: 50, "users"))
    let reach = 2 / 1.08 * (0.2 * 0.8 / 50 + 1 / 2500.0).squareRoot()
    let interval = try #require(estimate.interval)
    #expect(estimate.value == 0.2)
    #expect(abs(interval.lowerBound - (0.24 / 1.08 - reach)) < 1e-12)
    #expect(abs(interval.upperBound - (0.24 / 1.08 + reach)) < 1e-12)
    #expect(RateEstimate(0, of: 0, "users") == nil)
  }

  /// 30 ones and 10 of at least 300: the likelihood is greatest where
  /// 3 ln 2 / (2^a - 1) = ln 300.
  @Test func paretoExponent() throws {
    let found = try #require(
      Likelihood.paretoExponent([1: 30, 400: 4, 300: 6], from: 1, limit: 300))
    let two = log(2.0)
    let slope = log2(1 + 3 * two / log(300.0))
    #expect(abs(found.exponent - (1 + slope)) < 1e-4, "\(found)")
    #expect(found.count == 40)
    // The likelihood's curvature is 30 (ln 2)^2 2^a / (2^a - 1)^2.
    let power = pow(2, slope)
    let error = (power - 1) / (two * (30 * power).squareRoot())
    #expect(abs(found.error - error) < 1e-3 * error, "\(found.error) \(error)")
    #expect(Likelihood.paretoExponent([1: 9], from: 1, limit: 300) == nil)
    #expect(Likelihood.paretoExponent([1: 90], from: 1, limit: 300) == nil)
    // What is below the beginning is left out.
    let tail = Likelihood.paretoExponent([1: 99, 2: 30, 4: 10], from: 2, limit: 4)
    #expect(abs((tail?.exponent ?? 0) - (1 + Self.tail)) < 1e-3)
  }

  /// 30 twos and 10 of at least 4, of numbers that are at least k with (2 / k)^a: the likelihood
  /// 30 ln(1 - (2/3)^a) + 10 a ln(1/2), at its maximum by bisection of its derivative.
  private static let tail: Double = {
    var (low, high) = (0.05, 9.0)
    for _ in 0..<60 {
      let a = (low + high) / 2
      let power = pow(2 / 3.0, a)
      let derivative = -30 * power * log(2 / 3.0) / (1 - power) + 10 * log(0.5)
      if derivative > 0 { low = a } else { high = a }
    }
    return low
  }()

  /// Of two senders the first has (2^(1-s) - 1) / (3^(1-s) - 1) of the messages: ln 2 / ln 3 with 1.
  @Test(arguments: [0.5, 1, 1.5])
  func senderExponent(exponent: Double) {
    let power = 1 - exponent
    let first = power == 0 ? log(2.0) / log(3.0) : (pow(2, power) - 1) / (pow(3, power) - 1)
    let counts = [Int((1e6 * (1 - first)).rounded()), Int((1e6 * first).rounded())]
    #expect(abs(Likelihood.senderExponent(counts) - exponent) < 1e-3)
  }

  @Test func numbersAreShort() {
    let texts = [0, 0.1, 2.0 / 3, 1234.56, 12.345, 0.0000123456, 1, -0.25, 3e-12].map {
      MeasuredRate.text($0)
    }
    #expect(
      texts == ["0", "0.1", "0.6667", "1235", "12.35", "0.00001235", "1", "-0.25", "0"])
  }
}
