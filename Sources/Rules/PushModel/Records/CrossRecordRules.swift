/// The settings around a record that the rules between records need.
package protocol RecordLookup {
  /// Why a question cannot be answered.
  associatedtype LookupFailure: Error = Never

  /// The rules of the app.
  var rules: RuleSet { get throws(LookupFailure) }

  /// A conversation's kind and parent; nil for one that nothing names. One that only members name
  /// is a group.
  func conversation(_ id: Identifier) throws(LookupFailure) -> ConversationSettings?

  /// Whether a user has a record in a conversation.
  func isMember(
    _ user: Identifier, of conversation: Identifier
  ) throws(LookupFailure) -> Bool
}

/// Two or more records that may not stand beside each other.
package enum RecordContradiction: Hashable, Sendable {
  /// A thread whose parent is no conversation.
  case parentMissing(thread: Identifier, parent: Identifier)
  /// A thread whose parent is something else than a group.
  case parentNotGroup(thread: Identifier, parent: Identifier, ConversationKind)
  /// Levels by channel of a member of something else than an ultra group.
  case channelsOutsideUltraGroup(user: Identifier, conversation: Identifier, ConversationKind)
  /// A beginning in a thread, whose recipients are the members of its parent.
  case sinceInThread(user: Identifier, thread: Identifier)
  /// A thread of open rules whose parent cannot have threads.
  case parentWithoutThreads(thread: Identifier, parent: Identifier, ConversationKind)
  /// A record of a conversation that is no thread says whether the user follows it.
  case followOutsideThread(user: Identifier, conversation: Identifier)
  /// Roles in a thread, which are those of its parent.
  case rolesInThread(user: Identifier, thread: Identifier)
  /// A record in a thread that has no parent, so nobody is a member.
  case noParent(user: Identifier, thread: Identifier)
  /// Settings in a thread for a user who is not a member of its parent.
  case notInParent(user: Identifier, thread: Identifier, parent: Identifier)
}

extension RecordContradiction: CustomStringConvertible {
  /// What the records would come to, in one sentence without a full stop.
  package var description: String {
    switch self {
    case .parentMissing(let thread, let parent):
      "thread \"\(thread)\" would have the parent \"\(parent)\", which does not exist"
    case .parentNotGroup(let thread, let parent, let kind):
      "thread \"\(thread)\" would have the parent \"\(parent)\", which is a \(kind.rawValue)"
    case .parentWithoutThreads(let thread, let parent, let kind):
      "thread \"\(thread)\" would have the parent \"\(parent)\", a \(kind.rawValue); threads are "
        + "below groups and private conversations"
    case .followOutsideThread(let user, let id):
      "\"\(user)\" would follow \"\(id)\", which is not a thread"
    case .rolesInThread(let user, let thread):
      "\"\(user)\" would have roles in thread \"\(thread)\", where those of its parent count"
    case .noParent(let user, let thread):
      "\"\(user)\" would have settings in thread \"\(thread)\", which has no parent"
    case .channelsOutsideUltraGroup(let user, let id, let kind):
      "\"\(user)\" would have channels in \"\(id)\", which is a \(kind.rawValue)"
    case .sinceInThread(let user, let thread):
      "\"\(user)\" would have a since in thread \"\(thread)\""
    case .notInParent(let user, let thread, let parent):
      "\"\(user)\" would have settings in thread \"\(thread)\" but is not in \"\(parent)\""
    }
  }
}

