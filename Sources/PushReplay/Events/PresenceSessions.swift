internal import PushFanout
internal import PushFiles
internal import PushModel

/// Which users are online in which conversation, as devices in the foreground.
///
/// A user who is online anywhere has a connected desktop beside the devices of the settings; once
/// offline everywhere, that desktop is logged out and has no token, so nothing is pushed to it.
///
/// - Source: readings.md, "Replays".
struct PresenceSessions {
  private struct Session: Hashable {
    let conversation: Identifier?
    let user: Identifier
  }

  /// The id of the device.
  static let deviceID: Identifier = "push-fanout presence"

  private var online: Set<Session> = []
  /// In how many conversations each user that was ever named is online.
  private var counts: [Identifier: Int] = [:]

  /// Applies a row.
  ///
  /// A user who is unknown to the settings is added, as a member of no conversation.
  ///
  /// - Parameter other: the other settings, in which the conversation may be known instead.
  /// - Throws: when the conversation is unknown.
  mutating func apply(
    _ change: PresenceChange, to fanout: Fanout, beside other: Fanout? = nil
  ) throws(FileProblem.Problem) {
    let session = Session(conversation: change.conversation, user: change.user)
    let isKnown = counts[change.user] != nil
    if !isKnown || !online.contains(session) {
      if let conversation = change.conversation, fanout.conversation(conversation) == nil,
        other?.conversation(conversation) == nil
      {
        throw .unknownConversation(conversation.text)
      }
    }
    let before = counts[change.user, default: 0]
    var after = before
    if change.isOnline {
      if online.insert(session).inserted { after += 1 }
    } else if online.remove(session) != nil {
      after -= 1
    }
    counts[change.user] = after
    if isKnown, (before > 0) == (after > 0) { return }
    var user = fanout.user(change.user) ?? UserSettings()
    user.devices = devices(user.devices, of: change.user)
    try fanout.change { (update) throws(FanoutError) in try update.setUser(change.user, user) }
  }

  /// A user's devices, with the one for presence if the user was ever named.
  func devices(_ devices: [Device]?, of user: Identifier) -> [Device]? {
    guard let count = counts[user] else { return devices }
    var list = devices ?? [.default]
    list.removeAll { $0.id == Self.deviceID }
    list.append(
      Device(
        id: Self.deviceID, kind: .desktop, state: count > 0 ? .foreground : .loggedOut,
        hasToken: false))
    return list
  }
}

extension Fanout {
  /// Updates settings that were checked; what the engine still refuses is a limit of its own.
  func change(
    _ body: (inout FanoutUpdate) throws(FanoutError) -> Void
  ) throws(FileProblem.Problem) {
    do throws(FanoutError) { try update(body) } catch { throw .cannotApply("\(error)") }
  }
}

extension SettingsChange {
  /// Replaces the record of the same key.
  ///
  /// - Throws: why it contradicts the settings; nothing has changed then.
  func apply(to fanout: Fanout, _ presence: PresenceSessions) throws(FileProblem.Problem) {
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
