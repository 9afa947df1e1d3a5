public import PushModel
internal import PushSupport

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
  private let settings: any SettingsRecords
  private let leftOut: Set<Identifier>
  private let threads: Int
  private var users: ProfiledUsers
  private var rooms = IdentifierTable()
  /// The group that a thread belongs to, by the thread's id.
  private var parents: [Identifier: Identifier] = [:]
  private var people: PeopleRates
  private var members = MembershipRates()
  private var messages: MessageRates
  /// What measures messages on another thread instead.
  private var ahead: MessageRatesAhead?
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
    self.init(settings as any SettingsRecords, leavingOut: leftOut, zoneName: zoneName, threads: 1)
  }

  /// The same for settings of any form, on several threads. With more than one, a copy of the
  /// profiler measures the same messages.
  ///
  /// - Parameter sliced: the users whose own settings are measured; none for all.
  package init(
    _ settings: any SettingsRecords, leavingOut leftOut: Set<Identifier>,
    settingsOf sliced: Set<Identifier> = [], zoneName: @escaping (String) -> String, threads: Int
  ) {
    self.settings = settings
    self.leftOut = leftOut
    self.threads = threads
    users = ProfiledUsers(settings, leavingOut: leftOut)
    messages = MessageRates()
    people = PeopleRates(settings.app.rules, zoneName: zoneName)
    for number in 0..<UInt32(settings.userCount) {
      let user = UserIndex(number)
      guard settings.isDeclared(user), let index = users.number(of: user),
        sliced.isEmpty || sliced.contains(settings.id(of: user))
      else { continue }
      people.add(settings.user(user), user: index)
    }
    addRooms(settings)
    messages.activity.reserveRooms(rooms.count)
    if threads > 1 { ahead = MessageRatesAhead(messages) }
  }

  /// Adds the rooms of the settings, with their members.
  private mutating func addRooms(_ settings: some SettingsRecords) {
    var ids: [Identifier] = []
    for id in settings.conversationIDs {
      if let parent = settings.conversation(id)?.parent {
        parents[id] = parent
      } else {
        _ = rooms.insert(id)
        ids.append(id)
      }
    }
    let (users, zones) = (users, people.zones)
    let pipeline = OrderedPipeline(
      threads: threads, takerWorks: true, makeWorker: { MemberCounts(users: users.count) },
      work: { (rooms: ArraySlice<Identifier>, counts: inout MemberCounts) in
        rooms.map { id in
          settings.forEachMember(of: id) { (user, member) in
            guard let user = users.number(of: user) else { return }
            counts.add(member, user: user)
          }
          return counts.endRoom(zones)
        }
      })
    var rest = ids[...]
    while true {
      while !rest.isEmpty, !pipeline.isFull {
        pipeline.submit(rest.prefix(Self.roomsTogether))
        rest = rest.dropFirst(Self.roomsTogether)
      }
      guard let (_, measured) = pipeline.take() else { break }
      for room in measured { members.add(room) }
    }
    for counts in pipeline.finish() { members.add(counts) }
  }

  /// So many rooms a thread counts at a time.
  private static let roomsTogether = 256

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
    add(message, isReply, clock, message.sender.flatMap { settings.index(of: $0) })
  }

  /// The same, with the clock of a user of the settings.
  package mutating func add(
    _ message: Message, isReply: Bool, clock: (UserIndex) throws -> SenderClock?
  ) rethrows {
    let user = message.sender.flatMap { settings.index(of: $0) }
    add(message, isReply, try user.flatMap(clock), user)
  }

  private mutating func add(
    _ message: Message, _ isReply: Bool, _ clock: SenderClock?, _ user: UserIndex?
  ) {
    if first == nil { first = message.at }
    last = message.at
    guard let sender = message.sender, !isLeftOut(sender) else {
      counts.otherMessages += 1
      return
    }
    counts.messages += 1
    let room = room(message.conversation)
    let (mentions, mentionsAll) = mentions(message)
    let row = ProfiledMessage(
      at: message.at.milliseconds, room: room, roomSize: members.sizes[room],
      sender: user.flatMap { users.number(of: $0) } ?? self.user(sender), mentions: mentions,
      mentionsAll: mentionsAll, isReply: isReply,
      clock: clock)
    if let ahead { ahead.add(row) } else { messages.add(row) }
    presence.add(row, conversation: message.conversation)
  }

  /// Adds that a user came online or went offline; not before what was added last.
  public mutating func addPresence(
    at instant: Instant, user id: Identifier, conversation: Identifier?, isOnline: Bool
  ) {
    guard !isLeftOut(id) else { return }
    counts.presenceRows += 1
    presence.add(
      at: instant.milliseconds, user: user(id), conversation: conversation, isOnline: isOnline)
  }

  /// Adds that the settings of a user or a member changed.
  public mutating func addChange(of id: Identifier) {
    if !isLeftOut(id) { counts.changes += 1 }
  }

  private func isLeftOut(_ id: Identifier) -> Bool { !leftOut.isEmpty && leftOut.contains(id) }

  private mutating func user(_ id: Identifier) -> Int { users.insert(id) }

  private mutating func room(_ id: Identifier) -> Int {
    let room = Int(rooms.insert(parents.isEmpty ? id : parents[id] ?? id))
    if room == members.sizes.count { members.add(MeasuredRoom()) }
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
    for id in ids where !isLeftOut(id) {
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
    let messages = ahead?.finish() ?? messages
    let rates =
      members.sizeRates() + members.joinRates(time)
      + messages.traffic.rates() + messages.activity.rates(members, time, threads: threads)
      + members.zoneRates(people)
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
      if member.since.milliseconds <= milliseconds, users.number(of: user) != nil {
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

/// What is measured of messages alone.
private struct MessageRates {
  var traffic = TrafficRates()
  var activity = RoomRates()

  mutating func add(_ message: ProfiledMessage) {
    traffic.add(message)
    activity.add(message)
  }
}

/// Measures messages on a thread of its own.
private final class MessageRatesAhead {
  private let pipeline: OrderedPipeline<MessageRates, [ProfiledMessage], Void>
  private var waiting: [ProfiledMessage] = []
  private static let together = 1024

  init(_ rates: MessageRates) {
    pipeline = OrderedPipeline(threads: 1, depth: 4, makeWorker: { rates }) { messages, rates in
      for message in messages { rates.add(message) }
    }
  }

  func add(_ message: ProfiledMessage) {
    waiting.append(message)
    if waiting.count == Self.together { submit() }
  }

  private func submit() {
    if pipeline.isFull { _ = pipeline.take() }
    pipeline.submit(waiting)
    waiting = []
    waiting.reserveCapacity(Self.together)
  }

  /// What was measured of all that was added.
  func finish() -> MessageRates {
    submit()
    while pipeline.take() != nil {}
    return pipeline.finish()[0]
  }
}

/// The numbers of users: those of the settings come first, without those who are left out.
struct ProfiledUsers: Sendable {
  private let settings: any SettingsRecords
  /// The number of each user of the settings, -1 for one who is left out; empty where nobody is, and
  /// the number is the index.
  private var numbers: [Int32] = []
  /// How many are of the settings.
  private var known: Int
  private var others = IdentifierTable()

  init(_ settings: any SettingsRecords, leavingOut leftOut: Set<Identifier>) {
    self.settings = settings
    known = settings.userCount
    if leftOut.isEmpty { return }
    known = 0
    for index in 0..<UInt32(settings.userCount) {
      let isLeftOut = leftOut.contains(settings.id(of: UserIndex(index)))
      numbers.append(isLeftOut ? -1 : Int32(known))
      if !isLeftOut { known += 1 }
    }
  }

  var count: Int { known + others.count }

  /// The number of a user of the settings; nil for one who is left out.
  func number(of user: UserIndex) -> Int? {
    if numbers.isEmpty { return Int(user.rawValue) }
    let number = numbers[Int(user.rawValue)]
    return number < 0 ? nil : Int(number)
  }

  /// The number of an id, which is added if it is new.
  ///
  /// - Precondition: it is not left out.
  mutating func insert(_ id: Identifier) -> Int {
    if let user = settings.index(of: id), let number = number(of: user) { return number }
    return known + Int(others.insert(id))
  }
}
