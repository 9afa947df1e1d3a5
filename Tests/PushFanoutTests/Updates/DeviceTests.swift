import PushFanout
import PushModel
import TestSupport
import Testing

/// Goal: a device that is set replaces the one of its id, is the last one, and changes no other.
@Suite struct DeviceTests {
  @Test func aDeviceTakesThePlaceOfTheOneOfItsID() throws {
    let (first, second) = (Device(id: "a"), Device(id: "b", kind: .desktop, state: .foreground))
    var settings = FanoutSettings()
    settings.setUser("default", UserSettings())
    for (id, devices) in [
      ("none", []), ("last", [first, second]), ("front", [second, first]),
      ("twice", [second, first, second]),
    ] as [(Identifier, [Device])] {
      var user = UserSettings()
      user.devices = devices
      settings.setUser(id, user)
    }
    let fanout = try Fanout(settings, threads: 1)
    let changed = Device(id: "b", kind: .desktop, state: .loggedOut, hasToken: false)
    let ids: [Identifier] = ["default", "none", "last", "front", "twice"]
    for _ in 0..<2 {
      try fanout.update { (update) throws(FanoutError) in
        for id in ids {
          if let user = fanout.index(of: id) { try update.setDevice(changed, of: user) }
        }
      }
      let others = [[Device.default], [], [first], [first], [first]]
      #expect(ids.map { fanout.user($0)?.devices } == others.map { $0 + [changed] })
    }
  }

  /// The events of members whose devices change stay at their instants, with other words.
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
