internal import Glibc
internal import PushSupport
internal import Synchronization
public import PushModel
internal import QuietTime

/// Decides who gets a push for a message, and why others do not, in groups of up to millions of
/// members.
///
/// A `Fanout` may be used from all threads. Readers never wait for writers: a message is decided on
/// one version of all settings, and ``update(_:)`` publishes the next.
///
/// What depends on users and the time is computed for all users at each transition of a quiet-hours
/// window, and what depends on a conversation's members once until they change. A message then
/// costs a few look-ups, whatever the number of its recipients: <doc:HowItDecides>.
///
/// Deciding never throws. ``decide(_:into:)`` does not allocate once a conversation's states are
/// cached.
public final class Fanout: Sendable {
  private let publisher: VersionPublisher
  let reclaimer = PageReclaimer()
  private let cache: StateCache
  private let writerLock = Lock<Void>(())
  // SAFETY: used under `writerLock` only.
  private nonisolated(unsafe) let writer: TableWriter
  private let batchDeciders = Lock<[BatchDecider]>([])
  private let rebuildHeuristic = Lock(RebuildHeuristic())
  /// The number of threads that one call may use.
  public let threads: Int
  /// The snapshot that the engine was opened from; nil for an engine that was built.
  public let snapshot: SnapshotInfo?

  /// Creates an engine without users.
  ///
  /// - Parameters:
  ///   - app: the app's settings, with its rule set and options.
  ///   - threads: the number of threads that one call may use; nil for the number of cores.
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  public convenience init(app: AppSettings, threads: Int? = nil) throws(FanoutError) {
    self.init(try TableWriter(app: app), threads: threads)
  }

  /// Creates an engine for settings.
  ///
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``, or ``FanoutError/tooMany(_:)``.
  /// - Complexity: O(users + memberships log members).
  public convenience init(
    _ settings: FanoutSettings, threads: Int? = nil
  ) throws(FanoutError) {
    var builder = FanoutBuilder()
    try builder.add(settings)
    self.init(try builder.finish(), threads: threads)
  }

  init(_ writer: TableWriter, threads: Int?, snapshot: SnapshotInfo? = nil) {
    let generation = writer.store.generation
    reclaimer.begin(generation, retired: [])
    for page in writer.store.commit() { PageStore.free(page) }
    unsafe self.writer = writer
    publisher = VersionPublisher(
      EngineVersion(writer.tables, writer.userClasses, number: 1, generation: generation, reclaimer)
    )
    cache = StateCache(slotCount: 4096, byteLimit: 1 << 30)
    self.threads = max(1, threads ?? Self.coreCount)
    self.snapshot = snapshot
    checkInDebugBuilds { checkInvariants(.sample(generation)) }
  }

  deinit {
    let writer = unsafe writer
    reclaimer.close(writer.tables, writer.userClasses)
  }

  // MARK: Deciding

  /// Decides a message for every recipient.
  ///
  /// A message to a conversation whose id never appeared has no recipients.
  ///
  /// - Complexity: O(mentions log members) when the conversation's states are cached; otherwise
  ///   O(members), on all threads.
  public func decide(_ message: Message) -> FanoutResult {
    var result = FanoutResult()
    decide(message, into: &result)
    return result
  }

