internal import Algorithms

/// How long sessions last.
struct SessionLengths: Sendable {
  private let logKnots: [(share: Double, log2: Double)]

  /// No session is longer.
  static let longestMinutes = 4320.0
  private static let sampleCount = 4096

  /// - Parameter quantiles: minutes that a tenth, half and nine tenths of the sessions last at
  ///   most.
  init(quantiles: [Double]) {
    let knots = [
      (0.0, quantiles[0] / 30), (0.1, quantiles[0]), (0.5, quantiles[1]), (0.9, quantiles[2]),
      (1.0, Self.longestMinutes),
    ]
    logKnots = knots.map { (share: $0.0, log2: PortableMath.log2($0.1)) }
  }

  /// The length that a share of the sessions has at most, between the knots in straight lines of
  /// its logarithm.
  func minutes(_ share: Double) -> Double {
    let index = (1..<logKnots.count - 1).first { share < logKnots[$0].share } ?? logKnots.count - 1
    let (low, high) = (logKnots[index - 1], logKnots[index])
    let part = (share - low.share) / (high.share - low.share)
    return PortableMath.exp2(low.log2 + (high.log2 - low.log2) * part)
  }

  /// Lengths at evenly spaced shares, ascending.
  var samples: [Double] {
    (0..<Self.sampleCount).map { minutes((Double($0) + 0.5) / Double(Self.sampleCount)) }
  }
}

/// How long a cycle is, in which each user begins one session.
///
/// A session ends when it has lasted its length, or shortly before the user's next one begins.
/// While few sessions are cut short by that, `mean length / cycle` of the users are connected. The
/// shorter the cycle, the more sessions are cut, so a great share needs a shorter cycle than that.
struct PresenceCycle: Sendable {
  let minutes: Double

  /// A user is disconnected at least so long between two sessions.
  static let pauseMilliseconds: Int64 = 1000
  /// No session that is not cut is shorter.
  static let shortestMilliseconds: Int64 = 1000
  /// A share that is missed by no more is accepted, and the cycle is `mean length / share`.
  private static let tolerance = 0.02
  /// No cycle is shorter than this part of `mean length / share`.
  private static let greatestDivisor = 64.0

  /// The cycle that a share of the users needs to be connected at once, in the mean; nil when
  /// sessions are too short for it.
  ///
  /// - Parameter day: how busy users are by their own clocks: it stretches cycles at night.
  init?(onlineShare: Double, lengths: SessionLengths, day: DayCurve) {
    let expected = ExpectedShare(lengths, day)
    let longest = expected.meanMinutes / onlineShare
    if expected.share(cycleMinutes: longest) >= onlineShare * (1 - Self.tolerance) {
      minutes = longest
      return
    }
    var (low, high) = (longest / Self.greatestDivisor, longest)
    guard expected.share(cycleMinutes: low) >= onlineShare else { return nil }
    // The share falls as the cycle grows.
    for _ in 0..<32 {
      let middle = (low + high) / 2
      if expected.share(cycleMinutes: middle) >= onlineShare { low = middle } else { high = middle }
    }
    minutes = low
  }
}

/// Which share of the users is connected at once, by the length of the cycle.
private struct ExpectedShare {
  private let day: DayCurve
  /// Ascending, and their sums: of the first none, one, two and so on.
  private let lengths: [Double]
  private let sums: [Double]
  let meanMinutes: Double

  /// Beginnings of sessions in a day, and gaps to the next, over which the mean is taken.
  private static let startCount = 24
  private static let gapCount = 32

  init(_ lengths: SessionLengths, _ day: DayCurve) {
    self.day = day
    let samples = lengths.samples
    self.lengths = samples.map { max($0, Double(PresenceCycle.shortestMilliseconds) / 60_000) }
    sums = self.lengths.reduce(into: [0.0]) { sums, length in sums.append(sums.last! + length) }
    meanMinutes = samples.reduce(0.0, +) / Double(samples.count)
  }

  func share(cycleMinutes: Double) -> Double {
    let cycle = Double(day.day) * (cycleMinutes / 1440)
    var sum = 0.0
    for start in 0..<Self.startCount {
      let position = day.day.scaled(by: UInt64(start) * 2 + 1, of: UInt64(Self.startCount) * 2)
      let begin = day.milliseconds(at: position)
      for index in 0..<Self.gapCount {
        // Two sessions are anywhere in two cycles that follow each other: the gap between them has
        // a triangular distribution around one cycle.
        let share = (Double(index) + 0.5) / Double(Self.gapCount)
        let gap = share < 0.5 ? (share * 2).squareRoot() : 2 - ((1 - share) * 2).squareRoot()
        let next = day.milliseconds(at: position + UInt64(gap * cycle))
        sum += meanCut(Double(next - begin - PresenceCycle.pauseMilliseconds) / 60_000)
      }
    }
    return sum / Double(Self.startCount * Self.gapCount) / cycleMinutes
  }

  /// The mean length of sessions cut after a number of minutes.
  private func meanCut(_ limit: Double) -> Double {
    guard limit > 0 else { return 0 }
    let whole = lengths.partitioningIndex { $0 >= limit }
    return (sums[whole] + Double(lengths.count - whole) * limit) / Double(lengths.count)
  }
}
