/// A point in time, in **milliseconds** since 1970-01-01T00:00:00Z, not counting leap seconds.
///
/// - Source: formats.md, "Values": 0 through 2^53 - 1, which every JSON reader keeps exact.
public struct Instant: Hashable, Comparable, Sendable {
  /// The last instant, 2^53 - 1 milliseconds after the epoch.
  public static let maximumMilliseconds: Int64 = 1 << 53 - 1

  /// Milliseconds since the epoch, 0 through ``maximumMilliseconds``.
  public let milliseconds: Int64

  /// The instant of a number of milliseconds; a number outside of the range gives the nearest
  /// instant in it.
  ///
  /// A clock that is set wrong, or "mute for ever" as a very large number, must not end the
  /// process. ``init(exactMilliseconds:)`` returns nil for a number outside of the range.
  public init(milliseconds: Int64) {
    self.milliseconds = min(max(0, milliseconds), Self.maximumMilliseconds)
  }

  /// The epoch, which means "no mute" where an instant ends a mute (E-6).
  public static let zero = Instant(milliseconds: 0)

  /// Whole seconds since the epoch: milliseconds are dropped before a window is tested (§1).
  public var seconds: Int64 { milliseconds / 1000 }

  /// Converts a duration in seconds to milliseconds.
  ///
  /// Readers of files limit durations; settings made in code may have any number. It is clamped to
  /// ``maximumMilliseconds`` seconds in either direction, so that the result plus any instant does
  /// not overflow.
  @inlinable package static func milliseconds(ofSeconds seconds: Int64) -> Int64 {
    min(max(-maximumMilliseconds, seconds), maximumMilliseconds) * 1000
  }

  public static func < (left: Instant, right: Instant) -> Bool {
    left.milliseconds < right.milliseconds
  }
}
