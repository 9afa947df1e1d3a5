package import PushModel

/// What must hold of a world whoever decides and whatever the settings are. Each law says what
/// contradicts it.
package struct EvaluatorLaws {
  package typealias Maker = (FanoutSettings) throws -> any Evaluator

  let make: Maker
  let world: RandomWorld
  let number: Int
  let label: String

  /// - Parameters:
  ///   - make: makes the evaluator of settings.
  ///   - number: drawn from by the laws.
  ///   - label: names the world.
  package init(_ world: RandomWorld, _ number: Int, _ label: String, _ make: @escaping Maker) {
    self.make = make
    self.world = world
    self.number = number
    self.label = label
  }

  /// Every decision of messages by user, and the users in the order in which they came.
  private func rows(
    _ settings: FanoutSettings, _ messages: [Message]
  ) throws -> [(users: [Identifier], decisions: [Identifier: Decision])] {
    var evaluator = try make(settings)
    return messages.map { message in
      var users: [Identifier] = []
      var decisions: [Identifier: Decision] = [:]
      evaluator.decide(message) { user, decision in
        users.append(settings.id(of: user))
        decisions[settings.id(of: user)] = decision
      }
      return (users, decisions)
    }
  }

  private func decisions(
    _ settings: FanoutSettings, _ messages: [Message]
  ) throws -> [[Identifier: Decision]] {
    try rows(settings, messages).map(\.decisions)
  }

  private func notified(_ decisions: [Identifier: Decision]) -> Set<Identifier> {
    Set(decisions.filter { $0.value.outcome.action != .suppress }.keys)
  }

  /// A problem for each place at which a law does not hold.
  private func problems(_ law: String, _ holds: [Bool]) -> [String] {
    holds.indices.filter { !holds[$0] }.map { "\(label), message \($0): \(law)" }
  }

  package func eachRecipientIsDecidedOnce() throws -> [String] {
    let all = try rows(world.settings(), world.messages)
    return problems(
      "each recipient is decided once",
      zip(world.messages, all).map { message, rows in
        Set(rows.users) == world.recipients(of: message)
          && rows.users.count == rows.decisions.count
      })
  }

  package func silenceOnlyTakesAway() throws -> [String] {
    let before = try decisions(world.settings(), world.messages)
    let silent = world.messages.map { message in
      var message = message
      message.silent = true
      return message
    }
    let after = try decisions(world.settings(), silent)
    return problems(
      "silence only takes away",
      zip(before, after).map { notified($1).isSubset(of: notified($0)) })
  }

  package func mutingOneMemberTakesAwayAtMostTheirs() throws -> [String] {
    let before = try decisions(world.settings(), world.messages)
    let muted = world.users[number % world.users.count]
    let steps = world.steps.map { step -> SettingsRecord in
      guard case .member(muted, let conversation, var member, _) = step else { return step }
      member.level = .blocked
      member.mutedUntil = Instant(milliseconds: Instant.maximumMilliseconds)
      return .member(muted, of: conversation, member)
    }
    let after = try decisions(world.settings(steps), world.messages)
    return problems(
      "muting one member takes away at most theirs",
      zip(before, after).map { old, new in
        notified(new).isSubset(of: notified(old))
          && new.filter { $0.key != muted } == old.filter { $0.key != muted }
      })
  }

  package func forceNeverReachesTheOnlineOrTokenless() throws -> [String] {
    guard world.app.rules == .easemob else { return [] }
    let forced = world.messages.map { message in
      var message = message
      message.force = true
      return message
    }
    let settings = world.settings()
    return problems(
      "force never reaches the online or tokenless",
      try decisions(settings, forced).map { decisions in
        decisions.filter { $0.value.outcome.action == .push }.allSatisfy { user, decision in
          let devices = settings.user(user).effectiveDevices
          let isOnline = devices.contains { $0.state == .foreground || $0.state == .background }
          let reached = devices.filter { decision.devices.contains($0.id) }
          return (!isOnline || world.app.devicePolicy == .anyOffline) && !reached.isEmpty
            && reached.allSatisfy {
              $0.hasToken && ($0.state == .offline || $0.state == .loggedOut)
            }
        }
      })
  }

  package func theOrderOfRecordsDoesNotMatter() throws -> [String] {
    var random = SeededGenerator(seed: UInt64(number))
    let before = try decisions(world.settings(), world.messages)
    let after = try decisions(world.settings(world.steps.shuffled(using: &random)), world.messages)
    return problems("the order of records does not matter", zip(before, after).map { $0 == $1 })
  }

  package func decidingOneAndDecidingAllAgree() throws -> [String] {
    let settings = world.settings()
    let all = try decisions(settings, world.messages)
    var evaluator = try make(settings)
    return problems(
      "deciding one and deciding all agree",
      zip(world.messages, all).map { message, all in
        let single = world.users.compactMap { user in
          evaluator.decision(message, for: user).map { (user, $0) }
        }
        return Dictionary(uniqueKeysWithValues: single) == all
      })
  }

  /// What contradicts any of the laws.
  package func all() throws -> [String] {
    try eachRecipientIsDecidedOnce() + silenceOnlyTakesAway()
      + mutingOneMemberTakesAwayAtMostTheirs() + forceNeverReachesTheOnlineOrTokenless()
      + theOrderOfRecordsDoesNotMatter() + decidingOneAndDecidingAllAgree()
  }
}
