internal import PushFanout
internal import PushModel

/// Counts the pushes of each person and day: one thread's part, used on one thread at a time.
///
/// Each large room with messages on a day has a ledger; at the end of the day the ledgers say what
/// their members got. Members of small rooms are counted one by one.
///
/// - Memory: some 20 bytes for each membership in rooms with messages that day, 60 a user; where it
///   counts by room, what a ``UserRoomCounts`` of the pushes takes.
final class PeopleCounter {
  /// What a person got on a day.
  struct Entry: Sendable {
    var user: UInt32
    /// Pushes on both sides.
    var a: Int32 = 0
    var b: Int32 = 0
    /// Messages that had the person as a recipient, on either side.
    var recipient: Int32 = 0
  }

  /// The people who were recipients on a day, as far as one thread knows.
  struct Day: Sendable {
    let number: Int
    let entries: [Entry]
  }

  private let clock: WeekClock
  /// By the index of the conversation in the tally.
  private var ledgers: [Int: OutcomeLedger] = [:]
  /// The rooms that had a message on this day, and on the one before.
  private var rooms: (now: Set<Int>, before: Set<Int>) = ([], [])
  private var day = Int.min
  private var entries: DayEntries
  private var finished: [Day] = []
  private var codes: [UInt8] = []

  /// - Parameter countsRooms: whether to count the pushes of each user from each room.
  init(_ clock: WeekClock, hasTwoSides: Bool, countsRooms: Bool = false) {
    self.clock = clock
    entries = DayEntries(hasTwoSides: hasTwoSides, countsRooms: countsRooms)
  }

  /// Suppressed decisions of people who were not reached, by user and outcome.
  var suppressed: SuppressedRows { entries.suppressed }

  /// Pushes by user and by the room's index in the tally.
  var pushesByRoom: UserRoomCounts { entries.pushesByRoom }

  /// Pushes that users gained and lost on the second side, by their numbers.
  var moved: [(gained: Int32, lost: Int32)] { entries.moved }

  /// Adds a message that was just decided, with the same outcomes on both sides if there are two;
  /// messages come in the order of time.
  ///
  /// - Parameters:
  ///   - at: its instant in milliseconds.
  ///   - room: the index of its conversation.
  ///   - timeline: what decided it.
  func add(at: Int64, _ room: Int, _ timeline: FanoutTimeline) {
    guard timeline.isCountedByMember else {
      return add(at: at, room) { ledger, entries in
        entries.room = UInt32(room)
        timeline.recordEqual(in: &ledger) { entries.add($0, $1, $2, $3) }
      }
    }
    var codes: [UInt8] = []
    swap(&codes, &self.codes)
    timeline.writeCodes(into: &codes)
    add(at: at, nil) { _, entries in
      entries.room = UInt32(room)
      for (user, code) in zip(timeline.decidedMembers, codes) where code != 0 {
        entries.add(user.rawValue, code, code, 1)
      }
    }
    swap(&codes, &self.codes)
  }

  /// Adds a message of a comparison whose outcomes may differ.
  ///
  /// - Parameters:
  ///   - at: its instant in milliseconds.
  ///   - room: the index of its conversation; nil for one that is counted member by member.
  ///   - body: adds to the room's ledger, and to what people got.
  func add(at: Int64, _ room: Int?, _ body: (inout OutcomeLedger?, inout DayEntries) -> Void) {
    advance(to: at)
    withEntries { entries in
      if let room {
        rooms.now.insert(room)
        body(&ledgers[room], &entries)
      } else {
        var none: OutcomeLedger?
        body(&none, &entries)
      }
    }
  }

  /// Ends the day if an instant, in milliseconds, is of another one.
  ///
  /// A thread that gets no messages for long goes on with the others by this, so that their days
  /// can be added up.
  func advance(to at: Int64) {
    let today = clock.day(at)
    guard today != day else { return }
    endDay()
    day = today
  }

  /// Gives the entries out for a while: a variable of a function is accessed without the checks at
  /// run time that those of an object need, at each of many steps.
  private func withEntries(_ body: (inout DayEntries) -> Void) {
    var entries = DayEntries(hasTwoSides: self.entries.hasTwoSides, countsRooms: false)
    swap(&entries, &self.entries)
    body(&entries)
    swap(&entries, &self.entries)
  }

