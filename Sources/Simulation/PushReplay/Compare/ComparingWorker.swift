internal import PushFanout
internal import PushModel

/// Who came online and went offline in both worlds, in the order of time.
typealias ComparedPresence = (
  a: [UserPresenceChange], b: [UserPresenceChange]
)

/// Messages, and the versions of both worlds' settings that they are decided on.
struct ComparedBatch: Sendable {
  var messages: [(a: Message, b: Message)] = []
  /// The index of each message's conversation in the tally.
  var conversationIndices: [UInt32] = []
  var versions: [(from: Int, a: FanoutVersion, b: FanoutVersion)] = []
  /// Since the worker's last batch, and among the messages.
  var presenceBefore: ComparedPresence = ([], [])
  var presence = (a: PresenceMarks(), b: PresenceMarks())
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

/// What a thread says of a batch.
struct ComparedMessages: Sendable {
  var messages: [ComparedMessage] = []
  var thread = 0
  var people: (ended: [PeopleCounter.Day], current: Int) = ([], .min)
}

/// One thread's part of a comparison: it decides messages in both worlds and adds up where they
/// differ.
struct ComparingWorker {
  private struct Known {
    let lists: (a: UInt64, b: UInt64)
    let members: ComparedMembers
  }

  private let timelines: (a: FanoutTimeline, b: FanoutTimeline)
  private let thread: Int
  private var pairs: UserPairs
  let people: PeopleCounter
  private var known: [Identifier: Known] = [:]
  private var codes: (a: [UInt8], b: [UInt8]) = ([], [])
  /// The ranks where both differ.
  private var differing: [Int] = []
  /// How often each code occurred.
  private(set) var totalsOfA = [Int](repeating: 0, count: 256)
  private(set) var totalsOfB = [Int](repeating: 0, count: 256)
  /// How often a code of A met another one of B, at 256 times the first and the second.
  private(set) var changes = [Int](repeating: 0, count: 65_536)
  /// Pushes that users gained and lost, by their numbers.
  private(set) var moved: [(gained: Int32, lost: Int32)] = []

  /// - Parameters:
  ///   - versions: the settings at the beginning.
  ///   - thread: the number of the thread, from 0.
  init(
    _ numbers: ComparedUserNumbers, _ clock: WeekClock,
    _ versions: (a: FanoutVersion, b: FanoutVersion), thread: Int
  ) {
    timelines = (FanoutTimeline(versions.a), FanoutTimeline(versions.b))
    (timelines.a.keepsConversations, timelines.b.keepsConversations) = (true, true)
    pairs = UserPairs(numbers)
    people = PeopleCounter(clock, hasTwoSides: true)
    self.thread = thread
  }

  /// Decides a batch.
  mutating func compare(_ batch: ComparedBatch) -> ComparedMessages {
    var compared = ComparedMessages()
    compared.thread = thread
    let (a, b) = timelines
    a.apply(batch.presenceBefore.a, 0..<batch.presenceBefore.a.count)
    b.apply(batch.presenceBefore.b, 0..<batch.presenceBefore.b.count)
    var (version, next) = (0, (a: 0, b: 0))
    func apply(before index: Int) {
      batch.presence.a.apply(to: a, before: index, from: &next.a)
      batch.presence.b.apply(to: b, before: index, from: &next.b)
    }
    compared.messages = batch.messages.indices.map { index in
      while version < batch.versions.count, batch.versions[version].from <= index {
        a.follow(batch.versions[version].a)
        b.follow(batch.versions[version].b)
        version += 1
      }
      apply(before: index)
      return compare(batch.messages[index], Int(batch.conversationIndices[index]), a, b)
    }
    apply(before: batch.messages.count)
    compared.people = people.takeDays()
    return compared
  }

  private mutating func compare(
    _ message: (a: Message, b: Message), _ room: Int, _ a: FanoutTimeline, _ b: FanoutTimeline
  ) -> ComparedMessage {
    var compared = ComparedMessage()
    let (countsA, listA) = a.writeCodes(message.a, into: &codes.a)
    let (countsB, listB) = b.writeCodes(message.b, into: &codes.b)
    (compared.a, compared.pushesA) = Self.add(countsA, to: &totalsOfA)
    (compared.b, compared.pushesB) = Self.add(countsB, to: &totalsOfB)
    let id = message.a.conversation
    if known[id].map({ $0.lists != (listA, listB) }) ?? true {
      let members = ComparedMembers(
        pairs.numbers(ofA: a.members(of: id), a), pairs.numbers(ofB: b.members(of: id), a, b))
      known[id] = Known(lists: (listA, listB), members: members)
    }
    guard let members = known[id]?.members else { return compared }
    members.align(&codes.a, &codes.b)
    addDifferences(members.users, &compared)
    if compared.lost > 0 { addMentions(a.mentions(of: message.a), &compared) }
    let at = message.a.at.milliseconds
    people.add(at: at, room, a) { pairs.numbers(ofA: $0, a) }
    people.add(at: at, room, b, isB: true) { pairs.numbers(ofB: $0, a, b) }
    return compared
  }

  private static func add(
    _ counts: FanoutCounts, to totals: inout [Int]
  ) -> (recipients: Int, pushes: Int) {
    counts.forEach { totals[Int($0)] += $1 }
    return (counts.recipientCount, counts.pushCount)
  }

  /// Compares eight members at a time, as most have equal outcomes.
  private mutating func addDifferences(_ users: [UInt32], _ compared: inout ComparedMessage) {
    let count = codes.a.count
    // Taken out meanwhile, so that it can grow beside the codes.
    var differing = self.differing
    self.differing = []
    differing.removeAll(keepingCapacity: true)
    defer { self.differing = differing }
    unsafe codes.a.withUnsafeBytes { (a) -> Void in
      unsafe codes.b.withUnsafeBytes { (b) -> Void in
        var rank = 0
        while rank + 8 <= count {
          let difference =
            unsafe a.loadUnaligned(fromByteOffset: rank, as: UInt64.self)
            ^ b.loadUnaligned(fromByteOffset: rank, as: UInt64.self)
          if difference != 0 {
            for offset in 0..<8 where difference >> UInt64(offset * 8) & 0xFF != 0 {
              differing.append(rank + offset)
            }
          }
          rank += 8
        }
        while rank < count {
          if unsafe a[rank] != b[rank] { differing.append(rank) }
          rank += 1
        }
      }
    }
    compared.changed = differing.count
    for rank in differing {
      let (a, b) = (codes.a[rank], codes.b[rank])
      changes[Int(a) << 8 | Int(b)] += 1
      guard (a ^ b) & 1 != 0 else { continue }
      if b & 1 != 0 { compared.gained += 1 } else { compared.lost += 1 }
      note(users[rank], isGain: b & 1 != 0)
    }
  }

  /// Counts the pushes lost of a message that mentions recipients; the differing ranks are known.
  private func addMentions(
    _ mentions: (ranks: [Int], everyone: Bool), _ compared: inout ComparedMessage
  ) {
    for rank in mentions.ranks where codes.a[rank] & 1 != 0 && codes.b[rank] & 1 == 0 {
      compared.mentionsLost += 1
    }
    if mentions.everyone { compared.everyoneMentionsLost = compared.lost - compared.mentionsLost }
  }

  private mutating func note(_ user: UInt32, isGain: Bool) {
    let index = Int(user)
    if index >= moved.count {
      moved += Array(repeating: (0, 0), count: max(index + 1 - moved.count, moved.count))
    }
    if isGain { moved[index].gained += 1 } else { moved[index].lost += 1 }
  }
}
