import PushModel
import PushWorkload
import Testing

/// Goal: options of which there is no world say so, and which knob is wrong.
@Suite struct OptionTests {
  typealias Change = @Sendable (inout WorkloadOptions) -> Void

  static let wrong: [(text: String, change: Change)] = [
    ("users 0 is not in 1...100000000", { $0.sizes.users = 0 }),
    ("users 100000001 is not in 1...100000000", { $0.sizes.users = 100_000_001 }),
    ("rooms -1 is not in 0...4294967295", { $0.sizes.rooms = -1 }),
    (
      "rooms and memberships exclude each other: give one",
      { ($0.sizes.rooms, $0.sizes.memberships) = (1, 1) }
    ),
    (
      "giants: a room of 10001 has more members than there are users (10000)",
      { $0.sizes.giants = [10_001] }
    ),
    (
      "size-max: a room of 10001 has more members than there are users (10000)",
      { $0.sizes.maximumSize = 10_001 }
    ),
    (
      "rooms 1 is less than the number of giants (2)",
      { ($0.sizes.rooms, $0.sizes.giants) = (1, [5, 5]) }
    ),
    (
      "memberships 9 is less than the giants have (10)",
      { ($0.sizes.memberships, $0.sizes.giants) = (9, [5, 5]) }
    ),
    ("giants 0 is not in 1...100000000", { $0.sizes.giants = [0] }),
    ("size-exponent 1 is not in 1.1...10", { $0.sizes.sizeExponent = 1 }),
    ("median-size 0.5 is not in 1...1000000", { $0.sizes.medianSize = 0.5 }),
    ("top-joiners-share 0 is not in 0.1...1", { $0.sizes.topJoinersShare = 0 }),
    ("join-share 1.5 is not in 0...1", { $0.sizes.joinShare = 1.5 }),
    ("quiet-share -0.1 is not in 0...1", { $0.people.quietShare = -0.1 }),
    ("quiet-share nan is not in 0...1", { $0.people.quietShare = .nan }),
    (
      "quiet-share and silent-share are more than 1 together",
      { ($0.people.quietShare, $0.people.silentShare) = (0.6, 0.5) }
    ),
    (
      "mention-level-share and none-level-share are more than 1 together",
      { ($0.people.mentionLevelShare, $0.people.noneLevelShare) = (0.6, 0.5) }
    ),
    ("mute-shares takes 4 numbers with commas between", { $0.people.muteShares = [0.1] }),
    (
      "mute-shares: 0.75 of the memberships cannot be muted by 0.5 of the people (muters)",
      { ($0.people.muters, $0.people.muteShares) = (0.5, [0, 0, 0, 0.75]) }
    ),
    ("quiet-length 10 is not in 30...1410", { $0.people.quietLengthMinutes = 10 }),
    ("messages -1 is not in 0...10000000000", { $0.traffic.messages = -1 }),
    (
      "start 1970-01-01T00:00:00Z is not in 1971-01-01T00:00:00Z...2200-01-01T00:00:00Z",
      { $0.traffic.start = .zero }
    ),
    ("duration 1000 ms is not in 1m...3660d", { $0.traffic.durationMilliseconds = 1000 }),
    (
      "messages 1 need a room, and there is none",
      { ($0.sizes.rooms, $0.traffic.messages) = (0, 1) }
    ),
    (
      "messages 9 need a room, and there is none",
      { ($0.sizes.memberships, $0.traffic.messages) = (0, 9) }
    ),
    ("hour-ratio 0.5 is not in 1...100", { $0.traffic.hourRatio = 0.5 }),
    ("burst-gap 0 is not in 0.001...300", { $0.traffic.burstGapSeconds = 0 }),
    ("mention-counts takes 3 numbers with commas between", { $0.traffic.mentionCountShares = [] }),
    (
      "mention-counts with the sum 0.5 is not in a sum of 1",
      { $0.traffic.mentionCountShares = [0.5, 0, 0] }
    ),
    (
      "recent-share, day-share must ascend",
      { ($0.traffic.recentShare, $0.traffic.dayShare) = (0.5, 0.4) }
    ),
    (
      "online-share 0.5: sessions are too short for it; give a lower share, or longer "
        + "session-minutes",
      { ($0.presence.onlineShare, $0.presence.sessionMinutes) = (0.5, [0.1, 0.1, 0.1]) }
    ),
    ("online-share 0.6 is not in 0.0001...0.5", { $0.presence.onlineShare = 0.6 }),
    ("hour-ratio 100 is more than", { $0.traffic.hourRatio = 100 }),
    ("quiet-writing-share 0.9 is more than", { $0.people.quietWritingShare = 0.9 }),
    ("sender-online-share 0.05 is less than", { $0.presence.senderOnlineShare = 0.05 }),
    (
      "online-share 0.01 is less than",
      { ($0.presence.onlineShare, $0.traffic.messages) = (0.01, 300_000) }
    ),
    (
      "quiet-share and silent-share are more than 1 together",
      { ($0.people.quietShare, $0.people.silentShare) = (0.8, 0.4) }
    ),
    ("shared-zone takes 4 numbers with commas between", { $0.sizes.sharedZone = [1, 1] }),
    ("shared-zone 1.5 is not in 0...1", { $0.sizes.sharedZone = [1.5] }),
    ("active-shares takes 5 numbers with commas between", { $0.traffic.activeShares = [1] }),
    ("active-shares 0 is not in 0.0001...1", { $0.traffic.activeShares = [1, 1, 0, 1, 1] }),
    ("weekend-ratio 0 is not in 0.01...10", { $0.traffic.weekendRatio = 0 }),
    ("day-deviation 6 is not in 0...5", { $0.traffic.dayDeviation = 6 }),
    ("reply-share 2 is not in 0...1", { $0.traffic.replyShare = 2 }),
    ("changes -1 is not in 0...100", { $0.people.changes = -1 }),
    ("join-days -1 is not in 0...3660", { $0.sizes.joinDays = -1 }),
    ("visit-minutes 0 is not in 0.1...1440", { $0.presence.visitMinutes = 0 }),
    ("session-minutes must ascend", { $0.presence.sessionMinutes = [3, 2, 4] }),
    ("session-minutes 5000 is not in 0.1...4000", { $0.presence.sessionMinutes = [3, 4, 5000] }),
  ]

  @Test func whatIsWrongIsSaid() {
    let found = Self.wrong.map { row in
      var options = WorkloadOptions()
      row.change(&options)
      do {
        _ = try Workload(options)
        return "a world"
      } catch {
        return "\(error)"
      }
    }
    // What other knobs leave or need is a number of the world.
    let shown = zip(found, Self.wrong).map { found, wrong in
      wrong.text.hasSuffix(" than") && found.hasPrefix(wrong.text) ? wrong.text : found
    }
    #expect(shown == Self.wrong.map(\.text))
  }

  @Test(arguments: WorkloadPreset.allCases)
  func presetsHaveWorlds(preset: WorkloadPreset) throws {
    var options = WorkloadOptions()
    let plain = options
    options.apply(preset)
    #expect(options != plain)
    #expect(try Workload(options).membershipCount > 0)
  }
}
