import ArgumentParser
import BenchSupport
import Foundation
import PushFanout
import PushFiles
import PushModel

/// The calls that `Bindings/bench` measures from C and from Python, in Swift.
struct Calls: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "How long a call takes that Bindings/bench measures from other languages.")

  private static let rooms = 64
  private static let members = 200

  func run() throws {
    var lines = ""
    for room in 0..<Self.rooms {
      for member in 0..<Self.members {
        lines +=
          #"{"kind":"member","conversation":"room\#(room)","user":"user\#(room * 50 + member)"}"#
        lines += "\n"
      }
    }
    let engine = try SettingsLoader.loadFanout(SettingsPaths(Array(lines.utf8)), threads: 1)
    let messages = (0..<1024).map { number in
      let room = number % Self.rooms
      return Message(
        id: "", conversation: Identifier("room\(room)"),
        at: Instant(milliseconds: 1_717_387_200_000 + Int64(number)),
        sender: Identifier("user\(room * 50 + number % Self.members)"))
    }
    var result = FanoutResult()
    var memberCount = 0
    let plain = best(of: messages) { message in
      engine.decide(message, into: &result)
      memberCount &+= result.memberCount
    }
    let summed = best(of: messages) { message in
      engine.decide(message, into: &result)
      let counts = result.counts
      memberCount &+= counts.recipientCount &+ counts.pushCount
    }
    var numbers = [UInt32](repeating: 0, count: Outcome.codeCount)
    let counted = best(of: messages) { message in
      engine.decide(message, into: &result)
      let counts = result.counts
      var span = numbers.mutableSpan
      counts.write(into: &span)
      memberCount &+= Int(numbers[1])
    }
    require(memberCount > 0, "nobody was decided")
    print("Swift: \(plain) ns a message, \(summed) with its summary, \(counted) with its counts")
  }

  /// Nanoseconds of the thread's processor time for a message, which other work on the machine
  /// disturbs less: of the best of 20 rounds.
  private func best(of messages: [Message], _ decide: (Message) -> Void) -> Int {
    let times = (0..<20).map { _ in
      let start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
      for _ in 0..<100 {
        for message in messages { decide(message) }
      }
      return nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start
    }
    return (times.min() ?? 0) / (100 * messages.count)
  }
}
