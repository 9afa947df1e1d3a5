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

  /// The decisions of a message by user, and the users in the order in which they came.
  private typealias Rows = (users: [Identifier], decisions: [Identifier: Decision])

  private func rows(
    _ settings: FanoutSettings, _ evaluator: inout any Evaluator, _ messages: [Message]
  ) -> [Rows] {
    messages.map { message in
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
    var evaluator = try make(settings)
    return rows(settings, &evaluator, messages).map(\.decisions)
  }

  /// The world as it is, its evaluator, and what that one answers: the same for every law, as what an
  /// evaluator derives from an app's rules takes most of the time.
  private struct Plain {
    let settings: FanoutSettings
    var evaluator: any Evaluator
    let rows: [Rows]
    var decisions: [[Identifier: Decision]] { rows.map(\.decisions) }
  }

  private func plain() throws -> Plain {
    let settings = world.settings()
    var evaluator = try make(settings)
    let rows = rows(settings, &evaluator, world.messages)
    return Plain(settings: settings, evaluator: evaluator, rows: rows)
  }

  private func notified(_ decisions: [Identifier: Decision]) -> Set<Identifier> {
    Set(decisions.filter { $0.value.outcome.action != .suppress }.keys)
  }

  /// A problem for each place at which a law does not hold.
  private func problems(_ law: String, _ holds: [Bool]) -> [String] {
    holds.indices.filter { !holds[$0] }.map { "\(label), message \($0): \(law)" }
  }

  private func eachRecipientIsDecidedOnce(_ plain: Plain) -> [String] {
    problems(
      "each recipient is decided once",
      zip(world.messages, plain.rows).map { message, rows in
        Set(rows.users) == world.recipients(of: message)
          && rows.users.count == rows.decisions.count
      })
  }

  private func silenceOnlyTakesAway(_ plain: inout Plain) -> [String] {
    let silent = world.messages.map { message in
      var message = message
      message.silent = true
      return message
    }
    let after = rows(plain.settings, &plain.evaluator, silent).map(\.decisions)
    return problems(
      "silence only takes away",
      zip(plain.decisions, after).map { notified($1).isSubset(of: notified($0)) })
  }

  private func mutingOneMemberTakesAwayAtMostTheirs(_ plain: Plain) throws -> [String] {
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
      zip(plain.decisions, after).map { old, new in
        notified(new).isSubset(of: notified(old))
          && new.filter { $0.key != muted } == old.filter { $0.key != muted }
      })
  }

  private func forceNeverReachesTheOnlineOrTokenless(_ plain: inout Plain) -> [String] {
    guard world.app.rules == .easemob else { return [] }
    let forced = world.messages.map { message in
      var message = message
      message.force = true
      return message
    }
    let settings = plain.settings
    let after = rows(settings, &plain.evaluator, forced).map(\.decisions)
    return problems(
      "force never reaches the online or tokenless",
      after.map { decisions in
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

  private func theOrderOfRecordsDoesNotMatter(_ plain: Plain) throws -> [String] {
    var random = SeededGenerator(seed: UInt64(number))
    let after = try decisions(world.settings(world.steps.shuffled(using: &random)), world.messages)
    return problems(
      "the order of records does not matter", zip(plain.decisions, after).map { $0 == $1 })
  }

  private func decidingOneAndDecidingAllAgree(_ plain: inout Plain) -> [String] {
    var holds: [Bool] = []
    for (message, all) in zip(world.messages, plain.decisions) {
      var single: [Identifier: Decision] = [:]
      for user in world.users { single[user] = plain.evaluator.decision(message, for: user) }
      holds.append(single == all)
    }
    return problems("deciding one and deciding all agree", holds)
  }

  /// What contradicts any of the laws.
  package func all() throws -> [String] {
    var plain = try plain()
    return try eachRecipientIsDecidedOnce(plain) + silenceOnlyTakesAway(&plain)
      + mutingOneMemberTakesAwayAtMostTheirs(plain)
      + forceNeverReachesTheOnlineOrTokenless(&plain)
      + theOrderOfRecordsDoesNotMatter(plain) + decidingOneAndDecidingAllAgree(&plain)
  }
}
