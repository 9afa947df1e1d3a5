import PushFanout
import PushFiles
import PushReplay
import PushModel
import Testing

/// Goal: what a comparison does with events that one of the worlds does not know.
@Suite struct ComparerTests {
  /// Somebody is online in a conversation that only B knows: connected in both worlds.
  @Test func presenceInAConversationOfOneWorld() throws {
    let settings = ReplayerTests.world(1)
    var other = settings
    other.setMember("u0", of: "h")
    let presence = { (hour: Int, conversation: Identifier, isOnline: Bool) in
      ReplayEvent.presence(
        PresenceChange(
          at: ReplayerTests.at(hour), conversation: conversation, user: "u0", isOnline: isOnline))
    }
    let events = [
      presence(1, "h", true), ReplayerTests.message(2), presence(3, "h", false),
      ReplayerTests.message(4),
    ]
    for (a, b) in [(settings, other), (other, settings)] {
      let comparer = try Comparer(
        try Fanout(a, threads: 1), try Fanout(b, threads: 1), labels: ([], []))
      for event in events { try comparer.add(event) }
      #expect(throws: FileProblem.Problem.unknownConversation("x")) {
        try comparer.add(presence(5, "x", true))
      }
      let result = comparer.finish()
      let outcomes = result.outcomes.map { "\($0.action)/\($0.reason) \($0.a) \($0.b)" }
      #expect(outcomes == ["none/online 1 1", "push/allowed 1 1"])
    }
  }
}
