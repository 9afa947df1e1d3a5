package import PushFanout
package import PushModel

/// Records laid over a world, in which they are to replace those of the same key, and what both say
/// together.
package struct SettingsOverlay {
  package private(set) var added: FanoutSettings
  private let world: Fanout

  /// No records yet.
  package init(to world: Fanout) {
    added = FanoutSettings(app: world.app)
    self.world = world
  }

  package mutating func setConversation(_ id: Identifier, _ settings: ConversationSettings) {
    added.setConversation(id, settings)
  }

  /// The settings of a conversation once the records are added; nil for an unknown one.
  package func conversation(_ id: Identifier) -> ConversationSettings? {
    let new = added.conversation(id)
    return added.isDeclared(id) ? new : world.conversation(id) ?? new
  }

  package func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    hasRecord(user, conversation) || world.member(user, of: conversation) != nil
  }

  /// Whether a record of a member is added.
  private func hasRecord(_ user: Identifier, _ conversation: Identifier) -> Bool {
    added.index(of: user).map { added.member($0, of: conversation) != nil } ?? false
  }

  /// Existing records that conflict with a conversation that is added: records that stay, and that
  /// may not be beside it.
  ///
  /// - Complexity: O(conversations) when a group becomes something else, O(members) when something
  ///   becomes a thread or an ultra group something else; otherwise O(1).
  package func problem(replacing id: Identifier) -> FileProblem.Problem? {
    guard let old = world.conversation(id), let new = added.conversation(id),
      old.kind != new.kind || old.parent != new.parent
    else { return nil }
    if old.kind == .group,
      let thread = world.currentVersion.threads(of: id).first(where: { !added.isDeclared($0) }),
      CrossRecordRules<Self>.problem(ofThread: thread, below: id, new.kind) != nil
    {
      return .parentOfThread(id.text, thread: thread.text)
    }
    guard new.kind == .thread || old.kind == .ultraGroup else { return nil }
    let rules = CrossRecordRules(self)
    var found: FileProblem.Problem?
    world.currentVersion.forEachMember(of: id) { user, member in
      guard found == nil, !hasRecord(user, id),
        let wrong = rules.problem(of: user, in: id, new, member)
      else { return }
      found = .memberInTheWay(user: user.text, why: "\(FileProblem.Problem(wrong))")
    }
    return found
  }
}

extension Fanout: RecordLookup {
  package func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    member(user, of: conversation) != nil
  }
}

extension SettingsOverlay: SettingsSink {
  var userCount: Int { added.userCount }
  var declaredCount: Int { added.declaredCount }
  mutating func reserveCapacity(users: Int, declared: Int) {
    added.reserveCapacity(users: users, declared: declared)
  }
  mutating func readAhead(userUTF8: RawSpan) { added.readAhead(userUTF8: userUTF8) }
  mutating func setApp(_ app: AppSettings) { added.app = app }
  mutating func setUser(_ id: Identifier, _ user: consuming UserSettings) {
    added.setUser(id, user)
  }
  mutating func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void) {
    added.updateUser(id, change)
  }
  mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings
  ) { added.setMember(user, of: conversation, member) }
  func channels(
    of user: Identifier, in conversation: Identifier
  ) -> [Identifier: NotificationLevel] { added.channels(of: user, in: conversation) }
  mutating func settle() {}
  var isAdded: Bool { true }
}
