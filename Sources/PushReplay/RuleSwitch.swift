internal import PushFanout
internal import PushFiles
internal import PushRules

/// Looks for what a world has set that other rules do not have, and would forget.
struct RuleSwitch {
  private let world: FanoutVersion
  private let from: RuleSet
  /// Replaces records of the world, and says the new rules.
  private let settings: FanoutSettings

  init(_ fanout: Fanout, _ settings: FanoutSettings) {
    world = fanout.currentVersion
    from = fanout.app.rules
    self.settings = settings
  }

  /// The first record that stays and says what only the old rules have; nil for none.
  ///
  /// - Complexity: O(users + memberships).
  var problem: String? {
    guard from != settings.app.rules else { return nil }
    var found: String?
    func note(_ record: @autoclosure () -> String, _ field: String?) {
      guard found == nil, let field else { return }
      found = "\(FileProblem.Problem.fieldOfOtherRules("\(field) of \(record())", from))"
    }
    world.forEachUser { id, user in
      if settings.index(of: id).map({ settings.isDeclared($0) }) ?? false { return }
      note("the user \"\(id)\"", field(of: user))
    }
    world.forEachConversation { id, conversation in
      if !settings.isDeclared(id) { note("the conversation \"\(id)\"", field(of: conversation)) }
      guard found == nil else { return }
      world.forEachMember(of: id) { user, member in
        if settings.index(of: user).flatMap({ settings.member($0, of: id) }) != nil { return }
        note("the member \"\(user)\" of \"\(id)\"", field(of: member))
      }
    }
    return found
  }

  private func field(of user: UserSettings) -> String? {
    if let hours = user.quietHours, hours.exists(under: from),
      !hours.exists(under: settings.app.rules)
    {
      return "the \"quietHours\""
    }
    if from == .easemob {
      if user.level.isSet { return "the \"level\"" }
      return user.mutedUntil > .zero ? "the \"mutedUntil\"" : nil
    }
    if user.levels != KindLevels() { return "the \"levels\"" }
    if user.pushWhenDesktopOnline { return "the \"pushWhenDesktopOnline\"" }
    let isLocal = user.localInformationMissing || user.localHandledByApp
    return isLocal ? "the \"localNotification\"" : nil
  }

  private func field(of conversation: ConversationSettings) -> String? {
    conversation.kind.exists(under: from.other)
      ? nil : "the type \(conversation.kind.rawValue)"
  }

  private func field(of member: MemberSettings) -> String? {
    if member.mutedUntil > .zero { return "the \"mutedUntil\"" }
    if !member.channels.isEmpty { return "the \"channels\"" }
    return member.level.exists(under: from.other) ? nil : "the level \(member.level.name)"
  }
}
