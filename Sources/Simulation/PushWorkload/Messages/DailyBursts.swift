/// Makes messages in pieces of a day, of about equally many: bursts, each in one room that is
/// active on the day, that begin by the room's clock and are written by people who are awake.
struct DailyBursts: MessageChunks {
  private let workload: Workload
  private let plan: TrafficPlan
  private let hours: WritingHours
  /// The day whose pieces are made.
  private var today: Today?

  private struct Today: Sendable {
    let index: Int
    let activity: DayActivity
    let curve: DayCurve
    let positions: Range<UInt64>
  }

  /// How many rooms, and members of a room, are tried to find a sender.
  private static let roomAttempts = 64
  private static let attempts = 24

  init(_ workload: Workload, _ plan: TrafficPlan, _ hours: WritingHours) {
    self.workload = workload
    self.plan = plan
    self.hours = hours
  }

  var chunkCount: Int { plan.chunkCount }

  func chunk(of milliseconds: Int64) -> Int { plan.chunk(of: milliseconds) }

  mutating func batch(from first: Int, atMost limit: Int, threads: Int) -> Range<Int> {
    let (day, index) = plan.day(ofChunk: first)
    if today?.index != index {
      today = nil
      let activity = DayActivity(workload, day: day, threads: threads)
      let curve = workload.dayCurve(day, activity.sums)
      today = Today(
        index: index, activity: activity, curve: curve,
        positions: plan.positions(of: day, curve))
    }
    return first..<min(plan.chunkStarts[index + 1], first + limit)
  }

  func messages(ofChunk chunk: Int) -> [PlainMessage] {
    guard let today else { return [] }
    let range = positions(ofChunk: chunk, today)
    let count =
      self.count(before: range.upperBound, today) - self.count(before: range.lowerBound, today)
    var draws = Draws(workload.options.seed, .burst, UInt64(chunk))
    let traffic = workload.options.traffic
    var made: [PlainMessage] = []
    made.reserveCapacity(count)
    while made.count < count {
      let position = range.lowerBound + draws.below(UInt64(max(1, range.count)))
      let at =
        today.activity.day * DayCurve.dayMilliseconds + today.curve.milliseconds(at: position)
      let wanted = draws.pareto(
        scale: 1, exponent: traffic.burstExponent, atMost: traffic.burstMaximum)
      var burst = begin(at: at, today.activity, &draws)
      for number in 0..<min(wanted, count - made.count) {
        if number > 0, !goOn(&burst, &draws) { break }
        made.append(
          PlainMessage(
            at: burst.at, room: UInt32(burst.room), roomSize: UInt32(burst.size),
            sender: UInt32(burst.people[burst.last].user),
            order: UInt64(chunk) << 32 | UInt64(made.count)))
      }
    }
    return made
  }

  private func positions(ofChunk chunk: Int, _ today: Today) -> Range<UInt64> {
    let begin = today.activity.day * DayCurve.dayMilliseconds
    let first = plan.chunkStarts[today.index]
    let count = plan.chunkStarts[today.index + 1] - first
    let bounds = [chunk - first, chunk - first + 1].map { part in
      today.curve.position(at: plan.start(part, count, today.activity.day) - begin)
    }
    return bounds[0]..<bounds[1]
  }

  /// The messages of bursts that begin before a position.
  private func count(before position: UInt64, _ today: Today) -> Int {
    let all = plan.messageStarts[today.index + 1] - plan.messageStarts[today.index]
    let length = today.positions.upperBound - today.positions.lowerBound
    return Int(UInt64(all).scaled(by: position - today.positions.lowerBound, of: length))
  }

