public import PushRules

extension Fanout {
  /// Each rule that was looked at for a message and a user, in order, and which one decided.
  ///
  /// The steps come from the engine's own run of the rules for that user: which branch was taken from
  /// the run, what was found from the packed tables. They are those of `ReferenceEvaluator.explain`,
  /// word by word.
  ///
  /// - Complexity: O(log members + devices), and the making of a zone's table where the user has quiet
  ///   hours.
  public func explain(_ message: Message, for user: Identifier) -> Explanation {
    let world = current
    var trace = RuleTrace(message, world.tables.app)
    let decision = decide(message, for: user, world, &trace)
    trace.markLast()
    return Explanation(
      message: message.id, conversation: message.conversation, user: user, at: message.at,
      steps: trace.steps, decision: decision)
  }

  private func decide(
    _ message: Message, for user: Identifier, _ world: World, _ trace: inout RuleTrace
  ) -> Decision? {
    let tables = world.tables
    guard let place = tables.conversationIDs.place(of: message.conversation) else {
      trace.note(
        "§4", "conversation", message.conversation.text, "unknown, so it has no recipients")
      return nil
    }
    guard let index = tables.userIDs.place(of: user) else {
      trace.note("§4", "membership", "no", "an unknown user is not a recipient")
      return nil
    }
    let target = ConversationStates(world: world, threads: 1)
      .target(place, channel: message.channel)
    let isMember = tables.rank(of: index, in: target.memberRow) != nil
    trace.conversation = tables.conversation(place)
    trace.user = tables.user(index)
    trace.own = tables.member(index, of: place) ?? MemberSettings()
    trace.membership = isMember ? tables.member(index, of: target.members) : nil
    let decision = decision(message, for: index, world)
    guard trace.noteMembership(isSender: message.sender == user), let decision else { return nil }
    trace.targets = tables.targets(of: index, .push, nil, at: message.at.milliseconds)
    if let filter = MessagePlan(message, target, tables).filter {
      trace.admitted = trace.targets.filter { filter.lets($0) }
    }
    let isStopped = MessagePlan(message, target, tables).uniform != nil
    trace.noteMessage(stoppedBy: isStopped ? decision.outcome.reason : nil)
    if !isStopped {
      _ = Decider(world: world, cache: StateCache(slotCount: 1, byteLimit: 0), threads: 1)
        .decide(message, for: index) { trace.add($0) }
      trace.finish(decision.outcome)
    }
    return decision
  }
}
