import TestSupport
import Testing

@testable import PushFanout

/// Goal: an expiries gives back what was put in, in the order of instants, and never too early.
@Suite struct ExpiryQueueTests {
  @Test func entriesComeInOrder() {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      var expiries = ExpiryQueue()
      var waiting: [[Int64]] = []
      var now: Int64 = 0
      for _ in 0..<300 {
        for _ in 0..<Int.random(in: 0...5, using: &random) {
          let entry = ExpiryQueue.Entry(
            at: now + Int64.random(in: 0...40, using: &random), user: UInt32(random.next() % 99))
          expiries.add(entry)
          waiting.append([entry.at, Int64(entry.user)])
        }
        #expect(expiries.next == waiting.map { $0[0] }.min(), "seed \(seed)")
        now += Int64.random(in: 0...6, using: &random)
        var found: [[Int64]] = []
        while let entry = expiries.pop(upTo: now) { found.append([entry.at, Int64(entry.user)]) }
        #expect(found.map { $0[0] } == found.map { $0[0] }.sorted(), "seed \(seed)")
        let due = waiting.filter { $0[0] <= now }
        #expect(
          found.sorted { $0.lexicographicallyPrecedes($1) }
            == due.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
        waiting.removeAll { $0[0] <= now }
      }
      expiries.removeAll()
      #expect(expiries.next == nil)
      #expect(expiries.pop(upTo: .max) == nil)
    }
  }
}
