/// Text as bytes, put together without strings.
extension [UInt8] {
  mutating func append(_ text: StaticString) {
    // SAFETY: a static string's characters are there as long as the program.
    let bytes = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    unsafe append(contentsOf: bytes)
  }

  mutating func append(text: String) { append(contentsOf: text.utf8) }

  /// Appends the digits of a number that is not negative.
  mutating func append(number: Int) {
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var rest = number
    var index = 20
    repeat {
      let (next, digit) = rest.quotientAndRemainder(dividingBy: 10)
      index -= 1
      digits[index] = UInt8(truncatingIfNeeded: 0x30 + digit)
      rest = next
    } while rest > 0
    // SAFETY: the bytes are copied while the span is there.
    unsafe digits.span.extracting(index..<20).withUnsafeBufferPointer { bytes in
      unsafe append(contentsOf: bytes)
    }
  }

  /// Appends `HH:MM` of a minute of the day.
  mutating func append(clock minute: Int) {
    append(twoDigits: minute / 60)
    append(UInt8(ascii: ":"))
    append(twoDigits: minute % 60)
  }

  private mutating func append(twoDigits number: Int) {
    append(UInt8(truncatingIfNeeded: 0x30 + number / 10))
    append(UInt8(truncatingIfNeeded: 0x30 + number % 10))
  }
}