  /// Ends the day; rooms that had no message on it are forgotten.
  private func endDay() {
    withEntries { entries in
      for room in rooms.now {
        entries.room = UInt32(room)
        ledgers[room]?.flush { entries.add($0, $1, $2, $3) }
      }
    }
    for room in rooms.before where !rooms.now.contains(room) {
      ledgers[room] = nil
    }
    rooms = ([], rooms.now)
    let all = entries.end()
    if !all.isEmpty { finished.append(Day(number: day, entries: all)) }
  }

  /// The days that have ended since this was last asked, and the one that has not.
  func takeDays() -> (ended: [Day], current: Int) {
    defer { finished = [] }
    return (finished, day)
  }

  /// What has not been taken yet, also of the day that has not ended.
  func finish() -> [Day] {
    endDay()
    return takeDays().ended
  }
}

/// What people got on the day that has not ended.
struct DayEntries {
  let hasTwoSides: Bool
  private var entries: [PeopleCounter.Entry] = []
  /// For each user one more than the index of the entry; 0 for none.
  private var entryOf: [UInt32] = []
  /// The users who got a push on a day before.
  private var isReached: [Bool] = []
  private(set) fileprivate var suppressed = SuppressedRows()
  private let countsRooms: Bool
  /// The room that what is added comes from, by its index in the tally.
  fileprivate var room: UInt32 = 0
  private(set) fileprivate var pushesByRoom = UserRoomCounts()
  /// Over all days, by user.
  private(set) fileprivate var moved: [(gained: Int32, lost: Int32)] = []

  fileprivate init(hasTwoSides: Bool, countsRooms: Bool) {
    self.hasTwoSides = hasTwoSides
    self.countsRooms = countsRooms
  }

  /// Adds to what a user got: so often the outcomes of two codes, one of which may be 0 for none. A
  /// replay has the same twice.
  mutating func add(_ user: UInt32, _ a: UInt8, _ b: UInt8, _ count: Int) {
    let entry = entry(of: user)
    if !hasTwoSides, a & 1 == 0, !isReached[Int(user)] {
      suppressed.add(count, user: Int(user), a)
    }
    let count = Int32(truncatingIfNeeded: count)
    entries[entry].recipient += count
    if a & 1 != 0 {
      entries[entry].a += count
      if countsRooms { pushesByRoom.add(user, room, count) }
    }
    guard hasTwoSides else { return }
    if b & 1 != 0 { entries[entry].b += count }
    guard (a ^ b) & 1 != 0 else { return }
    if b & 1 != 0 { moved[Int(user)].gained += count } else { moved[Int(user)].lost += count }
  }

  private mutating func entry(of user: UInt32) -> Int {
    let index = Int(user)
    if index >= entryOf.count {
      let more = max(index + 1 - entryOf.count, entryOf.count / 4)
      entryOf += [UInt32](repeating: 0, count: more)
      if hasTwoSides {
        moved += Array(repeating: (0, 0), count: more)
      } else {
        isReached += [Bool](repeating: false, count: more)
      }
    }
    if entryOf[index] == 0 {
      entries.append(PeopleCounter.Entry(user: user))
      entryOf[index] = UInt32(entries.count)
    }
    return Int(entryOf[index]) - 1
  }

  /// Ends the day.
  ///
  /// - Returns: those who were recipients on it.
  fileprivate mutating func end() -> [PeopleCounter.Entry] {
    for entry in entries {
      entryOf[Int(entry.user)] = 0
      if !hasTwoSides, entry.a > 0 { isReached[Int(entry.user)] = true }
    }
    var all: [PeopleCounter.Entry] = []
    swap(&all, &entries)
    all.removeAll { $0.recipient == 0 }
    return all
  }
}

/// Suppressed decisions by user and outcome, a column for each outcome that occurred.
///
/// - Memory: 4 bytes a user and column; columns are made eight at a time.
struct SuppressedRows {
  private var columns = OutcomeColumns()
  private var width = 8
  private var values: [Int32] = []

  /// - Parameter count: how many more, or less.
  mutating func add(_ count: Int, user: Int, _ code: UInt8) {
    let column = columns.column(of: code)
    if column >= width { widen() }
    let index = user * width + column
    if index >= values.count {
      let more = max(index + width - values.count, values.count / 4)
      values += [Int32](repeating: 0, count: more)
    }
    values[index] += Int32(truncatingIfNeeded: count)
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
    values = [Int32](repeating: 0, count: users * width)
    for index in old.values.indices {
      values[index / old.width * width + index % old.width] = old.values[index]
    }
  }
}