  /// A burst in a room that has a sender at an instant; if none is found, in any room.
  private func begin(at: Int64, _ activity: DayActivity, _ draws: inout Draws) -> Burst {
    var attempt = 0
    while true {
      attempt += 1
      let (room, size) = activity.room(at: draws.below(activity.total))
      let isLast = attempt == Self.roomAttempts
      let home = workload.home(ofRoom: room, size: size)
      if !isLast, !draws.isBelow(workload.writing(in: home, at: at, hours)) { continue }
      var burst = Burst(
        room: room, size: size, members: RoomMembers(room: room, size: size, workload),
        posters: workload.rooms.posterCount(size: size), at: at)
      if let found = newcomer(burst, &draws) {
        burst.people = [found]
        return burst
      }
      if isLast {
        // The first member was always there.
        let (user, zone) = burst.members.member(atRank: 0, workload.zones)
        burst.people = [WorkloadSender(user, zone: zone, workload)]
        return burst
      }
    }
  }

  /// Messages in one room, one soon after the other, of a few people.
  private struct Burst {
    let room: Int
    let size: Int
    let members: RoomMembers
    let posters: Int
    var at: Int64
    var people: [WorkloadSender] = []
    /// Who of them wrote last.
    var last = 0
  }

  /// Moves to the instant of the next message; false when no sender is found, or the instant is
  /// behind the world's end.
  private func goOn(_ burst: inout Burst, _ draws: inout Draws) -> Bool {
    burst.at += workload.burstGap(&draws)
    guard burst.at < workload.time.upperBound, let next = nextSender(&burst, &draws) else {
      return false
    }
    burst.last = next
    return true
  }

  /// The number of the next sender among the people.
  private func nextSender(_ burst: inout Burst, _ draws: inout Draws) -> Int? {
    if draws.isBelow(workload.options.traffic.sameSenderShare) {
      if goesOn(burst.last, &burst, &draws) { return burst.last }
    } else if burst.people.count > 1, draws.isBelow(Workload.returningShare) {
      let other = Int(draws.below(UInt64(burst.people.count - 1)))
      let person = other < burst.last ? other : other + 1
      if goesOn(person, &burst, &draws) { return person }
    }
    guard let found = newcomer(burst, &draws) else { return nil }
    if let known = burst.people.firstIndex(where: { $0.user == found.user }) { return known }
    burst.people.append(found)
    return burst.people.count - 1
  }

  /// Whether a sender goes on. Few go on into their own window; a sender who began within it does.
  private func goesOn(_ person: Int, _ burst: inout Burst, _ draws: inout Draws) -> Bool {
    let sender = burst.people[person]
    if sender.isLate || !sender.isQuiet(at: burst.at) { return true }
    burst.people[person].isLate = draws.isBelow(hours.quietFactor)
    return burst.people[person].isLate
  }

  /// A member who posts in the room, has joined, and writes at this time of the own day.
  private func newcomer(_ burst: Burst, _ draws: inout Draws) -> WorkloadSender? {
    // Once each: in a small room a member would be drawn until accepted.
    var refused: [Int] = []
    for _ in 0..<Self.attempts {
      let rank = workload.rank(draws.share(), of: burst.posters)
      if workload.since(room: burst.room, rank: rank) > burst.at { continue }
      let (user, zone) = burst.members.member(atRank: rank, workload.zones)
      if refused.contains(user) { continue }
      var sender = WorkloadSender(user, zone: zone, workload)
      guard hours.accept(sender, at: burst.at, &draws) else { continue }
      sender.isLate = sender.isQuiet(at: burst.at)
      if !sender.isLate || draws.isBelow(hours.quietFactor) { return sender }
      refused.append(user)
    }
    return nil
  }
}

/// A member who may write.
struct WorkloadSender {
  let user: Int
  /// Whether the user writes within the own window.
  var isLate = false
  private let window: QuietWindow?
  private let offsetMinutes: Int

  init(_ user: Int, zone: Int, _ workload: Workload) {
    self.user = user
    window = WorkloadUser.window(of: user, workload.options)
    offsetMinutes = ZonePopulation.offsetMinutes[zone]
  }

  func isQuiet(at milliseconds: Int64) -> Bool {
    window?.contains(minute(at: milliseconds)) ?? false
  }

  /// The minute of the user's own day, without summer time.
  func minute(at milliseconds: Int64) -> Int {
    (Int(milliseconds / 60_000 % 1440) + offsetMinutes + 1440) % 1440
  }
}
