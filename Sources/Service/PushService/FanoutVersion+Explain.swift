package import PushFanout
package import PushModel
internal import PushReference
internal import QuietTime

extension FanoutVersion {
  /// Each rule that is evaluated for a message and a user, in order, and which one decides: by the
  /// reference, on the at most five records that decide for the user.
  ///
  /// - Complexity: O(log members + devices).
  package func explain(_ message: Message, for user: Identifier) -> Explanation {
    let zone = unknownZone(of: user)
    if let zone, refusesUsers {
      var step = TraceStep(
        rule: "E-36, R-24", subject: "time zone",
        found: "\(zone) is not known on this machine, so nothing is decided", stops: true)
      step.decides = true
      return Explanation(
        message: message.id, conversation: message.conversation, user: user, at: message.at,
        steps: [step], decision: nil)
    }
    var settings = FanoutSettings()
    for record in records(of: user, in: message.conversation) { settings.set(record) }
    // As for the decision, they are none.
    if zone != nil {
      let none: QuietHours? = settings.app.quietHours == nil ? nil : .windows(.none)
      settings.updateUser(user) { ($0.quietHours, $0.timeZone) = (none, nil) }
    }
    let quiet = quietZone(of: user)
    var reference = ReferenceEvaluator(settings) { name, instant in
      // Quiet hours that are off have no zone in the engine, but a local time is shown.
      let table = quiet ?? (try? ZoneTable(named: name))
      return table.map { Int($0.offsetSeconds(at: instant.seconds)) }
    }
    var explanation = reference.explain(message, for: user)
    assert(
      explanation.decision == decision(message, for: user),
      "the engine decides \(message.id) for \(user) otherwise than the reference")
    explanation.timeZone = timeZone(of: user)
    if explanation.decision?.outcome.action == .suppress {
      explanation.alternatives = alternatives(to: message, for: user, reference, settings)
    }
    return explanation
  }

  /// The time zone of a user's quiet hours: their own, the user's, or else the app's.
  package func timeZone(of user: Identifier) -> String {
    var (app, own) = (AppSettings(), UserSettings())
    for record in records(of: user, in: "") {
      switch record {
      case .app(let found): app = found
      case .user(_, let found): own = found
      case .conversation, .member: break
      }
    }
    if case .span(let span) = own.quietHours, let zone = span.timeZone { return zone }
    return own.timeZone ?? app.timeZone
  }

  /// A conversation that there is, and the one of which it is a thread.
  package func chain(of conversation: Identifier) -> [Identifier] {
    records(of: "", in: conversation).compactMap { record in
      if case .conversation(let id, _) = record { id } else { nil }
    }
  }

  /// How many days an explanation looks ahead for the first push: a week, and what a clock change
  /// adds to it.
  package static let explainedDays = 8

  /// The decisions with one fact changed each, where it is another one.
  private func alternatives(
    to message: Message, for user: Identifier, _ reference: ReferenceEvaluator,
    _ settings: FanoutSettings
  ) -> [Explanation.Alternative] {
    var found: [Explanation.Alternative] = []
    func add(
      _ change: Explanation.Alternative.Change, _ message: Message, _ settings: FanoutSettings,
      isOtherMessage: Bool = false
    ) {
      var changed = ReferenceEvaluator(settings, like: reference)
      guard let decision = changed.decide(message, for: user) else { return }
      found.append(.init(change, isOtherMessage: isOtherMessage, decision))
    }
    let end = Instant(
      milliseconds: min(
        message.at.milliseconds + Int64(Self.explainedDays) * 86_400_000 + 1,
        Instant.maximumMilliseconds))
    let later = (try? timeline(of: message, for: user, until: end)) ?? []
    if let push = later.first(where: { $0.decision.map { $0.outcome.action != .suppress } ?? false }
    ),
      let decision = push.decision
    {
      // The same message, held until then.
      var held = message
      (held.at, held.sentAt) = (push.at, message.sentAt ?? message.at)
      var reference = reference
      let isExpired = reference.decide(held, for: user)?.outcome.reason == .expired
      found.append(.init(.time, at: push.at, isOtherMessage: isExpired, decision))
    }
    var mentioning = message
    let names = message.mentions ?? []
    if !names.contains(user) { mentioning.mentions = names + [user] }
    if message.isMentioned == false { mentioning.isMentioned = nil }
    let isInstead = settings.app.rules.everyoneHidesNames && message.mentionsAll == true
    if isInstead { mentioning.mentionsAll = false }
    // Also where the user is named, but the mention is void, or that of everyone stands for it.
    if mentioning != message { add(.mention, mentioning, settings, isOtherMessage: isInstead) }
    if settings.app.rules.fields.contains(.force), !(message.force ?? message.ext.force) {
      var forced = message
      forced.force = true
      add(.force, forced, settings)
    }
    guard let index = settings.index(of: user) else { return found }
    let member = settings.member(index, of: message.conversation) ?? MemberSettings()
    let isUltra = settings.conversation(message.conversation)?.kind == .ultraGroup
    if (isUltra ? member.channels[message.channel] : member.level) != .all {
      var own = member
      if isUltra { own.channels[message.channel] = .all } else { own.level = .all }
      var changed = settings
      changed.setMember(user, of: message.conversation, own)
      add(.level, message, changed)
    }
    let devices = settings.user(index).effectiveDevices
    func with(_ change: (inout Device) -> Void) -> FanoutSettings {
      var changed = settings
      changed.updateUser(user) { user in
        user.devices = devices.map { device in
          var device = device
          change(&device)
          return device
        }
      }
      return changed
    }
    if !devices.allSatisfy({ $0.state == .offline }) {
      add(.offline, message, with { $0.state = .offline })
    }
    if !devices.allSatisfy(\.hasToken) { add(.token, message, with { $0.hasToken = true }) }
    return found
  }
}
