import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

@testable import PushReplay

/// Goal: a comparison that decides once what a change cannot touch says, field by field and person by
/// person, what a comparison says that decides everything twice in two engines; on any number of
/// threads.
///
/// `PUSH_SEED=n swift test --filter TouchedRoomTests` runs one more seed.
@Suite struct TouchedRoomTests {
  private struct Compared: Equatable {
    var result: CompareResult
    var people: [PersonTotal] = []
  }

  private static let changes = [
    ["rooms>100.unset.level=none"], ["room=\"ROOM\".everyone.level=none"],
    ["type=private.everyone.level=none", "share=5%.unset.quietHours=20:00-09:00"],
    ["rooms>20.share=30%.unset.level=none"], ["zone=Asia/*.everyone.quietHours=none"],
    ["everyone.quietHours=22:00-07:00"], ["app.timeZone=Asia/Tokyo"],
  ]

  private static func compare(
    _ a: Fanout, _ b: Fanout, _ touched: TouchedRooms, _ events: [ReplayEvent],
    _ options: CompareOptions
  ) throws -> Compared {
    let comparer = try Comparer(a, b, touched, labels: ([], []), options)
    for event in events { try comparer.add(event) }
    var compared = Compared(result: comparer.finish())
    comparer.forEachPerson { compared.people.append($0) }
    return compared
  }

  /// The room with most messages.
  private static func mostUsed(
    _ events: [ReplayEvent], _ settings: FanoutSettings
  ) -> Identifier? {
    var counts: [Identifier: Int] = [:]
    for case .message(let message) in events
    where settings.conversation(message.conversation)?.kind != .thread {
      counts[message.conversation, default: 0] += 1
    }
    return counts.max { ($0.value, $0.key.text) < ($1.value, $1.key.text) }?.key
  }

  @Test(arguments: RuleSet.allCases) func whatIsTheSameIsDecidedOnce(rules: RuleSet) throws {
    var changed = 0
    for seed in TestSupport.seeds([0, 1, 2, 3, 4, 5, 6]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 220, messageCount: 150,
        style: RandomWorld.Style(density: 80, isVaried: true))
      let settings = ModelWorld(world).settings
      var random = SeededGenerator(seed: seed)
      let events = ThreadCountTests.events(
        world, settings, &random, presence: random.chance(50), changes: true)
      let room = try #require(Self.mostUsed(events, settings))
      let texts = Self.changes[Int(seed) % Self.changes.count].map {
        $0.split(separator: "ROOM").joined(separator: room.text)
      }
      let label: Comment = "seed \(seed), \(rules.rawValue), \(texts)"
      var options = CompareOptions()
      options.timeZone = random.pick(RandomWorld.zones)
      options.batch = (messages: random.pick([7, 40, 2048]), versions: random.pick([2, 128]))
      let plain = (a: try Fanout(settings, threads: 1), b: try Fanout(settings, threads: 1))
      for text in texts { try WhatIf(text).apply(to: plain.b) }
      let expected = try Self.compare(plain.a, plain.b, .unknown, events, options)
      for threads in [1, 2, 3, 16] {
        let a = try Fanout(settings, threads: threads)
        let b = a.fork()
        var touched = TouchedRooms.none
        for text in texts { _ = try WhatIf(text).apply(to: b, &touched) }
        #expect(touched.isAlike, label)
        let found = try Self.compare(a, b, touched, events, options)
        #expect(found == expected, "\(label), \(threads) threads")
      }
      changed += expected.result.changed > 0 ? 1 : 0
    }
    #expect(changed >= 5)
  }
}
