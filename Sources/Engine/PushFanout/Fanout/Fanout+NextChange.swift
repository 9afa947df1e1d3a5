public import PushModel
internal import QuietTime

extension Fanout {
  /// The first instant after `instant` at which the outcome of a plain message changes without an
  /// update; nil if it never does.
  ///
  /// A plain message is a text from another user without mentions. By open rules, presence counts
  /// as if one offline device had a token (O-43).
  ///
  /// - Throws: ``FanoutError/unknownConversation(_:)``, ``FanoutError/unknownUser(_:)`` or
  ///   ``FanoutError/notAMember(user:conversation:)``; ``FanoutError/unknownZones(_:)`` for a user
  ///   who is not decided for.
  public func nextChange(
    for user: Identifier, in conversation: Identifier, channel: Identifier = "",
    after instant: Instant
  ) throws(FanoutError) -> Instant? {
    try currentVersion.plainAnswer(
      for: user, in: conversation, channel: channel, after: instant
    ).changesAt
  }
}

extension FanoutVersion {
  /// The answer for a plain message, when it next changes without an update, and what it is from
  /// then on.
  ///
  /// - Parameters:
  ///   - mention: whether the message mentions the user by name; otherwise it is plain.
  ///   - classes: those of the message by open rules, as they are (O-43); nil for those of a message
  ///     that is plain, or mentions the user, there (O-1). Vendors' rules have none.
  /// - Throws: as ``Fanout/nextChange(for:in:channel:after:)``.
  /// - Complexity: that of some decisions for one user; mostly four.
  public func plainAnswer(
    for user: Identifier, in conversation: Identifier, channel: Identifier = "",
    mention: Bool = false, classes: MessageClasses? = nil, after instant: Instant
  ) throws(FanoutError) -> PlainAnswer {
    let (solver, userIndex) = try engineVersion.solver(for: user, in: conversation)
    return solver.plainAnswer(after: instant) {
      engineVersion.plainDecision(
        for: userIndex, in: conversation, channel: channel, mention: mention ? user : nil, classes,
        at: $0)
    }
  }
}

extension FanoutVersion {
  /// The decisions for a message, were it sent at any instant from its own up to `end`: the first at
  /// the message's instant, then one at each instant from which on there is another.
  ///
  /// How long before the decision it was sent stays (`Message.sentAt`), and so does presence (O-30).
  ///
  /// - Throws: as `Fanout.nextChange(for:in:channel:after:)`.
  /// - Complexity: O(transitions of the user's quiet hours in that time), each a decision for one
  ///   user.
  package func timeline(
    of message: Message, for user: Identifier, until end: Instant
  ) throws(FanoutError) -> [(at: Instant, decision: Decision?)] {
    let (solver, userIndex) = try engineVersion.solver(for: user, in: message.conversation)
    let age = message.sentAt.map { message.at.milliseconds - $0.milliseconds }
    var found = [(at: message.at, decision: engineVersion.decision(message, for: userIndex))]
    var now = message.at
    while let next = solver.nextTransition(after: now), next < end {
      var later = message
      later.at = next
      later.sentAt = age.map {
        Instant(milliseconds: min(next.milliseconds - $0, Instant.maximumMilliseconds))
      }
      let decision = engineVersion.decision(later, for: userIndex, presenceAt: message.at)
      if decision != found[found.count - 1].decision {
        found.append((at: next, decision: decision))
      }
      now = next
    }
    return found
  }
}

extension EngineVersion {
  /// Finds when answers for a user in a conversation change, and has the user's index.
  fileprivate func solver(
    for user: Identifier, in conversation: Identifier
  ) throws(FanoutError) -> (solver: NextChangeSolver, user: UInt32) {
    guard let conversationIndex = tables.conversationIDs.index(of: conversation) else {
      throw .unknownConversation(conversation)
    }
    guard let userIndex = tables.userIDs.index(of: user) else { throw .unknownUser(user) }
    let chain = tables.chain(of: conversationIndex)
    guard tables.member(userIndex, of: chain[0]) != nil else {
      throw .notAMember(user: user, conversation: tables.conversationIDs[chain[0]])
    }
    if tables.isRefused(userIndex), let zone = tables.unknownZone(of: userIndex) {
      throw .unknownZones(UnknownZoneUsers(.init(user, timeZone: zone)))
    }
    let solver = NextChangeSolver(
      app: tables.app, user: tables.user(userIndex),
      records: chain.compactMap { tables.member(userIndex, of: $0) },
      quiet: tables.scheduleTable.schedule(tables.schedules[Int(userIndex)]))
    return (solver, userIndex)
  }
}

extension Tables {
  /// A conversation, and before it the parent of a thread, whose members are the thread's.
  func chain(of conversation: UInt32) -> [UInt32] {
    let row = conversations[Int(conversation)]
    let isThread = ConversationKind(ordinal: Int(row.kind)) == .thread
    return isThread && row.parent != 0 ? [row.parent - 1, conversation] : [conversation]
  }
}
