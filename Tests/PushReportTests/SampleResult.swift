import PushReplay

/// A result that contradicts itself nowhere, of made-up traffic.
enum SampleResult {
  static let start: Int64 = 1_456_963_200_000  // 2016-03-03, a Thursday
  private static let hour: Int64 = 3_600_000
  private static let day = 24 * hour

  static let outcomes: [(action: String, reason: String, scope: String?)] = [
    ("none", "levelNone", "conversation"), ("none", "notMentioned", "app"),
    ("none", "online", nil), ("none", "quietHours", "app"), ("push", "allowed", "default"),
  ]
  private static let sizes = [3, 40, 900]

  /// - Parameters:
  ///   - hours: how long it lasted; every third hour has a message.
  ///   - rooms: what the three rooms are called.
  static func make(
    hours: Int, rooms: [String] = ["small", "middle", "large"], hold: Bool = true,
    start: Int64 = start
  ) -> ReplayResult {
    var result = ReplayResult(rules: "easemob", timeZone: "Europe/Berlin")
    result.users = 943
    result.outcomes = outcomes.map {
      OutcomeTotal(action: $0.action, reason: $0.reason, scope: $0.scope, count: 0)
    }
    result.week = (0..<168).map { row in
      var hour = WeekHour(weekday: row / 24 + 1, hour: row % 24)
      hour.outcomes = [Int](repeating: 0, count: outcomes.count)
      return hour
    }
    result.conversationTable = zip(rooms, sizes).map { id, size in
      var total = ConversationTotal(
        id: id, members: size, messages: 0, decisions: 0, pushes: 0, first: start, last: start)
      total.outcomes = [Int](repeating: 0, count: outcomes.count)
      return total
    }
    result.conversations = rooms.count
    result.sizes = [0, 1, 10, 100].map { SizeClass(from: $0) }
    for size in 1...3 { result.sizes[size].conversations = 1 }
    result.hours.outcomes = [[Int]](repeating: [], count: outcomes.count)
    for index in stride(from: 0, to: hours, by: 3) { add(index, to: &result, start) }
    result.first = start
    result.last = result.hours.at.last
    for at in stride(from: start, through: result.last ?? start, by: Int(hour)) {
      result.week[Int((at / hour + 72) % 168)].days += 1
    }
    // Everybody is an hour east of Greenwich.
    var local = [Int](repeating: 0, count: 24)
    for (at, pushes) in zip(result.hours.at, result.hours.pushes) {
      local[Int((at / hour + 1) % 24)] += pushes
    }
    result.pushesByLocalHour = local
    addPeaks(to: &result)
    if hold { result.hold = Self.hold(of: result.outcomes, start) }
    var cost = ReplayCost(
      seconds: 0.25, decidingSeconds: 0.31, threads: 2, decisionsPerSecond: 4_000_000)
    cost.loadingSeconds = 0.02
    result.cost = cost
    return result
  }

  static let people: PeopleResult = {
    var people = PeopleResult()
    people.people = 940
    people.personDays = 1800
    people.mostDays = 2
    people.pushes.classes = [700, 600, 300, 100, 50, 30, 15, 4, 1]
    (people.pushes.median, people.pushes.p90, people.pushes.p99) = (1, 7, 60)
    people.pushes.most = 1500
    people.neverReached = 203
    people.neverReasons = [
      NeverReason(reason: "levelNone", people: 200), NeverReason(reason: "noToken", people: 3),
    ]
    return people
  }()

  static let top: TopPushes = {
    var top = TopPushes(limit: 2)
    top.people = [
      TopPerson(id: "u<1>", pushes: 150, days: 2, conversation: "room & board", share: 75),
      TopPerson(id: "u2", pushes: 90, days: 1, conversation: "large", share: 90),
    ]
    top.senders = [TopSender(id: "u2")]
    (top.senders[0].messages, top.senders[0].decisions, top.senders[0].pushes) = (3, 400, 300)
    top.follow = "push-fanout replay --settings 'a & b.ndjson' --follow-user"
    return top
  }()

  static let limit: RateLimitResult = {
    var limit = RateLimitResult(perSecond: 5)
    limit.most = 90
    (limit.secondsOver, limit.minutesOver, limit.delayed) = (9, 4, 120)
    (limit.backlogs, limit.backlogSeconds) = (4, 100)
    limit.longest = Backlog(from: start, seconds: 70, waiting: 30, at: start + 1000)
    limit.worst = Backlog(from: start + 90_000, seconds: 20, waiting: 80, at: start + 91_000)
    return limit
  }()

