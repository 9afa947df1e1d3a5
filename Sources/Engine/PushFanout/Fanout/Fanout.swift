internal import CPushKernels
internal import PushSupport
internal import Synchronization
public import PushModel
public import QuietTime

/// Decides who gets a push for a message, and why others do not, in groups of up to millions of
/// members.
///
/// A `Fanout` may be used from all threads. Readers never wait for writers: a message is decided on
/// one version of all settings, and ``update(_:)`` publishes the next.
///
/// What decides a conversation's members is kept between messages, within ``cacheByteLimit``: a
/// message costs a few look-ups and what has changed since the last one, whatever the number of its
/// recipients: <doc:HowItDecides>.
///
/// Deciding never throws. ``decide(_:on:memberLimit:into:)`` does not allocate once a conversation's states are
/// cached.
public final class Fanout: Sendable {
  private let publisher: VersionPublisher
  let reclaimer = PageReclaimer()
  let cache: ConversationCache
  let writerLock = Lock<Void>(())
  // SAFETY: used under `writerLock` only.
  private nonisolated(unsafe) let writer: TableWriter
  private let memberships = Memberships()
  /// The number of threads that one call may use.
  public let threads: Int
  /// Drawn at random for each engine, never 0: versions of different engines do not compare.
  public let epoch: UInt64
  /// The snapshot that the engine was opened from; nil for an engine that was built.
  public let snapshot: SnapshotInfo?

  /// Creates an engine without users.
  ///
  /// - Parameters:
  ///   - app: the app's settings, with its rule set and options.
  ///   - threads: the number of threads that one call may use; nil for ``coreCount``.
  ///   - cacheBytes: see ``cacheByteLimit``; nil for ``defaultCacheBytes``.
  ///   - unknownZones: what is done with time zones that the system does not have, now and in
  ///     updates.
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  public convenience init(
    app: AppSettings, threads: Int? = nil, cacheBytes: Int? = nil,
    unknownZones: UnknownZones = .fail
  ) throws(FanoutError) {
    self.init(
      try TableWriter(app: app, unknownZones: unknownZones), threads: threads,
      cacheBytes: cacheBytes)
  }

  init(
    _ writer: TableWriter, threads: Int?, snapshot: SnapshotInfo? = nil, cacheBytes: Int? = nil,
    countedPerMessageLimit: Int = CachedConversation.countedPerMessageLimit,
    readFromTablesLimit: Int = CachedConversation.readFromTablesLimit
  ) {
    let generation = writer.store.generation
    reclaimer.begin(generation, retired: [])
    for page in writer.store.commit() { PageStore.free(page) }
    writer.findUnknownZones()
    unsafe self.writer = writer
    epoch = UInt64.random(in: 1 ... .max)
    publisher = VersionPublisher(
      EngineVersion(
        writer, number: 1, settingsVersion: 1, epoch: epoch, generation: generation, memberships,
        reclaimer))
    cache = ConversationCache(
      byteLimit: cacheBytes ?? Self.defaultCacheBytes, version: 1,
      countedPerMessageLimit: countedPerMessageLimit,
      readFromTablesLimit: readFromTablesLimit)
    self.threads = max(1, threads ?? Self.coreCount)
    self.snapshot = snapshot
    checkInDebugBuilds { checkInvariants(.sample(generation)) }
  }

  deinit {
    let writer = unsafe writer
    reclaimer.close(writer.tables, writer.log)
  }

  // MARK: Deciding

