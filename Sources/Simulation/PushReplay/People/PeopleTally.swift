internal import PushModel

/// Adds up what threads counted of people, day by day.
///
/// A day is closed when every thread has passed it, also those that have counted nothing yet; until
/// then what threads counted waits.
///
/// - Memory: 24 bytes a user, and 16 for each person of a day that is not closed.
struct PeopleTally {
  /// What a person came to, over all days.
  struct Total {
    var a: UInt32 = 0
    var b: UInt32 = 0
    var days: UInt32 = 0
    /// Days with a push, in a comparison in A.
    var pushDays: UInt32 = 0
  }

  /// What waits, by day.
  private var open: [Int: [[PeopleCounter.Entry]]] = [:]
  /// The day that each thread counts at; `Int.min` before it has counted.
  private var current: [Int]
  private(set) var totals: [Total] = []
  /// While a day is closed, what each user got on it.
  private var sums: [(a: UInt32, b: UInt32, isThere: Bool)] = []
  private let hasTwoSides: Bool
  private var counts = (a: PersonDayCounts(), b: PersonDayCounts())
  private var flow = ComparedPeople().flow
  private(set) var personDays = 0
  /// The most days that a person had.
  private var mostDays = 0

  /// - Parameter threads: how many threads count, at least 1.
  init(hasTwoSides: Bool, threads: Int) {
    self.hasTwoSides = hasTwoSides
    current = Array(repeating: .min, count: threads)
  }

  /// Takes in what a thread counted with a batch; batches come in the order of time.
  ///
  /// - Parameter thread: the thread's number, from 0.
  mutating func add(_ days: (ended: [PeopleCounter.Day], current: Int), from thread: Int) {
    add(days.ended)
    current[thread] = days.current
    // The clocks of a zone may go back over midnight: one day more.
    guard let least = current.min(), !open.isEmpty else { return }
    for day in open.keys where day + 1 < least { close(day) }
  }

  mutating func add(_ days: [PeopleCounter.Day]) {
    for day in days { open[day.number, default: []].append(day.entries) }
  }

  /// Closes all days.
  mutating func finish() {
    for day in Array(open.keys) { close(day) }
  }

  private mutating func close(_ day: Int) {
    guard let lists = open.removeValue(forKey: day) else { return }
    var users: [UInt32] = []
    for entry in lists.joined() {
      let user = Int(entry.user)
      if user >= totals.count {
        let more = max(user + 1 - totals.count, totals.count / 4)
        totals += [Total](repeating: Total(), count: more)
        sums += Array(repeating: (0, 0, false), count: more)
      }
      if !sums[user].isThere {
        sums[user].isThere = true
        users.append(entry.user)
      }
      sums[user].a += UInt32(entry.a)
      sums[user].b += UInt32(entry.b)
    }
    var last = (pushes: UInt32.max, index: 0)
    func index(_ pushes: UInt32) -> Int {
      if pushes != last.pushes { last = (pushes, DailyPushes.index(Int(pushes))) }
      return last.index
    }
    for user in users {
      let (a, b, _) = sums[Int(user)]
      sums[Int(user)] = (0, 0, false)
      totals[Int(user)].a += a
      totals[Int(user)].b += b
      totals[Int(user)].days += 1
      if a > 0 { totals[Int(user)].pushDays += 1 }
      mostDays = max(mostDays, Int(totals[Int(user)].days))
      counts.a.add(Int(a))
      guard hasTwoSides else { continue }
      counts.b.add(Int(b))
      flow[index(a)][index(b)] += 1
    }
    personDays += users.count
  }

  // MARK: The results

  /// - Parameter suppressed: what each thread counted of people who were not reached.
  /// - Precondition: all days are closed.
  func people(_ suppressed: [SuppressedRows]) -> PeopleResult {
    var result = PeopleResult()
    result.people = totals.count { $0.days > 0 }
    result.personDays = personDays
    result.mostDays = mostDays
    result.pushes = DailyPushes(counts.a.sorted)
    var reasons: [String: Int] = [:]
    for (user, total) in totals.enumerated() where total.days > 0 && total.a == 0 {
      result.neverReached += 1
      guard let reason = Self.reason(of: user, suppressed) else { continue }
      reasons[reason.name, default: 0] += 1
    }
    result.neverReasons = reasons.map { NeverReason(reason: $0.key, people: $0.value) }.sorted {
      ($1.people, $0.reason) < ($0.people, $1.reason)
    }
    return result
  }

