public import PushFanout
public import PushFiles
internal import PushModel
internal import PushSupport

/// How a comparison is done.
public struct CompareOptions: Sendable {
  /// The IANA zone of hours of the day; nil for that of A's app.
  public var timeZone: String?
  /// How many top gainers and losers to list.
  public var userLimit = 20
  /// How many pushes a second a provider takes, at least 1; nil for no comparison with a limit.
  public var rateLimit: Int?
  /// A monotonic clock, in nanoseconds; nil for no costs in the result.
  public var nanoseconds: (@Sendable () -> UInt64)?
  /// Limits of a batch: messages, and versions of the settings.
  package var batch = (messages: 2048, versions: 128)

  /// What the two worlds are called; nil for the changes in words.
  public var names: (a: String?, b: String?) = (nil, nil)

  /// The defaults: A's time zone, 20 users, no costs.
  public init() {}
}

/// Decides the same messages in two worlds, event by event, and counts where the outcomes differ.
///
/// Presence and changes of settings are applied to both. Messages are decided on all threads, those
/// to one conversation mostly on the same thread.
///
/// - Memory: both engines', and for each thread that of two timelines, and about 12 bytes for each
///   membership of the rooms with more than a hundred members that had messages.
public final class Comparer {
  private let a: Fanout
  private let b: Fanout
  private let options: CompareOptions
  private var tally: CompareTally
  private let pipeline: OrderedPipeline<ComparingWorker, ComparedPart, ComparedMessages>
  /// The batches whose parts are being compared.
  private var submitted: [ComparedBatch] = []
  private var presence = (a: PresenceSessions(), b: PresenceSessions())
  private var heartbeats = (a: HeartbeatsAhead(), b: HeartbeatsAhead())
  private let numbers: ComparedUserNumbers
  private var batch: ComparedBatch
  private var hasPresence = false
  private var hasNewVersion = false
  private let start: UInt64

  /// - Parameters:
  ///   - a: the one world at the beginning; the comparison changes it. `b` likewise.
  ///   - labels: what each of them is, in words.
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  public convenience init(
    _ a: Fanout, _ b: Fanout, labels: (a: [String], b: [String]),
    _ options: CompareOptions = CompareOptions()
  ) throws(FanoutError) {
    try self.init(a, b, .unknown, labels: labels, options)
  }

  /// - Parameter touched: where the worlds may differ.
  init(
    _ a: Fanout, _ b: Fanout, _ touched: TouchedRooms, labels: (a: [String], b: [String]),
    _ options: CompareOptions
  ) throws(FanoutError) {
    self.a = a
    self.b = b
    self.options = options
    let countsLocalHours = (labels.a + labels.b).contains { WhatIf($0).mayChangeQuietHours }
    tally = try CompareTally(
      ComparedSide(name: options.names.a, what: labels.a, rules: a.app.rules.rawValue),
      ComparedSide(name: options.names.b, what: labels.b, rules: b.app.rules.rawValue),
      timeZone: options.timeZone ?? a.app.timeZone, rateLimit: options.rateLimit,
      countsLocalHours: countsLocalHours, threads: a.threads)
    let (numbers, clock) = (ComparedUserNumbers(a, isAlike: touched.isAlike), tally.clock)
    self.numbers = numbers
    batch = ComparedBatch(workers: a.threads)
    var thread = 0
    pipeline = OrderedPipeline(
      threads: a.threads, depth: 8,
      makeWorker: {
        defer { thread += 1 }
        return ComparingWorker(
          numbers, clock, (a.currentVersion, b.currentVersion), touched,
          countsLocalHours: countsLocalHours, thread: thread)
      }
    ) { part, worker in worker.compare(part) }
    start = options.nanoseconds?() ?? 0
  }

  /// Takes in what happens next, the same for both.
  ///
  /// - Throws: why it contradicts the settings; it has no effect on A then.
  /// - Precondition: it is not earlier than the one before.
  public func add(_ event: ReplayEvent) throws(FileProblem.Problem) { try add(event, event) }

