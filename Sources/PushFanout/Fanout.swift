internal import Glibc
internal import PushSupport
public import PushRules
internal import QuietTime

/// Decides who gets a push for a message, and why not, for groups of up to millions of members.
///
/// One value serves all threads. Readers never wait for writers: a message is decided on one
/// version of all settings, and ``update(_:)`` publishes the next.
///
/// What depends on a user and the time is worked out for all users when a minute turns a window, and
/// what depends on a conversation's members once until something of theirs changes. A message then
/// costs a few look-ups, however many its recipients are: <doc:HowItDecides>.
///
/// Deciding never throws. With ``decide(_:into:)`` it does not ask the system for memory once a
/// conversation's states are known.
public final class Fanout: Sendable {
  private let published: Published
  let history = History()
  private let cache: StateCache
  private let writerLock = Lock<Void>(())
  // SAFETY: used under `writerLock` only.
  private nonisolated(unsafe) let writer: TableWriter
  private let cursors = Lock<[Cursor]>([])
  private let patience = Lock(Patience())
  /// How many threads one call may use.
  public let threads: Int
  /// What the engine was opened from; nil for one that was built.
  public let snapshot: SnapshotInfo?

  /// An engine for an app without users.
  ///
  /// - Parameters:
  ///   - app: whose rules, and how they are read.
  ///   - threads: how many threads one call may use; nil for as many as there are cores.
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  public convenience init(app: AppSettings, threads: Int? = nil) throws(FanoutError) {
    self.init(try TableWriter(app: app), threads: threads)
  }