  /// Decides a message for every recipient, reusing the memory of a result.
  ///
  /// A message to a conversation whose id never appeared has no recipients.
  ///
  /// - Parameters:
  ///   - version: one of this engine's settings, current or not: several calls on one version belong
  ///     together whatever is updated meanwhile; nil for the current one.
  ///   - memberLimit: a message to a conversation of more members is not decided, as that may take
  ///     O(members): for threads that must not be kept busy. Its result is empty.
  /// - Returns: whether it was decided.
  /// - Complexity: O(mentions log members) when the conversation's states are cached; otherwise
  ///   O(members), on all threads. By open rules, users who have the sender, a keyword of the text or
  ///   a record in the thread count like mentions; with very many of them, it is O(members).
  @discardableResult
  public func decide(
    _ message: Message, on version: FanoutVersion? = nil, memberLimit: Int = .max,
    into result: inout FanoutResult
  ) -> Bool {
    result.reset(message.at.milliseconds, threads: threads)
    if let version {
      precondition(version.engineVersion.epoch == epoch, "a version of another engine")
      if result.storage.version !== version.engineVersion {
        result.storage.version = version.engineVersion
      }
    } else {
      publisher.refresh(&result.storage.version)
    }
    // The result's storage retains the version: no count is written that all threads share.
    guard let version = unsafe result.storage.version.map(Unmanaged.passUnretained) else {
      return false
    }
    return unsafe version._withUnsafeGuaranteedRef {
      Decider(version: $0, threads: threads)
        .decide(message, cache, memberLimit: memberLimit, into: &result)
    }
  }

  /// Decides messages in their order on one version of this engine's settings, on the thread that
  /// calls: their ids are looked up several at a time, which costs less than one at a time.
  ///
  /// - Parameters:
  ///   - indices: which of the messages.
  ///   - version: one of this engine, current or not.
  ///   - result: the memory for results.
  ///   - body: called once per message with its index in `messages`. The result is reused
  ///     afterwards; copy what you keep.
  /// - Precondition: the indices are those of messages.
  /// - Complexity: as for ``decide(_:on:memberLimit:into:)``, per message.
  public func decide(
    _ messages: [Message], _ indices: Range<Int>, on version: FanoutVersion,
    into result: inout FanoutResult, _ body: (Int, borrowing FanoutResult) -> Void
  ) {
    precondition(version.engineVersion.epoch == epoch, "a version of another engine")
    precondition(messages.indices.contains(indices), "no such messages")
    let decider = Decider(version: version.engineVersion, threads: threads)
    unsafe messages.withUnsafeBufferPointer { messages in
      guard let start = messages.baseAddress else { return }
      decider.decide(unsafe MessageList(start), indices, cache, into: &result, body)
    }
  }

  // MARK: Settings

  /// The number of the current version: 1, and one more for each update.
  public var version: UInt64 { publisher.load().number }

  /// The number of the last version that changed settings: one that only heartbeats made has the
  /// settings of this one.
  public var settingsVersion: UInt64 { publisher.load().settingsVersion }

  var current: EngineVersion { publisher.load() }

  /// Calls `body` with the tables of the current version.
  ///
  /// Tables are pointers to pages that the version keeps alive. Read without retaining their
  /// version, they may point to pages that updates on other threads have freed.
  func reading<Value>(_ body: (Tables) -> Value) -> Value {
    let version = current
    defer { withExtendedLifetime(version) {} }
    return body(version.tables)
  }

  /// The number of bytes that conversations kept between messages may take, unless another is asked
  /// for: a GiB.
  public static let defaultCacheBytes = 1 << 30

  /// The number of bytes that conversations kept between messages may take.
  public var cacheByteLimit: Int { cache.byteLimit }

  /// Prepares conversations, so that the first messages to them cost no more than later ones.
  ///
  /// - Parameters:
  ///   - conversations: ids; those that never appeared are ignored.
  ///   - instant: about when messages are expected.
  /// - Complexity: O(members), on all threads.
  public func warmUp(_ conversations: [Identifier], at instant: Instant) {
    let messages = conversations.map { Message(id: "", conversation: $0, at: instant) }
    decide(messages, .small, current) { _, _ in }
  }

