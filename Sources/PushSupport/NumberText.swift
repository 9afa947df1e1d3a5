extension BinaryInteger {
  /// The number in decimal digits, with zeros in front up to a width: `7.padded(to: 2)` is `07`.
  package func padded(to width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }

  /// The number with commas between groups of three digits: `1,234,567`.
  package var grouped: String {
    var digits = Array(String(magnitude))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    return (self < 0 ? "-" : "") + String(digits)
  }
}

/// A time of day as text.
package enum ClockTime {
  /// `HH:MM` of a minute of the day.
  package static func text(minuteOfDay minute: some BinaryInteger) -> String {
    (minute / 60).padded(to: 2) + ":" + (minute % 60).padded(to: 2)
  }

  /// `HH:MM:SS` of a second of the day.
  package static func text(secondOfDay second: some BinaryInteger) -> String {
    text(minuteOfDay: second / 60) + ":" + (second % 60).padded(to: 2)
  }
}
