internal import PushModel
internal import PushReference
internal import QuietTime

/// Finds what would lead to a push for a user who gets none, by search: each fact of the message, of
/// the records that decide and of time is changed and the message decided again; where no single change
/// of a person helps, each pair of changes.
///
/// - Complexity: a decision for each change and each instant of the next days at which the quiet
///   hours change or something expires; the product of the changes for pairs.
struct Remedies {
  /// How many days are looked ahead: a week, and what a clock change adds to it.
  static let days = 8

  private let facts: Facts
  private let user: Identifier
  private let reference: ReferenceEvaluator
  private let decision: Decision?

  init(_ message: Message, for user: Identifier, _ reference: ReferenceEvaluator) {
    facts = Facts(message: message, settings: reference.settings)
    self.user = user
    self.reference = reference
    var reference = reference
    decision = reference.decide(message, for: user)
  }

  /// What helps, the most useful first, and what people would expect to help and does not.
  func search() -> [Explanation.Alternative] {
    guard isStopped(decision), facts.settings.conversation(facts.message.conversation) != nil,
      facts.settings.index(of: user) != nil
    else { return [] }
    let edits = FactEdits(facts, user).all
    let decisions = edits.map { decide($0.applied(to: facts)) }
    var found = [time(after: facts)].compactMap { $0 }
    for (edit, decision) in zip(edits, decisions) {
      guard let decision, edit.isCommon || !isStopped(decision) else { continue }
      found.append(.init([edit.change(edit.applied(to: facts))], decision))
    }
    // What only the owner of the app or of the conversation can change is no help to a person.
    let isHelped = found.contains { !isStopped($0.decision) && $0.changes[0].isPersonal }
    if isHelped || decision == nil { return found }
    let pairs = pairs(of: edits, decisions)
    let isPersonal = { (pair: Explanation.Alternative) in pair.changes.allSatisfy(\.isPersonal) }
    return pairs.filter(isPersonal) + pairs.filter { !isPersonal($0) } + found
  }

  /// The pairs of changes of which none helps alone but both together, those with time first.
  private func pairs(
    of edits: [FactEdits.Edit], _ alone: [Decision?]
  ) -> [Explanation.Alternative] {
    var found: [Explanation.Alternative] = []
    for (edit, one) in zip(edits, alone) where isStopped(one) {
      let changed = edit.applied(to: facts)
      guard let later = time(after: changed), let one,
        let waited = decide(facts.sent(at: later.changes[0].instant ?? facts.message.at))
      else { continue }
      found.append(
        .init(later.changes + [edit.change(changed)], later.decision, alone: [waited, one]))
    }
    for (place, first) in edits.enumerated() where isStopped(alone[place]) {
      let once = first.applied(to: facts)
      for (second, other) in zip(edits, alone).dropFirst(place + 1)
      where !second.excludes(first) && isStopped(other) {
        let twice = second.applied(to: once)
        guard let decision = decide(twice), !isStopped(decision), let one = alone[place], let other
        else { continue }
        found.append(
          .init([first.change(once), second.change(twice)], decision, alone: [one, other]))
      }
    }
    return found
  }

  private func decide(_ facts: Facts) -> Decision? {
    var changed = ReferenceEvaluator(facts.settings, like: reference)
    return changed.decide(facts.message, for: user)
  }

  private func isStopped(_ decision: Decision?) -> Bool {
    decision.map { $0.outcome.action == .suppress } ?? true
  }

  // MARK: Time

  /// The first later instant at which the message pushes; nil for none. Presence stays as it is at
  /// the message (O-43).
  private func time(after facts: Facts) -> Explanation.Alternative? {
    let message = facts.message
    let end = message.at.milliseconds + Int64(Self.days) * 86_400_000
    let instants = instants(
      facts, until: Instant(milliseconds: min(end, Instant.maximumMilliseconds)))
    if instants.isEmpty { return nil }
    var settings = facts.settings
    if facts.rules.fields.contains(.seenAt), settings.user(user).devices != nil {
      settings.updateUser(user) {
        $0.devices = reference.presence(of: $0.effectiveDevices, at: message.at)
      }
    }
    var changed = ReferenceEvaluator(settings, like: reference)
    for at in instants {
      // A message of the same age, and then this one, held until then.
      var later = facts.sent(at: at).message
      guard let decision = changed.decide(later, for: user), !isStopped(decision) else { continue }
      later.sentAt = message.sentAt ?? message.at
      let isHeld =
        self.decision != nil && changed.decide(later, for: user)?.outcome.reason != .expired
      let change = Explanation.Change(
        "at", isHeld ? "from \(at.rfc3339)" : "a message sent from \(at.rfc3339) on",
        isHeld ? .time(at) : .laterMessage(at), isCommon: true)
      return .init([change], decision)
    }
    return nil
  }

  /// The instants at which a decision may change by itself, in order.
  private func instants(_ facts: Facts, until end: Instant) -> [Instant] {
    let places = [facts.message.conversation, facts.parent].compactMap { $0 }
    guard let index = facts.settings.index(of: user),
      let solver = try? NextChangeSolver(
        app: facts.settings.app, user: facts.settings.user(index),
        records: places.compactMap { facts.settings.member(index, of: $0) })
    else { return [] }
    var found: [Instant] = []
    var now = facts.message.at
    while let next = solver.nextTransition(after: now), next <= end {
      found.append(next)
      now = next
    }
    return found
  }
}

/// What a decision for one user depends on.
struct Facts {
  var message: Message
  var settings: FanoutSettings

  var rules: RuleSet { settings.app.rules }

  /// The parent of a thread.
  var parent: Identifier? {
    let own = settings.conversation(message.conversation)
    return own?.kind == .thread ? own?.parent : nil
  }

  func member(_ user: Identifier, of conversation: Identifier) -> MemberSettings? {
    settings.index(of: user).flatMap { settings.member($0, of: conversation) }
  }

  /// The same with a message of the same age, decided at another instant.
  func sent(at: Instant) -> Facts {
    var changed = self
    changed.message.at = at
    changed.message.sentAt = message.sentAt.map {
      let sent = $0.milliseconds + at.milliseconds - message.at.milliseconds
      return Instant(milliseconds: min(max(0, sent), Instant.maximumMilliseconds))
    }
    return changed
  }
}
