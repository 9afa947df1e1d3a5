internal import PushFanout
internal import PushFiles
internal import PushModel

/// Which users are online in which conversation, as devices in the foreground.
///
/// A user who is online anywhere has a connected desktop beside the devices of the settings; once
/// offline everywhere, that desktop is logged out and has no token, so nothing is pushed to it.
///
/// Who comes online is *waiting* until a message concerns one of those who wait: until then no
/// answer depends on it. So there are far fewer versions of the settings than changes of presence.
///
/// - Source: readings.md, "Replays".
struct PresenceSessions {
  /// The id of the device.
  static let deviceID: Identifier = "push-fanout presence"

  /// A user who was ever named.
  private struct User {
    /// The engine's index.
    let index: UserIndex
    /// In how many conversations the user is online.
    var count = 0
    var isWaiting = false
  }

  private var ids = IdentifierTable()
  /// By index in ``ids``.
  private var users: [User] = []
  private var conversations = IdentifierTable()
  /// The index of a conversation plus one, or 0 for none, and that of a user.
  private var online: Set<UInt64> = []
  /// The users whose device is not yet what it has to be.
  private var waiting: [UInt32] = []
  /// What is known of a conversation.
  private struct Room {
    /// The round in which a member of it last began to wait.
    var round: UInt32 = 0
    /// The index in ``ids`` of the member who waits, or ``several``.
    var waiting: UInt32 = 0
    /// The worker that decides messages to its members, plus one; 0 for none, ``manyWorkers`` for
    /// several.
    var worker: UInt16 = 0

    /// Notes that a member waits.
    ///
    /// - Returns: ``worker``.
    @inline(__always)
    mutating func wait(for user: UInt32, _ round: UInt32) -> UInt16 {
      waiting = self.round == round ? PresenceSessions.several : user
      self.round = round
      return worker
    }
  }

  /// By the engine's index of the conversation.
  private var rooms: [Room] = []
  private var round: UInt32 = 1
  private static let several = UInt32.max
  private static let manyWorkers = UInt16.max

  /// A member who waits, of a conversation that a worker decides messages to.
  struct WaitingMember: Sendable {
    let change: FanoutTimeline.MemberChange
    fileprivate let worker: UInt16

    /// Whether a worker decides messages to the conversation.
    func concerns(_ worker: Int) -> Bool {
      self.worker == UInt16(worker + 1) || self.worker == PresenceSessions.manyWorkers
    }
  }

  /// Of all conversations that workers decide messages to.
  private var waitingOfWorkers: [WaitingMember] = []
  /// Whether the conversations of a waiting user are not known.
  private var concernsAll = false
  /// For each conversation of a tally, the engine's index of the one whose members get its messages.
  private var recipients: [UInt32?] = []

  // MARK: Taking in

  /// Takes in a row. ``takeWaiting()`` says what follows from it.
  ///
  /// A user who is unknown to the settings is added at once, as a member of no conversation.
  ///
  /// - Parameter other: the other settings, in which the conversation may be known instead.
  /// - Throws: when the conversation is unknown.
  /// - Complexity: O(the user's memberships).
  mutating func add(
    _ change: PresenceChange, to fanout: Fanout, beside other: Fanout? = nil
  ) throws(FileProblem.Problem) {
    var session: UInt64 = 0
    if let id = change.conversation {
      let known = conversations.index(of: id)
      if known == nil, fanout.conversation(id) == nil, other?.conversation(id) == nil {
        throw .unknownConversation(id.text)
      }
      session = UInt64(known ?? conversations.insert(id)) + 1
    }
    let known = ids.index(of: change.user)
    let index = if let known { known } else { try introduce(change.user, to: fanout) }
    let before = users[Int(index)].count
    if change.isOnline {
      if online.insert(session << 32 | UInt64(index)).inserted { users[Int(index)].count += 1 }
    } else if online.remove(session << 32 | UInt64(index)) != nil {
      users[Int(index)].count -= 1
    }
    if known != nil, (before > 0) == (users[Int(index)].count > 0) { return }
    wait(for: index, fanout)
  }

  /// Numbers a user.
  private mutating func introduce(
    _ id: Identifier, to fanout: Fanout
  ) throws(FileProblem.Problem) -> UInt32 {
    if ids.count == 0 {
      try fanout.change { (update) throws(FanoutError) in update.discardWords() }
      fanout.indexMemberships()
    }
    if let index = fanout.index(of: id) {
      users.append(User(index: index))
    } else {
      let index = try fanout.change { (update) throws(FanoutError) in try update.name(user: id) }
      users.append(User(index: index))
    }
    return ids.insert(id)
  }

  private mutating func wait(for index: UInt32, _ fanout: Fanout) {
    if users[Int(index)].isWaiting { return }
    users[Int(index)].isWaiting = true
    waiting.append(index)
    let user = users[Int(index)].index
    let isKnown = fanout.forEachConversation(of: user) { conversation in
      let row = Int(conversation)
      if row >= rooms.count { grow(to: max(fanout.conversationCount, row + 1)) }
      let worker = rooms[row].wait(for: index, round)
      if worker == 0 { return }
      let change = FanoutTimeline.MemberChange(user: user, conversation: conversation)
      waitingOfWorkers.append(WaitingMember(change: change, worker: worker))
    }
    if !isKnown { concernsAll = true }
  }

  private mutating func grow(to count: Int) {
    if count <= rooms.count { return }
    rooms += Array(repeating: Room(), count: count - rooms.count)
  }

