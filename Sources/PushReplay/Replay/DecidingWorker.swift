internal import PushFanout
internal import PushModel

/// Messages in the order of time, the conversations they go to, and the versions of the settings
/// that they are decided on, each from a message on.
struct MessageBatch: Sendable {
  var messages: [Message] = []
  /// The index of each message's conversation in the tally.
  var conversationIndices: [UInt32] = []
  var versions: [(from: Int, version: FanoutVersion)] = []
}

/// What the messages of a batch came to.
struct DecidedBatch: Sendable {
  /// The outcomes of all messages and how often each occurred, message by message.
  struct Counts: Sendable {
    var codes: [UInt8] = []
    var values: [UInt32] = []
    /// Where each message's end.
    var ends: [Int] = []
  }

  var counts = Counts()
  /// With holding: the suppressed that will push.
  var held = Counts()
  /// How many are released in each minute.
  var released: [Int64: Int] = [:]
  /// The rows of the held, if they are wanted.
  var heldRows: [UInt8] = []
  /// How long each message took; empty without a clock.
  var nanoseconds: [UInt32] = []
  var total: UInt64 = 0
  /// Which thread decided it, and what that thread has to say of people.
  var thread = 0
  /// The messages that are followed.
  var followed: [FollowedMessage] = []
  var people: (ended: [PeopleCounter.Day], current: Int) = ([], .min)
  /// Pushes by the hour of the recipient's local day.
  var localHours = [Int](repeating: 0, count: 24)
}

/// Decides batches, one thread's part of a replay.
struct DecidingWorker {
  private let holds: Bool
  private let heldRow: (@Sendable (HeldDecision, inout [UInt8]) -> Void)?
  private let nanoseconds: (@Sendable () -> UInt64)?
  private var timeline: FanoutTimeline?
  private let thread: Int
  let people: PeopleCounter
  private let follower: Follower?

  /// - Parameter thread: the number of the thread.
  init(_ options: ReplayOptions, _ clock: WeekClock, thread: Int) {
    self.thread = thread
    people = PeopleCounter(clock, hasTwoSides: false)
    follower = Follower(options)
    holds = options.holds
    heldRow = options.heldRow
    nanoseconds = options.nanoseconds
  }

  mutating func decide(_ batch: MessageBatch) -> DecidedBatch {
    var decided = DecidedBatch()
    decided.thread = thread
    guard let first = batch.versions.first?.version else { return decided }
    let timeline = self.timeline ?? FanoutTimeline(first)
    self.timeline = timeline
    timeline.keepsConversations = true
    var version = 0
    var held = FanoutCounts()
    let start = nanoseconds?() ?? 0
    var before = start
    for index in batch.messages.indices {
      while version < batch.versions.count, batch.versions[version].from <= index {
        timeline.follow(batch.versions[version].version)
        version += 1
      }
      let counts: FanoutCounts
      if holds {
        counts = hold(batch.messages[index], timeline, &held, &decided)
        decided.held.append(held)
      } else {
        counts = timeline.counts(batch.messages[index])
      }
      decided.counts.append(counts)
      if let followed = follower?.follow(batch.messages[index], counts, timeline) {
        decided.followed.append(followed)
      }
      addPeople(batch.messages[index], Int(batch.conversationIndices[index]), timeline)
      timeline.addPushes(byLocalHour: &decided.localHours)
      guard let nanoseconds else { continue }
      let now = nanoseconds()
      decided.nanoseconds.append(UInt32(clamping: now - before))
      before = now
    }
    decided.total = before - start
    decided.people = people.takeDays()
    return decided
  }

  /// Notes who got a push of the message that was decided last.
  private func addPeople(_ message: Message, _ room: Int, _ timeline: FanoutTimeline) {
    people.add(at: message.at.milliseconds, room, timeline) { $0.map(\.rawValue) }
  }

  private func hold(
    _ message: Message, _ timeline: FanoutTimeline, _ held: inout FanoutCounts,
    _ decided: inout DecidedBatch
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

extension DecidedBatch.Counts {
  fileprivate mutating func append(_ counts: FanoutCounts) {
    counts.append(to: &codes, &values)
    ends.append(codes.count)
  }
}
