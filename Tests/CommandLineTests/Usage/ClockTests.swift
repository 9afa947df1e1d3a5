import PushModel
import Testing

@testable import push_fanout

/// Goal: a clock that is set to what settings cannot say is an error, not a crash.
@Suite struct ClockTests {
  @Test func aClockOfNoUseIsSaid() throws {
    let last = Double(Instant.maximumMilliseconds) / 1000
    let times = [0, 1.5, 1_764_000_000.123, -0.01, -86_400, last + 1, 1e300, .infinity, .nan]
    let found = times.map { (try? Clock.instant(secondsSince1970: $0))?.milliseconds }
    #expect(found == [0, 1500, 1_764_000_000_123, nil, nil, nil, nil, nil, nil])
    let error = #expect(throws: Failure.self) { try Clock.instant(secondsSince1970: -86_400) }
    #expect(error?.text.hasSuffix("outside of what settings can hold; set it") == true)
  }
}
