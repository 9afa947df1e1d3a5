import PushModel
import PushReference
import TestSupport
import Testing

@testable import PushFanout

/// Goal: a fork begins as the engine that it was made of, and from then on neither notices what the
/// other does, in whatever order they end.
///
/// In debug builds pages come from `malloc`, so the address sanitizer finds an access to a freed one.
/// `PUSH_SEED=n swift test --filter ForkTests` runs one more seed.
@Suite struct ForkTests {
  private typealias Aged = SnapshotTests.Aged

  @Test(arguments: RuleSet.allCases) func enginesGoOnAlone(rules: RuleSet) throws {
    for seed in TestSupport.seeds([1, 2, 3, 4]) {
      let label: Comment = "seed \(seed), \(rules.rawValue)"
      let folder = ScratchFolder()
      let first = try Aged(
        rules, seed, users: seed % 2 == 0 ? 150 : 12, density: 60, updates: 10)
      var random = first.random
      var engines = [first]
      if seed > 2 {
        // Of an engine whose pages are in a file.
        try first.fanout.writeSnapshot(
          to: folder.path("snapshot"), identity: SnapshotTests.identity, sequence: 1)
        engines[0].fanout = try Fanout(
          snapshot: folder.path("snapshot"), identity: SnapshotTests.identity, threads: 1)
      }
      for round in 0..<40 {
        if engines.count < 4, random.chance(20) {
          var fork = random.pick(engines)
          fork.fanout = fork.fanout.fork()
          fork.random = SeededGenerator(seed: seed &+ UInt64(round) &* 977)
          engines.append(fork)
        } else if engines.count > 1, random.chance(5) {
          engines.remove(at: Int.random(in: engines.indices, using: &random))
        }
        let index = Int.random(in: engines.indices, using: &random)
        try engines[index].update()
        // Ids of every kind, and members for new slots.
        for name in ["n", "N", "a name that is longer than fifteen bytes "] {
          let user = Identifier("\(name)\(random.next() % 50)")
          let room = Identifier("\(name)\(random.next() % 9)")
          engines[index].model.setMember(user, of: room, MemberSettings())
          try engines[index].fanout.update { (update) throws(FanoutError) in
            try update.setMember(user, of: room)
          }
        }
        for engine in engines { engine.fanout.checkInvariants(.all) }
      }
      for index in engines.indices { #expect(engines[index].difference() == nil, label) }
      engines.shuffle(using: &random)
      while engines.popLast() != nil {
        for index in engines.indices {
          engines[index].fanout.checkInvariants(.all)
          #expect(engines[index].difference(3) == nil, label)
        }
      }
    }
  }

  /// A version of a fork outlives both engines.
  @Test func aVersionKeepsThePages() throws {
    var aged = try Aged(.easemob, 5, users: 40, density: 60, updates: 3)
    var fork: Fanout? = aged.fanout.fork()
    let user = try #require(aged.world.users.first)
    try fork?.update { (update) throws(FanoutError) in try update.setMember(user, of: "new") }
    let version = try #require(fork?.currentVersion)
    let before = aged.model
    for _ in 0..<20 { try aged.update() }
    fork = nil
    aged.fanout = try Fanout(FanoutSettings(), threads: 1)
    let timeline = FanoutTimeline(version)
    var evaluator = ReferenceEvaluator(before.settings)
    for message in aged.world.messages {
      #expect(timeline.counts(message).recipientCount == evaluator.rows(message).count)
    }
  }
}
