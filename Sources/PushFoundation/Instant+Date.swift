public import Foundation
public import PushModel

extension Instant {
  /// The instant of a date, to the nearest millisecond; a date outside of the range gives the
  /// nearest instant in it, and one that is no number the epoch.
  ///
  /// A `Date` counts seconds in floating point, so milliseconds are rounded, not truncated. A date
  /// that was made of an instant gives that instant, up to the year 9999 and far beyond.
  public init(_ date: Date) {
    let milliseconds = Self.milliseconds(date)
    // Comparisons with what is no number are false.
    if milliseconds >= Double(Self.maximumMilliseconds) {
      self.init(milliseconds: Self.maximumMilliseconds)
    } else {
      self.init(milliseconds: milliseconds > 0 ? Int64(milliseconds) : 0)
    }
  }

  /// The instant of a date, to the nearest millisecond; nil outside of the range of `Instant`.
  public init?(exactly date: Date) {
    guard let milliseconds = Int64(exactly: Self.milliseconds(date)) else { return nil }
    self.init(exactMilliseconds: milliseconds)
  }

  private static func milliseconds(_ date: Date) -> Double {
    (date.timeIntervalSince1970 * 1000).rounded()
  }
}

extension Date {
  /// The date of an instant, exact to the millisecond up to the year 9999 and far beyond.
  public init(_ instant: Instant) {
    self.init(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
  }
}
