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

extension StateNote {
  /// The note as explanation steps.
  fileprivate func steps(_ tables: Tables, _ user: UInt32, _ at: Instant) -> [TraceStep] {
    let isEasemob = tables.app.rules == .easemob
    switch self {
    case .reach(let reach):
      let devices = tables.effectiveDevices(of: user).map { "\($0.id) (\($0.state.rawValue))" }
      return [
        TraceStep(
          rule: isEasemob ? "E-64, E-65" : "R-50 to R-53", subject: "devices",
          found: devices.isEmpty ? "none" : devices.joined(separator: ", "),
          verdict: reach == .online ? "online: no push" : "\(reach)")
      ]
    case .unfit(let reason):
      return [
        TraceStep(
          rule: reason.rule(tables.app.rules), subject: "message", found: reason.name,
          verdict: "ineligible for this flow")
      ]
    case .doNotDisturb(let stop, let isExempt, let force):
      let found = stop.map { $0.reason.name } ?? "off"
      let verdict =
        stop == nil
        ? "continue"
        : isExempt ? "overridden by a mention" : force ? "overridden by force" : "stopped"
      return [
        TraceStep(
          rule: "E-21 to E-23", subject: "do-not-disturb", found: found, scope: stop?.scope,
          verdict: verdict)
      ]
    case .quiet(let quiet, let isSkipped):
      return [
        TraceStep(
          rule: "R-12, R-27", subject: "quiet hours", found: "\(quiet)", scope: .quietHours,
          verdict: isSkipped
            ? "skipped for a mention" : quiet == .outside ? "continue" : "inside")
      ]
    case .level(let level, let scope):
      return [
        TraceStep(
          rule: isEasemob ? "E-20" : "R-10, R-11", subject: "level", found: level.name,
          scope: scope, verdict: "the level that applies")
      ]
    case .levelStops(let reason, let scope, let isOverridden):
      return [
        TraceStep(
          rule: isEasemob ? "E-20, E-42" : "R-1, R-6, R-12", subject: "message",
          found: reason.name, scope: scope,
          verdict: isOverridden ? "overridden by force" : "stopped")
      ]
    case .targets(let reach):
      return [
        TraceStep(
          rule: isEasemob ? "E-66 to E-68" : "R-50 to R-55", subject: "target",
          found: "\(reach)", verdict: reach == .device || reach == .local ? "notified" : "none")
      ]
    }
  }
}

extension Reason {
  /// The rule by which a message is stopped for all recipients.
  fileprivate func rule(_ rules: RuleSet) -> String {
    switch (self, rules) {
    case (.chatRoom, .easemob): "E-60"
    case (.onlineOnly, _): "E-61"
    case (.messageType, .easemob): "E-62"
    case (.silentMessage, .easemob): "E-40, E-44"
    case (.expired, _): "E-69"
    case (.silentMessage, .rongcloud): "R-42"
    case (.localIneligible, _), (.localDisabled, _): "R-54"
    default: "R-44"
    }
  }
}
