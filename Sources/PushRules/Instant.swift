/// A moment, in **milliseconds** since 1970-01-01T00:00:00Z, not counting leap seconds.
///
/// - Source: formats.md, "Values": 0 through 2^53 - 1, which every JSON reader keeps exact.
public struct Instant: Hashable, Comparable, Sendable {
  public static let maximumMilliseconds: Int64 = 1 << 53 - 1

  public let milliseconds: Int64

  /// The moment so many milliseconds after the epoch.
  ///
  /// - Precondition: 0 through ``maximumMilliseconds``.
  public init(milliseconds: Int64) {
    precondition(0 <= milliseconds && milliseconds <= Self.maximumMilliseconds)
    self.milliseconds = milliseconds
  }

  /// The epoch itself, which stands for "no mute" where an instant ends a mute (E-6).
  public static let zero = Instant(milliseconds: 0)

  /// Whole seconds since the epoch: milliseconds are dropped before a window is tested (§1).
  public var seconds: Int64 { milliseconds / 1000 }

  public static func < (left: Instant, right: Instant) -> Bool {
    left.milliseconds < right.milliseconds
  }
}
