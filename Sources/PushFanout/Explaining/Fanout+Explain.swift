public import PushModel
internal import QuietTime

extension Fanout: ExplainingEvaluator {
  /// Each rule that was evaluated for a message and a user, in order, and which one decided.
  ///
  /// The steps come from the engine's own run of the rules for that user: which branch was taken
  /// from the run, what was found from the packed tables. They are those of
  /// `ReferenceEvaluator.explain`, word by word.
  ///
  /// - Complexity: O(log members + devices).
  public func explain(_ message: Message, for user: Identifier) -> Explanation {
    currentVersion.explain(message, for: user)
  }
}

extension FanoutVersion {
  /// As `Fanout.explain`, on this version.
  package func explain(_ message: Message, for user: Identifier) -> Explanation {
    var trace = RuleTrace(message, engineVersion.tables.app)
    let decision = decide(message, for: user, engineVersion, &trace)
    trace.markLast()
    return Explanation(
      message: message.id, conversation: message.conversation, user: user, at: message.at,
      steps: trace.steps, decision: decision)
  }

  private func decide(
    _ message: Message, for user: Identifier, _ version: EngineVersion, _ trace: inout RuleTrace
  ) -> Decision? {
    let tables = version.tables
    guard let conversation = tables.conversationIDs.index(of: message.conversation) else {
      trace.note(
        "§4", "conversation", message.conversation.text, "unknown, so it has no recipients")
      return nil
    }
    guard let index = tables.userIDs.index(of: user) else {
      trace.note("§4", "membership", "no", "an unknown user is not a recipient")
      return nil
    }
    let target = ConversationTarget(conversation, channel: message.channel, tables)
    let isMember = tables.rank(of: index, in: target.memberRow) != nil
    trace.conversation = tables.conversation(conversation)
    trace.user = tables.user(index)
    trace.own = tables.member(index, of: conversation) ?? MemberSettings()
    trace.membership = isMember ? tables.member(index, of: target.members) : nil
    trace.quiet = tables.scheduleTable.schedule(tables.schedules[Int(index)])
    if tables.unknownZone(of: index) != nil {
      // As for the decision, they are none.
      trace.user.quietHours = nil
      trace.user.timeZone = nil
    }
    let decision = version.decision(message, for: index)
    guard trace.noteMembership(isSender: message.sender == user) else { return nil }
    if tables.isRefused(index), let zone = tables.unknownZone(of: index) {
      trace.note("E-36, R-24", "time zone", zone, "unknown on this machine, so nothing is decided")
    }
    guard let decision else { return nil }
    trace.targets = version.deviceReader.targets(
      of: index, .push, nil, at: message.at.milliseconds)
    if let filter = MessagePlan(message, target, tables).filter {
      trace.admitted = trace.targets.filter { filter.lets($0) }
    }
    let isStopped = MessagePlan(message, target, tables).uniform != nil
    trace.noteMessage(stoppedBy: isStopped ? decision.outcome.reason : nil)
    if !isStopped {
      _ = Decider.decide(message, for: index, version) { trace.add($0) }
      trace.finish(decision.outcome)
    }
    return decision
  }
}
