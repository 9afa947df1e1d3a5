import Glibc
import PushFanout
import PushFiles
import PushModel

/// Measures the call that Tests/speed.c measures from C.
@main enum DecideSpeed {
  static let rooms = 64
  static let members = 200

  static func main() throws {
    var lines = ""
    for room in 0..<rooms {
      for member in 0..<members {
        lines +=
          #"{"kind":"member","conversation":"room\#(room)","user":"user\#(room * 50 + member)"}"#
        lines += "\n"
      }
    }
    let engine = try SettingsLoader.loadFanout(SettingsPaths(Array(lines.utf8)), threads: 1)
    let messages = (0..<1024).map { number in
      let room = number % rooms
      return Message(
        id: "", conversation: Identifier("room\(room)"),
        at: Instant(milliseconds: 1_717_387_200_000 + Int64(number)),
        sender: Identifier("user\(room * 50 + number % members)"))
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
    print("Swift: \(plain) ns a message, \(summed) with its summary, \(counted) with its counts")
    if memberCount == 0 { print("nobody was decided") }
  }

  /// Nanoseconds a message, of the best of 20 rounds.
  private static func best(of messages: [Message], _ decide: (Message) -> Void) -> Int {
    let times = (0..<20).map { _ in
      let start = processorTime()
      for _ in 0..<100 {
        for message in messages { decide(message) }
      }
      return processorTime() - start
    }
    return (times.min() ?? 0) / (100 * messages.count)
  }

  /// Nanoseconds of the thread's processor time, which other work on the machine disturbs less.
  static func processorTime() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
