public import PushModel

/// The clock of a sender at the instant of a message.
public struct SenderClock: Hashable, Sendable {
  /// How far the clock is ahead of UTC, in seconds.
  public var offsetSeconds: Int64
  /// Whether it is in the sender's quiet hours; nil for a sender who has none, or has them all day.
  public var isInQuietHours: Bool?

  /// A clock.
  public init(offsetSeconds: Int64, isInQuietHours: Bool? = nil) {
    self.offsetSeconds = offsetSeconds
    self.isInQuietHours = isInQuietHours
  }
}

/// Measures the rates of a world: settings first, then what happens, in the order of time.
///
/// What each rate means is documented in docs/profile.md.
///
/// - Memory: that of rooms, users and memberships; not that of messages.
public struct WorkloadProfiler {
  private let settings: FanoutSettings
  private let leftOut: Set<Identifier>
  private var users = IdentifierTable()
  private var rooms = IdentifierTable()
  /// The group that a thread belongs to, by the thread's id.
  private var parents: [Identifier: Identifier] = [:]
  private var people: PeopleRates
  private var members = MembershipRates()
  private var traffic = TrafficRates()
  private var activity = RoomRates()
  private var presence = PresenceRates()
  private var counts = WorkloadProfile.Counts()
  private var first: Instant?
  private var last = Instant.zero

  /// Begins with the settings of a world.
  ///
  /// - Parameters:
  ///   - settings: the users, rooms and memberships.
  ///   - leftOut: users who are measured nowhere, such as bots: their settings, memberships,
  ///     messages and presence, and mentions of them.
  ///   - zoneName: the name by which a time zone is compared, where a zone has several.
  /// - Complexity: O(users + memberships).
  public init(
    _ settings: FanoutSettings, leavingOut leftOut: Set<Identifier> = [],
    zoneName: @escaping (String) -> String = { $0 }
  ) {
    self.settings = settings
    self.leftOut = leftOut
    people = PeopleRates(settings.app.rules, zoneName: zoneName)
    for number in 0..<UInt32(settings.userCount) {
      let user = UserIndex(number)
      let id = settings.id(of: user)
      guard !leftOut.contains(id) else { continue }
      let index = Int(users.insert(id))
      if settings.isDeclared(user) { people.add(settings.user(user), user: index) }
    }
    for id in settings.conversationIDs {
      let conversation = settings.conversation(id) ?? ConversationSettings()
      if let parent = conversation.parent {
        parents[id] = parent
        continue
      }
      let room = Int(rooms.insert(id))
      members.begin(room)
      settings.forEachMember(of: id) { (user, member) in
        if let index = users.index(of: settings.id(of: user)) {
          members.add(
            member, user: Int(index), room: room, zone: people.zones[Int(index)])
        }
      }
      members.end(people)
    }
  }

  // MARK: What happens

  /// Adds a message; it is not before the one added last.
  ///
  /// Mentions are those of ``Message/mentions`` and ``Message/mentionsAll``, or of `em_at_list`
  /// where both are absent (E-46).
  ///
  /// - Parameters:
  ///   - isReply: whether it answers a message.
  ///   - clock: the sender's; nil when it is not known, and then hours and days are those of UTC.
  public mutating func add(_ message: Message, isReply: Bool = false, clock: SenderClock? = nil) {
    if first == nil { first = message.at }
    last = message.at
    guard let sender = message.sender, !leftOut.contains(sender) else {
      counts.otherMessages += 1
      return
    }
    counts.messages += 1
    let room = room(message.conversation)
    let (mentions, mentionsAll) = mentions(message)
    let row = ProfiledMessage(
      at: message.at.milliseconds, room: room, roomSize: members.sizes[room],
      sender: user(sender), mentions: mentions, mentionsAll: mentionsAll, isReply: isReply,
      clock: clock)
    traffic.add(row)
    activity.add(row)
    presence.add(row, conversation: message.conversation)
  }