  /// Forgets what is kept of conversations between messages, and frees its memory.
  public func forgetConversations() { cache.removeAll() }

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
      tables.conversationIDs.index(of: conversation).map { tables.memberCount($0) } ?? 0
    }
  }

  /// A user's settings; nil if the id never appeared.
  public func user(_ id: Identifier) -> UserSettings? {
    reading { tables in tables.userIDs.index(of: id).map { tables.user($0) } }
  }

  /// Whether a heartbeat is of a device that its user has.
  package func knowsDevice(of heartbeat: Heartbeat) -> Bool {
    reading { tables in
      guard let user = tables.userIDs.index(of: heartbeat.user) else { return false }
      guard let devices = tables.devices.lists.asTold(user) else {
        return heartbeat.device == Device.default.id
      }
      return tables.names.index(of: heartbeat.device).map { name in
        devices.contains { $0.id == name }
      } ?? false
    }
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
    try update(isOfSettings: true, announcing: { _ in }, body)
  }

  /// The same for what has a version of something else for each version of the settings.
  ///
  /// - Parameter announce: is told the number of the version before it is published, and not for
  ///   one that is not.
  package func update<Value, Failure: Error>(
    announcing announce: (UInt64) -> Void,
    _ body: (inout FanoutUpdate) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try update(isOfSettings: true, announcing: announce, body)
  }

  /// Notes what heartbeats say of known devices, by open rules (O-30), and publishes the next version.
  ///
  /// Presence is no setting: ``user(_:)``, snapshots and next changes have what is set. It ends with
  /// its user's device, or when the state or `seenAt` of that device is set anew.
  ///
  /// - Returns: the positions of those without effect, and why: ``FanoutError/unknownUser(_:)``,
  ///   ``FanoutError/unknownDevice(_:of:)`` or ``FanoutError/noHeartbeats(_:)``.
  /// - Complexity: O(devices) for each, O(memberships) where conversations are kept, and some
  ///   microseconds to publish: give many at once.
  @discardableResult
  public func setPresence(
    _ heartbeats: [Heartbeat]
  ) -> [(position: Int, error: FanoutError)] {
    update(isOfSettings: false, announcing: { _ in }) { update in
      var refused: [(position: Int, error: FanoutError)] = []
      for (position, heartbeat) in heartbeats.enumerated() {
        do throws(FanoutError) { try update.setPresence(heartbeat) } catch {
          refused.append((position, error))
        }
      }
      return refused
    }
  }

  private func update<Value, Failure: Error>(
    isOfSettings: Bool, announcing announce: (UInt64) -> Void,
    _ body: (inout FanoutUpdate) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outcome = writerLock.withLock { _ -> Result<Value, Failure> in
      let writer = unsafe self.writer
      let replaced = writer.replaced
      var update = FanoutUpdate(writer)
      do throws(Failure) {
        let value = try body(&update)
        let before = publisher.load()
        let number = before.number + 1
        update.finish(cache, memberships, number: number, threads: threads)
        announce(number)
        publish(
          writer, number: number, settingsVersion: isOfSettings ? number : before.settingsVersion)
        return .success(value)
      } catch {
        let last = publisher.load()
        writer.rollBack(to: last.tables, last.log, replaced)
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Prepares an instant: the day's quiet hours, and in its last hour the next day's too.
  ///
  /// Called each minute, or ahead of it, this keeps the work off the threads that decide.
  ///
  /// - Complexity: O(schedules) for a new day, otherwise O(transitions of the day).
  public func advance(to instant: Instant) {
    let version = publisher.load()
    let calendar = version.tables.calendar
    let now = instant.milliseconds
    _ = calendar.phases(at: now, version.tables.scheduleTable)
    let hour: Int64 = 3_600_000
    if (now + hour) / 86_400_000 > now / 86_400_000 {
      _ = calendar.phases(at: now + hour, version.tables.scheduleTable)
    }
  }

  /// Builds the index of users' large conversations for ``FanoutTimeline/apply(_:_:)``, unless it
  /// exists.
  ///
  /// - Parameter size: those of more members are large.
  /// - Complexity: O(memberships) the first time, on all threads.
  package func indexMemberships(above size: Int = OnlineUsers.scannedSize) {
    writerLock.withLock { _ in
      let writer = unsafe self.writer
      memberships.large.build(writer.tables, above: size, hasRanks: true, threads: threads)
    }
  }

  private func publish(_ writer: TableWriter, number: UInt64, settingsVersion: UInt64) {
    let generation = writer.store.generation
    reclaimer.begin(generation, retired: writer.store.commit())
    publisher.store(
      EngineVersion(
        writer, number: number, settingsVersion: settingsVersion, epoch: epoch,
        generation: generation, memberships, reclaimer))
    checkInDebugBuilds { checkInvariants(.sample(generation)) }
  }

  /// How many cores this process may use, the number of threads where none is given: those that
  /// `taskset` or a cpuset leaves, and no more than the quota of a container.
  public static var coreCount: Int { pk_core_count() }
}
