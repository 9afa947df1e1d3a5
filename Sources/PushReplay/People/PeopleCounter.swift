internal import PushModel

/// Counts the pushes of each person and day: one thread's part.
///
/// Each room has a byte a member and side, to which the pushes of its messages are added in wide
/// instructions; after 255 messages, and at the end of a day, they are added to the people's numbers.
///
/// - Memory: 2 or 3 bytes for each membership in rooms with messages that day, about 40 bytes a
///   user.
struct PeopleCounter {
  /// What a person got on a day.
  struct Entry: Sendable {
    var user: UInt32
    var a: UInt32 = 0
    var b: UInt32 = 0
  }

  /// The people who were recipients on a day, as far as one thread knows.
  struct Day: Sendable {
    let number: Int
    let entries: [Entry]
  }

  /// The room's numbers since they were last added to those of its people.
  fileprivate struct Room {
    let list: Lists
    let users: [UInt32]
    var pushesA: [UInt8]
    /// Empty unless there are two sides.
    var pushesB: [UInt8]
    /// Not 0 for who was a recipient.
    var seen: [UInt8]
    var messages = 0
    /// Whether it had a message on this day.
    var isActive = true
    /// The ranks of members who never got a push, as far as this thread knows.
    var unreached: [Int32] = []
  }

  /// Which list of members the codes are of.
  struct Lists: Equatable, Sendable {
    let a: UInt64
    let b: UInt64
  }

  private let hasTwoSides: Bool
  private let clock: WeekClock
  /// By the index of the conversation in the tally.
  private var rooms: [Room?] = []
  private var day = Int.min
  private var entries: [Entry] = []
  /// For each user one more than the index of the entry; 0 for none.
  private var entryOf: [UInt32] = []
  private var isReached: [Bool] = []
  /// Suppressed decisions of people who were not reached, by user and outcome.
  private(set) var suppressed = SuppressedRows()
  private var finished: [Day] = []

  init(_ clock: WeekClock, hasTwoSides: Bool) {
    self.clock = clock
    self.hasTwoSides = hasTwoSides
  }

  /// Adds a message.
  ///
  /// - Parameters:
  ///   - at: its instant in milliseconds.
  ///   - room: the index of its conversation.
  ///   - list: which members they are.
  ///   - a: the outcome codes of the members, 0 for who is no recipient.
  ///   - b: the same of the other side; empty if there is one only.
  ///   - users: the numbers of the members, asked for when the list is another than before.
  mutating func add(
    at: Int64, _ room: Int, _ list: Lists, _ a: borrowing [UInt8], _ b: borrowing [UInt8],
    users: () -> [UInt32]
  ) {
    let today = clock.day(at)
    if today != day {
      endDay()
      day = today
    }
    while room >= rooms.count { rooms.append(nil) }
    if rooms[room]?.list != list {
      flush(room)
      rooms[room] = makeRoom(list, users())
    }
    let count = rooms[room]?.users.count ?? 0
    guard count > 0 else { return }
    precondition(a.count == count && (!hasTwoSides || b.count == count), "a code for each member")
    rooms[room]!.add(a, b, hasTwoSides)
    if !hasTwoSides {
      let room = rooms[room]!
      for rank in room.unreached {
        let code = a[Int(rank)]
        if code != 0 { suppressed.add(1, user: Int(room.users[Int(rank)]), code) }
      }
    }
    if rooms[room]!.messages == 255 { flush(room) }
  }

  private mutating func makeRoom(_ list: Lists, _ users: [UInt32]) -> Room {
    let zeros = [UInt8](repeating: 0, count: users.count)
    var room = Room(
      list: list, users: users, pushesA: zeros, pushesB: hasTwoSides ? zeros : [], seen: zeros)
    let most = Int(users.max() ?? 0)
    if most >= entryOf.count {
      let more = max(most + 1 - entryOf.count, entryOf.count / 4)
      entryOf += [UInt32](repeating: 0, count: more)
      isReached += [Bool](repeating: false, count: more)
    }
    if !hasTwoSides {
      room.unreached = users.indices.filter { !isReached[Int(users[$0])] }.map { Int32($0) }
    }
    return room
  }

