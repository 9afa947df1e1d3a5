internal import PushFanout
internal import PushModel

/// Messages, and the versions of both worlds' settings that they are decided on, each from a message
/// on.
struct ComparedBatch: Sendable {
  var messages: [(a: Message, b: Message)] = []
  /// The index of each message's conversation in the tally.
  var conversationIndices: [UInt32] = []
  /// None while those of the batch before stay.
  var versions: [(from: Int, a: FanoutVersion, b: FanoutVersion)] = []
  var presence = (a: PresenceMarks(), b: PresenceMarks())
  /// For each worker, the indices of the messages that it compares, ascending.
  var parts: [[Int]]

  init(workers: Int) { parts = Array(repeating: [], count: workers) }
}

/// The messages of a batch that one worker compares.
struct ComparedPart: Sendable {
  let batch: ComparedBatch
  let worker: Int
}

/// What one message came to in both worlds.
struct ComparedMessage: Sendable {
  var a = 0
  var b = 0
  /// Pushes.
  var pushesA = 0
  var pushesB = 0
  var changed = 0
  var gained = 0
  var lost = 0
  /// Of those lost, whose message mentions the recipient by name, and else everyone.
  var mentionsLost = 0
  var everyoneMentionsLost = 0
}

/// What a thread says of its part of a batch.
struct ComparedMessages: Sendable {
  var messages: [ComparedMessage] = []
  var thread = 0
  var people: (ended: [PeopleCounter.Day], current: Int) = ([], .min)
}

/// One thread's part of a comparison: it decides messages in both worlds and adds up where they
/// differ.
///
/// A message to a room that is the same in both worlds is decided once, and counts for both. Members
/// of small rooms are compared one by one, those of larger ones by a ``OutcomeLedger``.
struct ComparingWorker {
  private struct Known {
    let lists: (a: UInt64, b: UInt64)
    let members: ComparedMembers
  }

  private let timelines: (a: FanoutTimeline, b: FanoutTimeline)
  private let thread: Int
  private var touched: TouchedRooms
  private var pairs: UserPairs
  let people: PeopleCounter
  /// In worlds that are not alike.
  private var known: [Identifier: Known] = [:]
  private var codes: (a: [UInt8], b: [UInt8]) = ([], [])
  /// How often each code occurred.
  private(set) var totalsOfA = [Int](repeating: 0, count: 256)
  private(set) var totalsOfB = [Int](repeating: 0, count: 256)
  private(set) var differences = OutcomeDifferences()
  /// Lost pushes of messages that mention the user by name, by the users' numbers and the rooms'
  /// indices in the tally.
  private(set) var mentionsLost = UserRoomCounts()
  private let countsLocalHours: Bool
  /// Pushes by the hour of the recipient's own day, if they are counted: of messages that are the
  /// same in both worlds, and of the others in A and in B.
  private(set) var localHours = (
    both: [Int](repeating: 0, count: 24), a: [Int](repeating: 0, count: 24),
    b: [Int](repeating: 0, count: 24)
  )

  /// - Parameters:
  ///   - versions: the settings at the beginning.
  ///   - touched: where they may differ.
  ///   - countsLocalHours: whether to count pushes by the recipient's clock, which takes a quarter of
  ///     the time of everything else.
  ///   - thread: the number of the thread, from 0.
  init(
    _ numbers: ComparedUserNumbers, _ clock: WeekClock,
    _ versions: (a: FanoutVersion, b: FanoutVersion), _ touched: TouchedRooms,
    countsLocalHours: Bool, thread: Int
  ) {
    self.countsLocalHours = countsLocalHours
    timelines = (FanoutTimeline(versions.a), FanoutTimeline(versions.b))
    timelines.a.keepsLargeConversations = true
    timelines.b.keepsLargeConversations = true
    self.touched = touched
    pairs = UserPairs(numbers)
    people = PeopleCounter(clock, hasTwoSides: true)
    self.thread = thread
  }

  /// Decides a part of a batch.
  mutating func compare(_ part: ComparedPart) -> ComparedMessages {
    var compared = ComparedMessages()
    compared.thread = thread
    let batch = part.batch
    var (version, next) = (0, (a: 0, b: 0))
    compared.messages = batch.parts[part.worker].map { index in
      follow(batch, before: index, &version, &next)
      return compare(batch.messages[index], Int(batch.conversationIndices[index]))
    }
    // What came after the last message of the part.
    follow(batch, before: batch.messages.count, &version, &next)
    if let last = batch.messages.last { people.advance(to: last.a.at.milliseconds) }
    compared.people = people.takeDays()
    return compared
  }

