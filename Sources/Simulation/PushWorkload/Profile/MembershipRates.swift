internal import Glibc
internal import PushModel

/// Who is in which room, since when, and what members have set: rooms one after the other.
struct MembershipRates {
  /// Members of each room; 0 for a room that only messages name.
  private(set) var sizes: [Int] = []
  /// When the first member of each room joined, in milliseconds; 0 for always.
  private(set) var begins: [Int64] = []
  /// How many memberships there are.
  private(set) var count = 0
  /// When memberships begin.
  private var sinces: [Int64] = []
  private var roomsOfUser: [Int32] = []

  // Of the room that is being added.
  private var pending: [(user: Int, level: NotificationLevel)] = []
  private var zoneCounts: [Int32: Int] = [:]
  private var earliest = Int64.max

  /// Pairs of members with the same zone, by class of room.
  private var zonePairs = [GroupedMean](repeating: GroupedMean(), count: 4)
  private var mutes = [(muted: Int, all: Int)](repeating: (0, 0), count: 4)
  private var mutesForMentions = 0
  private var muteCount = 0
  private var setToAll = 0
  private var hasLevels = false
  /// For each user, memberships by class of room, and whether one is muted.
  private var classesOfUser: [SIMD4<Int32>] = []
  private var isMuting: [Bool] = []

  /// Rooms above this are giants.
  static let largestRoom = 3000
  private static let classLimits = [20, 200, 3000]
  private static let classNames = ["rooms < 20", "rooms < 200", "rooms < 3,000", "above"]

  // MARK: Adding

  mutating func begin(_ room: Int) {
    sizes.append(0)
    begins.append(0)
    pending.removeAll(keepingCapacity: true)
    zoneCounts.removeAll(keepingCapacity: true)
    earliest = .max
  }

  mutating func add(_ member: borrowing MemberSettings, user: Int, room: Int, zone: Int32) {
    var level = member.level
    if level == .unset, member.mutedUntil > .zero { level = .blocked }
    pending.append((user, level))
    sinces.append(member.since.milliseconds)
    earliest = min(earliest, member.since.milliseconds)
    if zone >= 0 { zoneCounts[zone, default: 0] += 1 }
  }

  /// Ends the room that was begun last.
  mutating func end(_ people: PeopleRates) {
    let room = sizes.count - 1
    let size = pending.count
    guard size > 0 else { return }
    sizes[room] = size
    begins[room] = earliest
    count += size
    let sizeClass = Self.classLimits.firstIndex { size < $0 } ?? 3
    for (user, level) in pending {
      while roomsOfUser.count <= user {
        roomsOfUser.append(0)
        classesOfUser.append(.zero)
        isMuting.append(false)
      }
      roomsOfUser[user] += 1
      classesOfUser[user][sizeClass] += 1
      mutes[sizeClass].all += 1
      if level.isSet { hasLevels = true }
      if level == .all {
        setToAll += 1
      } else if level.isSet {
        mutes[sizeClass].muted += 1
        muteCount += 1
        if level != .blocked { mutesForMentions += 1 }
        isMuting[user] = true
      }
    }
    if let share = PeopleRates.pairShare(zoneCounts.values) {
      zonePairs[sizeClass].add(share, group: GroupedMean.group(room))
    }
  }

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
    for since in sinces where since <= time.upperBound {
      present += 1
      guard since > time.lowerBound else { continue }
      joins += 1
      days[since / DayCurve.dayMilliseconds, default: 0] += 1
    }
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
    var rates = zip(Self.classNames, mutes).map { name, mutes in
      MeasuredRate(
        "mute-shares", part: name, .share,
        hasLevels ? RateEstimate(mutes.muted, of: mutes.all, "memberships") : nil,
        missing: hasLevels ? "no rooms of this size" : none)
    }
    rates.append(MeasuredRate("muters", .share, muters, missing: none))
    rates.append(
      MeasuredRate(
        "mute-mention-share", .share, RateEstimate(mutesForMentions, of: muteCount, "mutes"),
        missing: none))
    rates.append(
      MeasuredRate(
        "all-level-share", .share,
        hasLevels ? RateEstimate(setToAll, of: count - muteCount, "memberships") : nil,
        missing: none))
    return rates
  }

  /// The share m of the users who have all mutes.
  ///
  /// A user of those mutes a room with the probability p/m, p being the share of such rooms that
  /// are muted; so m is where as many users are expected to mute nothing as do. Who is in few rooms
  /// may be a muter without a mute, so the share of those with a mute would be too low.
  private var muters: RateEstimate? {
    let shares = mutes.map { $0.all > 0 ? Double($0.muted) / Double($0.all) : 0 }
    guard let least = shares.max(), least > 0 else { return nil }
    let kinds = Dictionary(
      classesOfUser.filter { $0.wrappedSum() > 0 }.map { ($0, 1) }, uniquingKeysWith: +)
    let users = kinds.values.reduce(0, +)
    let muting = isMuting.count { $0 }
    let expected = { (muters: Double) in
      kinds.reduce(0.0) { sum, kind in
        let none = (0..<4).reduce(1.0) {
          $0 * pow(max(0, 1 - shares[$1] / muters), Double(kind.key[$1]))
        }
        return sum + muters * (1 - none) * Double(kind.value)
      }
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
