import Foundation
internal import PushSupport

/// Random numbers that are the same for the same seed on every machine.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var numbers: SplitMix64

  public init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  public mutating func next() -> UInt64 { numbers.next() }

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

/// A fixed seed, or the one that `PUSH_SEED` names instead.
public func seed(_ fixed: UInt64) -> UInt64 {
  ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) } ?? fixed
}
