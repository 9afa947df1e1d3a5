internal import Glibc
internal import PushModel

/// Who is in which room, since when, and what members have set.
struct MembershipRates {
  /// Members of each room; 0 for a room that only messages name.
  private(set) var sizes: [Int] = []
  /// When the first member of each room joined, in milliseconds; 0 for always.
  private(set) var begins: [Int64] = []
  /// The share of pairs of members with the same zone, in each room; nil for fewer than two with a
  /// zone.
  private var zoneShares: [Double?] = []
  private var counts = MemberCounts(users: 0)

  /// How many memberships there are.
  var count: Int { counts.count }

  /// Rooms above this are giants.
  static let largestRoom = 3000
  private static let classNames = ["rooms < 20", "rooms < 200", "rooms < 3,000", "above"]

  /// Adds a room that is the next one.
  mutating func add(_ room: MeasuredRoom) {
    sizes.append(room.size)
    begins.append(room.begin)
    zoneShares.append(room.zoneShare)
  }

  /// Adds what was counted in rooms that are added besides.
  mutating func add(_ more: MemberCounts) { counts.add(more) }

  // MARK: Sizes

  /// The sizes of rooms of more than 3,000 members, descending.
  var giants: [Int] { sizes.filter { $0 > Self.largestRoom }.sorted(by: >) }

  func sizeRates() -> [MeasuredRate] {
    let rooms = sizes.filter { 0 < $0 && $0 <= Self.largestRoom }
    let counts = Dictionary(rooms.map { ($0, 1) }, uniquingKeysWith: +)
    // From the median on, where small rooms that are something else do not count.
    let middle = rooms.sorted().dropFirst((rooms.count - 1) / 2).first ?? 1
    let tail = Likelihood.paretoExponent(counts, from: middle, limit: Self.largestRoom)
    let exponent = tail.map {
      RateEstimate(
        $0.exponent, error: $0.error, observations: $0.count, "rooms", bounds: 1...Double.infinity)
    }
    var median: RateEstimate?
    if !rooms.isEmpty {
      let slope = (tail?.exponent ?? 2) - 1
      let reach = 1 / Double(rooms.count).squareRoot()
      let at = { Self.size(reachedBy: $0, counts, rooms.count, slope: slope) }
      let low = at(min(0.99, 0.5 + reach))
      median = RateEstimate(
        at(0.5), interval: min(low, at(0.5))...max(at(0.5), at(max(0.01, 0.5 - reach))),
        observations: rooms.count, "rooms")
    }
    let none = "no room has 1 to 3,000 members"
    return [
      MeasuredRate("median-size", .members, median, missing: none),
      MeasuredRate(
        "size-exponent", .number, exponent, missing: "fewer than ten rooms above the median"),
      MeasuredRate(
        "top-joiners-share", .share, topJoiners, missing: "every user is in one room"),
    ]
  }

  /// The size, with a fraction, that a share of the rooms reach or exceed: between two whole sizes,
  /// as the power law says.
  private static func size(
    reachedBy share: Double, _ counts: [Int: Int], _ count: Int, slope: Double
  ) -> Double {
    var reaching = count
    var before = (size: 1, share: 1.0)
    for (size, number) in counts.sorted(by: { $0.key < $1.key }) {
      let here = Double(reaching) / Double(count)
      if here < share { break }
      before = (size, here)
      reaching -= number
    }
    let size = Double(before.size)
    return min(size + 1, size * pow(before.share / share, 1 / slope))
  }

  /// The share of memberships that the tenth of the users with the most have.
  private var topJoiners: RateEstimate? {
    let roomsOfUser = counts.classesOfUser.prefix(counts.userCount).lazy.map { $0.wrappedSum() }
    let users = roomsOfUser.count
    guard users >= 10, roomsOfUser.contains(where: { $0 > 1 }) else { return nil }
    var groups = [Int](repeating: 0, count: GroupedMean.groupCount)
    var histograms = [[Int: Int]](repeating: [:], count: GroupedMean.groupCount)
    for (user, rooms) in roomsOfUser.enumerated() {
      let group = GroupedMean.group(user)
      groups[group] += 1
      histograms[group][Int(rooms), default: 0] += 1
    }
    let all = histograms.reduce(into: [:] as [Int: Int]) { $0.merge($1, uniquingKeysWith: +) }
    return GroupedMean.jackknife(groups, observations: users, "users", bounds: 0...1) { without in
      var counts = all
      if let without {
        for (rooms, number) in histograms[without] { counts[rooms]? -= number }
      }
      let users = counts.values.reduce(0, +)
      let memberships = counts.reduce(0) { $0 + $1.key * $1.value }
      var left = Double(users) / 10
      var top = 0.0
      for (rooms, number) in counts.sorted(by: { $0.key > $1.key }) where left > 0 {
        let taken = min(left, Double(number))
        top += taken * Double(rooms)
        left -= taken
      }
      return memberships > 0 ? top / Double(memberships) : nil
    }
  }

  // MARK: Joins

