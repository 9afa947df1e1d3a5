import Foundation
import PushReference
import PushRules
import TestSupport
import Testing

/// Goal: what must hold whatever the settings are, on random worlds of both vendors.
///
/// `PUSH_SEED=n swift test --filter LawTests` runs one more seed; each failure names its own.
@Suite struct LawTests {
  static let seeds = TestSupport.seeds(Array(1...12))

  static let worlds: [RandomWorld] = seeds.flatMap { seed in
    RuleSet.allCases.map { RandomWorld($0, seed: seed) }
  }

  /// Every decision of a world's messages, by message and user.
  private func decisions(
    _ settings: FanoutSettings, _ messages: [Message]
  ) -> [[Identifier: Decision]] {
    var evaluator = ReferenceEvaluator(settings)
    return messages.map { message in
      var decisions: [Identifier: Decision] = [:]
      evaluator.decide(message) { user, decision in decisions[settings.id(of: user)] = decision }
      return decisions
    }
  }

  private func notified(_ decisions: [Identifier: Decision]) -> Set<Identifier> {
    Set(decisions.filter { $0.value.outcome.action != .suppress }.keys)
  }

  private func label(_ world: Int) -> Comment {
    "seed \(Self.seeds[world / 2]), \(RuleSet.allCases[world % 2].rawValue)"
  }

  @Test func theWorldsAreNotEmpty() {
    var counts = OutcomeCounts()
    for world in Self.worlds {
      for decisions in decisions(world.settings(), world.messages) {
        for decision in decisions.values { counts.add(decision.outcome) }
      }
    }
    let reasons = Set(counts.nonZero.map(\.outcome.reason))
    #expect(reasons == Set(Reason.allCases), "every reason occurs in some world")
  }

  @Test(arguments: worlds.indices)
  func eachRecipientIsDecidedOnce(world index: Int) {
    let world = Self.worlds[index]
    let settings = world.settings()
    var evaluator = ReferenceEvaluator(settings)
    for message in world.messages {
      var users: [Identifier] = []
      var counts = OutcomeCounts()
      evaluator.decide(message) { user, decision in
        users.append(settings.id(of: user))
        counts.add(decision.outcome)
      }
      #expect(Set(users) == world.recipients(of: message), label(index))
      #expect(users.count == Set(users).count, label(index))
      #expect(counts.total == users.count, label(index))
    }
  }

  @Test(arguments: worlds.indices)
  func silenceOnlyTakesAway(world index: Int) {
    let world = Self.worlds[index]
    let before = decisions(world.settings(), world.messages)
    let silent = world.messages.map { message in
      var message = message
      message.silent = true
      return message
    }
    let after = decisions(world.settings(), silent)
    for (old, new) in zip(before, after) {
      #expect(notified(new).isSubset(of: notified(old)), label(index))
    }
  }

  @Test(arguments: worlds.indices)
  func mutingOneMemberTakesAwayAtMostTheirs(world index: Int) {
    let world = Self.worlds[index]
    let before = decisions(world.settings(), world.messages)
    let muted = world.users[index % world.users.count]
    let steps = world.steps.map { step -> RandomWorld.Step in
      guard case .member(muted, let conversation, var member) = step else { return step }
      member.level = .blocked
      member.mutedUntil = Instant(milliseconds: Instant.maximumMilliseconds)
      return .member(muted, of: conversation, member)
    }
    let after = decisions(world.settings(steps), world.messages)
    for (old, new) in zip(before, after) {
      #expect(notified(new).isSubset(of: notified(old)), label(index))
      #expect(
        new.filter { $0.key != muted } == old.filter { $0.key != muted }, label(index))
    }
  }

  @Test(arguments: worlds.indices)
  func forceNeverReachesTheOnlineOrTokenless(world index: Int) {
    let world = Self.worlds[index]
    guard world.app.rules == .easemob else { return }
    let forced = world.messages.map { message in
      var message = message
      message.force = true
      return message
    }
    let settings = world.settings()
    for decisions in decisions(settings, forced) {
      for (user, decision) in decisions where decision.outcome.action == .push {
        let devices = settings.user(user).effectiveDevices
        let isOnline = devices.contains { $0.state == .foreground || $0.state == .background }
        #expect(!isOnline || world.app.devicePolicy == .anyOffline, label(index))
        let reached = devices.filter { decision.devices.contains($0.id) }
        #expect(
          !reached.isEmpty
            && reached.allSatisfy {
              $0.hasToken && ($0.state == .offline || $0.state == .loggedOut)
            }, label(index))
      }
    }
  }

  @Test(arguments: worlds.indices)
  func theOrderOfRecordsDoesNotMatter(world index: Int) {
    let world = Self.worlds[index]
    var random = SeededGenerator(seed: UInt64(index))
    let before = decisions(world.settings(), world.messages)
    let after = decisions(world.settings(world.steps.shuffled(using: &random)), world.messages)
    #expect(after == before, label(index))
  }

  @Test(arguments: worlds.indices)
  func decidingOneAndDecidingAllAgree(world index: Int) {
    let world = Self.worlds[index]
    let settings = world.settings()
    let all = decisions(settings, world.messages)
    var evaluator = ReferenceEvaluator(settings)
    let single = world.messages.map { message in
      Dictionary(
        uniqueKeysWithValues: world.users.compactMap { user in
          evaluator.decide(message, for: user).map { (user, $0) }
        })
    }
    #expect(single == all, label(index))
    let explained = world.messages.map { message in
      Dictionary(
        uniqueKeysWithValues: world.users.compactMap { user in
          evaluator.explain(message, for: user).decision.map { (user, $0) }
        })
    }
    #expect(explained == all, label(index))
  }
}