  /// Adds that a user came online or went offline; not before what was added last.
  public mutating func addPresence(
    at instant: Instant, user id: Identifier, conversation: Identifier?, isOnline: Bool
  ) {
    guard !leftOut.contains(id) else { return }
    counts.presenceRows += 1
    presence.add(
      at: instant.milliseconds, user: user(id), conversation: conversation, isOnline: isOnline)
  }

  /// Adds that the settings of a user or a member changed.
  public mutating func addChange(of id: Identifier) {
    if !leftOut.contains(id) { counts.changes += 1 }
  }

  private mutating func user(_ id: Identifier) -> Int { Int(users.insert(id)) }

  private mutating func room(_ id: Identifier) -> Int {
    let room = Int(rooms.insert(parents[id] ?? id))
    if room == members.sizes.count {
      members.begin(room)
      members.end(people)
    }
    return room
  }

  private mutating func mentions(_ message: Message) -> (users: [Int], all: Bool) {
    guard message.isMentioned != false else { return ([], false) }
    var ids = message.mentions ?? []
    var all = message.mentionsAll ?? false
    if message.mentions == nil, message.mentionsAll == nil {
      switch message.ext.atList {
      case .ids(let list): ids = list
      case .text(let text): all = text.lowercased() == "all"
      case .absent, .unreadable: break
      }
    }
    var found: [Int] = []
    for id in ids where !leftOut.contains(id) {
      let user = user(id)
      if !found.contains(user) { found.append(user) }
    }
    return (found, all)
  }

  // MARK: The result

  /// What was measured of all that was added.
  ///
  /// - Complexity: O(users + memberships + senders).
  public func profile() -> WorkloadProfile {
    var counts = counts
    counts.users = users.count
    counts.rooms = rooms.count
    counts.memberships = members.count
    let time = first.map { $0.milliseconds...last.milliseconds }
    let rates =
      members.sizeRates() + members.joinRates(time)
      + traffic.rates() + activity.rates(members, time) + members.zoneRates(people)
      + people.rates() + members.muteRates()
      + presence.rates(users: users.count, memberships: memberships(of:at:))
      + changeRates(counts, time)
    return WorkloadProfile(
      counts: counts, time: first.map { $0...last }, rates: rates, giants: members.giants)
  }

  /// How many people were members of a room by some time.
  private func memberships(of conversation: Identifier, at milliseconds: Int64) -> Int {
    var count = 0
    settings.forEachMember(of: conversation) { (user, member) in
      if member.since.milliseconds <= milliseconds, !leftOut.contains(settings.id(of: user)) {
        count += 1
      }
    }
    return count
  }

  private func changeRates(
    _ counts: WorkloadProfile.Counts, _ time: ClosedRange<Int64>?
  ) -> [MeasuredRate] {
    var estimate: RateEstimate?
    if counts.changes > 0, counts.users > 0, let time, time.upperBound > time.lowerBound {
      let days = Double(time.upperBound - time.lowerBound) / Double(DayCurve.dayMilliseconds)
      let unit = Double(counts.users) * days
      estimate = RateEstimate(
        Double(counts.changes) / unit, error: Double(counts.changes).squareRoot() / unit,
        observations: counts.changes, "changes")
    }
    return [
      MeasuredRate(
        "changes", .number, estimate, missing: "no changes of settings are given")
    ]
  }
}

/// A message as it is measured: users and rooms are numbers, and all that is left out is gone.
struct ProfiledMessage {
  /// Milliseconds since the epoch.
  let at: Int64
  let room: Int
  /// Members of the room; 0 when they are not known.
  let roomSize: Int
  let sender: Int
  let mentions: [Int]
  let mentionsAll: Bool
  let isReply: Bool
  let clock: SenderClock?

  var day: Int64 { at / DayCurve.dayMilliseconds }
  var group: Int { GroupedMean.group(room: room, day: day) }
}
