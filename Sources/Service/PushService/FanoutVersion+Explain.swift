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
        rule: "E-36, R-24", subject: "time zone", found: zone,
        verdict: "unknown on this machine, so nothing is decided")
      step.decides = true
      return Explanation(
        message: message.id, conversation: message.conversation, user: user, at: message.at,
        steps: [step], decision: nil)
    }
    var settings = FanoutSettings()
    for record in records(of: user, in: message.conversation) { settings.set(record) }
    // As for the decision, they are none.
    if zone != nil { settings.updateUser(user) { ($0.quietHours, $0.timeZone) = (nil, nil) } }
    let quiet = quietZone(of: user)
    var reference = ReferenceEvaluator(settings) { name, instant in
      // Quiet hours that are off have no zone in the engine, but a local time is shown.
      let table = quiet ?? (try? ZoneTable(named: name))
      return table.map { Int($0.offsetSeconds(at: instant.seconds)) }
    }
    let explanation = reference.explain(message, for: user)
    assert(
      explanation.decision == decision(message, for: user),
      "the engine decides \(message.id) for \(user) otherwise than the reference")
    return explanation
  }
}
