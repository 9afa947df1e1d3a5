/// Random numbers that are the same for the same seed on every machine.
///
/// - Source: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  @usableFromInline var state: UInt64

  @inlinable package init(seed: UInt64) { state = seed }

  /// What is added to the state for each number: 2^64 divided by the golden ratio.
  @inlinable package static var increment: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  @inlinable @inline(__always) package mutating func next() -> UInt64 {
    defer { state &+= Self.increment }
    return Self.mix(state)
  }

  /// The first number of a seed: a hash of 64 bits that is a permutation.
  @inlinable @inline(__always) package static func mix(_ seed: UInt64) -> UInt64 {
    var mixed = seed &+ increment
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
