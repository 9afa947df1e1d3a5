import BenchSupport
import Dispatch
import PushFanout
import PushModel
import Synchronization

extension DaySuite {
  /// A way to read who gets a push.
  private struct Reading {
    let name: String
    /// What must be reached on one thread, in millions a second.
    var least: Double?
    /// Reads all pushes of a result, and adds up the bytes read.
    ///
    /// - Returns: how many recipients or devices were read.
    let read: @Sendable (borrowing FanoutResult, inout Int) -> Int
  }

  /// What one or several threads took, in nanoseconds of each thread.
  private struct Times {
    var count = 0
    /// Millions a second of all threads together.
    var rate = 0.0
    var deciding: UInt64 = 0
    var preparing: UInt64 = 0
    var reading: UInt64 = 0
  }

  private static let readings = [
    Reading(name: "pushes") { result, sum in
      var count = 0
      for user in result.pushes {
        sum &+= Int(user.rawValue)
        count += 1
      }
      return count
    },
    Reading(name: "ids of pushes", least: 60) { result, sum in
      var count = 0
      for id in result.pushes.ids {
        sum &+= id.text.utf8.count
        count += 1
      }
      return count
    },
    Reading(name: "ids of pushes, bytes", least: 60) { result, sum in
      var count = 0
      result.pushes.forEachID { _, id in
        sum &+= id.byteCount
        count += 1
      }
      return count
    },
    Reading(name: "ids and devices of pushes, bytes", least: 25) { result, sum in
      var count = 0
      result.pushes.forEachTarget { _, id, device in
        sum &+= id.byteCount &+ device.byteCount
        count += 1
      }
      return count
    },
    Reading(name: "ids of pushes, one by one, and an array of devices") { result, sum in
      var count = 0
      for user in result.pushes {
        sum &+= result.id(of: user).text.utf8.count &+ result.devices(of: user).count
        count += 1
      }
      return count
    },
  ]

  /// Reading who gets a push, of messages that are decided one after the other and read once.
  ///
  /// Deciding is measured apart. A reading begins with the states of the members, which it needs
  /// and deciding does not, and they are part of its figure.
  func answers() -> [Line] {
    let messages = Array(world.messages.suffix(20_000))
    var lines: [Line] = []
    for reading in Self.readings {
      var one = 0.0
      for threads in threads {
        let times = read(messages, reading, threads)
        if threads == 1 { one = times.rate }
        let isRequired = reading.least != nil && threads == 2
        lines.append(
          Line(
            name: "\(reading.name), \(threads == 1 ? "1 thread" : "\(threads) threads")",
            value: times.rate, unit: "M/s",
            least: threads == 1 ? reading.least : isRequired ? 1.8 * one : nil))
        if threads > 1 { continue }
        for (name, part) in [
          ("  of that, the states of members", times.preparing),
          ("  besides, deciding the messages for the first time", times.deciding),
        ] {
          lines.append(
            Line(name: name, value: Double(part) / Double(times.count), unit: "ns each"))
        }
      }
    }
    return lines
  }

  private func read(_ messages: [Message], _ reading: Reading, _ threads: Int) -> Times {
    world.alone.forgetConversations()
    let all = Mutex(Times())
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      var result = FanoutResult()
      var times = Times()
      var sum = 0
      var start = DispatchTime.now().uptimeNanoseconds
      for index in stride(from: thread, to: messages.count, by: threads) {
        world.alone.decide(messages[index], into: &result)
        let decided = DispatchTime.now().uptimeNanoseconds
        // The first recipient needs the states of all members.
        var iterator = result.pushes.makeIterator()
        if let first = iterator.next() { sum &+= Int(first.rawValue) }
        let prepared = DispatchTime.now().uptimeNanoseconds
        times.count += reading.read(result, &sum)
        let end = DispatchTime.now().uptimeNanoseconds
        times.deciding += decided - start
        times.preparing += prepared - decided
        times.reading += end - prepared
        start = end
      }
      keep(sum)
      all.withLock {
        $0.count += times.count
        $0.rate += Double(times.count) / Double(times.preparing + times.reading) * 1000
        $0.deciding += times.deciding
        $0.preparing += times.preparing
        $0.reading += times.reading
      }
    }
    return all.withLock { $0 }
  }
}
