import PushModel
import Testing

/// Goal: no number of milliseconds stops the process.
@Suite struct InstantTests {
  private static let last = Instant.maximumMilliseconds

  @Test func numbersOutsideOfTheRangeGiveTheNearestInstant() {
    let given: [Int64] = [.min, -1, 0, 1, Self.last - 1, Self.last, Self.last + 1, .max]
    #expect(
      given.map { Instant(milliseconds: $0).milliseconds }
        == [0, 0, 0, 1, Self.last - 1, Self.last, Self.last, Self.last])
    #expect(
      given.map { Instant(exactMilliseconds: $0)?.milliseconds }
        == [nil, nil, 0, 1, Self.last - 1, Self.last, nil, nil])
    let texts = given.map { Instant(text: String($0))?.milliseconds }
    #expect(texts == [nil, nil, 0, 1, Self.last - 1, Self.last, nil, nil])
  }

  /// What is printed can be read again, also past the years that RFC 3339 has.
  @Test func anInstantIsReadAsItWasWritten() {
    let year10000: Int64 = 253_402_300_800_000
    let given = [0, 1, 1_717_416_000_123, year10000 - 1, year10000, Self.last]
    let texts = given.map { Instant(milliseconds: $0).rfc3339 }
    #expect(texts.map { Instant(text: $0)?.milliseconds } == given)
    #expect(texts.suffix(3) == ["9999-12-31T23:59:59.999Z", "253402300800000", "\(Self.last)"])
  }

  @Test func durationsEndAtTheLastInstantAtTheLatest() throws {
    let week = try MuteDuration(minutes: 10_080)
    let ends = [0, Self.last - 604_800_001, Self.last - 1, Self.last].map {
      week.expiry(from: Instant(milliseconds: $0)).milliseconds
    }
    #expect(ends == [604_800_000, Self.last - 1, Self.last, Self.last])
  }
}
