package import PushFanout
package import PushModel

/// Records laid over a world, in which they are to replace those of the same key, and what both say
/// together.
package struct SettingsOverlay: RecordLookup {
  private var added: FanoutSettings
  private let world: Fanout

  /// No records yet.
  package init(to world: Fanout) {
    self.init(FanoutSettings(app: world.app), over: world)
  }

  /// Records, and the settings that they are to be added to.
  package init(_ added: FanoutSettings, over world: Fanout) {
    self.added = added
    self.world = world
  }

  /// Those of the records: a world without any may get others with them.
  package var rules: RuleSet { added.app.rules }

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

  /// The first contradiction between the records, or between them and those of the world that stay;
  /// nil for none.
  ///
  /// - Complexity: O(records); for each conversation that becomes something else as for
  ///   ``contradiction(replacing:)``.
  package var contradiction: RecordContradiction? {
    let rules = CrossRecordRules(self)
    for id in added.conversationIDs {
      if added.isDeclared(id), let record = added.conversation(id) {
        if let wrong = rules.problem(of: id, record) ?? contradiction(replacing: id) {
          return wrong
        }
      }
      guard let conversation = conversation(id) else { continue }
      var found: RecordContradiction?
      added.forEachMember(of: id) { user, member in
        found = found ?? rules.problem(of: added.id(of: user), in: id, conversation, member)
      }
      if let found { return found }
    }
    return nil
  }

  /// The first contradiction between a conversation that is added and records of the world that
  /// stay; nil for none.
  ///
  /// - Complexity: O(conversations) when a group becomes something else, O(members) when something
  ///   becomes a thread or an ultra group something else; otherwise O(1).
  private func contradiction(replacing id: Identifier) -> RecordContradiction? {
    guard let old = world.conversation(id), let new = added.conversation(id),
      old.kind != new.kind || old.parent != new.parent
    else { return nil }
    if old.kind == .group,
      let thread = world.currentVersion.threads(of: id).first(where: { !added.isDeclared($0) }),
      let wrong = CrossRecordRules<Self>.problem(ofThread: thread, below: id, new.kind, rules)
    {
      return wrong
    }
    guard new.kind == .thread || old.kind == .thread || old.kind == .ultraGroup else { return nil }
    let rules = CrossRecordRules(self)
    var found: RecordContradiction?
    world.currentVersion.forEachMember(of: id) { user, member in
      guard found == nil, !hasRecord(user, id) else { return }
      found = rules.problem(of: user, in: id, new, member)
    }
    return found
  }

  /// Existing records that conflict with an added conversation, as a problem of a line of a file.
  ///
  /// - Complexity: as for ``contradiction(replacing:)``.
  package func problem(replacing id: Identifier) -> FileProblem.Problem? {
    guard let wrong = contradiction(replacing: id) else { return nil }
    switch wrong {
    case .parentNotGroup(let thread, _, _), .parentWithoutThreads(let thread, _, _):
      return .parentOfThread(id.text, thread: thread.text)
    case .parentMissing: return FileProblem.Problem(wrong)
    case .channelsOutsideUltraGroup(let user, _, _), .sinceInThread(let user, _),
      .followOutsideThread(let user, _), .rolesInThread(let user, _), .noParent(let user, _),
      .notInParent(let user, _, _):
      return .memberInTheWay(user: user.text, why: "\(FileProblem.Problem(wrong))")
    }
  }
}

extension Fanout: RecordLookup {
  package var rules: RuleSet { app.rules }

  package func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    member(user, of: conversation) != nil
  }
}
