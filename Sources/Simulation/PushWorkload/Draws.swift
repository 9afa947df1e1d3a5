internal import PushSupport

/// Random numbers that are found, not kept: the numbers of a thing are a function of the seed, what
/// is asked (the stream), and the thing's own numbers. So any thread can make any part of a world.
///
/// The numbers of one key come from SplitMix64.
struct Draws {
  /// What is drawn. A case's raw value is part of every world: a changed one changes all bytes.
  enum Stream: UInt64 {
    case zone = 1
    case user, room, core, others, member, muter, burst, mention, presence, session
    case home, away, day, join, visit, change, text, reply, week
    case keyword, contact, mute, classLevel, memberFacts, thread, inThread, role, word
  }

  private var numbers: SplitMix64

  init(_ seed: UInt64, _ stream: Stream, _ first: UInt64 = 0, _ second: UInt64 = 0) {
    numbers = SplitMix64(seed: Self.key(seed, stream, first, second))
  }

  /// One number for a thing.
  static func key(
    _ seed: UInt64, _ stream: Stream, _ first: UInt64 = 0, _ second: UInt64 = 0
  ) -> UInt64 {
    let start = mix(seed &+ stream.rawValue &* SplitMix64.increment)
    return mix(mix(start &+ first) ^ second &* 0xD1B5_4A32_D192_ED03)
  }

  static func mix(_ value: UInt64) -> UInt64 { SplitMix64.mix(value) }

  mutating func next() -> UInt64 { numbers.next() }

  /// A number of 0 ..< `count`.
  mutating func below(_ count: UInt64) -> UInt64 { next().multipliedFullWidth(by: count).high }

  /// More than 0 and less than 1, in steps of 2^-53.
  mutating func share() -> Double { (Double(next() >> 11) + 0.5) * 0x1p-53 }

  /// True for a share of all draws.
  mutating func isBelow(_ share: Double) -> Bool { self.share() < share }

  /// A draw from the normal distribution.
  mutating func normal(mean: Double, deviation: Double) -> Double {
    mean + deviation * PortableMath.normalQuantile(share())
  }

  /// A discrete Pareto draw: at least k with the probability (scale / k)^(exponent - 1), so that k
  /// has about k^-exponent.
  mutating func pareto(scale: Double, exponent: Double, atMost limit: Int) -> Int {
    let value = scale * PortableMath.power(share(), -1 / (exponent - 1))
    return value < Double(limit) ? Int(value) : limit
  }
}

/// An order of the numbers 0 ..< `count` that a key chooses, one number at a time: what makes
/// members of a room distinct without a list of them.
///
/// Rounds of steps that lose nothing (add, multiply by an odd number, fold the high half on the low
/// one) on as many bits as the count needs; a result out of range is permuted again.
struct Permutation {
  private let count: UInt64
  private let mask: UInt64
  private let shift: UInt64
  private let keys: SIMD4<UInt64>

  private static let rounds = 4

  /// - Precondition: 1 ..< 2^32.
  init(count: Int, key: UInt64) {
    precondition(count > 0 && count <= UInt32.max)
    self.count = UInt64(count)
    let bits = max(2, UInt64(64 - (self.count - 1).leadingZeroBitCount))
    mask = 1 << bits - 1
    // At least half, so that the fold is its own inverse.
    shift = (bits + 1) / 2
    var draws = SIMD4<UInt64>()
    for round in 0..<Self.rounds { draws[round] = Draws.mix(key &+ UInt64(round)) }
    keys = draws
  }

  /// The number at an index, 0 ..< `count`.
  subscript(index: Int) -> Int {
    var value = UInt64(index)
    repeat {
      for round in 0..<Self.rounds {
        let key = keys[round]
        value = ((value &+ key) &* (key >> 32 | 1)) & mask
        value ^= value >> shift
      }
    } while value >= count
    return Int(value)
  }

  /// The index of a number, the inverse of the subscript.
  func index(of number: Int) -> Int {
    var value = UInt64(number)
    repeat {
      for round in (0..<Self.rounds).reversed() {
        let key = keys[round]
        value ^= value >> shift
        value = (value &* Self.inverse(key >> 32 | 1) &- key) & mask
      }
    } while value >= count
    return Int(value)
  }

  /// The number that an odd one is multiplied with to give 1, modulo 2^64: each step doubles the
  /// digits that are right.
  private static func inverse(_ odd: UInt64) -> UInt64 {
    var inverse = odd
    for _ in 0..<5 { inverse = inverse &* (2 &- odd &* inverse) }
    return inverse
  }
}
