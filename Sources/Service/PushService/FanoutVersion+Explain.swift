package import PushFanout
package import PushModel
internal import PushReference
internal import QuietTime

extension FanoutVersion {
  /// Each rule that is evaluated for a message and a user, in order, and which one decides: by the
  /// reference, on the at most five records that decide for the user; and what would lead to a push.
  ///
  /// - Complexity: O(log members + devices), and some thousand decisions for one user where there is
  ///   no push.
  ///
  /// - Parameter advises: whether to look for what would lead to a push.
  package func explain(
    _ message: Message, for user: Identifier, advises: Bool = true
  ) -> Explanation {
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
    // Quiet hours that are off have no zone in the engine, but a local time is shown.
    var zones: [String: ZoneTable] = [:]
    zones[timeZone(of: user)] = quietZone(of: user)
    var reference = ReferenceEvaluator(settings) { name, instant in
      if zones[name] == nil { zones[name] = try? ZoneTable(named: name) }
      return zones[name].map { Int($0.offsetSeconds(at: instant.seconds)) }
    }
    var explanation = reference.explain(message, for: user)
    assert(
      explanation.decision == decision(message, for: user),
      "the engine decides \(message.id) for \(user) otherwise than the reference")
    explanation.timeZone = timeZone(of: user)
    if advises { explanation.alternatives = Remedies(message, for: user, reference).search() }
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

  /// How many days an explanation looks ahead for the first push.
  package static var explainedDays: Int { Remedies.days }
}
