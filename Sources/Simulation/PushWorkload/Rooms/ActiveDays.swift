internal import PushModel

/// How much is written at least in a room on an active day, so that it is active.
///
/// Where nothing but a room's size and factor counted, a day of a small room would often have less
/// than one burst, and fewer days would have a message than are asked for.
struct ActiveDays {
  /// The mean number of bursts of an active day, at least: one of e^2 = 7.4 such days has none.
  private static let leastBursts = 2.0
  /// The most of all bursts that the least numbers of all active days may be.
  private static let mostOfBursts = 0.8
  /// Rooms, besides the giants, that stand for all.
  private static let sampleSize = 1 << 16
  /// Quantiles of a day's factor that stand for all.
  private static let quantileCount = 16

  /// Rooms of one class and of about the same weight.
  private struct Bin {
    var sizeClass: Int
    var weight: Double
    var count: Double
  }

  private let traffic: WorkloadOptions.Traffic
  private let rooms: RoomTable
  private let messages: Int
  private let shares: [Double]
  private let bins: [Bin]
  /// The UTC dates of the world.
  private let dates: Int

  init(_ options: WorkloadOptions, _ rooms: RoomTable) {
    traffic = options.traffic
    self.rooms = rooms
    messages = options.traffic.messages ?? options.sizes.users
    shares = traffic.activeShares ?? traffic.usualActiveShares
    bins = Self.bins(rooms)
    let day = DayCurve.dayMilliseconds
    let start = traffic.start.milliseconds
    dates = Int((start + traffic.durationMilliseconds - 1) / day - start / day) + 1
  }

  /// The least weight of a room on an active day.
  ///
  /// - Throws: when ``WorkloadOptions/Traffic/activeShares`` are given and there are too few
  ///   messages for them.
  func leastWeight() throws(WorkloadError) -> UInt64 {
    let bursts = Double(messages) / Self.meanBurst(traffic) / Double(dates)
    let active = (0..<shares.count).map { number in
      bins.reduce(0) { $1.sizeClass == number ? $0 + $1.count * shares[number] : $0 }
    }
    let days = active.reduce(0, +)
    guard bursts > 0, days > 0 else { return 2 }
    var wanted = Self.leastBursts
    if wanted * days > Self.mostOfBursts * bursts {
      let part = Self.mostOfBursts * bursts / (wanted * days)
      if traffic.activeShares != nil {
        let most = active.indices.max { active[$0] < active[$1] } ?? 0
        throw .more(
          knob: "active-shares", value: shares[most], most: shares[most] * part,
          than: "\(messages) messages can reach in rooms of that size; give more messages, or "
            + "\(part >= 0.01 ? "\(Int(part * 100)) %" : "less than 1 %") of each share")
      }
      wanted *= part
    }
    let usual = Double(rooms.totalActivity) * RoomActivity.dayScale
    // Where the least weight has the wanted part of the mean weight of a day, which grows with it.
    var (low, high) = (0.0, wanted * usual / (bursts - wanted * days))
    for _ in 0..<40 {
      let middle = (low + high) / 2
      if wanted * (usual + added(middle)) > middle * bursts { low = middle } else { high = middle }
    }
    return max(2, UInt64(low))
  }

  /// What a least weight adds to a day, in the mean.
  private func added(_ least: Double) -> Double {
    bins.reduce(0) { sum, bin in
      let factors = rooms.activity.dayFactors[bin.sizeClass]
      let step = factors.count / Self.quantileCount
      let mean = stride(from: step / 2, to: factors.count, by: step).reduce(0) {
        $0 + max(0, least - bin.weight * factors[$1])
      }
      return sum + bin.count * shares[bin.sizeClass] * mean / Double(Self.quantileCount)
    }
  }

  private static func bins(_ rooms: RoomTable) -> [Bin] {
    let giants = rooms.giants.count
    let sample = min(rooms.count - giants, sampleSize)
    let scale = sample > 0 ? Double(rooms.count - giants) / Double(sample) : 0
    var bins: [Int: Bin] = [:]
    for room in 0..<giants + max(0, sample) {
      let size = rooms.size(of: room)
      let weight =
        RoomActivity.dayScale
        * Double(rooms.activity.weight(of: room, size: size, seed: rooms.seed))
      let sizeClass = RoomActivity.sizeClass(size)
      // Sixteen bins an octave.
      let key = sizeClass << 16 | Int(weight.bitPattern >> 48)
      bins[key, default: Bin(sizeClass: sizeClass, weight: weight, count: 0)].count +=
        room < giants ? 1 : scale
    }
    return bins.sorted { $0.key < $1.key }.map(\.value)
  }

  /// How many messages a burst has, in the mean.
  private static func meanBurst(_ traffic: WorkloadOptions.Traffic) -> Double {
    (1...traffic.burstMaximum).reduce(0) {
      $0 + PortableMath.power(Double($1), 1 - traffic.burstExponent)
    }
  }
}
