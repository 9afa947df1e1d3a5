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
  /// By the class's bit.
  private var lostByClass: [Int] = []
  /// Pushes that users gained and lost, by their numbers.
  private var users: [(gained: Int32, lost: Int32)] = []
  /// Of each thread.
  private var mentions: [UserRoomCounts] = []
  /// nil if they are not counted.
  private var localHours: ComparedHours?
  private(set) var people: PeopleTally
  var clock: WeekClock { hours }

  private var limits: (a: RateLimitTally, b: RateLimitTally)?

  init(
    _ a: ComparedSide, _ b: ComparedSide, timeZone: String, rateLimit: Int?,
    countsLocalHours: Bool, threads: Int
  ) throws(FanoutError) {
    localHours = countsLocalHours ? ComparedHours() : nil
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

  /// Adds the parts of a batch.
  mutating func add(_ batch: ComparedBatch, _ parts: [ComparedMessages]) {
    var messages = [ComparedMessage](repeating: ComparedMessage(), count: batch.messages.count)
    for (indices, part) in zip(batch.parts, parts) {
      for (index, message) in zip(indices, part.messages) { messages[index] = message }
    }
    for (index, message) in messages.enumerated() {
      add(batch.messages[index].a.at.milliseconds, Int(batch.conversationIndices[index]), message)
    }
    for part in parts { people.add(part.people, from: part.thread) }
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
    for pair in 0..<65_536 { changes[pair] += worker.differences.changes[pair] }
    let byClass = worker.differences.lostByClass
    if lostByClass.isEmpty { lostByClass = [Int](repeating: 0, count: byClass.count) }
    for bit in byClass.indices { lostByClass[bit] += byClass[bit] }
    people.add(worker.people.finish())
    mentions.append(worker.mentionsLost)
    let hours = worker.localHours
    for hour in 0..<24 {
      localHours?.a[hour] += hours.both[hour] + hours.a[hour]
      localHours?.b[hour] += hours.both[hour] + hours.b[hour]
    }
    let moved = worker.people.moved
    if moved.count > users.count {
      users += Array(repeating: (0, 0), count: moved.count - users.count)
    }
    for (user, moved) in moved.enumerated() {
      users[user].gained += moved.gained
      users[user].lost += moved.lost
    }
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
    result.classesLost = classesLost
    result.pushesByLocalHour = localHours
    addMentions(userLimit, id)
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
    let sorted = conversations.indices.filter { conversations[$0].messages > 0 }.map {
      (moved: conversations[$0].gained + conversations[$0].lost, index: $0)
    }.sorted {
      $0.moved != $1.moved
        ? $0.moved > $1.moved : precedes(conversations[$0.index].id, conversations[$1.index].id)
    }
    result.conversationTable = sorted.map { conversations[$0.index] }
    conversations = []
    result.conversations = result.conversationTable.count
    addUsers(userLimit, id)
    return result
  }

  private var classesLost: LostClasses? {
    guard
      RuleSet(rawValue: result.a.rules)?.levelClasses.isSuperset(
        of: [.role, .reply, .keyword, .sender]) == true
    else { return nil }
    func count(_ wanted: MessageClasses) -> Int {
      lostByClass.isEmpty ? 0 : lostByClass[wanted.rawValue.trailingZeroBitCount]
    }
    var lost = LostClasses()
    (lost.role, lost.reply) = (count(.role), count(.reply))
    (lost.keyword, lost.sender) = (count(.keyword), count(.sender))
    return lost
  }

  /// Who lost mentions by name, and in which rooms.
  private mutating func addMentions(_ limit: Int, _ id: (UInt32) -> Identifier) {
    var counts: [[UInt32]: Int] = [:]
    for mentions in mentions { mentions.forEach { counts[[$0, $1], default: 0] += $2 } }
    if counts.isEmpty { return }
    result.users.lostMentions = Set(counts.keys.map { $0[0] }).count
    let pairs = counts.map { (user: $0.key[0], room: $0.key[1], count: $0.value) }
    let names = { (place: Int) in "\(id(pairs[place].user).text)\0\(ids[pairs[place].room].text)" }
    result.users.mentionLosers = Most.of(pairs.map(\.count), limit, name: names).map { place, _ in
      MentionLoser(
        id: id(pairs[place].user).text, conversation: ids[pairs[place].room].text,
        mentions: pairs[place].count)
    }
  }

  private mutating func addUsers(_ limit: Int, _ id: (UInt32) -> Identifier) {
    let nets = users.map { Int($0.gained) - Int($0.lost) }
    for (user, net) in zip(users, nets) where user != (0, 0) {
      if net > 0 {
        result.users.more += 1
      } else if net < 0 {
        result.users.fewer += 1
      } else {
        result.users.asMany += 1
      }
    }
    (result.users.gainers, result.users.gains) = most(limit, sign: 1, nets, id)
    (result.users.losers, result.users.losses) = most(limit, sign: -1, nets, id)
  }

  /// The users who gained most, or lost most, and how many have each of the largest differences.
  private func most(
    _ limit: Int, sign: Int, _ nets: [Int], _ id: (UInt32) -> Identifier
  ) -> ([ComparedUser], [ComparedUsersStep]) {
    var counts: [Int: Int] = [:]
    for net in nets where net * sign > 0 { counts[net * sign, default: 0] += 1 }
    let steps = counts.keys.sorted(by: >).prefix(limit)
    let places = [Int: Int](uniqueKeysWithValues: steps.enumerated().map { ($1, $0) })
    // Users of the least steps may be very many: of each, only the first by id are kept.
    var firsts = [LeastTexts](repeating: LeastTexts(limit: max(limit, 3)), count: steps.count)
    for (user, net) in nets.enumerated() {
      if let place = places[net * sign] { firsts[place].add(id(UInt32(user)).text, user) }
    }
    let listed = zip(steps, firsts.map(\.items))
    let found = listed.flatMap { _, items in
      items.map { text, user in
        ComparedUser(
          id: text, gained: Int(users[user].gained), lost: Int(users[user].lost))
      }
    }
    return (
      Array(found.prefix(limit)),
      listed.map { step, items in
        ComparedUsersStep(
          pushes: step, users: counts[step] ?? 0, examples: items.prefix(3).map(\.text))
      }
    )
  }
}

/// The first texts of many, in the order of bytes.
private struct LeastTexts {
  let limit: Int
  private(set) var items: [(text: String, user: Int)] = []

  mutating func add(_ text: String, _ user: Int) {
    if items.count == limit, let last = items.last, !precedes(text, last.text) { return }
    let place = items.firstIndex { precedes(text, $0.text) } ?? items.count
    items.insert((text, user), at: place)
    if items.count > limit { items.removeLast() }
  }

  init(limit: Int) { self.limit = limit }
}

/// The order of bytes, which is the same everywhere.
private func precedes(_ a: String, _ b: String) -> Bool {
  a.utf8.lexicographicallyPrecedes(b.utf8)
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
