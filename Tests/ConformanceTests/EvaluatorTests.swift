import PushFanout
import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: whatever is an `Evaluator` passes the same tests, and one that errs in anything does not.
///
/// `PUSH_SEED=n swift test --filter EvaluatorTests` runs one more seed; each problem names its own.
@Suite struct EvaluatorTests {
  static let seeds = TestSupport.seeds([501, 502])

  @Test func theReferencePasses() throws {
    #expect(try EvaluatorConformance.problems(seeds: Self.seeds) { ReferenceEvaluator($0) } == [])
  }

  @Test(.tags(.slow), .unlessFast) func theEnginePasses() throws {
    let problems = try EvaluatorConformance.problems(seeds: Self.seeds) {
      try Fanout($0, threads: 1)
    }
    #expect(problems == [])
  }

  /// The reference with one mistake.
  struct Wrong: Evaluator {
    enum Mistake: CaseIterable { case order, scope, device, sender, single }

    var reference: ReferenceEvaluator
    let mistake: Mistake

    mutating func decide(
      _ message: Message, each body: (UserIndex, Decision) throws -> Void
    ) rethrows {
      var message = message
      if mistake == .sender { message.sender = nil }
      var rows: [(UserIndex, Decision)] = []
      reference.decide(message) { rows.append(($0, $1)) }
      rows = rows.map { ($0, wrong($1)) }
      if mistake == .order { rows.reverse() }
      for (user, decision) in rows { try body(user, decision) }
    }

    mutating func decision(_ message: Message, for user: Identifier) -> Decision? {
      if mistake == .single { return nil }
      var message = message
      if mistake == .sender { message.sender = nil }
      return reference.decision(message, for: user).map(wrong)
    }

    private func wrong(_ decision: Decision) -> Decision {
      let outcome = decision.outcome
      switch mistake {
      case .scope where outcome.scope == .conversation:
        return Decision(
          Outcome(outcome.action, outcome.reason, .app), devices: decision.devices)
      case .device: return Decision(outcome, devices: decision.devices.reversed())
      default: return decision
      }
    }
  }

  @Test(arguments: Wrong.Mistake.allCases)
  func oneWithAMistakeDoesNot(mistake: Wrong.Mistake) throws {
    let problems = try EvaluatorConformance.problems(seeds: [501]) {
      Wrong(reference: ReferenceEvaluator($0), mistake: mistake)
    }
    #expect(!problems.isEmpty)
  }
}
