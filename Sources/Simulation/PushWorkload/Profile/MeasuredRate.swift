internal import Glibc
internal import PushSupport

/// A rate of a world, measured or not: a flag of `push-fanout generate`, or one number of a flag
/// that takes a list.
public struct MeasuredRate: Hashable, Sendable {
  /// What kind of number a rate is.
  public enum Kind: Hashable, Sendable {
    /// 0 through 1.
    case share
    /// A ratio, an exponent, a deviation.
    case number
    /// Minutes after midnight.
    case clock
    /// Minutes.
    case minutes
    /// Seconds.
    case seconds
    /// Members of a room.
    case members
  }

  /// The flag of `push-fanout generate`, without the dashes; for ``isFlag`` false, a name of the
  /// same form.
  public let name: String
  /// Which number of a list it is, in words; empty for a flag of one number.
  public let part: String
  /// What kind of number it is.
  public let kind: Kind
  /// The number; nil when it was not measured.
  public let estimate: RateEstimate?
  /// Why there is no number, or why it is not given to `generate`; nil for a number that is.
  public let reason: String?
  /// Whether `generate` has a flag of that name.
  public let isFlag: Bool

  init(
    _ name: String, part: String = "", _ kind: Kind, _ estimate: RateEstimate?,
    missing: String, isFlag: Bool = true
  ) {
    self.name = name
    self.part = part
    self.kind = kind
    self.estimate = estimate
    self.isFlag = isFlag
    if let value = estimate?.value {
      reason = Self.range(of: name, kind).flatMap { range in
        range.contains(value)
          ? nil
          : "generate takes \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
      }
    } else {
      reason = missing
    }
  }

  /// What `generate` takes; nil where it takes all that can be measured.
  private static func range(of name: String, _ kind: Kind) -> ClosedRange<Double>? {
    switch name {
    case "size-exponent", "burst-exponent": 1.1...10
    case "top-joiners-share": 0.1...1
    case "hour-ratio": 1...100
    case "activity-sd", "sender-exponent": 0...3
    case "burst-gap": 0.001...300
    case "online-share": 0.0001...0.5
    case "session-minutes": 0.1...4000
    case "join-days": 0...3660
    case "weekend-ratio": 0.01...10
    case "day-deviation": 0...5
    case "active-shares": 0.0001...1
    case "changes": 0...100
    case "quiet-length": 30...1410
    case "quiet-start-sd", "quiet-length-sd": 0...720
    default: nil
    }
  }

  /// Whether ``WorkloadProfile/flags`` has the number.
  public var isGiven: Bool { isFlag && reason == nil && estimate?.certainty != .few }

  /// The number as `generate` takes it: four digits, or a time of day.
  public var text: String? { estimate.map { text(of: $0.value) } }

  /// The interval, in the form of ``text``.
  public var intervalText: String? {
    estimate?.interval.map { "\(text(of: $0.lowerBound))…\(text(of: $0.upperBound))" }
  }

  private func text(of value: Double) -> String {
    guard kind == .clock else { return Self.text(value) }
    return ClockTime.text(minuteOfDay: ((Int(value.rounded()) % 1440) + 1440) % 1440)
  }

  /// A number with four digits, without an exponent down to a millionth.
  static func text(_ value: Double) -> String {
    guard value != 0, value.isFinite else { return "0" }
    let digits = 3 - Int(floor(log10(abs(value))))
    guard digits > 0 else { return String(Int(value.rounded())) }
    let scale = pow(10, Double(min(digits, 9)))
    let scaled = Int((abs(value) * scale).rounded())
    let whole = Int(scale)
    var fraction = (scaled % whole).padded(to: min(digits, 9))
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return (value < 0 ? "-" : "") + String(scaled / whole)
      + (fraction.isEmpty ? "" : "." + fraction)
  }
}
