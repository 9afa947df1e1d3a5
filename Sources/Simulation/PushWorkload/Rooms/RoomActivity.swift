/// How much is written in a room: more than in proportion to its size up to 1,000 members, in
/// proportion above; and different by a factor from room to room.
struct RoomActivity: Sendable {
  private let factors: [Double]
  /// What 1 through 1,000 members have.
  private let bases: [Double]

  /// By ``sizeClass(_:)``: the share of the days that are active, and what those have, as a factor.
  private let activeShares: [Double]
  let dayFactors: [[Double]]
  /// The least weight of an active day; set by ``RoomTable``.
  var leastDayWeight: UInt64 = 2

  /// The slope of messages against members, both as logarithms, in rooms of up to 3,000.
  private static let slope = 1.57

  init(_ traffic: WorkloadOptions.Traffic) {
    factors = Self.logNormal(deviation: traffic.activityDeviation)
    activeShares = traffic.activeShares ?? traffic.usualActiveShares
    dayFactors = activeShares.map { share in
      let variation = max(
        Self.leastVariation, (1 + traffic.dayDeviation * traffic.dayDeviation) * share - 1)
      let isSteady = traffic.dayDeviation == 0
      let deviation =
        isSteady ? 0 : (PortableMath.log2(1 + variation) * 0.6931471805599453).squareRoot()
      let factors = Self.logNormal(deviation: deviation)
      let mean = factors.reduce(0, +) / Double(factors.count)
      // Active days have the traffic of the others.
      return factors.map { $0 / mean / max(share, 1e-9) }
    }
    bases = (0...1000).map { $0 == 0 ? 0 : 16 * PortableMath.power(Double($0), Self.slope) }
  }

  /// The square of the least coefficient of variation of active days, unless days are to be equal.
  private static let leastVariation = 0.04

  /// The quantiles of a distribution whose natural logarithm is normal around 0.
  private static func logNormal(deviation: Double) -> [Double] {
    (0..<1024).map { index in
      let normal = PortableMath.normalQuantile((Double(index) + 0.5) / 1024)
      return PortableMath.exp2(normal * deviation * 1.4426950408889634)
    }
  }

  /// The number of a size's number in ``WorkloadOptions/Traffic/activeShares``.
  static func sizeClass(_ size: Int) -> Int {
    size < 10 ? 0 : size < 50 ? 1 : size < 200 ? 2 : size < 1000 ? 3 : 4
  }

  /// How much finer a day's weights are than those of rooms.
  static let dayScale = 64.0

  /// What a room has on a day: as in the mean, but on active days only, more or less, and at least
  /// ``leastDayWeight``; 1 on others.
  func weight(of room: Int, size: Int, day: Int64, seed: UInt64) -> UInt64 {
    let key = Draws.key(seed, .day, UInt64(room), UInt64(bitPattern: day))
    let sizeClass = Self.sizeClass(size)
    if Double(key >> 11) * 0x1p-53 >= activeShares[sizeClass] { return 1 }
    let mean = Self.dayScale * Double(weight(of: room, size: size, seed: seed))
    return max(leastDayWeight, UInt64(mean * dayFactors[sizeClass][Int(key & 1023)]))
  }

  func weight(of room: Int, size: Int, seed: UInt64) -> UInt64 {
    let key = Draws.key(seed, .room, UInt64(room), 1)
    let base = size <= 1000 ? bases[size] : bases[1000] * (Double(size) / 1000)
    return max(1, UInt64(base * factors[Int(key >> 54)]))
  }
}
