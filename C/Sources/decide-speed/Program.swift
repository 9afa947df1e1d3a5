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
    var best = Int.max
    var members = 0
    for _ in 0..<20 {
      let start = processorTime()
      for _ in 0..<100 {
        for message in messages {
          engine.decide(message, into: &result)
          members &+= result.memberCount
        }
      }
      best = min(best, processorTime() - start)
    }
    print("Swift: \(Double(best) / 102_400) ns a message, \(members / 2_048_000) members")
  }

  /// Nanoseconds of the thread's processor time, which other work on the machine disturbs less.
  static func processorTime() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
