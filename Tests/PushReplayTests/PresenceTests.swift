import PushFanout
import PushFiles
import PushReplay
import PushModel
import TestSupport
import Testing

/// Goal: who is online decides the messages to members who are, on whatever thread they are decided,
/// and makes no version of the settings.
@Suite struct PresenceTests {
  private static func online(_ user: Int, _ second: Int, _ isOnline: Bool) -> ReplayEvent {
    .presence(
      PresenceChange(
        at: ReplayerTests.at(1, 0, second), conversation: nil, user: Identifier("v\(user)"),
        isOnline: isOnline))
  }

  @Test func presenceMakesNoVersion() throws {
    var settings = ReplayerTests.world(2)
    for number in 0..<50 { settings.setMember(Identifier("v\(number)"), of: "h") }
    settings.setMember("s", of: "g")
    settings.setMember("s", of: "h")
    let fanout = try Fanout(settings, threads: 2)
    let replayer = try Replayer(fanout)
    try replayer.add(ReplayerTests.message(0))
    try replayer.add(ReplayerTests.message(0, in: "h"))
    try replayer.add(Self.online(0, 0, true))
    let first = fanout.version
    for number in 0..<50 {
      try replayer.add(Self.online(number, number, true))
      try replayer.add(ReplayerTests.message(1, 1))
    }
    try replayer.add(ReplayerTests.message(2, in: "h"))
    // The sender, who is no recipient.
    try replayer.add(
      .presence(
        PresenceChange(
          at: ReplayerTests.at(2), conversation: "g", user: "s", isOnline: true)))
    try replayer.add(ReplayerTests.message(3))
    replayer.flush()
    #expect(fanout.version == first)
    let result = replayer.finish()
    #expect(
      ReplayerTests.counts(result) == ["push/allowed": 2 + 50 + 100 + 2, "none/online": 50])
  }

  /// Every message of conversations that share members, threads among them, as the reference
  /// decides it at its instant.
  @Test(arguments: RuleSet.allCases, [1, 2, 3])
  func everyWorkerHearsOfItsMembers(rules: RuleSet, threads: Int) throws {
    for seed in TestSupport.seeds([1, 2, 3, 4]) {
      var world = RandomWorld(
        rules, seed: seed, messageCount: 150, style: RandomWorld.Style(isVaried: true))
      let settings = world.settings()
      let messages = world.messages.filter { settings.conversation($0.conversation) != nil }
        .sorted { $0.at < $1.at }
      guard let first = messages.first?.at, let last = messages.last?.at else { continue }
      let others = (0..<300).map { number -> ReplayEvent in
        let at = Instant(
          milliseconds: Int64.random(
            in: first.milliseconds...last.milliseconds, using: &world.random))
        let user = world.random.pick(world.users)
        let conversation = world.random.pick(settings.conversationIDs)
        let kind = settings.conversation(conversation)?.kind
        if seed % 2 == 0, number % 20 == 0, kind != .thread {
          let member = MemberSettings(level: .unset)
          return .change(SettingsChange(at: at, .member(user, of: conversation, member)))
        }
        if rules == .open, number % 3 > 0 {
          let seen = Int64(world.random.pick([0, 0, 1000, 600_000]))
          return .heartbeat(
            Heartbeat(
              user: user, device: world.random.pick(["d0", "d1", "default"]),
              state: world.random.chance(70) ? .foreground : .background,
              seenAt: Instant(milliseconds: at.milliseconds - seen)), at: at)
        }
        return .presence(
          PresenceChange(
            at: at, conversation: world.random.chance(30) ? nil : conversation, user: user,
            isOnline: world.random.chance(60)))
      }
      let all = others + messages.map { ReplayEvent.message($0) }
      let events = all.enumerated().sorted {
        ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
      }.map(\.element)
      var options = ReplayOptions()
      options.countsPeople = true
      options.holds = seed % 4 < 2
      options.batch = (
        messages: world.random.pick([1, 20, 2048]), versions: world.random.pick([1, 5, 512])
      )
      let replayer = try Replayer(try Fanout(settings, threads: threads), options)
      var naive = NaiveReplay(settings, holds: options.holds)
      for event in events {
        switch event {
        case .change, .heartbeat:
          // Some contradict the settings, and are refused.
          guard (try? replayer.add(event)) != nil else { continue }
        case .message, .presence: try replayer.add(event)
        }
        naive.add(event)
      }
      let differences = ReplayComparison(naive, replayer.finish(), zone: settings.app.timeZone)
        .differences
      #expect(differences == [], "\(rules.rawValue), \(threads) threads, seed \(seed)")
    }
  }
}