  // MARK: Applying

  /// Whether a message may have a recipient who waits.
  ///
  /// Its sender is no recipient. But a worker that decides the first message to a conversation will
  /// not hear of members who waited before: the message may concern them all.
  ///
  /// - Parameters:
  ///   - index: the index of its conversation in the tally.
  ///   - worker: the one that decides it; nil if any does.
  mutating func concerns(
    _ message: Message, _ index: UInt32, to worker: Int? = nil, _ fanout: Fanout
  ) -> Bool {
    if worker == nil, waiting.isEmpty { return false }
    while recipients.count <= Int(index) { recipients.append(nil) }
    guard let found = recipients[Int(index)] ?? fanout.recipientsIndex(of: message.conversation)
    else { return false }
    recipients[Int(index)] = found
    let row = Int(found)
    var isFirst = false
    if let worker {
      precondition(worker + 1 < Self.manyWorkers, "too many threads")
      if row >= rooms.count { grow(to: max(fanout.conversationCount, row + 1)) }
      let home = rooms[row].worker
      isFirst = home != UInt16(worker + 1) && home != Self.manyWorkers
      if isFirst { rooms[row].worker = home == 0 ? UInt16(worker + 1) : Self.manyWorkers }
    }
    if waiting.isEmpty { return false }
    if concernsAll { return true }
    guard row < rooms.count, rooms[row].round == round else { return false }
    let user = rooms[row].waiting
    return isFirst || user == Self.several || ids[user] != message.sender
  }

  /// The device of a user as it has to be.
  struct DeviceChange: Sendable {
    let user: UserIndex
    let isOnline: Bool
  }

  /// The members who wait of the workers' conversations; nil if not all are known. To be called
  /// before ``takeWaiting()``.
  var waitingMembers: [WaitingMember]? { concernsAll ? nil : waitingOfWorkers }

  /// What the devices of those who wait have to be; they no longer wait.
  mutating func takeWaiting() -> [DeviceChange] {
    if waiting.isEmpty { return [] }
    waitingOfWorkers = []
    let changes = waiting.map { index in
      DeviceChange(user: users[Int(index)].index, isOnline: users[Int(index)].count > 0)
    }
    for index in waiting { users[Int(index)].isWaiting = false }
    waiting.removeAll(keepingCapacity: true)
    round = round % UInt32.max + 1
    concernsAll = false
    return changes
  }

  /// Has ``concerns(_:_:_:)`` look threads' parents up again.
  mutating func forgetRecipients() { recipients = [] }

  private static let onlineDevice = device(.foreground)
  private static let offlineDevice = device(.loggedOut)

  private static func device(_ state: Device.State) -> Device {
    Device(id: deviceID, kind: .desktop, state: state, hasToken: false)
  }

  fileprivate static func device(isOnline: Bool) -> Device {
    isOnline ? onlineDevice : offlineDevice
  }

  /// A user's devices, with the one for presence if the user was ever named.
  func devices(_ devices: [Device]?, of user: Identifier) -> [Device]? {
    guard let index = ids.index(of: user) else { return devices }
    let own = Self.device(isOnline: users[Int(index)].count > 0)
    return (devices ?? [.default]).filter { $0.id != Self.deviceID } + [own]
  }
}

extension Fanout {
  /// Sets the devices for presence, in one update.
  ///
  /// - Returns: whether there are any changes.
  func change(_ changes: [PresenceSessions.DeviceChange]) throws(FileProblem.Problem) -> Bool {
    if changes.isEmpty { return false }
    try change { (update) throws(FanoutError) in
      for change in changes {
        try update.setDevice(PresenceSessions.device(isOnline: change.isOnline), of: change.user)
      }
    }
    return true
  }

  /// Updates settings that were checked; what the engine still refuses is a limit of its own.
  func change<Value>(
    _ body: (inout FanoutUpdate) throws(FanoutError) -> Value
  ) throws(FileProblem.Problem) -> Value {
    do throws(FanoutError) { return try update(body) } catch { throw .cannotApply("\(error)") }
  }
}

extension SettingsChange {
  /// Replaces the record of the same key.
  ///
  /// - Precondition: no user waits.
  /// - Throws: why it contradicts the settings; nothing has changed then.
  func apply(to fanout: Fanout, _ presence: inout PresenceSessions) throws(FileProblem.Problem) {
    if case .conversation = record { presence.forgetRecipients() }
    try check(against: fanout)
    var record = record
    if case .user(let id, var user) = record {
      user.devices = presence.devices(user.devices, of: id)
      record = .user(id, user)
    }
    let applied = record
    try fanout.change { (update) throws(FanoutError) in try update.set(applied) }
  }

  /// Checks the rules between records.
  private func check(against fanout: Fanout) throws(FileProblem.Problem) {
    switch record {
    case .app, .user: break
    case .conversation(let id, let conversation):
      var settings = SettingsOverlay(to: fanout)
      settings.setConversation(id, conversation)
      if let wrong = CrossRecordRules(settings).problem(of: id, conversation) {
        throw FileProblem.Problem(wrong)
      }
      if let problem = settings.problem(replacing: id) { throw problem }
    case .member(let user, let id, let member, let present):
      let conversation = fanout.conversation(id) ?? ConversationSettings()
      let wrong = CrossRecordRules(fanout).problem(of: user, in: id, conversation, member, present)
      if let wrong { throw FileProblem.Problem(wrong) }
    }
  }
}
