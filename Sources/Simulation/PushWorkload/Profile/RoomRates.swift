internal import Glibc
internal import PushSupport

/// What is written in each room: its senders, bursts and days, and which of the mentioned
/// users wrote lately.
struct RoomRates {
  /// What is known of a room's messages.
  private struct Room {
    var lastAt: Int64 = .min
    /// When a user other than the last sender last wrote.
    var otherAt: Int64 = .min
    /// The sum of the squares of the messages of days, the last one left out.
    var squares = 0.0
    /// Pauses within bursts, all of them together.
    var gapSeconds = 0.0
    var lastSender: Int32 = -1
    /// Messages of the burst that goes on.
    var burst: Int32 = 0
    var firstDay: Int32 = 0
    var day: Int32 = -1
    /// Messages of that day.
    var ofDay: Int32 = 0
    var activeDays: Int32 = 0
    var messages: Int32 = 0
    var senders: Int32 = 0
    /// Pauses within bursts, and those after which the same person goes on.
    var gaps: Int32 = 0
    var sameSender: Int32 = 0
  }

  /// What is known of a sender of a room.
  private struct Writer {
    var messages = 0
    var lastAt: Int64 = 0

    /// - Returns: whether it is the first message.
    mutating func note(_ instant: Int64) -> Bool {
      messages += 1
      lastAt = instant
      return messages == 1
    }
  }

  private struct Key: Hashable {
    let room: Int32
    let number: Int32
  }

  private var rooms: [Room] = []
  private var writers: [Key: Writer] = [:]
  /// How many bursts of which length a room had; ``burstLimit`` for longer ones.
  private var bursts: [Key: Int] = [:]
  private var gaps = GroupedMean()
  private var sameSender = GroupedMean()
  private var recent = GroupedMean()
  private var withinDay = GroupedMean()
  private var messages = 0

  private static let minutes5: Int64 = 300_000
  private static let day = DayCurve.dayMilliseconds
  private static let burstLimit = 300

  // MARK: Adding

  /// Makes room for so many rooms.
  mutating func reserveRooms(_ count: Int) { rooms.reserveCapacity(count) }

  mutating func add(_ message: ProfiledMessage) {
    while rooms.count <= message.room { rooms.append(Room()) }
    messages += 1
    addMentions(message)
    addToBurst(message)
    addDay(message)
    var room = rooms[message.room]
    if room.lastSender != Int32(message.sender) {
      room.otherAt = room.lastAt
      room.lastSender = Int32(message.sender)
    }
    room.lastAt = message.at
    room.messages += 1
    let key = Key(room: Int32(message.room), number: Int32(message.sender))
    let isNew = writers[key, default: Writer()].note(message.at)
    if isNew { room.senders += 1 }
    rooms[message.room] = room
  }

  /// A recent writer can be mentioned only where another user wrote lately.
  private mutating func addMentions(_ message: ProfiledMessage) {
    let room = rooms[message.room]
    let other = room.lastSender == Int32(message.sender) ? room.otherAt : room.lastAt
    guard other >= message.at - Self.day else { return }
    for user in message.mentions where user != message.sender {
      let key = Key(room: Int32(message.room), number: Int32(user))
      let last = writers[key]?.lastAt ?? .min
      withinDay.add(last >= message.at - Self.day, group: message.group)
      if other >= message.at - Self.minutes5 {
        recent.add(last >= message.at - Self.minutes5, group: message.group)
      }
    }
  }

  private mutating func addToBurst(_ message: ProfiledMessage) {
    let room = rooms[message.room]
    if room.messages > 0, message.at - room.lastAt <= Self.minutes5 {
      let seconds = Double(message.at - room.lastAt) / 1000
      let isSame = room.lastSender == Int32(message.sender)
      gaps.add(seconds, group: message.group)
      sameSender.add(isSame, group: message.group)
      rooms[message.room].burst += 1
      rooms[message.room].gaps += 1
      rooms[message.room].gapSeconds += seconds
      if isSame { rooms[message.room].sameSender += 1 }
      return
    }
    if room.burst > 0 { bursts[Self.key(message.room, burst: Int(room.burst)), default: 0] += 1 }
    rooms[message.room].burst = 1
  }

  private static func key(_ room: Int, burst: Int) -> Key {
    Key(room: Int32(room), number: Int32(min(burst, burstLimit)))
  }

