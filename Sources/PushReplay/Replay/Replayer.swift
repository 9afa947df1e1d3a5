public import PushFanout
public import PushFiles
public import PushModel
internal import PushSupport

/// A suppressed decision that would push later, if only time passed.
public struct HeldDecision: Sendable {
  /// The suppressed message.
  public let message: Message
  /// The recipient.
  public let user: Identifier
  /// Why it does not push yet.
  public let outcome: Outcome
  /// The first instant at which it pushes.
  public let pushAt: Instant
}

/// How a replay is done.
public struct ReplayOptions: Sendable {
  /// Whether to find out when suppressed decisions would push.
  public var holds = false
  /// Appends a row for a held decision; called on the threads that decide. Without ``holds`` it is
  /// not.
  public var heldRow: (@Sendable (HeldDecision, inout [UInt8]) -> Void)?
  /// The IANA zone of hours of the day; nil for the app's.
  public var timeZone: String?
  /// How many pushes a second a provider takes, at least 1; nil for no comparison with a limit.
  public var rateLimit: Int?
  /// The user, known to the settings at the beginning, whose messages the result lists.
  public var followedUser: Identifier?
  /// The conversation, known at the beginning, of which the result lists the messages, or those to
  /// ``followedUser``.
  public var followedConversation: Identifier?
  /// The most minutes that the result lists.
  public var minuteLimit = 100_000
  /// A monotonic clock, in nanoseconds; nil for no costs in the result.
  public var nanoseconds: (@Sendable () -> UInt64)?
  /// How many times faster than it happened files are replayed, at least ``slowestSpeed``; nil for
  /// as fast as possible. ``Replayer/add(_:)`` never waits.
  public var speed: Double?
  /// The slowest ``speed``: any slower, and what files can say would be longer than a clock can.
  public static let slowestSpeed = 0.000_001
  /// Limits of a batch: messages, and versions of the settings.
  package var batch = (messages: 512, versions: 128)
  /// The same where each message may have a row for every member.
  static let listingBatch = 8

  /// The defaults: nothing is held, the app's time zone, 100,000 minutes, no costs.
  public init() {}
}

/// How far a replay has come.
public struct ReplayProgress: Sendable {
  /// Messages decided so far.
  public var messages = 0
  /// Their decisions.
  public var decisions = 0
  /// Their pushes.
  public var pushes = 0
  /// The instant of the last message, in milliseconds.
  public var at: Int64 = 0
}

/// Replays what happens, event by event, on an engine of its own.
///
/// Messages are decided on all threads, in batches; changes and presence make versions of the
/// settings, so that deciding does not wait for them.
///
/// - Memory: the engine's, and for each thread that of a timeline; of messages, some batches.
public final class Replayer {
  private let fanout: Fanout
  private let options: ReplayOptions
  private var tally: ReplayTally
  private let pipeline: OrderedPipeline<DecidingWorker, MessageBatch, DecidedBatch>
  private var presence = PresenceSessions()
  private var joins = JoinTally()
  private var batch = MessageBatch()
  /// Whether a setting was changed since the last message.
  private var hasNewVersion = true
  private var start: UInt64 = 0
  private var decidingNanoseconds: UInt64 = 0
  private var presenceRows = 0
  private var settingsChanges = 0
  private let batchSize: Int
  /// Of what was finished.
  private var people: (tally: PeopleTally, suppressed: [SuppressedRows])?

  /// Takes the rows of ``ReplayOptions/heldRow``, in the order of messages, those of one in the
  /// order of users.
  public var takeHeldRows: (([UInt8]) -> Void)?

