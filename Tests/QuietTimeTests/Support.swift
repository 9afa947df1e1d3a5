import Foundation

/// Random numbers that are the same on every machine: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Fixed seeds, so that a plain run is repeatable; `PUSH_SEED=n` runs one more.
let seeds: [UInt64] = {
  let extra = ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) }
  return [1, 42] + (extra.map { [$0] } ?? [])
}()

/// The second of an RFC 3339 time in UTC, "2024-03-31T01:00:00Z".
func utc(_ text: String) -> Int64 {
  guard let date = try? Date(text, strategy: .iso8601) else {
    preconditionFailure("\"\(text)\" is not a time")
  }
  return Int64(date.timeIntervalSince1970)
}

/// The RFC 3339 time of a second, for messages.
func text(_ utcSeconds: Int64) -> String {
  Date(timeIntervalSince1970: Double(utcSeconds)).formatted(.iso8601)
}

/// The second of the day of a clock time, "7:05" or "7:05:30".
func clock(_ text: String) -> Int64 {
  let parts = text.split(separator: ":").compactMap { Int64($0) }
  precondition(parts.count == 2 || parts.count == 3)
  return parts[0] * 3600 + parts[1] * 60 + (parts.count == 3 ? parts[2] : 0)
}
