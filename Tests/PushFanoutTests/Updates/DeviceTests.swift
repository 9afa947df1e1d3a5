import PushFanout
import PushModel
import TestSupport
import Testing

/// Goal: devices that are set again decide from then on.
@Suite struct DeviceTests {
  /// The events of members whose devices change stay at their instants, with other keys.
  @Test(arguments: [10, 600]) func whoJoinsAndComesOnline(count: Int) throws {
    let noon: Int64 = 1_711_886_400_000
    var settings = FanoutSettings()
    for number in 0..<count {
      var member = MemberSettings()
      if number % 3 == 0 {
        member.since = Instant(milliseconds: noon + Int64(number % 7 - 3) * 60_000)
      }
      settings.setMember(Identifier("u\(number)"), of: "g", member)
    }
    let fanout = try Fanout(settings, threads: 1)
    var random = SeededGenerator(seed: 5)
    var (found, expected): ([[Int]], [[Int]]) = ([], [])
    for step in 0..<60 {
      try fanout.update { (update) throws(FanoutError) in
        for _ in 0..<3 {
          let id = Identifier("u\(random.pick(Array(0..<count)))")
          var user = settings.user(id)
          user.devices = [
            Device(id: "b", kind: .desktop, state: random.pick([.foreground, .loggedOut]))
          ]
          settings.setUser(id, user)
          try update.setUser(id, user)
        }
      }
      let shift = Int64(random.pick([-4, -3, -2, -1, 0, 1, 2, 3]) * 60_000 + step % 3 - 1)
      let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: noon + shift))
      for (engine, isFresh) in [(fanout, false), (try Fanout(settings, threads: 1), true)] {
        let counts = engine.decide(message).counts
        let row = (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }
        if isFresh { expected.append(row) } else { found.append(row) }
      }
    }
    #expect(found == expected)
  }
}
