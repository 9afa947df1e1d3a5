internal import PushFanout
internal import PushFiles
internal import PushModel

/// Finds settings that other rules do not have and would ignore.
struct RuleSwitch {
  private let version: FanoutVersion
  private let from: RuleSet
  /// Records that replace those of the version, and the app with the new rules.
  private let settings: FanoutSettings

  init(_ fanout: Fanout, _ settings: FanoutSettings) {
    version = fanout.currentVersion
    from = fanout.app.rules
    self.settings = settings
  }

  /// The first record that stays and sets what only the old rules have; nil for none.
  ///
  /// - Complexity: O(users + memberships).
  var problem: String? {
    guard from != settings.app.rules else { return nil }
    var found: String?
    func note(_ record: @autoclosure () -> String, _ field: String?) {
      guard found == nil, let field else { return }
      let what = "\(field) of \(record())"
      found = "\(FileProblem.Problem.fieldOfOtherRules(what, from, rules: settings.app.rules))"
    }
    version.forEachUser { id, user in
      if settings.index(of: id).map({ settings.isDeclared($0) }) ?? false { return }
      note("the user \"\(id)\"", field(of: user))
    }
    version.forEachConversation { id, conversation in
      if !settings.isDeclared(id) { note("the conversation \"\(id)\"", field(of: conversation)) }
      guard found == nil else { return }
      version.forEachMember(of: id) { user, member in
        if settings.index(of: user).flatMap({ settings.member($0, of: id) }) != nil { return }
        note("the member \"\(user)\" of \"\(id)\"", field(of: member))
      }
    }
    return found
  }

  /// What the old rules have and the new ones do not.
  private var lost: VendorFields { from.fields.subtracting(settings.app.rules.fields) }

  private func field(of user: UserSettings) -> String? {
    let fields = user.vendorFields.intersection(lost)
    return Self.names.first { !fields.isDisjoint(with: $0.fields) }.map { "the \"\($0.name)\"" }
  }

  private func field(of conversation: ConversationSettings) -> String? {
    conversation.kind.exists(under: settings.app.rules)
      ? nil : "the type \(conversation.kind.rawValue)"
  }

  private func field(of member: MemberSettings) -> String? {
    let fields = member.vendorFields.intersection(lost)
    if let name = Self.names.first(where: { !fields.isDisjoint(with: $0.fields) })?.name {
      return "the \"\(name)\""
    }
    return member.level.exists(under: settings.app.rules)
      ? nil : "the level \(member.level.name)"
  }

  /// What fields are called in files, in the order in which they are named.
  private static let names: [(fields: VendorFields, name: String)] = [
    ([.quietInterval, .quietSpan], "quietHours"), (.userLevel, "level"),
    ([.userMute, .memberMute], "mutedUntil"), (.kindLevels, "levels"),
    (.pushWhenDesktopOnline, "pushWhenDesktopOnline"), (.localNotification, "localNotification"),
    (.channels, "channels"),
  ]
}