  /// - Parameter fanout: the settings at the beginning; the replay changes them.
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``; ``FanoutError/unknownUser(_:)`` or
  ///   ``FanoutError/unknownConversation(_:)`` for what is to be followed.
  public init(_ fanout: Fanout, _ options: ReplayOptions = ReplayOptions()) throws(FanoutError) {
    if let user = options.followedUser, fanout.user(user) == nil { throw .unknownUser(user) }
    if let room = options.followedConversation, fanout.conversation(room) == nil {
      throw .unknownConversation(room)
    }
    self.fanout = fanout
    self.options = options
    tally = try ReplayTally(fanout.app, options)
    batchSize = min(
      options.batch.messages,
      options.heldRow == nil ? options.batch.messages : ReplayOptions.listingBatch)
    let clock = tally.clock
    var thread = 0
    pipeline = OrderedPipeline(
      threads: fanout.threads,
      makeWorker: {
        thread += 1
        return DecidingWorker(options, clock, thread: thread)
      }
    ) { batch, worker in worker.decide(batch) }
    start = options.nanoseconds?() ?? 0
  }

  /// Takes in the next event.
  ///
  /// - Throws: why it contradicts the settings; it has no effect then.
  /// - Precondition: it is not earlier than the one before.
  public func add(_ event: ReplayEvent) throws(FileProblem.Problem) {
    switch event {
    case .message(let message): try add(message)
    case .presence(let change):
      try presence.apply(change, to: fanout)
      presenceRows += 1
      hasNewVersion = true
    case .change(let change):
      let replaced = JoinTally.replaced(by: change, in: fanout)
      try change.apply(to: fanout, presence)
      joins.add(change, replacing: replaced, in: fanout)
      settingsChanges += 1
      hasNewVersion = true
    }
  }

  private func add(_ message: Message) throws(FileProblem.Problem) {
    let index = try tally.index(of: message.conversation, in: fanout)
    if hasNewVersion {
      if batch.versions.count == options.batch.versions { submit() }
      batch.versions.append((batch.messages.count, fanout.currentVersion))
      hasNewVersion = false
    } else if batch.versions.isEmpty {
      batch.versions.append((0, fanout.currentVersion))
    }
    if batch.messages.isEmpty {
      batch.messages.reserveCapacity(batchSize)
      batch.conversationIndices.reserveCapacity(batchSize)
    }
    batch.messages.append(message)
    batch.conversationIndices.append(index)
    if batch.messages.count >= batchSize { submit() }
  }

  /// Hands the messages that wait to the threads, and takes what they have done.
  private func submit() {
    guard !batch.messages.isEmpty else { return }
    pipeline.submit(batch)
    batch = MessageBatch()
    while pipeline.isFull { take() }
  }

  private func take() {
    guard let (batch, decided) = pipeline.take() else { return }
    decidingNanoseconds += decided.total
    tally.add(batch, decided)
    if !decided.heldRows.isEmpty { takeHeldRows?(decided.heldRows) }
  }

  /// Decides everything that was added; afterwards ``progress`` is complete.
  public func flush() {
    submit()
    while pipeline.hasMore { take() }
  }

  /// What has been decided and counted so far.
  public var progress: ReplayProgress { tally.progress }

  /// What everything that was added comes to.
  public func finish() -> ReplayResult {
    flush()
    let counters = pipeline.finish().map(\.people)
    var (result, tally) = tally.finish(fanout, joins, counters)
    people = (tally, counters.map(\.suppressed))
    result.presenceRows = presenceRows
    result.settingsChanges = settingsChanges
    guard let nanoseconds = options.nanoseconds else { return result }
    let seconds = Double(nanoseconds() - start) / 1e9
    result.cost = ReplayCost(
      seconds: seconds, decidingSeconds: Double(decidingNanoseconds) / 1e9,
      threads: fanout.threads,
      decisionsPerSecond: seconds > 0 ? Double(result.decisions) / seconds : 0)
    return result
  }
  /// Calls `body` with each person of what ``finish()`` came to, in the order of ids.
  ///
  /// - Complexity: O(users log users).
  public func forEachPerson(_ body: (PersonTotal) throws -> Void) rethrows {
    try people?.tally.forEachPerson(
      id: { fanout.id(of: UserIndex($0)) }, people?.suppressed ?? [], body: body)
  }
}