  /// What one user got: three messages, of which the last two are listed.
  static let follow: FollowResult = {
    var follow = FollowResult(user: "u<1>", conversation: nil)
    follow.count = 3
    follow.outcomes = [
      OutcomeTotal(action: "none", reason: "quietHours", scope: "app", count: 2),
      OutcomeTotal(action: "push", reason: "allowed", scope: "app", count: 1),
    ]
    follow.hours.at = [start, start + hour, start + 2 * hour]
    (follow.hours.messages, follow.hours.decisions) = ([1, 1, 1], [1, 1, 1])
    follow.hours.pushes = [0, 1, 0]
    follow.hours.outcomes = [[1, 0, 1], [0, 1, 0]]
    follow.explain = "push-fanout explain --settings 'a & b.ndjson' --user 'u<1>' --message"
    for (index, key) in [("push", "allowed"), ("none", "quietHours")].enumerated() {
      var message = FollowedMessage(
        id: "m\(index)", conversation: "room & board",
        at: start + Int64(index + 1) * hour + 61_000,
        outcome: FollowedOutcome(action: key.0, reason: key.1, scope: "app"))
      message.sender = "u9"
      message.mentions = index == 0
      follow.messages.append(message)
    }
    return follow
  }()

  /// A month of everything that a result of all can have.
  static func complete() -> ReplayResult {
    var result = make(hours: 24 * 30, rooms: ["room & board", "middle", "large"])
    (result.people, result.rateLimit, result.top) = (people, limit, top)
    return result
  }

  /// One message at the beginning of an hour.
  private static func add(_ index: Int, to result: inout ReplayResult, _ start: Int64) {
    let at = start + Int64(index) * hour
    let room = index / 3 % 3
    let decisions = sizes[room] - 1
    let night = index % 24 < 7
    var counts = [decisions / 4, decisions / 8, decisions / 16, night ? decisions / 2 : 0, 0]
    counts[4] = decisions - counts.reduce(0, +)
    result.messages += 1
    result.decisions += decisions
    result.pushes += counts[4]
    result.hours.at.append(at)
    result.hours.messages.append(1)
    result.hours.decisions.append(decisions)
    result.hours.pushes.append(counts[4])
    let row = Int((at / hour + 72) % 168)  // 1970-01-01 was a Thursday
    result.week[row].messages += 1
    result.week[row].decisions += decisions
    result.week[row].pushes += counts[4]
    result.conversationTable[room].messages += 1
    result.conversationTable[room].decisions += decisions
    result.conversationTable[room].pushes += counts[4]
    result.conversationTable[room].last = at
    result.sizes[room + 1].messages += 1
    result.sizes[room + 1].decisions += decisions
    result.sizes[room + 1].pushes += counts[4]
    for (outcome, count) in counts.enumerated() {
      result.outcomes[outcome].count += count
      result.hours.outcomes![outcome].append(count)
      result.week[row].outcomes[outcome] += count
      result.conversationTable[room].outcomes[outcome] += count
    }
  }

  private static func addPeaks(to result: inout ReplayResult) {
    let hours = result.hours
    guard let most = hours.at.indices.max(by: { hours.pushes[$0] < hours.pushes[$1] }) else {
      return
    }
    let at = hours.at[most]
    for unit in ["second", "minute"] {
      var peak = Peak(
        unit: unit, by: "pushes", at: at, messages: 1, decisions: hours.decisions[most],
        pushes: hours.pushes[most], conversation: result.conversationTable[most % 3].id,
        share: hours.pushes[most])
      peak.decidingSeconds = 0.000_012
      result.peaks.append(peak)
    }
    for row in hours.at.indices where hours.at[row] / day == at / day {
      result.peakDay.at.append(hours.at[row])
      result.peakDay.messages.append(1)
      result.peakDay.decisions.append(hours.decisions[row])
      result.peakDay.pushes.append(hours.pushes[row])
    }
  }

  /// As many as 90 of the last suppressed outcome are held.
  static func hold(of outcomes: [OutcomeTotal], _ start: Int64 = start) -> HoldResult {
    var hold = HoldResult()
    hold.outcomes = outcomes.filter { $0.action == "none" }.map {
      HoldOutcome(reason: $0.reason, scope: $0.scope, held: 0, never: $0.count)
    }
    let last = hold.outcomes.count - 1
    hold.held = min(90, hold.outcomes[last].never)
    hold.outcomes[last].held = hold.held
    hold.outcomes[last].never -= hold.held
    hold.never = hold.outcomes.reduce(0) { $0 + $1.never }
    let day = start / day * day
    let early = hold.held / 3
    hold.peakDay.at = [day + hour, day + 6 * hour, day + 7 * hour]
    hold.peakDay.held = [hold.held, 0, 0]
    hold.peakDay.released = [0, early, hold.held - early]
    hold.peakDay.waiting = [hold.held, hold.held - early, 0]
    hold.hours = hold.peakDay
    hold.hours.step = hour
    hold.minutes = hold.peakDay
    hold.aroundPeak = hold.peakDay
    hold.releasePeak = HoldPeak(at: day + 7 * hour, count: hold.held - early)
    hold.windowsEnd = [WindowEnd(zone: "Europe/Berlin", time: "08:00", users: 3)]
    hold.waitingPeak = HoldPeak(at: day + hour, count: hold.held)
    return hold
  }
}