  private mutating func addDay(_ message: ProfiledMessage) {
    var room = rooms[message.room]
    let day = Int32(message.day)
    if room.day != day {
      if room.messages == 0 { room.firstDay = day }
      room.squares += Double(room.ofDay) * Double(room.ofDay)
      room.ofDay = 0
      room.day = day
      room.activeDays += 1
    }
    room.ofDay += 1
    rooms[message.room] = room
  }

  // MARK: Rates

  func rates(
    _ members: MembershipRates, _ time: ClosedRange<Int64>?, threads: Int
  ) -> [MeasuredRate] {
    let noGaps = "no two messages of a room are within 5 minutes"
    let days = time.map { $0.lowerBound / Self.day...$0.upperBound / Self.day }
    let isCalm = rooms.map { room in
      let length = days.map { $0.upperBound - Int64(room.firstDay) + 1 } ?? 1
      return room.messages > 0 && Int(room.messages) <= 20 * Int(max(1, length))
    }
    let (gap, same) = pauses(isCalm)
    return [
      MeasuredRate(
        "day-deviation", .number, dayDeviation, missing: "no room has messages of a week or more")
    ] + activeShares(members, days) + [
      MeasuredRate(
        "activity-sd", .number, activityDeviation(members),
        missing: "fewer than three rooms have enough messages for their size"),
      MeasuredRate(
        "never-post-share", .share, neverPosters(members),
        missing: "no room of 100 members has messages"),
      MeasuredRate(
        "sender-exponent", .number, senderExponent(threads: threads),
        missing: "no room has 20 senders and 200 messages"),
      MeasuredRate(
        "burst-exponent", .number, burstExponent(isCalm),
        missing: "no room has fewer than 20 messages a day: in others, bursts run into each other"),
      MeasuredRate("burst-gap", .seconds, gap, missing: noGaps),
      MeasuredRate("same-sender-share", .share, same, missing: noGaps),
      MeasuredRate(
        "recent-share", .share, recent.share("mentions"),
        missing: "no mention where another user wrote within 5 minutes"),
      MeasuredRate(
        "day-share", .share, withinDay.share("mentions"),
        missing: "no mention where another user wrote within 24 hours"),
    ]
  }

  /// The coefficient of variation of messages a day, days without any included, from a room's first
  /// day to its last: the median of the ten busiest rooms.
  private var dayDeviation: RateEstimate? {
    let busiest = rooms.filter { $0.day - $0.firstDay >= 6 }
      .sorted { $0.messages > $1.messages }.prefix(10)
    let deviations = busiest.map { room in
      let days = Double(room.day - room.firstDay + 1)
      let mean = Double(room.messages) / days
      let squares = room.squares + Double(room.ofDay) * Double(room.ofDay)
      return max(0, squares / days - mean * mean).squareRoot() / mean
    }.sorted()
    guard !deviations.isEmpty else { return nil }
    let middle = deviations.count / 2
    let median =
      deviations.count % 2 == 1
      ? deviations[middle] : (deviations[middle - 1] + deviations[middle]) / 2
    // Of ten, the second and the ninth: the median is between them in 98 of 100 cases.
    let interval =
      deviations.count >= RateEstimate.fewestGroups
      ? deviations[1]...deviations[deviations.count - 2] : nil
    let days = busiest.reduce(0) { $0 + Int($1.day - $1.firstDay + 1) }
    return RateEstimate(
      median, interval: interval, observations: days, "days", groups: deviations.count)
  }

  private static let activeClasses: [(name: String, sizes: ClosedRange<Int>)] = [
    ("rooms of 3 to 9", 3...9), ("10 to 49", 10...49), ("50 to 199", 50...199),
    ("200 to 999", 200...999), ("above", 1000...Int.max),
  ]

  /// The share of the days since a room's first member joined, or the first message of all, that
  /// have a message.
  private func activeShares(
    _ members: MembershipRates, _ days: ClosedRange<Int64>?
  ) -> [MeasuredRate] {
    var means = [GroupedMean](repeating: GroupedMean(), count: Self.activeClasses.count)
    for (number, size) in members.sizes.enumerated() {
      guard let days, let index = Self.activeClasses.firstIndex(where: { $0.sizes ~= size })
      else { continue }
      let begin = max(days.lowerBound, members.begins[number] / Self.day)
      guard begin <= days.upperBound else { continue }
      let active = number < rooms.count ? Int(rooms[number].activeDays) : 0
      let count = max(active, Int(days.upperBound - begin + 1))
      means[index].add(Double(active), group: GroupedMean.group(number), count: count)
    }
    return zip(Self.activeClasses, means).map { kind, mean in
      MeasuredRate(
        "active-shares", part: kind.name, .share, mean.share("room-days"),
        missing: "no rooms of this size")
    }
  }

