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

  /// So many things: `1 message`, `1,234 messages`, `2 entries`.
  package func counted(_ noun: String) -> String {
    if self == 1 { return "1 \(noun)" }
    return grouped + " " + (noun.hasSuffix("y") ? noun.dropLast() + "ies" : noun + "s")
  }
}

extension BinaryInteger {
  /// The share that the number has of `total`, as percent rounded to a tenth: `12.3 %`; of nothing
  /// a dash.
  package func percentage(of total: Self) -> String {
    guard total > 0 else { return "-" }
    // What is not nothing is not shown as that.
    if self > 0, Double(self) * 2000 < Double(total) { return "< 0.1 %" }
    let tenths = Int((Double(self) * 1000 / Double(total)).rounded())
    return "\(tenths / 10).\(tenths % 10) %"
  }
}

extension Double {
  /// A mean with commas between groups of three digits: whole, or with as many decimals as three
  /// digits need.
  package var grouped: String {
    let decimals = self == rounded() || magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2
    guard magnitude < 1e15 else { return "\(self)" }
    if decimals == 0 { return Int(rounded()).grouped }
    let scale = decimals == 1 ? 10 : 100
    let scaled = Int((self * Double(scale)).rounded())
    let (front, back) = scaled.magnitude.quotientAndRemainder(dividingBy: scale.magnitude)
    return (scaled < 0 ? "-" : "") + front.grouped + "." + back.padded(to: decimals)
  }
}

extension String {
  /// The text with spaces in front, up to a width in characters; whole when it is longer.
  package func paddedInFront(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }

  /// The text with spaces behind it, up to a width in characters; whole when it is longer.
  ///
  /// - Parameter gap: the least number of spaces.
  package func padded(to width: Int, gap: Int = 0) -> String {
    self + String(repeating: " ", count: Swift.max(gap, width - count))
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

/// Calls `body` with the decimal digits of a number.
@inlinable
package func withDigits<Value>(
  _ number: some FixedWidthInteger, _ body: (UnsafeRawBufferPointer) -> Value
) -> Value {
  unsafe withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { memory in
    var start = memory.count
    var rest = UInt64(number.magnitude)
    repeat {
      start -= 1
      unsafe memory[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if number < 0 {
      start -= 1
      unsafe memory[start] = 0x2D
    }
    return unsafe body(UnsafeRawBufferPointer(rebasing: memory[start...]))
  }
}

extension [UInt8] {
  /// Appends a number in decimal digits, without making a string.
  package mutating func appendDecimal(_ number: Int) {
    unsafe withDigits(number) { (digits) -> Void in unsafe append(contentsOf: digits) }
  }
}

extension OutputSpan<UInt8> {
  /// How many digits a number has at most.
  package static var decimalLimit: Int { 19 }

  /// Appends a number that is not negative in decimal digits.
  ///
  /// - Precondition: there is room for it.
  @inlinable
  package mutating func appendDecimal(_ number: Int) {
    unsafe withDigits(number) { (digits) -> Void in
      unsafe append(copying: digits.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// Appends bytes.
  ///
  /// - Precondition: there is room for them.
  @inlinable
  package mutating func append(copying bytes: UnsafeBufferPointer<UInt8>) {
    precondition(bytes.count <= freeCapacity)
    guard let source = bytes.baseAddress else { return }
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      if let start = buffer.baseAddress {
        unsafe (start + count).initialize(from: source, count: bytes.count)
        count += bytes.count
      }
    }
  }

  /// Appends a text.
  ///
  /// - Precondition: there is room for it.
  @inlinable
  package mutating func append(_ text: StaticString) {
    unsafe append(
      copying: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
