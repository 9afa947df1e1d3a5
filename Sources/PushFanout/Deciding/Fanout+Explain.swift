public import PushRules

extension Fanout {
  /// The steps of the decision for a message and a user, in order, and which step decided.
  ///
  /// The steps report what the packed tables hold and what follows from it, with the numbers of the
  /// rules.
  ///
  /// - Complexity: O(log members + devices).
  public func explain(_ message: Message, for user: Identifier) -> Explanation {
    let version = current
    var steps: [TraceStep] = []
    var decision: Decision?
    if let userIndex = version.tables.userIDs.index(of: user) {
      steps = Self.steps(message, userIndex, version)
      decision = self.decision(message, for: userIndex, version)
    } else {
      steps = [TraceStep(rule: "§4", subject: "user", found: "unknown", verdict: "no recipient")]
    }
    if let outcome = decision?.outcome, outcome.reason == .filtered {
      steps.append(
        TraceStep(
          rule: "E-50", subject: "devices after the filter", found: "none",
          verdict: "stopped"))
    }
    if !steps.isEmpty { steps[steps.count - 1].decides = true }
    return Explanation(
      message: message.id, conversation: message.conversation, user: user, at: message.at,
      steps: steps, decision: decision)
  }

  private static func steps(_ message: Message, _ user: UInt32, _ version: EngineVersion)
    -> [TraceStep]
  {
    let tables = version.tables
    func step(_ subject: String, _ found: String, _ verdict: String) -> TraceStep {
      TraceStep(rule: "§4", subject: subject, found: found, verdict: verdict)
    }
    guard let conversation = tables.conversationIDs.index(of: message.conversation) else {
      return [step("conversation", "unknown", "no recipients")]
    }
    let target = ConversationStates(version: version, threads: 1)
      .target(conversation, channel: message.channel)
    guard let rank = tables.rank(of: user, in: target.memberRow) else {
      return [step("membership", "no", "not a recipient")]
    }
    var steps = [step("membership", "yes", "a member of the conversation")]
    let member = tables.member(
      PackedMember(bits: tables.packedMembers[Int(target.memberRow.start) + rank]),
      Tables.key(target.members, user))
    if member.since > message.at {
      return steps + [step("member since", member.since.rfc3339, "not yet a member")]
    }
    if message.sender.flatMap({ tables.userIDs.index(of: $0) }) == user {
      return steps + [step("sender", "the user", "the sender is not a recipient")]
    }
    if let uniform = MessagePlan(message, target, tables).uniform {
      return steps + [
        TraceStep(
          rule: uniform.reason.rule(tables.app.rules), subject: "message",
          found: uniform.reason.name, verdict: "stopped for all recipients")
      ]
    }
    _ = Decider(version: version, cache: StateCache(slotCount: 1, byteLimit: 0), threads: 1)
      .decide(message, for: user) { steps += $0.steps(tables, user, message.at) }
    return steps
  }
}
