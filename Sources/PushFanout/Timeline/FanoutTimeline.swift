internal import PushRules

/// Decides messages along time, for one thread: for replays of long stretches.
///
/// ``Fanout`` is made for a present in which most conversations are asked about now and then: it
/// works out all users when a window turns, and a conversation when it is asked for. A timeline goes
/// through years, and works out only what changes: the members whose window turns, whose mute ends,
/// who join, or whose settings were changed between two versions. The answers are the same.
///
/// Messages may be of any instants; in the order of time they are fastest, and going back costs what
/// beginning does.
///
/// - Memory: 12 bytes a member of the conversations that messages went to, of the last ones where
///   that is much; 50 bytes a distinct schedule.
@safe public final class FanoutTimeline {
  var engineVersion: EngineVersion
  var clock = QuietClock()
  /// Who may be in another state: a user above, a conversation or `UserClasses.everywhere` below.
  var users = ChangeLog<UInt64>()
  private var expiries = ExpiryQueue()
  /// Milliseconds; -1 before the first message.
  private(set) var now: Int64 = -1
  /// How much of the version's log is in.
  private var followed: (epoch: UInt64, count: Int)
  private var cache = TimelineCache()

  /// - Complexity: O(users).
  public init(_ version: FanoutVersion) {
    engineVersion = version.engineVersion
    followed = (engineVersion.userClasses.epoch, engineVersion.userClasses.log.count)
    clock.extend(engineVersion.tables)
    scheduleExpiries()
  }

  /// Goes on with another version of the same engine's settings.
  ///
  /// - Complexity: O(changes) for a later one, O(users) now and then, or when the app's settings were
  ///   changed.
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

  /// How many bytes the states of conversations take.
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

  /// Lists the instants at which users' classes change by themselves, but for windows.
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

  /// The states of a conversation's members now.
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
