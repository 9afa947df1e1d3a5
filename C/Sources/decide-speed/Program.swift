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
    var best = Duration.seconds(1000)
    var pushes = 0
    for _ in 0..<20 {
      let time = ContinuousClock().measure {
        for _ in 0..<100 {
          for message in messages {
            engine.decide(message, into: &result)
            pushes &+= result.memberCount
          }
        }
      }
      best = min(best, time)
    }
    let nanoseconds = Double(best.components.attoseconds) / 1e9 / 102_400
    print("Swift: \(nanoseconds) ns a message (\(pushes))")
  }
}