  /// Goes on to the settings and the presence at a message of a batch.
  private func follow(
    _ batch: ComparedBatch, before index: Int, _ version: inout Int, _ next: inout (a: Int, b: Int)
  ) {
    let first = version
    while version < batch.versions.count, batch.versions[version].from <= index { version += 1 }
    if version > first {
      timelines.a.follow(batch.versions[version - 1].a)
      timelines.b.follow(batch.versions[version - 1].b)
    }
    batch.presence.a.apply(to: timelines.a, before: index, from: &next.a)
    batch.presence.b.apply(to: timelines.b, before: index, from: &next.b)
  }

  private mutating func compare(_ message: (a: Message, b: Message), _ room: Int) -> ComparedMessage
  {
    var compared = ComparedMessage()
    let (a, b) = timelines
    let counts = a.counts(message.a)
    (compared.a, compared.pushesA) = Self.add(counts, to: &totalsOfA)
    let at = message.a.at.milliseconds
    guard touched.contains(messageOf: a) else {
      (compared.b, compared.pushesB) = Self.add(counts, to: &totalsOfB)
      if compared.a > 0 { people.add(at: at, room, a) }
      if countsLocalHours { a.addPushes(byLocalHour: &localHours.both) }
      return compared
    }
    (compared.b, compared.pushesB) = Self.add(b.counts(message.b), to: &totalsOfB)
    let members = touched.isAlike ? nil : members(message.a.conversation)
    differences.beginMessage()
    if a.isCountedByMember || b.isCountedByMember {
      addMembers(message.a, at, members)
    } else {
      people.add(at: at, room) { ledger, entries in
        a.record(
          in: &ledger, beside: b,
          members.map { OutcomeLedger.Members($0.users, ranksOfB: $0.ranks) },
          &differences, named: { a.named(by: message.a) }
        ) { entries.add($0, $1, $2, $3) }
      }
    }
    if countsLocalHours {
      a.addPushes(byLocalHour: &localHours.a)
      b.addPushes(byLocalHour: &localHours.b)
    }
    for rank in differences.mentionsLost {
      let user = members?.users[rank] ?? a.decidedMember(at: rank).rawValue
      mentionsLost.add(user, UInt32(room), 1)
    }
    compared.changed = differences.changed
    compared.gained = differences.gained
    compared.lost = differences.lost
    compared.mentionsLost = differences.mentionsLost.count
    compared.everyoneMentionsLost = differences.everyoneMentionsLost
    return compared
  }

  private static func add(
    _ counts: FanoutCounts, to totals: inout [Int]
  ) -> (recipients: Int, pushes: Int) {
    counts.forEach { totals[Int($0)] += $1 }
    return (counts.recipientCount, counts.pushCount)
  }

  /// Compares the members of a message one by one.
  private mutating func addMembers(_ message: Message, _ at: Int64, _ members: ComparedMembers?) {
    let (a, b) = timelines
    a.writeCodes(into: &codes.a)
    b.writeCodes(into: &codes.b)
    members?.align(&codes.a, &codes.b)
    people.add(at: at, nil) { _, entries in
      func add(_ user: UInt32, _ index: Int) {
        let (codeA, codeB) = (codes.a[index], codes.b[index])
        if codeA | codeB == 0 { return }
        entries.add(user, codeA, codeB, 1)
        differences.add(codeA, codeB, 1)
      }
      if let users = members?.users {
        for (index, user) in users.enumerated() { add(user, index) }
      } else {
        for (index, user) in a.decidedMembers.enumerated() { add(user.rawValue, index) }
      }
    }
    guard differences.lost > 0 else { return }
    differences.addNamed(a.named(by: message)) { (codes.a[$0], codes.b[$0]) }
  }

  /// Which members of the room of the message that was decided last are the same users.
  private mutating func members(_ room: Identifier) -> ComparedMembers {
    let (a, b) = timelines
    let lists = (a.decidedMembershipVersion, b.decidedMembershipVersion)
    if let known = known[room], known.lists == lists { return known.members }
    let members = ComparedMembers(
      pairs.numbers(ofA: a.decidedMembers, a), pairs.numbers(ofB: b.decidedMembers, a, b))
    known[room] = Known(lists: lists, members: members)
    return members
  }
}
