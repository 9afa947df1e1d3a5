import PushFanout
import PushRules
import Testing

/// Goal: the engine answers every conformance case as it says, in action, reason, scope and devices,
/// for all recipients and for one.
@Suite struct EngineVectorTests {
  @Test func allCasesAgree() throws {
    var otherwise: [String] = []
    let cases = try VectorTests.cases { settings, messages in
      let fanout = try Fanout(settings, threads: 1)
      return messages.flatMap { message in
        let all = fanout.decide(message).rows
        let single = (0..<UInt32(settings.userCount)).compactMap { place in
          fanout.decision(message, for: settings.id(of: UserIndex(place)))
            .map { Row(UserIndex(place), $0) }
        }
        if single != all { otherwise.append("\(message): \(single) for one, \(all) for all") }
        return all.compactMap { row in row.outcome.map { Decision($0, devices: row.devices) } }
      }
    }
    #expect(cases.count == 96)
    #expect(VectorTests.wrong(cases) == [])
    #expect(otherwise == [])
  }
}
