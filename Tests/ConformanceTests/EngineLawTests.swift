import PushReference
import PushRules
import TestSupport
import Testing

/// Goal: what must hold whatever the settings are holds for the engine.
///
/// `PUSH_SEED=n swift test --filter EngineLawTests` runs one more seed; each failure names its own.
@Suite struct EngineLawTests {
  static let seeds = TestSupport.seeds([1, 2])

  static let worlds: [RandomWorld] = seeds.flatMap { seed in
    RuleSet.allCases.map { RandomWorld($0, seed: seed) }
  }

  private func laws(_ world: Int) -> Laws {
    Laws(.engine, Self.worlds, world, seeds: Self.seeds)
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
