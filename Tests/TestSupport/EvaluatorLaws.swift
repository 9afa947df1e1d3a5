import PushFanout
import PushReference
import PushRules
import TestSupport
import Testing

/// Who decides.
enum Evaluator {
  case reference, engine

  /// Every decision of messages, in the order in which recipients come.
  func all(
    _ settings: FanoutSettings, _ messages: [Message]
  ) throws -> [[(user: UserIndex, decision: Decision)]] {
    switch self {
    case .reference:
      var evaluator = ReferenceEvaluator(settings)
      return messages.map { message in
        var rows: [(user: UserIndex, decision: Decision)] = []
        evaluator.decide(message) { rows.append(($0, $1)) }
        return rows
      }
    case .engine:
      let fanout = try Fanout(settings, threads: 1)
      return messages.map { message in
        let result = fanout.decide(message)
        var rows: [(user: UserIndex, decision: Decision)] = []
        result.forEachRecipient { user, outcome in
          rows.append((user, Decision(outcome, devices: result.devices(of: user))))
        }
        return rows
      }
    }
  }

  /// The decisions of messages for users, asked for one by one.
  func single(
    _ settings: FanoutSettings, _ messages: [Message], _ users: [Identifier]
  ) throws -> [[Identifier: Decision]] {
    let decide: (Message, Identifier) -> Decision?
    switch self {
    case .reference:
      var evaluator = ReferenceEvaluator(settings)
      decide = { evaluator.decide($0, for: $1) }
    case .engine:
      let fanout = try Fanout(settings, threads: 1)
      decide = { fanout.decision($0, for: $1) }
    }
    return messages.map { message in
      Dictionary(
        uniqueKeysWithValues: users.compactMap { user in
          decide(message, user).map { (user, $0) }
        })
    }
  }
}

/// What must hold of a world whoever decides and whatever the settings are.
struct Laws {
  let evaluator: Evaluator
  let world: RandomWorld
  let number: Int
  let label: Comment

  init(_ evaluator: Evaluator, _ worlds: [RandomWorld], _ number: Int, seeds: [UInt64]) {
    self.evaluator = evaluator
    self.number = number
    world = worlds[number]
    label = "seed \(seeds[number / 2]), \(RuleSet.allCases[number % 2].rawValue)"
  }

  /// Every decision of a world's messages, by message and user.
  private func decisions(
    _ settings: FanoutSettings, _ messages: [Message]
  ) throws -> [[Identifier: Decision]] {
    try evaluator.all(settings, messages).map { rows in
      Dictionary(uniqueKeysWithValues: rows.map { (settings.id(of: $0.user), $0.decision) })
    }
  }

  private func notified(_ decisions: [Identifier: Decision]) -> Set<Identifier> {
    Set(decisions.filter { $0.value.outcome.action != .suppress }.keys)
  }

  func eachRecipientIsDecidedOnce() throws {
    let settings = world.settings()
    let all = try evaluator.all(settings, world.messages)
    for (message, rows) in zip(world.messages, all) {
      let users = rows.map { settings.id(of: $0.user) }
      #expect(Set(users) == world.recipients(of: message), label)
      #expect(users.count == Set(users).count, label)
    }
  }

  func silenceOnlyTakesAway() throws {
    let before = try decisions(world.settings(), world.messages)
    let silent = world.messages.map { message in
      var message = message
      message.silent = true
      return message
    }
    let after = try decisions(world.settings(), silent)
    for (old, new) in zip(before, after) {
      #expect(notified(new).isSubset(of: notified(old)), label)
    }
  }

  func mutingOneMemberTakesAwayAtMostTheirs() throws {
    let before = try decisions(world.settings(), world.messages)
    let muted = world.users[number % world.users.count]
    let steps = world.steps.map { step -> RandomWorld.Step in
      guard case .member(muted, let conversation, var member) = step else { return step }
      member.level = .blocked
      member.mutedUntil = Instant(milliseconds: Instant.maximumMilliseconds)
      return .member(muted, of: conversation, member)
    }
    let after = try decisions(world.settings(steps), world.messages)
    for (old, new) in zip(before, after) {
      #expect(notified(new).isSubset(of: notified(old)), label)
      #expect(
        new.filter { $0.key != muted } == old.filter { $0.key != muted }, label)
    }
  }

  func forceNeverReachesTheOnlineOrTokenless() throws {
    guard world.app.rules == .easemob else { return }
    let forced = world.messages.map { message in
      var message = message
      message.force = true
      return message
    }
    let settings = world.settings()
    for decisions in try decisions(settings, forced) {
      for (user, decision) in decisions where decision.outcome.action == .push {
        let devices = settings.user(user).effectiveDevices
        let isOnline = devices.contains { $0.state == .foreground || $0.state == .background }
        #expect(!isOnline || world.app.devicePolicy == .anyOffline, label)
        let reached = devices.filter { decision.devices.contains($0.id) }
        #expect(
          !reached.isEmpty
            && reached.allSatisfy {
              $0.hasToken && ($0.state == .offline || $0.state == .loggedOut)
            }, label)
      }
    }
  }

  func theOrderOfRecordsDoesNotMatter() throws {
    var random = SeededGenerator(seed: UInt64(number))
    let before = try decisions(world.settings(), world.messages)
    let after = try decisions(world.settings(world.steps.shuffled(using: &random)), world.messages)
    #expect(after == before, label)
  }

  func decidingOneAndDecidingAllAgree() throws {
    let settings = world.settings()
    let all = try decisions(settings, world.messages)
    let single = try evaluator.single(settings, world.messages, world.users)
    #expect(single == all, label)
  }
}