  /// Decides a message for every recipient, reusing the memory of a result.
  public func decide(_ message: Message, into result: inout FanoutResult) {
    result.state = nil
    let version = publisher.load()
    let conversation = version.tables.conversationIDs.index(of: message.conversation)
    var current = version
    if let conversation {
      current = preparedVersion(version, at: message.at.milliseconds, for: conversation)
    }
    Decider(version: current, cache: cache, threads: threads)
      .decide(message, in: conversation, into: &result)
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Parameters:
  ///   - messages: messages of any instants and conversations; fastest if sorted by time.
  ///   - body: called once per message with its index in `messages`, from several threads and in
  ///     any order. The result is reused afterwards; copy what you keep.
  /// - Complexity: as for ``decide(_:)->FanoutResult``, per message.
  public func decide(
    _ messages: [Message], _ body: @Sendable (Int, borrowing FanoutResult) -> Void
  ) {
    let version = publisher.load()
    let shares = shares(of: messages, version.tables)
    @Sendable func work(_ share: Int) {
      let batchDecider = self.batchDecider(version)
      var result = FanoutResult()
      for index in shares[share] {
        let message = messages[Int(index)]
        if let conversation = conversation(in: version, holdingFor: message) {
          Decider(version: version, cache: self.cache, threads: 1)
            .decide(message, in: conversation, into: &result)
        } else {
          batchDecider.decide(message, into: &result)
        }
        body(Int(index), result)
      }
      self.giveBack(batchDecider)
    }
    Parallel.perform(shares.count, threads: shares.count, work)
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Returns: one result per message, in order.
  public func decide(_ messages: [Message]) -> [FanoutResult] {
    let results = Lock([FanoutResult](repeating: FanoutResult(), count: messages.count))
    decide(messages) { index, result in
      let copy = copy result
      results.withLock { $0[index] = copy }
    }
    return results.withLock { $0 }
  }

  /// The action, reason, scope and devices for one user; nil if the user is not a recipient.
  ///
  /// - Complexity: O(log members + devices).
  public func decision(_ message: Message, for user: Identifier) -> Decision? {
    let version = publisher.load()
    guard let index = version.tables.userIDs.index(of: user) else { return nil }
    return decision(message, for: index, version)
  }

  func decision(_ message: Message, for user: UInt32, _ version: EngineVersion) -> Decision? {
    let decider = Decider(version: version, cache: cache, threads: 1)
    guard let outcome = decider.decide(message, for: user) else { return nil }
    let filter = message.filter ?? message.ext.filter
    let targets = version.tables.targets(
      of: user, outcome.action, filter.isEmpty ? nil : filter, at: message.at.milliseconds
    )
    return Decision(outcome, devices: targets.map(\.id))
  }

  // MARK: Settings

  /// The number of the current version: 1, and one more for each update.
  public var version: UInt64 { publisher.load().number }

  var current: EngineVersion { publisher.load() }

  /// Calls `body` with the tables of the current version.
  ///
  /// Tables are pointers to pages that the version keeps alive. Read without retaining their
  /// version, they may point to pages that updates on other threads have freed.
  func reading<Value>(_ body: (borrowing Tables) -> Value) -> Value {
    let version = current
    defer { withExtendedLifetime(version) {} }
    return body(version.tables)
  }
  var stateBytes: Int { cache.bytes }

  /// The app's settings.
  public var app: AppSettings { reading { $0.app } }

  /// The number of user ids that have appeared.
  public var userCount: Int { reading { $0.userCount } }

  /// The id of a user.
  ///
  /// - Precondition: below ``userCount``.
  public func id(of user: UserIndex) -> Identifier { reading { $0.userIDs[user.rawValue] } }

  /// The number of members that a message to a conversation goes to; 0 if its id never appeared.
  public func memberCount(of conversation: Identifier) -> Int {
    reading { tables in
      tables.conversationIDs.index(of: conversation).map { tables.size($0).members } ?? 0
    }
  }

  /// A user's settings; nil if the id never appeared.
  public func user(_ id: Identifier) -> UserSettings? {
    reading { tables in tables.userIDs.index(of: id).map { tables.user($0) } }
  }

  /// What is set for a conversation; nil for one whose id never appeared.
  public func conversation(_ id: Identifier) -> ConversationSettings? {
    reading { tables in tables.conversationIDs.index(of: id).map { tables.conversation($0) } }
  }

  /// A user's membership; nil if there is none.
  public func member(_ user: Identifier, of conversation: Identifier) -> MemberSettings? {
    reading { tables in
      guard let user = tables.userIDs.index(of: user),
        let conversation = tables.conversationIDs.index(of: conversation)
      else { return nil }
      return tables.member(user, of: conversation)
    }
  }

  /// Changes settings and publishes the next version, while other threads decide on the current
  /// one.
  ///
  /// All changes become visible together, or none if `body` throws. `body` may decide, on the
  /// version before the update, but not update.
  ///
  /// - Complexity: that of the changes, and some microseconds to publish: combine many changes into
  ///   one call.
  public func update<Value, Failure: Error>(
    _ body: (inout FanoutUpdate) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outcome = writerLock.withLock { _ -> Result<Value, Failure> in
      let writer = unsafe self.writer
      let (tables, userClasses) = (writer.tables, writer.userClasses)
      var update = FanoutUpdate(writer)
      do throws(Failure) {
        let value = try body(&update)
        update.finish()
        publish(writer, isUpdate: true)
        return .success(value)
      } catch {
        writer.rollBack(to: tables, userClasses)
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Prepares an instant: the day's bitmaps (in its last hour the next day's too) and the users'
  /// classes.
  ///
  /// Called each minute, or ahead of it, this keeps the work off the threads that decide, which
  /// otherwise do it when it pays.
  ///
  /// - Complexity: O(users) after a window transition; otherwise O(mutes that ended).
  public func advance(to instant: Instant) {
    writerLock.withLock { _ in
      let writer = unsafe self.writer
      writer.move(to: instant.milliseconds, kind: nil)
      writer.userClasses.prepareTomorrow(instant.milliseconds, writer.tables)
      publish(writer, isUpdate: false)
    }
  }

  private func publish(_ writer: TableWriter, isUpdate: Bool) {
    let number = publisher.load().number + (isUpdate ? 1 : 0)
    let generation = writer.store.generation
    reclaimer.begin(generation, retired: writer.store.commit())
    publisher.store(
      EngineVersion(
        writer.tables, writer.userClasses, number: number, generation: generation, reclaimer))
    checkInDebugBuilds { checkInvariants(.sample(generation)) }
  }

  /// The version to decide a message on, with users' classes for its instant if that pays. Indices
  /// of conversations are the same in later versions.
  private func preparedVersion(_ version: EngineVersion, at now: Int64, for conversation: UInt32)
    -> EngineVersion
  {
    let (kind, members) = version.tables.size(conversation)
    if version.userClasses.hasClasses(kind), version.userClasses.holds(at: now) { return version }
    // Earlier instants are left to ``BatchDecider``: moving back would invalidate the classes that
    // other threads use.
    guard now >= version.userClasses.from else { return version }
    let wantsMove = rebuildHeuristic.withLock {
      $0.shouldRebuild(
        version.userClasses, to: now, kind: kind, members: members, users: version.tables.userCount)
    }
    guard wantsMove else { return version }
    let hasMoved: Void? = writerLock.withLockIfAvailable { _ in
      let writer = unsafe self.writer
      guard writer.userClasses.from <= now else { return }
      writer.move(to: now, kind: kind)
      publish(writer, isUpdate: false)
    }
    return hasMoved == nil ? version : publisher.load()
  }

  /// The index of a message's conversation, if the version's users' classes are valid for the
  /// message.
  private func conversation(in version: EngineVersion, holdingFor message: Message) -> UInt32? {
    guard version.userClasses.holds(at: message.at.milliseconds),
      let conversation = version.tables.conversationIDs.index(of: message.conversation)
    else { return nil }
    return version.userClasses.hasClasses(version.tables.size(conversation).kind)
      ? conversation : nil
  }

  // MARK: Batches

  /// The messages that each thread decides. Those of a conversation stay together, as they share
  /// its states.
  private func shares(of messages: [Message], _ tables: Tables) -> [[UInt32]] {
    guard threads > 1, messages.count > 1 else { return [Array(0..<UInt32(messages.count))] }
    var loads: [Identifier: Int] = [:]
    for message in messages {
      // A fixed cost per message, beside that of the members.
      loads[message.conversation, default: 0] += 256
    }
    for id in loads.keys {
      guard let conversation = tables.conversationIDs.index(of: id) else { continue }
      loads[id, default: 0] += tables.size(conversation).members
    }
    var shareLoads = [Int](repeating: 0, count: threads)
    var shareOf: [Identifier: Int] = [:]
    for (id, load) in loads.sorted(by: { $0.value > $1.value }) {
      let share = shareLoads.indices.min { shareLoads[$0] < shareLoads[$1] } ?? 0
      shareLoads[share] += load
      shareOf[id] = share
    }
    var shares = [[UInt32]](repeating: [], count: threads)
    for (index, message) in messages.enumerated() {
      shares[shareOf[message.conversation] ?? 0].append(UInt32(index))
    }
    return shares.filter { !$0.isEmpty }
  }

  private func batchDecider(_ version: EngineVersion) -> BatchDecider {
    let kept = batchDeciders.withLock { batchDeciders -> BatchDecider? in
      batchDeciders.removeAll { $0.base !== version }
      return batchDeciders.popLast()
    }
    return kept ?? BatchDecider(version)
  }

  private func giveBack(_ batchDecider: BatchDecider) {
    batchDeciders.withLock { if $0.count < threads { $0.append(batchDecider) } }
  }

  static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
