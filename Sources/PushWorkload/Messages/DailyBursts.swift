/// Makes messages in pieces of a day, of about equally many: bursts, each in one room that is active
/// on the day, that begin by the room's clock and are written by people who are awake.
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

  /// Rooms, and people of a room, among whom somebody is looked for who writes.
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
        guard let sender = number == 0 ? burst.firstSender : burst.nextSender(&draws) else {
          break
        }
        made.append(
          PlainMessage(
            at: burst.at, room: UInt32(burst.room), roomSize: UInt32(burst.size), sender: sender,
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

  /// A burst in a room in which somebody writes at an instant; if there is none, in any.
  private func begin(at: Int64, _ activity: DayActivity, _ draws: inout Draws) -> Burst {
    var attempt = 0
    while true {
      attempt += 1
      let (room, size) = activity.room(at: draws.below(activity.total))
      let isLast = attempt == Self.roomAttempts
      let home = workload.home(ofRoom: room, size: size)
      if !isLast, !draws.isBelow(workload.writing(in: home, at: at, hours)) { continue }
      var burst = Burst(self, room: room, size: size, at: at)
      if burst.begin(&draws, isForced: isLast) { return burst }
    }
  }

  /// Messages in one room, one soon after the other, of a few people.
  private struct Burst {
    let room: Int
    let size: Int
    private let bursts: DailyBursts
    private let members: RoomMembers
    private let posters: Int
    private(set) var at: Int64
    private var people: [WorkloadSender] = []
    /// Who of them wrote last.
    private var last = 0

    init(_ bursts: DailyBursts, room: Int, size: Int, at: Int64) {
      self.bursts = bursts
      self.room = room
      self.size = size
      self.at = at
      members = RoomMembers(room: room, size: size, bursts.workload)
      posters = bursts.workload.rooms.posterCount(size: size)
    }

    var firstSender: UInt32? { people.first.map { UInt32($0.user) } }

    /// Finds the first sender; forced, the first member, who was always there, if nobody else.
    mutating func begin(_ draws: inout Draws, isForced: Bool) -> Bool {
      var found = newcomer(&draws)
      if found == nil, isForced { found = WorkloadSender(members.user(atRank: 0), bursts.workload) }
      guard let found else { return false }
      people = [found]
      return true
    }

    /// Moves to the instant of the next message; nil when nobody writes any more, or only behind the
    /// world's end.
    mutating func nextSender(_ draws: inout Draws) -> UInt32? {
      at += bursts.workload.burstGap(&draws)
      guard at < bursts.workload.time.upperBound, let next = draw(&draws) else { return nil }
      last = next
      return UInt32(people[next].user)
    }

    /// The number of the next sender among the people.
    private mutating func draw(_ draws: inout Draws) -> Int? {
      if draws.isBelow(bursts.workload.options.traffic.sameSenderShare) {
        if goesOn(last, &draws) { return last }
      } else if people.count > 1, draws.isBelow(Workload.returningShare) {
        let other = Int(draws.below(UInt64(people.count - 1)))
        let person = other < last ? other : other + 1
        if goesOn(person, &draws) { return person }
      }
      guard let found = newcomer(&draws) else { return nil }
      if let known = people.firstIndex(where: { $0.user == found.user }) { return known }
      people.append(found)
      return people.count - 1
    }

    /// Whether somebody who has written goes on. Into the own window few do; who was in it, does.
    private mutating func goesOn(_ person: Int, _ draws: inout Draws) -> Bool {
      let sender = people[person]
      if sender.isLate || !sender.isQuiet(at: at) { return true }
      people[person].isLate = draws.isBelow(bursts.hours.quietFactor)
      return people[person].isLate
    }

    /// A member who posts in the room, has joined, and writes at this time of the own day.
    private func newcomer(_ draws: inout Draws) -> WorkloadSender? {
      let workload = bursts.workload
      for _ in 0..<DailyBursts.attempts {
        let rank = workload.rank(draws.share(), of: posters)
        if workload.since(room: room, rank: rank) > at { continue }
        var sender = WorkloadSender(members.user(atRank: rank), workload)
        let accepted = bursts.hours.acceptance(
          of: sender.settings, atMinute: sender.minute(at: at))
        if draws.isBelow(accepted) {
          sender.isLate = sender.isQuiet(at: at)
          return sender
        }
      }
      return nil
    }
  }
}

/// Somebody who may write.
struct WorkloadSender {
  let user: Int
  let settings: WorkloadUser
  /// Whether the user writes within the own window.
  var isLate = false
  private let offsetMinutes: Int

  init(_ user: Int, _ workload: Workload) {
    self.user = user
    settings = workload.drawnUser(user)
    offsetMinutes = ZonePopulation.zones[settings.zone].offsetMinutes
  }

  func isQuiet(at milliseconds: Int64) -> Bool {
    settings.isQuiet(atMinute: minute(at: milliseconds))
  }

  /// The minute of the user's own day, without summer time.
  func minute(at milliseconds: Int64) -> Int {
    (Int(milliseconds / 60_000 % 1440) + offsetMinutes + 1440) % 1440
  }
}