  /// Adds a room's numbers to those of its people.
  private mutating func flush(_ index: Int) {
    guard index < rooms.count, var room = rooms[index], room.messages > 0 else { return }
    rooms[index] = nil
    for rank in room.users.indices where room.seen[rank] != 0 {
      let user = room.users[rank]
      var entry = Int(entryOf[Int(user)])
      if entry == 0 {
        entries.append(Entry(user: user))
        entry = entries.count
        entryOf[Int(user)] = UInt32(entry)
      }
      let pushes = UInt32(room.pushesA[rank])
      entries[entry - 1].a += pushes
      if hasTwoSides { entries[entry - 1].b += UInt32(room.pushesB[rank]) }
      if pushes > 0 { isReached[Int(user)] = true }
    }
    room.reset()
    room.unreached.removeAll { isReached[Int(room.users[Int($0)])] }
    rooms[index] = room
  }

  /// Ends the day; rooms that had no message on it are forgotten.
  private mutating func endDay() {
    for index in rooms.indices where rooms[index] != nil {
      flush(index)
      if rooms[index]!.isActive { rooms[index]!.isActive = false } else { rooms[index] = nil }
    }
    guard !entries.isEmpty else { return }
    for entry in entries { entryOf[Int(entry.user)] = 0 }
    finished.append(Day(number: day, entries: entries))
    entries = []
  }

  /// The days that have ended since this was last asked, and the one that has not.
  mutating func takeDays() -> (ended: [Day], current: Int) {
    defer { finished = [] }
    return (finished, day)
  }

  /// What has not been taken yet.
  mutating func finish() -> [Day] {
    endDay()
    day = .min
    return takeDays().ended
  }
}

extension PeopleCounter.Room {
  /// Adds the pushes of a message, many members at a time.
  fileprivate mutating func add(
    _ a: borrowing [UInt8], _ b: borrowing [UInt8], _ hasTwoSides: Bool
  ) {
    isActive = true
    messages += 1
    Self.addPushes(a, to: &pushesA)
    Self.addRecipients(a, to: &seen)
    guard hasTwoSides else { return }
    Self.addPushes(b, to: &pushesB)
    Self.addRecipients(b, to: &seen)
  }

  /// Counts codes of pushes, which are odd.
  private static func addPushes(_ codes: borrowing [UInt8], to pushes: inout [UInt8]) {
    let codes = codes.span
    var pushes = pushes.mutableSpan
    for rank in 0..<codes.count { pushes[rank] &+= codes[rank] & 1 }
  }

  private static func addRecipients(_ codes: borrowing [UInt8], to seen: inout [UInt8]) {
    let codes = codes.span
    var seen = seen.mutableSpan
    for rank in 0..<codes.count { seen[rank] |= codes[rank] }
  }

  fileprivate mutating func reset() {
    messages = 0
    for rank in pushesA.indices { pushesA[rank] = 0 }
    for rank in pushesB.indices { pushesB[rank] = 0 }
    for rank in seen.indices { seen[rank] = 0 }
  }
}

/// Suppressed decisions by user and outcome, a column for each outcome that occurred.
///
/// - Memory: 4 bytes a user and column; columns are made eight at a time.
struct SuppressedRows {
  private var columns = OutcomeColumns()
  private var width = 8
  private var values: [UInt32] = []

  mutating func add(_ count: UInt32, user: Int, _ code: UInt8) {
    let column = columns.column(of: code)
    if column >= width { widen() }
    let index = user * width + column
    if index >= values.count {
      let more = max(index + width - values.count, values.count / 4)
      values += [UInt32](repeating: 0, count: more)
    }
    values[index] += count
  }

  /// Adds a user's counts to a list by code.
  func addCounts(of user: Int, to counts: inout [Int]) {
    for (column, code) in columns.codes.enumerated() {
      let index = user * width + column
      if index < values.count { counts[Int(code)] += Int(values[index]) }
    }
  }

  private mutating func widen() {
    let old = (width: width, values: values)
    width += 8
    let users = (old.values.count + old.width - 1) / old.width
    values = [UInt32](repeating: 0, count: users * width)
    for index in old.values.indices {
      values[index / old.width * width + index % old.width] = old.values[index]
    }
  }
}