  /// An engine for settings.
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
    history.begin(generation, retired: [])
    for page in writer.store.commit() { PageStore.free(page) }
    unsafe self.writer = writer
    published = Published(
      World(writer.tables, writer.moment, version: 1, generation: generation, history))
    cache = StateCache(slotCount: 4096, byteLimit: 1 << 30)
    self.threads = max(1, threads ?? Self.coreCount)
    self.snapshot = snapshot
  }

  deinit {
    let writer = unsafe writer
    history.close(writer.tables, writer.moment)
  }

  // MARK: Deciding

  /// Decides a message for every recipient.
  ///
  /// A message to a conversation that nobody named has no recipients.
  ///
  /// - Complexity: O(mentions log members) when the conversation's states are known; O(members)
  ///   on all threads when they are not.
  public func decide(_ message: Message) -> FanoutResult {
    var result = FanoutResult()
    decide(message, into: &result)
    return result
  }

  /// Decides a message for every recipient, into a result whose memory is used again.
  public func decide(_ message: Message, into result: inout FanoutResult) {
    result.state = nil
    let world = published.load()
    let place = world.tables.conversationIDs.place(of: message.conversation)
    var current = world
    if let place { current = self.world(world, at: message.at.milliseconds, for: place) }
    Decider(world: current, cache: cache, threads: threads)
      .decide(message, in: place, into: &result)
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Parameters:
  ///   - messages: messages of any instants and conversations; sorted by time they are fastest.
  ///   - body: called once for each message with its place, from several threads and in any order.
  ///     The result is overwritten afterwards; keep what you need of it, or a copy.
  /// - Complexity: as for ``decide(_:)->FanoutResult``, a message.
  public func decide(
    _ messages: [Message], _ body: @Sendable (Int, borrowing FanoutResult) -> Void
  ) {
    let world = published.load()
    let shares = shares(of: messages, world.tables)
    @Sendable func work(_ share: Int) {
      let cursor = self.cursor(world)
      var result = FanoutResult()
      for place in shares[share] {
        let message = messages[Int(place)]
        if let place = self.place(in: world, holdingFor: message) {
          Decider(world: world, cache: self.cache, threads: 1)
            .decide(message, in: place, into: &result)
        } else {
          cursor.decide(message, into: &result)
        }
        body(Int(place), result)
      }
      self.giveBack(cursor)
    }
    Parallel.perform(shares.count, threads: shares.count, work)
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Returns: a result for each message, in their order.
  public func decide(_ messages: [Message]) -> [FanoutResult] {
    let results = Lock([FanoutResult](repeating: FanoutResult(), count: messages.count))
    decide(messages) { place, result in
      let copy = copy result
      results.withLock { $0[place] = copy }
    }
    return results.withLock { $0 }
  }

  /// The action, reason, scope and devices for one user; nil for somebody who is no recipient.
  ///
  /// - Complexity: O(log members + devices).
  public func decision(_ message: Message, for user: Identifier) -> Decision? {
    let world = published.load()
    guard let place = world.tables.userIDs.place(of: user) else { return nil }
    return decision(message, for: place, world)
  }

  func decision(_ message: Message, for user: UInt32, _ world: World) -> Decision? {
    let decider = Decider(world: world, cache: cache, threads: 1)
    guard let outcome = decider.decide(message, for: user) else { return nil }
    let filter = message.filter ?? message.ext.filter
    let targets = world.tables.targets(
      of: user, outcome.action, filter.isEmpty ? nil : filter, at: message.at.milliseconds
    )
    return Decision(outcome, devices: targets.map(\.id))
  }

  /// The first instant after `instant` at which the answer for a plain message changes by itself;
  /// nil when it never does.
  ///
  /// A plain message is a text from somebody else that mentions nobody.
  ///
  /// - Throws: ``FanoutError/unknownUser(_:)``, ``FanoutError/unknownConversation(_:)`` or
  ///   ``FanoutError/notAMember(user:conversation:)``.
  public func nextChange(
    for user: Identifier, in conversation: Identifier, channel: Identifier = "",
    after instant: Instant
  ) throws(FanoutError) -> Instant? {
    let world = published.load()
    let tables = world.tables
    guard let userPlace = tables.userIDs.place(of: user) else { throw .unknownUser(user) }
    guard let place = tables.conversationIDs.place(of: conversation) else {
      throw .unknownConversation(conversation)
    }
    let row = tables.conversations[Int(place)]
    let isThread = ConversationKind(place: Int(row.kind)) == .thread
    let chain = isThread && row.parent != 0 ? [row.parent - 1, place] : [place]
    guard tables.member(userPlace, of: chain[0]) != nil else {
      throw .notAMember(user: user, conversation: tables.conversationIDs[chain[0]])
    }
    let dependence = TimeDependence(
      app: tables.app, user: tables.user(userPlace),
      records: chain.compactMap { tables.member(userPlace, of: $0) },
      quiet: tables.scheduleTable.schedule(tables.schedules[Int(userPlace)]))
    return dependence.nextChange(after: instant) { at -> Decision? in
      var message = Message(id: "plain", conversation: conversation, at: at)
      message.channel = channel
      return self.decision(message, for: userPlace, world)
    }
  }

  // MARK: Settings

  /// The version of the settings; counts the updates, from 1.
  public var version: UInt64 { published.load().version }

  var current: World { published.load() }

  /// Reads the tables of the version that is current when this begins.
  ///
  /// They are pointers, and it is the world that keeps their pages: taken out of it alone, they may
  /// be of pages that updates on other threads have given to something else.
  func reading<Value>(_ body: (borrowing Tables) -> Value) -> Value {
    let world = current
    defer { withExtendedLifetime(world) {} }
    return body(world.tables)
  }
  var stateBytes: Int { cache.bytes }

  /// The app's settings.
  public var app: AppSettings { reading { $0.app } }

  /// How many user ids have appeared.
  public var userCount: Int { reading { $0.userCount } }

  /// The id of a user.
  ///
  /// - Precondition: below ``userCount``.
  public func id(of user: UserIndex) -> Identifier { reading { $0.userIDs[user.rawValue] } }

  /// How many members a message to a conversation may go to; 0 for one that was never named.
  public func memberCount(of conversation: Identifier) -> Int {
    reading { tables in
      tables.conversationIDs.place(of: conversation).map { tables.size($0).members } ?? 0
    }
  }

  /// What a user has set; nil for an id that never appeared.
  public func user(_ id: Identifier) -> UserSettings? {
    reading { tables in tables.userIDs.place(of: id).map { tables.user($0) } }
  }

  /// What is set for a conversation; nil for one that was never named.
  public func conversation(_ id: Identifier) -> ConversationSettings? {
    reading { tables in tables.conversationIDs.place(of: id).map { tables.conversation($0) } }
  }

  /// The membership of a user; nil for none.
  public func member(_ user: Identifier, of conversation: Identifier) -> MemberSettings? {
    reading { tables in
      guard let user = tables.userIDs.place(of: user),
        let place = tables.conversationIDs.place(of: conversation)
      else { return nil }
      return tables.member(user, of: place)
    }
  }

  /// Changes settings and publishes the next version, while others go on deciding on this one.
  ///
  /// All changes become visible together. When `body` throws, none does. `body` may decide, on the
  /// version before, but not update.
  ///
  /// - Complexity: that of the changes, and some microseconds to publish; so put many into one call.
  public func update<Value, Failure: Error>(
    _ body: (inout FanoutUpdate) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outcome = writerLock.withLock { _ -> Result<Value, Failure> in
      let writer = unsafe self.writer
      let (tables, moment) = (writer.tables, writer.moment)
      var update = FanoutUpdate(writer)
      do throws(Failure) {
        let value = try body(&update)
        update.finish()
        publish(writer, isUpdate: true)
        return .success(value)
      } catch {
        writer.rollBack(to: tables, moment)
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Prepares an instant: its day's bitmaps, in the last hour of a day also the next one's, and the
  /// users' classes.
  ///
  /// Calling it each minute, or ahead of it, keeps that work off the threads that decide, which
  /// otherwise do it themselves when it is worth their while.
  ///
  /// - Complexity: O(users) when a window has turned since; otherwise O(mutes that are over).
  public func advance(to instant: Instant) {
    writerLock.withLock { _ in
      let writer = unsafe self.writer
      writer.move(to: instant.milliseconds, kind: nil)
      writer.moment.prepareTomorrow(instant.milliseconds, writer.tables)
      publish(writer, isUpdate: false)
    }
  }

  private func publish(_ writer: TableWriter, isUpdate: Bool) {
    let version = published.load().version + (isUpdate ? 1 : 0)
    let generation = writer.store.generation
    history.begin(generation, retired: writer.store.commit())
    published.store(
      World(writer.tables, writer.moment, version: version, generation: generation, history))
  }

  /// The version to decide a message on, at its instant if that is worth while. Places of
  /// conversations are the same in later versions.
  private func world(_ world: World, at now: Int64, for place: UInt32) -> World {
    let (kind, members) = world.tables.size(place)
    if world.moment.hasClasses(kind), world.moment.holds(at: now) { return world }
    // Time that goes back is for cursors: here it would take the others' moment away.
    guard now >= world.moment.from else { return world }
    let wantsMove = patience.withLock {
      $0.wantsMove(
        world.moment, to: now, kind: kind, members: members, users: world.tables.userCount)
    }
    guard wantsMove else { return world }
    let hasMoved: Void? = writerLock.withLockIfAvailable { _ in
      let writer = unsafe self.writer
      guard writer.moment.from <= now else { return }
      writer.move(to: now, kind: kind)
      publish(writer, isUpdate: false)
    }
    return hasMoved == nil ? world : published.load()
  }

  /// The place of a message's conversation, if a version's moment can be used for it.
  private func place(in world: World, holdingFor message: Message) -> UInt32? {
    guard world.moment.holds(at: message.at.milliseconds),
      let place = world.tables.conversationIDs.place(of: message.conversation)
    else { return nil }
    return world.moment.hasClasses(world.tables.size(place).kind) ? place : nil
  }

  // MARK: Batches

  /// Which messages each thread decides: those of a conversation together, as they share its states.
  private func shares(of messages: [Message], _ tables: Tables) -> [[UInt32]] {
    guard threads > 1, messages.count > 1 else { return [Array(0..<UInt32(messages.count))] }
    var loads: [Identifier: Int] = [:]
    for message in messages {
      // A message costs something by itself; its members share their states.
      loads[message.conversation, default: 0] += 256
    }
    for id in loads.keys {
      guard let place = tables.conversationIDs.place(of: id) else { continue }
      loads[id, default: 0] += tables.size(place).members
    }
    var shareLoads = [Int](repeating: 0, count: threads)
    var shareOf: [Identifier: Int] = [:]
    for (id, load) in loads.sorted(by: { $0.value > $1.value }) {
      let share = shareLoads.indices.min { shareLoads[$0] < shareLoads[$1] } ?? 0
      shareLoads[share] += load
      shareOf[id] = share
    }
    var shares = [[UInt32]](repeating: [], count: threads)
    for (place, message) in messages.enumerated() {
      shares[shareOf[message.conversation] ?? 0].append(UInt32(place))
    }
    return shares.filter { !$0.isEmpty }
  }

  private func cursor(_ world: World) -> Cursor {
    let kept = cursors.withLock { cursors -> Cursor? in
      cursors.removeAll { $0.base !== world }
      return cursors.popLast()
    }
    return kept ?? Cursor(world)
  }

  private func giveBack(_ cursor: Cursor) {
    cursors.withLock { if $0.count < threads { $0.append(cursor) } }
  }

  static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
