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
  /// Whether to count the pushes of each person and day, and those of each hour of the recipients'
  /// own day: ``ReplayResult/people`` and ``ReplayResult/pushesByLocalHour``. That takes about
  /// twice the time of everything else.
  public var countsPeople = false
  /// With ``countsPeople``: how many of the people and senders with most pushes
  /// ``ReplayResult/top`` lists; 0 for none.
  public var userLimit = 10
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
  package var batch = (messages: 2048, versions: 512)
  /// The same where each message may have a row for every member.
  static let listingBatch = 24

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
/// Messages are decided on all threads, in batches, those to one conversation mostly on the same
/// thread. Changes make versions of the settings, so that deciding does not wait for them; who comes
/// online or goes offline is told to all threads, between the messages.
///
/// - Memory: the engine's, and for each thread that of a timeline; of messages, some batches.
public final class Replayer {
  private let fanout: Fanout
  private let options: ReplayOptions
  /// What workers have decided is added up on a thread of its own.
  private let counting: OrderedPipeline<ReplayTally, DecidedBatch, TalliedBatch>
  private let pipeline: OrderedPipeline<DecidingWorker, BatchPart, DecidedPart>
  /// The batches whose parts are being decided.
  private var submitted: [MessageBatch] = []
  /// The conversations that messages went to, in the order of the tally.
  private var conversations = IdentifierTable()
  private var presence = PresenceSessions()
  private var heartbeats = HeartbeatsAhead()
  private var joins = JoinTally()
  private var batch: MessageBatch
  /// Whether a setting changed since the last message.
  private var hasNewVersion = false
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
    let tally = try ReplayTally(fanout.app, options, threads: fanout.threads)
    counting = OrderedPipeline(threads: 1, depth: 4, makeWorker: { tally }) { $1.add($0) }
    batch = MessageBatch(workers: fanout.threads)
    batchSize = min(
      options.batch.messages,
      options.heldRow == nil ? options.batch.messages : ReplayOptions.listingBatch)
    let clock = tally.clock
    var thread = 0
    pipeline = OrderedPipeline(
      threads: fanout.threads, depth: 8,
      makeWorker: {
        defer { thread += 1 }
        return DecidingWorker(options, clock, fanout.currentVersion, thread: thread)
      }
    ) { part, worker in worker.decide(part) }
    start = options.nanoseconds?() ?? 0
  }

  /// Takes in the next event.
  ///
  /// - Throws: why it contradicts the settings; it has no effect then.
  /// - Precondition: it is not earlier than the one before.
  public func add(_ event: ReplayEvent) throws(FileProblem.Problem) { try add(event, of: nil) }

  /// The same for an event of presence whose user's index may be known.
  func add(_ event: ReplayEvent, of user: UserIndex?) throws(FileProblem.Problem) {
    switch event {
    case .message(let message): try add(message)
    case .presence(let change):
      if let change = try presence.add(change, of: user, to: fanout) {
        batch.presence.append(change, before: batch.messages.count)
        if batch.presence.isFull { submit() }
      }
      presenceRows += 1
    case .heartbeat(let heartbeat, _):
      try heartbeats.add(heartbeat, to: fanout)
      presenceRows += 1
    case .change(let change):
      try applyHeartbeats()
      let replaced = JoinTally.replaced(by: change, in: fanout)
      try change.apply(to: fanout)
      // After very many joins the index was discarded.
      if presenceRows > 0 { fanout.indexMemberships() }
      joins.add(change, replacing: replaced, in: fanout)
      settingsChanges += 1
      hasNewVersion = true
    }
  }

  private func applyHeartbeats() throws(FileProblem.Problem) {
    if try heartbeats.apply(to: fanout) { hasNewVersion = true }
  }

  private func add(_ message: Message) throws(FileProblem.Problem) {
    try applyHeartbeats()
    let index = try index(of: message.conversation)
    try fanout.checkIsDecided(message)
    if hasNewVersion {
      if batch.versions.count >= options.batch.versions { submit() }
      batch.versions.append((batch.messages.count, fanout.currentVersion))
      hasNewVersion = false
    }
    if batch.messages.isEmpty {
      batch.messages.reserveCapacity(batchSize)
      batch.conversationIndices.reserveCapacity(batchSize)
    }
    batch.parts[batch.worker(ofConversation: index)].append(batch.messages.count)
    batch.messages.append(message)
    batch.conversationIndices.append(index)
    if batch.messages.count >= batchSize { submit() }
  }

  /// The index of a conversation in the tally; it is added when it is new.
  private func index(of id: Identifier) throws(FileProblem.Problem) -> UInt32 {
    if let known = conversations.index(of: id) { return known }
    guard fanout.conversation(id) != nil else { throw .unknownConversation(id.text) }
    return conversations.insert(id)
  }

  /// Hands what waits to the threads, and takes what they have done.
  private func submit() {
    for worker in batch.parts.indices {
      pipeline.submit(BatchPart(batch: batch, worker: worker), to: worker)
    }
    submitted.append(batch)
    batch = MessageBatch(workers: fanout.threads)
    while pipeline.isFull { take() }
  }

  /// Takes what a batch came to.
  private func take() {
    let batch = submitted.removeFirst()
    let parts = batch.parts.indices.compactMap { _ in pipeline.take()?.1 }
    for part in parts { decidingNanoseconds += part.total }
    counting.submit(DecidedBatch(batch: batch, parts: parts))
    while counting.isFull { takeTallied() }
  }

  private func takeTallied() {
    guard let (_, tallied) = counting.take() else { return }
    progress = tallied.progress
    if !tallied.heldRows.isEmpty { takeHeldRows?(tallied.heldRows) }
  }

  /// Decides everything that was added; afterwards ``progress`` is complete.
  public func flush() {
    if !batch.messages.isEmpty { submit() }
    while !submitted.isEmpty { take() }
    while counting.hasMore { takeTallied() }
  }

  /// What has been decided and counted so far.
  public private(set) var progress = ReplayProgress()

  /// What everything that was added comes to.
  public func finish() -> ReplayResult {
    flush()
    let counters = pipeline.finish().compactMap(\.people)
    let lastDays = counters.flatMap { $0.finish() }
    counting.submit(
      DecidedBatch(batch: MessageBatch(workers: 0), parts: [], lastDays: lastDays))
    takeTallied()
    // A copy: more may be added after a result was asked for.
    var tally = counting.finish()[0]
    var (result, counted) = tally.finish(fanout, conversations, joins, counters)
    people = counted.map { ($0, counters.map(\.suppressed)) }
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
  /// Calls `body` with each person of what ``finish()`` came to, in the order of ids; it is
  /// not called unless ``ReplayOptions/countsPeople``.
  ///
  /// - Complexity: O(users log users).
  public func forEachPerson(_ body: (PersonTotal) throws -> Void) rethrows {
    try people?.tally.forEachPerson(
      id: { fanout.id(of: UserIndex($0)) }, people?.suppressed ?? [], body: body)
  }
}