  /// The people with most pushes.
  ///
  /// - Parameters:
  ///   - pushes: what each thread counted by room.
  ///   - id: the id of a user's number.
  ///   - room: that of a room's index in the tally.
  /// - Complexity: O(users log users + users and rooms with pushes).
  /// - Precondition: all days are closed.
  func most(
    _ limit: Int, _ pushes: [UserRoomCounts], id: (UInt32) -> Identifier,
    room: (UInt32) -> Identifier
  ) -> [TopPerson] {
    let found = Most.of(totals.map { Int($0.a) }, limit) { id(UInt32($0)).text }
    var places = [Int32](repeating: -1, count: totals.count)
    for (place, person) in found.enumerated() { places[person.place] = Int32(place) }
    var rooms = [[UInt32: Int]](repeating: [:], count: found.count)
    for counts in pushes {
      counts.forEach { user, room, count in
        let place = places[Int(user)]
        if place >= 0 { rooms[Int(place)][room, default: 0] += count }
      }
    }
    return zip(found, rooms).map { person, rooms in
      let most = rooms.values.max() ?? 0
      let first = rooms.filter { $0.value == most }.map { room($0.key).text }.min {
        $0.utf8.lexicographicallyPrecedes($1.utf8)
      }
      let total = totals[person.place]
      return TopPerson(
        id: person.name, pushes: Int(total.a), days: Int(total.pushDays),
        conversation: first ?? "", share: most)
    }
  }

  /// The reason of most of a person's decisions; of equals the first by name.
  static func reason(of user: Int, _ suppressed: [SuppressedRows]) -> Reason? {
    var codes = [Int](repeating: 0, count: Outcome.codeCount)
    for rows in suppressed { rows.addCounts(of: user, to: &codes) }
    var counts: [Reason: Int] = [:]
    for (code, count) in codes.enumerated() where count > 0 {
      if let outcome = Outcome(code: UInt8(code)) { counts[outcome.reason, default: 0] += count }
    }
    return counts.min { ($1.value, $0.key.name) < ($0.value, $1.key.name) }?.key
  }

  /// Calls `body` with each person, in the order of ids.
  ///
  /// - Parameter id: the id of a user's number.
  /// - Precondition: all days are closed.
  func forEachPerson(
    id: (UInt32) -> Identifier, _ suppressed: [SuppressedRows] = [],
    body: (PersonTotal) throws -> Void
  ) rethrows {
    let people = totals.indices.filter { totals[$0].days > 0 }.map { (id(UInt32($0)), $0) }
    for (id, user) in people.sorted(by: { $0.0.text.utf8.lexicographicallyPrecedes($1.0.text.utf8) }
    ) {
      let total = totals[user]
      try body(
        PersonTotal(
          user: id, days: Int(total.days), pushes: Int(total.a),
          pushesInB: hasTwoSides ? Int(total.b) : nil,
          neverReason: total.a == 0 ? Self.reason(of: user, suppressed) : nil))
    }
  }

  /// - Precondition: all days are closed.
  var compared: ComparedPeople {
    var result = ComparedPeople()
    result.personDays = personDays
    result.mostDays = mostDays
    result.a = DailyPushes(counts.a.sorted)
    result.b = DailyPushes(counts.b.sorted)
    result.flow = flow
    for total in totals where total.days > 0 {
      result.people += 1
      switch (total.a > 0, total.b > 0) {
      case (true, false): result.noneAnyMore += 1
      case (false, true): result.firstTime += 1
      case (false, false): result.never += 1
      case (true, true): break
      }
    }
    return result
  }
}

/// Person-days by their number of pushes.
private struct PersonDayCounts {
  private var few = [Int](repeating: 0, count: 4096)
  private var many: [Int: Int] = [:]

  mutating func add(_ pushes: Int) {
    if pushes < few.count { few[pushes] += 1 } else { many[pushes, default: 0] += 1 }
  }

  /// Ascending by pushes.
  var sorted: [(pushes: Int, count: Int)] {
    few.enumerated().filter { $0.element > 0 }.map { ($0.offset, $0.element) }
      + many.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
