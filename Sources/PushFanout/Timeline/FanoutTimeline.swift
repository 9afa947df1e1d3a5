internal import PushModel

/// Decides messages along time on one thread, for replays of long periods.
///
/// ``Fanout`` is made for the present, in which most conversations get a message now and then: it
/// updates all users at a window transition, and a conversation on demand. A timeline covers years,
/// and recomputes only what changes: members whose window has a transition, whose mute ends, who
/// join, or whose settings differ between two versions. The decisions are the same.
///
/// Messages may have any instants. They are fastest in the order of time; going back costs as much
/// as starting over.
///
/// - Memory: 12 bytes per member of the conversations that messages went to, limited to the most
///   recent conversations; 50 bytes per distinct schedule.
@safe public final class FanoutTimeline {
  var engineVersion: EngineVersion
  var clock = QuietClock()
  /// The members whose state may have changed: the user in the upper 32 bits, the conversation or
  /// `UserClasses.everywhere` in the lower.
  var users = ChangeLog<UInt64>()
  private var expiries = ExpiryQueue()
  /// Milliseconds; -1 before the first message.
  private(set) var now: Int64 = -1
  /// How much of the version's log has been applied.
  private var followed: (epoch: UInt64, count: Int)
  private var cache = TimelineCache()

  /// - Complexity: O(users).
  public init(_ version: FanoutVersion) {
    engineVersion = version.engineVersion
    followed = (engineVersion.userClasses.epoch, engineVersion.userClasses.log.count)
    clock.extend(engineVersion.tables)
    scheduleExpiries()
  }

  /// Continues with another version of the same engine's settings.
  ///
  /// - Complexity: O(changes) for a later version; O(users) occasionally, or after the app's
  ///   settings changed.
  public func follow(_ version: FanoutVersion) {
    let before = engineVersion
    if version.engineVersion === before { return }
    engineVersion = version.engineVersion
    let userClasses = engineVersion.userClasses
    let isOther =
      engineVersion.tables.appRevision != before.tables.appRevision
      || engineVersion.number < before.number
    if isOther { clock = QuietClock() }
    clock.extend(engineVersion.tables)
    if isOther, now >= 0 { clock.advance(to: now / 1000, engineVersion.tables) }
    guard !isOther, userClasses.epoch == followed.epoch, followed.count <= userClasses.log.count
    else {
      followed = (userClasses.epoch, userClasses.log.count)
      cache.removeAll()
      return scheduleExpiries()
    }
    for index in followed.count..<userClasses.log.count {
      let entry = userClasses.log[index]
      users.append(entry)
      guard UInt32(truncatingIfNeeded: entry) == UserClasses.everywhere else { continue }
      plan(UInt32(truncatingIfNeeded: entry >> 32))
    }
    followed.count = userClasses.log.count
  }

  /// The bytes that the states of conversations take.
  public var stateBytes: Int { cache.byteCount }

  // MARK: Time

  func move(to instant: Int64) {
    if instant == now { return }
    if instant < now {
      cache.removeAll()
      now = instant
      scheduleExpiries()
    }
    now = instant
    clock.advance(to: instant / 1000, engineVersion.tables)
    while let entry = expiries.pop(upTo: instant) {
      users.append(UInt64(entry.user) << 32 | UInt64(UserClasses.everywhere))
    }
  }

  /// Queues the instants at which users' classes change without an update, except window
  /// transitions.
  private func scheduleExpiries() {
    expiries.removeAll()
    for user in 0..<UInt32(engineVersion.tables.userCount) { plan(user) }
  }

  private func plan(_ user: UInt32) {
    engineVersion.tables.forEachTransition(of: user) { at in
      if at > now { expiries.add(ExpiryQueue.Entry(at: at, user: user)) }
    }
  }

  // MARK: Conversations

  /// The states of a conversation's members at the timeline's instant.
  func conversation(
    _ target: ConversationStates.Target, _ states: ConversationStates
  ) -> TimelineConversation {
    if let known = cache.find(target), known.isUsable(target, self) {
      known.refresh(target, states, self)
      return known
    }
    let made = TimelineConversation(target, states, self)
    cache.keep(made)
    return made
  }
}
