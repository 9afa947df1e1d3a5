import PushFiles
import PushReplay
import PushModel
import Testing

/// Goal: who is a recipient while changes of settings replace memberships.
@Suite struct JoinTests {
  /// docs/replay.md, "What is replayed".
  @Test func changesReplaceMembershipsWithTheirSince() throws {
    var settings = ReplayerTests.world(1)
    settings.setMember("later", of: "g", MemberSettings(since: ReplayerTests.at(20)))
    let change = { (hour: Int, user: Identifier, since: Instant) in
      ReplayEvent.change(
        SettingsChange(
          at: ReplayerTests.at(hour),
          .member(user, of: "g", MemberSettings(since: since))))
    }
    func decisions(_ changes: [ReplayEvent]) throws -> [Int] {
      let events =
        [ReplayerTests.message(2), ReplayerTests.message(4), ReplayerTests.message(6)] + changes
      let result = try ReplayerTests.replay(settings, events.sorted { $0.at < $1.at })
      return result.hours.decisions + [result.joins]
    }
    let found = try [
      [],
      // No since: at once. A since in the past: from the change on.
      [change(3, "new", .zero)], [change(3, "later", .zero)],
      [change(3, "new", ReplayerTests.at(1))],
      // A since to come: not before, and whoever was a member is none until then.
      [change(3, "new", ReplayerTests.at(5))], [change(3, "u0", ReplayerTests.at(5))],
    ].map { try decisions($0) }
    #expect(
      found == [
        [1, 1, 1, 0], [1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], [1, 0, 1, 0],
      ])
  }
}