/// The rules between records: threads and their parents, members and the kind of their
/// conversation.
///
/// Files, changes of a replay, imports into a store and the check of a store ask these functions,
/// each with its own ``RecordLookup`` and in its own words.
///
/// - Source: formats.md, "settings.ndjson"; E-63, R-9, R-11.
package struct CrossRecordRules<Lookup: RecordLookup> {
  private let lookup: Lookup

  package init(_ lookup: Lookup) { self.lookup = lookup }

  // MARK: Conversations

  /// What is wrong with a conversation beside its parent: a thread's parent is a group or, under
  /// open rules, a private conversation.
  package func problem(
    of id: Identifier, _ conversation: ConversationSettings
  ) throws(Lookup.LookupFailure) -> RecordContradiction? {
    guard conversation.kind == .thread, let parent = conversation.parent else { return nil }
    guard let kind = try lookup.conversation(parent)?.kind else {
      return .parentMissing(thread: id, parent: parent)
    }
    return Self.problem(ofThread: id, below: parent, kind, try lookup.rules)
  }

  /// The same for a parent whose kind is known.
  package static func problem(
    ofThread id: Identifier, below parent: Identifier, _ kind: ConversationKind, _ rules: RuleSet
  ) -> RecordContradiction? {
    if rules.threadParents.contains(kind) { return nil }
    return rules.threadParents.count == 1
      ? .parentNotGroup(thread: id, parent: parent, kind)
      : .parentWithoutThreads(thread: id, parent: parent, kind)
  }

  // MARK: Members

  /// What is wrong with a member's record beside its conversation and, in a thread, beside the
  /// parent. Of several things, the first.
  ///
  /// A parent that is not a group is reported itself, and not once more for its threads' members.
  package func problem(
    of user: Identifier, in id: Identifier, _ conversation: ConversationSettings,
    _ member: MemberSettings, _ present: PresentFields = PresentFields()
  ) throws(Lookup.LookupFailure) -> RecordContradiction? {
    let wrong =
      Self.channelProblem(of: user, in: id, conversation.kind, member, present)
      ?? Self.sinceProblem(of: user, in: id, conversation.kind, member, present)
      ?? Self.threadProblem(of: user, in: id, conversation.kind, member, present)
    if let wrong { return wrong }
    guard conversation.kind == .thread else { return nil }
    guard let parent = conversation.parent else { return .noParent(user: user, thread: id) }
    let rules = try lookup.rules
    guard let kind = try lookup.conversation(parent)?.kind, rules.threadParents.contains(kind)
    else { return nil }
    return try parentProblem(of: user, inThread: id, below: parent)
  }

  /// Only in ultra groups have members levels by channel.
  package static func channelProblem(
    of user: Identifier, in id: Identifier, _ kind: ConversationKind, _ member: MemberSettings,
    _ present: PresentFields = PresentFields()
  ) -> RecordContradiction? {
    guard kind != .ultraGroup, present.channels || !member.channels.isEmpty else { return nil }
    return .channelsOutsideUltraGroup(user: user, conversation: id, kind)
  }

  /// A record in a thread has no `since`: the membership of the parent has it (E-63).
  package static func sinceProblem(
    of user: Identifier, in id: Identifier, _ kind: ConversationKind, _ member: MemberSettings,
    _ present: PresentFields = PresentFields()
  ) -> RecordContradiction? {
    guard kind == .thread, present.since || member.since > .zero else { return nil }
    return .sinceInThread(user: user, thread: id)
  }

  /// Only threads are followed, and roles are those of the parent (O-10).
  package static func threadProblem(
    of user: Identifier, in id: Identifier, _ kind: ConversationKind, _ member: MemberSettings,
    _ present: PresentFields = PresentFields()
  ) -> RecordContradiction? {
    if kind != .thread {
      return present.follow || member.isFollowing != nil
        ? .followOutsideThread(user: user, conversation: id) : nil
    }
    return present.roles || !member.roles.isEmpty ? .rolesInThread(user: user, thread: id) : nil
  }

  /// Who has settings in a thread is a member of its parent (E-63).
  package func parentProblem(
    of user: Identifier, inThread id: Identifier, below parent: Identifier
  ) throws(Lookup.LookupFailure) -> RecordContradiction? {
    try lookup.isMember(user, of: parent)
      ? nil : .notInParent(user: user, thread: id, parent: parent)
  }
}

extension FanoutSettings: RecordLookup {
  package var rules: RuleSet { app.rules }

  package func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    index(of: user).map { member($0, of: conversation) != nil } ?? false
  }
}