  /// - Parameter time: from the first message to the last.
  func joinRates(_ time: ClosedRange<Int64>?) -> [MeasuredRate] {
    let none = "no messages are given, so that the time is not known"
    guard let time else {
      return [MeasuredRate("join-share", .share, nil, missing: none)]
    }
    var days: [Int64: Int] = [:]
    var joins = 0
    var present = 0
    func add(_ since: Int64, count: Int) {
      guard since <= time.upperBound else { return }
      present += count
      guard since > time.lowerBound else { return }
      joins += count
      days[since / DayCurve.dayMilliseconds, default: 0] += count
    }
    add(0, count: counts.count - counts.sinces.count)
    for since in counts.sinces { add(since, count: 1) }
    let busiest = days.values.max().flatMap { RateEstimate($0, of: joins, "joins") }
    let span = Double(time.upperBound - time.lowerBound) / Double(DayCurve.dayMilliseconds)
    var length: RateEstimate?
    if joins > 0, span > 0 {
      length = RateEstimate(span, interval: span...span, observations: joins, "joins")
    }
    return [
      MeasuredRate(
        "join-share", .share, RateEstimate(joins, of: present, "memberships"),
        missing: "no memberships are given"),
      MeasuredRate(
        "join-days", .number, length, missing: "no member joined meanwhile"),
      MeasuredRate(
        "busiest-join-day", .share, busiest, missing: "no member joined meanwhile", isFlag: false),
    ]
  }

  // MARK: Zones

  /// The share s of members who are from their room's own zone: pairs of them have the same zone
  /// with the probability c + s^2 (1 - c), where c is that of any two users.
  func zoneRates(_ people: PeopleRates) -> [MeasuredRate] {
    let chance = people.sameZoneByChance
    var zonePairs = [GroupedMean](repeating: GroupedMean(), count: 4)
    for (room, share) in zoneShares.enumerated() {
      guard let share else { continue }
      zonePairs[MemberCounts.sizeClass(sizes[room])].add(share, group: GroupedMean.group(room))
    }
    return zip(Self.classNames, zonePairs).map { name, pairs in
      var shared: RateEstimate?
      if let share = pairs.share("rooms"), let chance, chance < 1 {
        let beyond = { (share: Double) in
          (max(0, share - chance) / (1 - chance)).squareRoot()
        }
        shared = RateEstimate(
          beyond(share.value),
          interval: share.interval.map { beyond($0.lowerBound)...beyond($0.upperBound) },
          observations: share.observations, "rooms", groups: pairs.counts.count { $0 > 0 })
      }
      return MeasuredRate(
        "shared-zone", part: name, .share, shared,
        missing: chance == nil ? "no users have a zone" : "no rooms of this size")
    }
  }

  // MARK: Mutes

  func muteRates() -> [MeasuredRate] {
    let none = "no member has a level or is muted"
    let hasLevels = counts.hasLevels
    var rates = zip(Self.classNames, counts.mutes).map { name, mutes in
      MeasuredRate(
        "mute-shares", part: name, .share,
        hasLevels ? RateEstimate(mutes.muted, of: mutes.all, "memberships") : nil,
        missing: hasLevels ? "no rooms of this size" : none)
    }
    rates.append(MeasuredRate("muters", .share, muters, missing: none))
    rates.append(
      MeasuredRate(
        "mute-mention-share", .share,
        RateEstimate(counts.mutesForMentions, of: counts.muteCount, "mutes"),
        missing: none))
    rates.append(
      MeasuredRate(
        "all-level-share", .share,
        hasLevels
          ? RateEstimate(counts.setToAll, of: count - counts.muteCount, "memberships") : nil,
        missing: none))
    return rates
  }

  /// The share m of the users who have all mutes.
  ///
  /// A user of those mutes a room with the probability p/m, p being the share of such rooms that
  /// are muted; so m is where as many users are expected to mute nothing as do. Who is in few rooms
  /// may be a muter without a mute, so the share of those with a mute would be too low.
  private var muters: RateEstimate? {
    let shares = counts.mutes.map { $0.all > 0 ? Double($0.muted) / Double($0.all) : 0 }
    guard let least = shares.max(), least > 0 else { return nil }
    let kinds = Dictionary(
      counts.classesOfUser.lazy.filter { $0.wrappedSum() > 0 }.map { ($0, 1) }, uniquingKeysWith: +
    ).sorted { one, other in
      let first = (0..<4).first { one.key[$0] != other.key[$0] }
      return first.map { one.key[$0] < other.key[$0] } ?? false
    }
    // How many rooms of a class users are in.
    let numbers = (0..<4).map { index in Set(kinds.map { Int($0.key[index]) }) }
    let users = kinds.reduce(0) { $0 + $1.value }
    let muting = counts.isMuting.count { $0 }
    let expected = { (muters: Double) -> Double in
      let powers = zip(shares, numbers).map { share, numbers in
        var powers = [Double](repeating: 1, count: 1 + (numbers.max() ?? 0))
        for number in numbers { powers[number] = pow(max(0, 1 - share / muters), Double(number)) }
        return powers
      }
      // What is lost by rounding is added up besides, as there are many small terms (A. Neumaier,
      // 1974).
      var (sum, lost) = (0.0, 0.0)
      for kind in kinds {
        let none = (0..<4).reduce(1.0) { $0 * powers[$1][Int(kind.key[$1])] }
        let term = muters * (1 - none) * Double(kind.value)
        lost += sum >= term ? sum - (sum + term) + term : term - (sum + term) + sum
        sum += term
      }
      return sum + lost
    }
    // The more people mute, the more of them have a mute.
    var (low, high) = (least, 1.0)
    for _ in 0..<40 {
      let middle = (low + high) / 2
      if expected(middle) < Double(muting) { low = middle } else { high = middle }
    }
    let value = (low + high) / 2
    let step = 0.01
    let slope =
      (expected(min(1, value + step)) - expected(max(least, value - step)))
      / (min(1, value + step) - max(least, value - step))
    let share = Double(muting) / Double(users)
    let error = (Double(users) * share * (1 - share)).squareRoot() / slope
    return RateEstimate(
      value, error: slope > 0 ? error : nil, observations: users, "users", bounds: least...1)
  }
}
