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

  private func laws(_ world: Int) -> Laws {
    Laws(.reference, Self.worlds, world, seeds: Self.seeds)
  }

  @Test func theWorldsAreNotEmpty() throws {
    var counts = OutcomeCounts()
    for world in Self.worlds {
      for rows in try Evaluator.reference.all(world.settings(), world.messages) {
        for row in rows { counts.add(row.decision.outcome) }
      }
    }
    let reasons = Set(counts.nonZero.map(\.outcome.reason))
    #expect(reasons == Set(Reason.allCases), "every reason occurs in some world")
  }

  @Test(arguments: worlds.indices)
  func theCountsAreComplete(world index: Int) {
    let world = Self.worlds[index]
    var evaluator = ReferenceEvaluator(world.settings())
    for message in world.messages {
      var counts = OutcomeCounts()
      var count = 0
      evaluator.decide(message) {
        counts.add($1.outcome)
        count += 1
      }
      #expect(counts.total == count, "seed \(Self.seeds[index / 2])")
    }
  }

  @Test(arguments: worlds.indices)
  func explanationsEndInTheDecision(world index: Int) throws {
    let world = Self.worlds[index]
    let settings = world.settings()
    var evaluator = ReferenceEvaluator(settings)
    let explained = world.messages.map { message in
      Dictionary(
        uniqueKeysWithValues: world.users.compactMap { user in
          evaluator.explain(message, for: user).decision.map { (user, $0) }
        })
    }
    let single = try Evaluator.reference.single(settings, world.messages, world.users)
    #expect(explained == single, "seed \(Self.seeds[index / 2])")
  }

  @Test(arguments: worlds.indices)
  func eachRecipientIsDecidedOnce(world: Int) throws {
    try laws(world).eachRecipientIsDecidedOnce()
  }

  @Test(arguments: worlds.indices)
  func silenceOnlyTakesAway(world: Int) throws {
    try laws(world).silenceOnlyTakesAway()
  }

  @Test(arguments: worlds.indices)
  func mutingOneMemberTakesAwayAtMostTheirs(world: Int) throws {
    try laws(world).mutingOneMemberTakesAwayAtMostTheirs()
  }

  @Test(arguments: worlds.indices)
  func forceNeverReachesTheOnlineOrTokenless(world: Int) throws {
    try laws(world).forceNeverReachesTheOnlineOrTokenless()
  }

  @Test(arguments: worlds.indices)
  func theOrderOfRecordsDoesNotMatter(world: Int) throws {
    try laws(world).theOrderOfRecordsDoesNotMatter()
  }

  @Test(arguments: worlds.indices)
  func decidingOneAndDecidingAllAgree(world: Int) throws {
    try laws(world).decidingOneAndDecidingAllAgree()
  }
}
