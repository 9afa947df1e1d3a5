internal import PushFanout
internal import PushFiles
internal import PushModel

/// Which users are online in which conversation.
///
/// A user who is online anywhere has a connected desktop beside the devices of the settings; once
/// offline everywhere, that desktop is logged out and has no token, so nothing is pushed to it.
///
/// - Source: readings.md, "Replays".
struct PresenceSessions {
  /// What is known of a user, by the engine's index.
  private struct User {
    /// In how many conversations the user is online.
    var count: Int32 = 0
    /// Whether one of them is none: the user is online as such.
    var isOnline = false
    var wasNamed = false
  }

  private var users: [User] = []
  private var conversations = IdentifierTable()
  /// Sessions in conversations: the index of one, and that of a user.
  private var online: Set<UInt64> = []

  /// Takes in a row.
  ///
  /// A user who is unknown to the settings is added at once, as a member of no conversation.
  ///
  /// - Parameters:
  ///   - known: the user's index, if that is known.
  ///   - other: the other settings, in which the conversation may be known instead.
  /// - Returns: what changes for the user; nil if nothing does.
  /// - Throws: when the conversation is unknown.
  mutating func add(
    _ change: PresenceChange, of known: UserIndex? = nil, to fanout: Fanout,
    beside other: Fanout? = nil
  ) throws(FileProblem.Problem) -> UserPresenceChange? {
    var room: UInt32?
    if let id = change.conversation {
      room = conversations.index(of: id)
      if room == nil, fanout.conversation(id) == nil, other?.conversation(id) == nil {
        throw .unknownConversation(id.text)
      }
    }
    if users.isEmpty { fanout.indexMemberships() }
    let index =
      if let known = known ?? fanout.index(of: change.user) { known } else {
        try fanout.change { (update) throws(FanoutError) in try update.intern(user: change.user) }
      }
    let row = Int(index.rawValue)
    if row >= users.count {
      let count = max(row + 1, fanout.userCount)
      users += Array(repeating: User(), count: count - users.count)
    }
    let before = users[row]
    if let id = change.conversation {
      let session = UInt64(room ?? conversations.insert(id)) << 32 | UInt64(row)
      if change.isOnline {
        if online.insert(session).inserted { users[row].count += 1 }
      } else if online.remove(session) != nil {
        users[row].count -= 1
      }
    } else if before.isOnline != change.isOnline {
      users[row].isOnline = change.isOnline
      users[row].count += change.isOnline ? 1 : -1
    }
    users[row].wasNamed = true
    let isOnline = users[row].count > 0
    if before.wasNamed, (before.count > 0) == isOnline { return nil }
    return UserPresenceChange(user: index, isOnline: isOnline)
  }
}

/// Heartbeats that no message has come after.
struct HeartbeatsAhead {
  private var heartbeats: [Heartbeat] = []

  /// - Parameter other: the other settings, in which the device may be known instead; there it has
  ///   no effect here.
  /// - Throws: when the device is unknown.
  mutating func add(
    _ heartbeat: Heartbeat, to fanout: Fanout, beside other: Fanout? = nil
  ) throws(FileProblem.Problem) {
    if fanout.knowsDevice(of: heartbeat) {
      heartbeats.append(heartbeat)
    } else if other?.knowsDevice(of: heartbeat) ?? false {
      return
    } else if fanout.user(heartbeat.user) == nil {
      throw .init(FanoutError.unknownUser(heartbeat.user))
    } else {
      throw .init(FanoutError.unknownDevice(heartbeat.device, of: heartbeat.user))
    }
  }

  /// - Returns: whether there were any.
  mutating func apply(to fanout: Fanout) throws(FileProblem.Problem) -> Bool {
    if heartbeats.isEmpty { return false }
    if let (_, error) = fanout.setPresence(heartbeats).first { throw .init(error) }
    heartbeats.removeAll(keepingCapacity: true)
    return true
  }
}

extension Fanout {
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
  /// - Throws: why it contradicts the settings; nothing has changed then.
  func apply(to fanout: Fanout) throws(FileProblem.Problem) {
    try check(against: fanout)
    try fanout.change { (update) throws(FanoutError) in try update.set(record) }
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
