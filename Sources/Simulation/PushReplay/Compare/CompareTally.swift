internal import PushFanout
internal import PushFiles
internal import PushModel
internal import QuietTime

/// Adds up a comparison, in the order of time.
struct CompareTally {
  private var result: CompareResult
  private let hours: WeekClock
  private(set) var progress = ReplayProgress()
  private var ids = IdentifierTable()
  private var conversations: [ComparedConversation] = []
  private var totals = (a: [Int](repeating: 0, count: 256), b: [Int](repeating: 0, count: 256))
  private var changes = [Int](repeating: 0, count: 65_536)
  private var mentionsLost = 0
  private var everyoneMentionsLost = 0
  /// Pushes that users gained and lost, by their numbers.
  private var users: [(gained: Int, lost: Int)] = []
  private(set) var people: PeopleTally
  var clock: WeekClock { hours }

  private var limits: (a: RateLimitTally, b: RateLimitTally)?

  init(
    _ a: ComparedSide, _ b: ComparedSide, timeZone: String, rateLimit: Int?, threads: Int
  ) throws(FanoutError) {
    limits = rateLimit.map { (RateLimitTally(perSecond: $0), RateLimitTally(perSecond: $0)) }
    people = PeopleTally(hasTwoSides: true, threads: threads)
    hours = try WeekClock(timeZone)
    result = CompareResult(a: a, b: b, timeZone: hours.name)
    result.week = (0..<168).map { ComparedWeekHour(weekday: $0 / 24 + 1, hour: $0 % 24) }
  }

  /// The index of a conversation in this tally; it is added when it is new.
  ///
  /// - Throws: when it is unknown on both sides.
  mutating func index(
    of id: Identifier, _ a: Fanout, _ b: Fanout
  ) throws(FileProblem.Problem) -> UInt32 {
    if let known = ids.index(of: id) { return known }
    guard a.conversation(id) != nil || b.conversation(id) != nil else {
      throw .unknownConversation(id.text)
    }
    var conversation = ComparedConversation(id: id.text)
    conversation.members = max(a.memberCount(of: id), b.memberCount(of: id))
    conversations.append(conversation)
    return ids.insert(id)
  }

  mutating func add(_ batch: ComparedBatch, _ compared: ComparedMessages) {
    for (index, message) in compared.messages.enumerated() {
      add(batch.messages[index].a.at.milliseconds, Int(batch.conversationIndices[index]), message)
    }
    people.add(compared.people, from: compared.thread)
  }

  private mutating func add(_ at: Int64, _ index: Int, _ message: ComparedMessage) {
    if result.first == nil { result.first = at }
    result.last = at
    result.messages += 1
    result.a.decisions += message.a
    result.b.decisions += message.b
    result.a.pushes += message.pushesA
    result.b.pushes += message.pushesB
    result.changed += message.changed
    result.gained += message.gained
    result.lost += message.lost
    mentionsLost += message.mentionsLost
    everyoneMentionsLost += message.everyoneMentionsLost
    conversations[index].messages += 1
    conversations[index].decisions += max(message.a, message.b)
    conversations[index].a += message.pushesA
    conversations[index].b += message.pushesB
    conversations[index].gained += message.gained
    conversations[index].lost += message.lost
    limits?.a.add(at, pushes: message.pushesA)
    limits?.b.add(at, pushes: message.pushesB)
    result.hours.add(at, message)
    let hour = hours.hourOfWeek(at)
    result.week[hour].messages += 1
    result.week[hour].a += message.pushesA
    result.week[hour].b += message.pushesB
    progress.messages += 1
    progress.decisions += message.a + message.b
    progress.pushes = result.b.pushes
    progress.at = at
  }

  /// Takes over what a thread has added up.
  mutating func add(_ worker: ComparingWorker) {
    for code in 0..<256 {
      totals.a[code] += worker.totalsOfA[code]
      totals.b[code] += worker.totalsOfB[code]
    }
    for pair in 0..<65_536 { changes[pair] += worker.changes[pair] }
    if worker.moved.count > users.count {
      users += Array(repeating: (0, 0), count: worker.moved.count - users.count)
    }
    for (user, moved) in worker.moved.enumerated() {
      users[user].gained += Int(moved.gained)
      users[user].lost += Int(moved.lost)
    }
    people.add(worker.people.finish())
  }

