/// How busy each minute of people's own day is, and how much less in their own windows.
///
/// Bursts begin by ``day`` in the zones of a room. A drawn sender is accepted by the
/// sender's own clock: within the own window seldom, and otherwise so much more often that each
/// minute of the day has the messages that ``day`` gives it.
struct WritingHours: Sendable {
  /// What bursts begin by: the busiest minute has 1.
  let day: [Double]
  /// The same for all users by their own clocks, in UTC.
  let worldDay: [Double]
  /// How often a writer who is within the own window is accepted, against others.
  let quietFactor: Double
  /// How often a writer is accepted in each minute of the own day.
  private let acceptance: [Double]

  /// The rates of ``WorkloadOptions/Traffic/hourRatio`` and
  /// ``WorkloadOptions/People/quietWritingShare`` where nothing is asked for.
  private static let usualRatio = 10.0
  private static let usualQuietShare = 0.025
  /// Where fewer of the people are outside of their windows, they write no more often.
  private static let leastWriters = 0.15

  init(_ options: WorkloadOptions) throws(WorkloadError) {
    let day = try Self.day(options.traffic)
    self.day = day
    let quiet = Self.quietShares(options)
    let most = Self.quietShare(1, day, quiet, options.people.quietShare)
    if let share = options.people.quietWritingShare, share > most, most > 0 {
      throw .more(
        knob: "quiet-writing-share", value: share, most: most, than: "is written there by chance")
    }
    let wanted = min(most, options.people.quietWritingShare ?? Self.usualQuietShare)
    var (low, high) = (0.0, 1.0)
    for _ in 0..<40 {
      let middle = (low + high) / 2
      let share = Self.quietShare(middle, day, quiet, options.people.quietShare)
      if share < wanted { low = middle } else { high = middle }
    }
    let factor = high
    quietFactor = factor
    let accepted = zip(day, quiet).map { $0 / max(Self.leastWriters, 1 - (1 - factor) * $1) }
    let top = accepted.max() ?? 1
    acceptance = accepted.map { $0 / top }
    let people = Double(ZonePopulation.zones.reduce(0) { $0 + $1.weight })
    worldDay = (0..<1440).map { minute in
      ZonePopulation.zones.reduce(0.0) { sum, zone in
        sum + Double(zone.weight) * day[(minute + zone.offsetMinutes + 1440) % 1440]
      } / people
    }
  }

  /// Whether a drawn sender writes at an instant, by the sender's own day; within the own window
  /// ``quietFactor`` decides besides.
  func accept(_ sender: WorkloadSender, at milliseconds: Int64, _ draws: inout Draws) -> Bool {
    draws.isBelow(acceptance[sender.minute(at: milliseconds)])
  }

  // MARK: The day

  /// The day that bursts begin by, so that their messages, which come later, have the wanted ratio.
  private static func day(_ traffic: WorkloadOptions.Traffic) throws(WorkloadError) -> [Double] {
    let shape = DayCurve.minutes(DayCurve.ownHours.map { Double($0) / 1000 })
    let delays = delays(traffic)
    let late = (0..<1440).map { minute in
      delays.enumerated().reduce(0.0) { sum, delay in
        sum + delay.element * shape[(minute - delay.offset + 1440) % 1440]
      }
    }
    let hours = (0..<24).map { late[$0 * 60..<$0 * 60 + 60].reduce(0, +) / 60 }
    let (low, high) = (hours.min() ?? 0, hours.max() ?? 1)
    // Of 1 + amount * hour the busiest hour is to have `ratio` times what the quietest has.
    let most = high / max(low, 1e-9)
    let ratio = traffic.hourRatio ?? min(usualRatio, most * 0.9)
    guard ratio < most * 0.999 else {
      throw .more(
        knob: "hour-ratio", value: ratio, most: most * 0.999,
        than: "bursts leave, which go on into other hours")
    }
    let amount = (ratio - 1) / (high - ratio * low)
    let top = 1 + amount * (shape.max() ?? 1)
    return shape.map { (1 + amount * $0) / top }
  }

  /// The share of the messages that are so many minutes, modulo a day, behind the beginning of
  /// their burst, in the mean.
  private static func delays(_ traffic: WorkloadOptions.Traffic) -> [Double] {
    let mean = traffic.burstGapSeconds
    let cut = PortableMath.exp2(
      max(-1000, -Workload.longestGapSeconds / mean * 1.4426950408889634))
    let gap = mean * (1 - cut) / 60
    var shares: [Double] = []
    var sum = 0.0
    for number in 0..<traffic.burstMaximum {
      let share = PortableMath.power(Double(number + 1), 1 - traffic.burstExponent)
      let minute = Int(Double(number) * gap) % 1440
      while shares.count <= minute { shares.append(0) }
      shares[minute] += share
      sum += share
    }
    return shares.map { $0 / sum }
  }

  // MARK: Windows

  /// The share of the users who are within their window at each minute of their own day, from some
  /// thousand of them.
  private static func quietShares(_ options: WorkloadOptions) -> [Double] {
    let users = min(options.sizes.users, 4096)
    var changes = [Int](repeating: 0, count: 2 * 1440 + 1)
    for user in 0..<users {
      guard let window = WorkloadUser.window(of: user, options) else { continue }
      changes[window.startMinute] += 1
      changes[window.startMinute + window.lengthMinutes] -= 1
    }
    var shares = [Double](repeating: 0, count: 1440)
    var within = 0
    for minute in 0..<2 * 1440 {
      within += changes[minute]
      shares[minute % 1440] += Double(within) / Double(users)
    }
    return shares
  }

  /// What people who have a window write within it, as a share of all that they write.
  ///
  /// - Parameter factor: how often those within it are accepted against others.
  private static func quietShare(
    _ factor: Double, _ day: [Double], _ quiet: [Double], _ people: Double
  ) -> Double {
    var (within, all) = (0.0, 0.0)
    for minute in 0..<1440 {
      let writers = day[minute] / max(leastWriters, 1 - (1 - factor) * quiet[minute])
      within += writers * factor * quiet[minute]
      all += writers * (factor * quiet[minute] + max(0, people - quiet[minute]))
    }
    return all > 0 ? within / all : 0
  }
}
