import BenchSupport
import Dispatch
import Foundation
import PushFanout
import PushModel
import Synchronization

extension DaySuite {
  /// Messages to ten times as many conversations as the cache holds, beside the same messages with
  /// a cache that holds all of them, at one instant.
  func eviction() -> [Line] {
    guard let last = world.messages.map(\.at).max() else { return [] }
    let roomy = world.engine(cacheBytes: .max)
    roomy.warmUp(world.conversations, at: last)
    let needed = roomy.memoryReport().states
    let tight = world.engine(cacheBytes: needed / 10)
    var lines = [
      Line(name: "states of all conversations", value: Double(needed) / 1e6, unit: "MB"),
      Line(
        name: "  of each member",
        value: Double(needed) / Double(roomy.memoryReport().membershipCount), unit: "B", most: 12),
      Line(name: "  bound of the cache", value: Double(tight.cacheByteLimit) / 1e6, unit: "MB"),
    ]
    for (name, draws) in [("uniform", uniform), ("Zipf", zipf)] {
      let messages = MessageArray(
        draws(world.messages.count).map {
          Message(id: "m", conversation: world.conversations[$0], at: last)
        })
      // What is kept is then what these messages keep.
      _ = inTurn(messages, 1, tight)
      for count in threads {
        // By turns, so that a machine that slows down slows down both.
        var (free, pressed, work, most) = (Samples(), Samples(), Samples(), 0)
        for _ in 0..<3 {
          let kept = inTurn(messages, count, roomy)
          let (evicted, bytes) = watchingStates(of: tight) { inTurn(messages, count, tight) }
          guard kept.pushes == evicted.pushes else {
            fatalError("\(evicted.pushes) pushes with eviction, \(kept.pushes) without")
          }
          free.add(kept.rate)
          pressed.add(evicted.rate)
          work.add(kept.processor / evicted.processor)
          most = max(most, bytes)
        }
        let text = "\(name), \(count == 1 ? "1 thread" : "\(count) threads")"
        lines += [
          Line(name: "\(text): all kept", value: free.median, unit: "M messages/s"),
          Line(
            name: "\(text): a tenth kept", value: pressed.median, unit: "M messages/s",
            least: 0.3 * free.median),
          Line(
            name: "  by processor time, of the speed of all kept", value: work.median, unit: "x"),
          Line(
            name: "  most states while deciding", value: Double(most) / 1e6, unit: "MB",
            most: Double(tight.cacheByteLimit) / 1e6),
        ]
      }
    }
    return lines
  }

  /// Runs `body`, while another thread samples the bytes of states that an engine keeps.
  private func watchingStates<Value>(
    of fanout: Fanout, _ body: () -> Value
  ) -> (value: Value, most: Int) {
    let (isOver, most, group) = (Flag(), Most(), DispatchGroup())
    DispatchQueue.global().async(group: group) {
      repeat {
        most.add(fanout.memoryReport().states)
        Thread.sleep(forTimeInterval: 0.02)
      } while !isOver.value.load(ordering: .relaxed)
      most.add(fanout.memoryReport().states)
    }
    let value = body()
    isOver.value.store(true, ordering: .relaxed)
    group.wait()
    return (value, most.value.load(ordering: .relaxed))
  }

  private final class Flag: Sendable { let value = Atomic(false) }

  private final class Most: Sendable {
    let value = Atomic(0)
    func add(_ value: Int) { self.value.max(value, ordering: .relaxed) }
  }

  /// Places of conversations, each as probable.
  private func uniform(_ count: Int) -> [Int] {
    var random = Seeded(11)
    return (0..<count).map { _ in random.below(world.conversations.count) }
  }

  /// Places of conversations by Zipf's law with exponent 1, in an order that has nothing to do with
  /// their sizes.
  private func zipf(_ count: Int) -> [Int] {
    var random = Seeded(12)
    let places = Array(world.conversations.indices).shuffled(using: &random)
    var sums: [Double] = []
    var sum = 0.0
    for rank in places.indices {
      sum += 1 / Double(rank + 1)
      sums.append(sum)
    }
    return (0..<count).map { _ in
      let drawn = Double(random.next() >> 11) / Double(1 << 53) * sum
      var (low, high) = (0, sums.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if sums[middle] > drawn { high = middle } else { low = middle + 1 }
      }
      return places[low]
    }
  }
}
