internal import PushFanout
internal import PushModel

/// Messages in the order of time, the conversations they go to, the versions of the settings that
/// they are decided on, each from a message on, and who comes online between them.
struct MessageBatch: Sendable {
  var messages: [Message] = []
  /// The index of each message's conversation in the tally.
  var conversationIndices: [UInt32] = []
  /// None while that of the batch before stays.
  var versions: [(from: Int, version: FanoutVersion)] = []
  var presence = PresenceMarks()

  /// For each worker, the indices of the messages that it decides, ascending.
  var parts: [[Int]]

  init(workers: Int) { parts = Array(repeating: [], count: workers) }

  /// The worker that decides the next message: for those to one conversation always the same one,
  /// so that one timeline keeps the conversation and applies changes to it. If that worker has much
  /// more to do than others, the one that has least.
  func worker(ofConversation index: UInt32) -> Int {
    Self.worker(ofConversation: index, parts, messages.count)
  }

  /// The same of so many messages in parts.
  static func worker(ofConversation index: UInt32, _ parts: [[Int]], _ count: Int) -> Int {
    let worker = Int(index) % parts.count
    if parts[worker].count <= 16 + count * 3 / (parts.count * 2) { return worker }
    return parts.indices.min { parts[$0].count < parts[$1].count } ?? worker
  }
}

/// The messages of a batch that one worker decides.
struct BatchPart: Sendable {
  let batch: MessageBatch
  let worker: Int
  var indices: [Int] { batch.parts[worker] }
}

/// What the messages of a part of a batch came to.
struct DecidedPart: Sendable {
  var counts = MessageCounts()
  /// With holding: the suppressed that will push.
  var held = MessageCounts()
  /// How many are released in each minute.
  var released: [Int64: Int] = [:]
  /// The rows of the held, if they are wanted, and where each message's end.
  var heldRows: [UInt8] = []
  var heldRowEnds: [Int] = []
  /// How long each message took; empty without a clock.
  var nanoseconds: [UInt32] = []
  var total: UInt64 = 0
  /// Which thread decided it, from 0, and what that thread counted of people.
  var thread = 0
  /// The messages that are followed, with their indices in the batch.
  var followed: [(index: Int, message: FollowedMessage, counts: [(code: UInt8, count: Int)])] = []
  var people: (ended: [PeopleCounter.Day], current: Int) = ([], .min)
  /// Pushes by the hour of the recipient's local day.
  var localHours = [Int](repeating: 0, count: 24)
}

/// Decides parts of batches, one thread's share of a replay.
struct DecidingWorker {
  private let holds: Bool
  private let heldRow: (@Sendable (HeldDecision, inout [UInt8]) -> Void)?
  private let nanoseconds: (@Sendable () -> UInt64)?
  private let timeline: FanoutTimeline
  private let thread: Int
  /// nil if people are not counted.
  let people: PeopleCounter?
  private let follower: Follower?

  /// - Parameters:
  ///   - version: the settings at the beginning.
  ///   - thread: the number of the thread, from 0.
  init(_ options: ReplayOptions, _ clock: WeekClock, _ version: FanoutVersion, thread: Int) {
    self.thread = thread
    timeline = FanoutTimeline(version)
    timeline.keepsLargeConversations = options.countsPeople
    people =
      options.countsPeople
      ? PeopleCounter(clock, hasTwoSides: false, countsRooms: options.userLimit > 0) : nil
    follower = Follower(options)
    holds = options.holds
    heldRow = options.heldRow
    nanoseconds = options.nanoseconds
  }

  mutating func decide(_ part: BatchPart) -> DecidedPart {
    var decided = DecidedPart()
    decided.thread = thread
    let batch = part.batch
    var (version, presence) = (0, 0)
    var held = FanoutCounts()
    let start = nanoseconds?() ?? 0
    var before = start
    for index in part.indices {
      follow(batch, before: index, &version, &presence)
      let counts: FanoutCounts
      if holds {
        counts = hold(batch.messages[index], timeline, &held, &decided)
        decided.held.append(held)
        if heldRow != nil { decided.heldRowEnds.append(decided.heldRows.count) }
      } else {
        counts = timeline.counts(batch.messages[index])
      }
      decided.counts.append(counts)
      if let followed = follower?.follow(batch.messages[index], counts, timeline) {
        decided.followed.append((index, followed.message, followed.counts))
      }
      if let people {
        let room = Int(batch.conversationIndices[index])
        people.add(at: batch.messages[index].at.milliseconds, room, timeline)
        timeline.addPushes(byLocalHour: &decided.localHours)
      }
      guard let nanoseconds else { continue }
      let now = nanoseconds()
      decided.nanoseconds.append(UInt32(clamping: now - before))
      before = now
    }
    // What came after the last message of the part.
    follow(batch, before: batch.messages.count, &version, &presence)
    if let people {
      if let last = batch.messages.last { people.advance(to: last.at.milliseconds) }
      decided.people = people.takeDays()
    }
    if let nanoseconds { decided.total = nanoseconds() - start }
    return decided
  }

  /// Goes on to the settings and the presence at a message of a batch.
  private func follow(
    _ batch: MessageBatch, before index: Int, _ version: inout Int, _ presence: inout Int
  ) {
    let first = version
    while version < batch.versions.count, batch.versions[version].from <= index { version += 1 }
    if version > first { timeline.follow(batch.versions[version - 1].version) }
    batch.presence.apply(to: timeline, before: index, from: &presence)
  }

  private func hold(
    _ message: Message, _ timeline: FanoutTimeline, _ held: inout FanoutCounts,
    _ decided: inout DecidedPart
  ) -> FanoutCounts {
    guard let heldRow else {
      return timeline.counts(message, held: &held) { at, count in
        decided.released[at / 60_000, default: 0] += count
      }
    }
    return timeline.counts(message, held: &held) { user, at, code in
      decided.released[at / 60_000, default: 0] += 1
      guard let outcome = Outcome(code: code) else { return }
      heldRow(
        HeldDecision(
          message: message, user: timeline.id(of: user), outcome: outcome,
          pushAt: Instant(milliseconds: at)), &decided.heldRows)
    }
  }
}