  /// - Parameter id: the id of a user's number.
  mutating func finish(userLimit: Int, id: (UInt32) -> Identifier) -> CompareResult {
    (result.a.rateLimit, result.b.rateLimit) = (limits?.a.finish(), limits?.b.finish())
    if let first = result.first, let last = result.last {
      for (index, seconds) in hours.seconds(from: first, to: last).enumerated() {
        result.week[index].days = Double(seconds) / 3600
      }
    }
    people.finish()
    result.people = people.compared
    (result.mentionsLost, result.everyoneMentionsLost) = (mentionsLost, everyoneMentionsLost)
    let outcomes = (1..<256).compactMap { code -> (Outcome, Int)? in
      guard totals.a[code] + totals.b[code] > 0 else { return nil }
      return Outcome(code: UInt8(code)).map { ($0, code) }
    }
    result.outcomes = outcomes.sorted { precedes($0.0.key, $1.0.key) }.map { outcome, code in
      ComparedOutcome(
        action: outcome.action.name, reason: outcome.reason.name, scope: outcome.scope?.name,
        a: totals.a[code], b: totals.b[code])
    }
    result.changes = changes.indices.filter { changes[$0] > 0 }.map { pair in
      OutcomeChange(
        from: Outcome(code: UInt8(pair >> 8))?.key, to: Outcome(code: UInt8(pair & 255))?.key,
        count: changes[pair])
    }.sorted {
      $0.count != $1.count
        ? $0.count > $1.count
        : precedes("\($0.from ?? "") \($0.to ?? "")", "\($1.from ?? "") \($1.to ?? "")")
    }
    result.conversationTable = conversations.filter { $0.messages > 0 }.sorted {
      $0.gained + $0.lost != $1.gained + $1.lost
        ? $0.gained + $0.lost > $1.gained + $1.lost : precedes($0.id, $1.id)
    }
    result.conversations = result.conversationTable.count
    addUsers(userLimit, id)
    return result
  }

  private mutating func addUsers(_ limit: Int, _ id: (UInt32) -> Identifier) {
    var list: [ComparedUser] = []
    for (index, user) in users.enumerated() where user != (0, 0) {
      let net = user.gained - user.lost
      if net > 0 {
        result.users.more += 1
      } else if net < 0 {
        result.users.fewer += 1
      } else {
        result.users.asMany += 1
      }
      list.append(ComparedUser(id: id(UInt32(index)).text, gained: user.gained, lost: user.lost))
    }
    func most(_ gain: (ComparedUser) -> Int) -> [ComparedUser] {
      let sorted = list.filter { gain($0) > 0 }.sorted {
        gain($0) != gain($1) ? gain($0) > gain($1) : precedes($0.id, $1.id)
      }
      return Array(sorted.prefix(limit))
    }
    result.users.gainers = most { $0.gained - $0.lost }
    result.users.losers = most { $0.lost - $0.gained }
    func steps(_ gain: (ComparedUser) -> Int) -> [ComparedUsersStep] {
      let counts = list.reduce(into: [Int: Int]()) { $0[gain($1), default: 0] += 1 }
      return counts.filter { $0.key > 0 }.sorted { $0.key > $1.key }.prefix(limit).map { step in
        ComparedUsersStep(
          pushes: step.key, users: step.value,
          examples: Array(
            list.filter { gain($0) == step.key }.map(\.id).sorted(by: precedes).prefix(3)))
      }
    }
    result.users.gains = steps { $0.gained - $0.lost }
    result.users.losses = steps { $0.lost - $0.gained }
  }
}

/// The order of bytes, which is the same everywhere.
private func precedes(_ a: String, _ b: String) -> Bool {
  Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8))
}

extension ComparedSeries {
  mutating func add(_ instant: Int64, _ message: ComparedMessage) {
    let begin = instant / step * step
    if at.last != begin {
      at.append(begin)
      messages.append(0)
      a.append(0)
      b.append(0)
      gained.append(0)
      lost.append(0)
    }
    let last = at.count - 1
    messages[last] += 1
    a[last] += message.pushesA
    b[last] += message.pushesB
    gained[last] += message.gained
    lost[last] += message.lost
  }
}