  /// Takes in what happens next, as each world's rules read it.
  ///
  /// - Precondition: both are of the same line.
  public func add(_ event: ReplayEvent, _ other: ReplayEvent) throws(FileProblem.Problem) {
    switch (event, other) {
    case (.message(let message), .message(let other)): try add(message, other)
    case (.presence(let change), .presence(let other)):
      hasPresence = true
      // Where the conversation is unknown, it is a connection that belongs to none.
      let changed = (
        a: try presence.a.add(change, to: a, beside: b),
        b: try presence.b.add(other, to: b, beside: a)
      )
      if let change = changed.a { batch.presence.a.append(change, before: batch.messages.count) }
      if let change = changed.b { batch.presence.b.append(change, before: batch.messages.count) }
      if batch.presence.a.isFull || batch.presence.b.isFull { submit() }
    case (.heartbeat(let heartbeat, _), .heartbeat(let other, _)):
      try heartbeats.a.add(heartbeat, to: a, beside: b)
      try heartbeats.b.add(other, to: b, beside: a)
    case (.change(let change), .change(let other)):
      try applyHeartbeats()
      try change.apply(to: a)
      try other.apply(to: b)
      if hasPresence {
        a.indexMemberships()
        b.indexMemberships()
      }
      hasNewVersion = true
    default: preconditionFailure("events of two lines")
    }
  }

  private func applyHeartbeats() throws(FileProblem.Problem) {
    let isNew = (a: try heartbeats.a.apply(to: a), b: try heartbeats.b.apply(to: b))
    if isNew.a || isNew.b { hasNewVersion = true }
  }

  private func add(_ message: Message, _ other: Message) throws(FileProblem.Problem) {
    try applyHeartbeats()
    let index = try tally.index(of: message.conversation, a, b)
    try a.checkIsDecided(message)
    try b.checkIsDecided(other)
    if hasNewVersion {
      if batch.versions.count == options.batch.versions { submit() }
      batch.versions.append((batch.messages.count, a.currentVersion, b.currentVersion))
      hasNewVersion = false
    }
    let worker = MessageBatch.worker(ofConversation: index, batch.parts, batch.messages.count)
    batch.parts[worker].append(batch.messages.count)
    batch.messages.append((message, other))
    batch.conversationIndices.append(index)
    if batch.messages.count >= options.batch.messages { submit() }
  }

  private func submit() {
    for worker in batch.parts.indices {
      pipeline.submit(ComparedPart(batch: batch, worker: worker), to: worker)
    }
    submitted.append(batch)
    batch = ComparedBatch(workers: a.threads)
    while pipeline.isFull { take() }
  }

  private func take() {
    let batch = submitted.removeFirst()
    tally.add(batch, batch.parts.indices.compactMap { _ in pipeline.take()?.1 })
  }

  /// What has been compared so far.
  public var progress: ReplayProgress { tally.progress }

  /// What everything that was added comes to. Nothing can be added afterwards.
  public func finish() -> CompareResult {
    if !batch.messages.isEmpty { submit() }
    while !submitted.isEmpty { take() }
    for worker in pipeline.finish() { tally.add(worker) }
    var result = tally.finish(userLimit: options.userLimit) { numbers.id($0, a) }
    result.a.users = a.userCount
    result.b.users = b.userCount
    guard let nanoseconds = options.nanoseconds else { return result }
    let seconds = Double(nanoseconds() - start) / 1e9
    let decisions = result.a.decisions + result.b.decisions
    result.cost = ReplayCost(
      seconds: seconds, decidingSeconds: seconds, threads: a.threads,
      decisionsPerSecond: seconds > 0 ? Double(decisions) / seconds : 0)
    return result
  }
  /// Calls `body` with each person, in the order of ids, after ``finish()``.
  ///
  /// - Complexity: O(users log users).
  public func forEachPerson(_ body: (PersonTotal) throws -> Void) rethrows {
    try tally.people.forEachPerson(id: { numbers.id($0, a) }, body: body)
  }
}
