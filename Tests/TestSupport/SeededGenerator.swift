import Foundation

/// Random numbers that are the same for the same seed on every machine (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True so many times in a hundred.
  public mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }

  /// True once in `count` times.
  public mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  public mutating func pick<Value>(_ values: [Value]) -> Value {
    values.randomElement(using: &self)!
  }
}

/// Fixed seeds, so that a plain run is repeatable, and the one that `PUSH_SEED` names.
public func seeds(_ fixed: [UInt64]) -> [UInt64] {
  let extra = ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) }
  return fixed + (extra.map { [$0] } ?? [])
}