  /// The deviation of the logarithm of a room's messages from that of its size's, by the
  /// generator's law; of rooms in which a hundred messages can be expected.
  private func activityDeviation(_ members: MembershipRates) -> RateEstimate? {
    let weights = members.sizes.map { size in
      pow(Double(min(size, 1000)), 1.57) * max(1, Double(size) / 1000)
    }
    let total = weights.reduce(0, +)
    var differences: [Double] = []
    for (number, weight) in weights.enumerated() where number < rooms.count {
      let expected = Double(messages) * weight / total
      let found = rooms[number].messages
      guard members.sizes[number] >= 3, expected >= 100, found > 0 else { continue }
      differences.append(log(Double(found) / expected))
    }
    guard differences.count >= 3 else { return nil }
    let count = Double(differences.count)
    let mean = differences.reduce(0, +) / count
    let squares = differences.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let deviation = (squares / (count - 1)).squareRoot()
    return RateEstimate(
      deviation, error: deviation / (2 * (count - 1)).squareRoot(),
      observations: differences.count, "rooms")
  }

  /// Of the members of rooms of 100 and more, those who did not write; but for ten of each room,
  /// who always do.
  private func neverPosters(_ members: MembershipRates) -> RateEstimate? {
    var mean = GroupedMean()
    var count = 0
    for (number, size) in members.sizes.enumerated() where size >= 100 {
      guard number < rooms.count, rooms[number].messages > 0 else { continue }
      let silent = max(0, size - max(10, Int(rooms[number].senders)))
      mean.add(Double(silent), group: GroupedMean.group(number), count: size - 10)
      count += 1
    }
    guard count < RateEstimate.fewestGroups else { return mean.share("members") }
    return RateEstimate(Int(mean.sum), of: mean.count, "members")
  }

  /// The exponent that makes the counts of all rooms with 20 senders and 200 messages likeliest:
  /// the mean of the rooms' own.
  private func senderExponent(threads: Int) -> RateEstimate? {
    let wanted = rooms.map { $0.senders >= 20 && $0.messages >= 200 }
    var counts: [Int32: [Int]] = [:]
    for (key, writer) in writers where wanted[Int(key.room)] {
      counts[key.room, default: []].append(writer.messages)
    }
    let wantedCounts = counts.sorted { $0.key < $1.key }.map(\.value)
    let exponents = Parallel.map(wantedCounts.count, threads: threads) {
      Likelihood.senderExponent(wantedCounts[$0])
    }
    guard !exponents.isEmpty else { return nil }
    let count = Double(exponents.count)
    let mean = exponents.reduce(0, +) / count
    let squares = exponents.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let error = count > 1 ? (squares / (count - 1) / count).squareRoot() : nil
    return RateEstimate(mean, error: error, observations: exponents.count, "rooms")
  }

  /// The pauses within bursts and who goes on: of calm rooms, or of all where those are few.
  private func pauses(_ isCalm: [Bool]) -> (gap: RateEstimate?, same: RateEstimate?) {
    var calmGaps = GroupedMean()
    var calmSame = GroupedMean()
    for (number, room) in rooms.enumerated() where isCalm[number] && room.gaps > 0 {
      let group = GroupedMean.group(number)
      calmGaps.add(room.gapSeconds, group: group, count: Int(room.gaps))
      calmSame.add(Double(room.sameSender), group: group, count: Int(room.gaps))
    }
    if let gap = calmGaps.estimate("gaps"), gap.certainty != .few {
      return (gap, calmSame.share("gaps"))
    }
    return (gaps.estimate("gaps"), sameSender.share("gaps"))
  }

  /// Of rooms with at most 20 messages a day, as in busier ones bursts run into each other.
  private func burstExponent(_ isCalm: [Bool]) -> RateEstimate? {
    var counts: [Int: Int] = [:]
    for (key, count) in bursts where isCalm[Int(key.room)] {
      counts[Int(key.number), default: 0] += count
    }
    for (number, room) in rooms.enumerated() where isCalm[number] {
      counts[min(Int(room.burst), Self.burstLimit), default: 0] += 1
    }
    return Likelihood.paretoExponent(counts, from: 1, limit: Self.burstLimit).map {
      RateEstimate(
        $0.exponent, error: $0.error, observations: $0.count, "bursts",
        bounds: 1...Double.infinity)
    }
  }
}
