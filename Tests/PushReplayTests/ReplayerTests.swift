import PushFanout
import PushFiles
import PushReplay
import PushModel
import Testing

/// Goal: what a replay does with events beside messages, and what it holds, in cases that can be
/// worked out by hand.
@Suite struct ReplayerTests {
  /// 2024-06-03T00:00:00Z, a Monday.
  static let midnight: Int64 = 1_717_372_800_000

  static func at(_ hour: Int, _ minute: Int = 0, _ second: Int = 0) -> Instant {
    Instant(milliseconds: midnight + Int64((hour * 60 + minute) * 60 + second) * 1000)
  }

  static func message(_ hour: Int, _ minute: Int = 0, in conversation: Identifier = "g")
    -> ReplayEvent
  {
    .message(Message(id: "m", conversation: conversation, at: at(hour, minute), sender: "s"))
  }

  /// Members `u0`, `u1` and so on of the group `g`.
  static func world(_ count: Int, _ app: AppSettings = AppSettings()) -> FanoutSettings {
    var settings = FanoutSettings(app: app)
    for number in 0..<count {
      settings.setUser(Identifier("u\(number)"), UserSettings())
      settings.setMember(Identifier("u\(number)"), of: "g")
    }
    return settings
  }

  static func replay(
    _ settings: FanoutSettings, _ events: [ReplayEvent], holds: Bool = false,
    countsPeople: Bool = false
  ) throws -> ReplayResult {
    var options = ReplayOptions()
    options.holds = holds
    options.countsPeople = countsPeople
    let replayer = try Replayer(try Fanout(settings, threads: 2), options)
    for event in events { try replayer.add(event) }
    return replayer.finish()
  }

  static func counts(_ result: ReplayResult) -> [String: Int] {
    Dictionary(
      uniqueKeysWithValues: result.outcomes.map { ($0.action + "/" + $0.reason, $0.count) })
  }

  // MARK: Presence and changes

  private static func online(_ hour: Int, _ conversation: Identifier, _ isOnline: Bool)
    -> ReplayEvent
  {
    .presence(
      PresenceChange(
        at: at(hour), conversation: conversation, user: "u0", isOnline: isOnline))
  }

  @Test func onlineInOneConversationIsOnlineInAll() throws {
    var settings = Self.world(2)
    settings.setMember("u0", of: "h")
    // Online in g from 2 to 6, in h from 4 to 8; told twice at 5.
    let events = [
      Self.message(1), Self.online(2, "g", true), Self.message(3), Self.online(4, "h", true),
      Self.online(5, "h", true), Self.online(6, "g", false), Self.message(7),
      Self.online(8, "h", false), Self.message(9),
    ]
    let result = try Self.replay(settings, events)
    #expect(Self.counts(result) == ["push/allowed": 6, "none/online": 2])
    #expect(result.presenceRows == 5)
    // The phone is still there for whoever pushes to offline devices (E-65).
    settings.app.devicePolicy = .anyOffline
    let any = try Self.replay(settings, events)
    #expect(Self.counts(any) == ["push/allowed": 8])
  }

  @Test func aUsersRecordKeepsThePresence() throws {
    var user = UserSettings()
    user.devices = [Device(id: "p", hasToken: false)]
    let change = ReplayEvent.change(SettingsChange(at: Self.at(4), .user("u0", user)))
    let result = try Self.replay(
      Self.world(1),
      [
        Self.online(2, "g", true), Self.message(3), change, Self.message(5),
        Self.online(6, "g", false), Self.message(7),
      ])
    #expect(Self.counts(result) == ["none/online": 2, "none/noToken": 1])
  }

  @Test func whoIsNoMemberMayBeOnline() throws {
    let online = ReplayEvent.presence(
      PresenceChange(at: Self.at(2), conversation: "g", user: "guest", isOnline: true))
    let join = ReplayEvent.change(
      SettingsChange(at: Self.at(4), .member("guest", of: "g", .init())))
    let result = try Self.replay(
      Self.world(1), [Self.message(1), online, Self.message(3), join, Self.message(5)])
    #expect(Self.counts(result) == ["push/allowed": 3, "none/online": 1])
    #expect(result.users == 2)
  }

  @Test func changesHoldFromTheirInstantOn() throws {
    let blocked = MemberSettings(level: .blocked)
    var app = AppSettings()
    app.advancedPush = false
    let result = try Self.replay(
      Self.world(1),
      [
        Self.message(1),
        .change(
          SettingsChange(at: Self.at(2), .member("u0", of: "g", blocked))),
        Self.message(2),
        .change(SettingsChange(at: Self.at(3), .member("new", of: "g", .init()))),
        Self.message(3),
        .change(SettingsChange(at: Self.at(4), .app(app))), Self.message(4),
        .change(
          SettingsChange(at: Self.at(5), .conversation("g", ConversationSettings(kind: .room)))),
        Self.message(5),
      ])
    #expect(
      Self.counts(result) == [
        "push/allowed": 1 + 0 + 1 + 2, "none/levelNone": 2, "none/chatRoom": 2,
      ])
    #expect(result.settingsChanges == 4)
    #expect(result.users == 2)
  }

  @Test func membersJoinWhenTheirSinceSays() throws {
    var settings = Self.world(1)
    settings.setMember("late", of: "g", MemberSettings(since: Self.at(2)))
    settings.setMember("never", of: "g", MemberSettings(since: Self.at(20)))
    let result = try Self.replay(settings, [Self.message(1), Self.message(2), Self.message(3)])
    #expect(result.decisions == 1 + 2 + 2)
    #expect(result.joins == 1)
    #expect(result.conversationTable.map(\.members) == [3])
  }

  @Test func changesBeginMembershipsOnce() throws {
    var settings = Self.world(1)
    for (user, hour) in [("soon", 3), ("later", 9), ("gone", 4), ("past", 1)] {
      settings.setMember(Identifier(user), of: "g", MemberSettings(since: Self.at(hour)))
    }
    let change = { (hour: Int, user: Identifier, since: Instant) in
      ReplayEvent.change(
        SettingsChange(
          at: Self.at(hour),
          .member(user, of: "g", MemberSettings(since: since))))
    }
    func joins(_ changes: [ReplayEvent]) throws -> Int {
      let events = [Self.message(2)] + changes + [Self.message(6)]
      return try Self.replay(settings, events.sorted { $0.at < $1.at }).joins
    }
    let kinds = [ConversationSettings(kind: .thread, parent: "g"), ConversationSettings()]
    let thread = zip([3, 4], kinds).map { hour, kind in
      ReplayEvent.change(SettingsChange(at: Self.at(hour), .conversation("t", kind)))
    }
    let record = { (hour: Int) in
      ReplayEvent.change(
        SettingsChange(at: Self.at(hour), .member("u0", of: "t", .init())))
    }
    let found = try [
      [],
      // A member who joins now, later, before it is said, after the last message; before the first.
      [change(3, "new", .zero)], [change(3, "new", Self.at(5))], [change(5, "new", Self.at(3))],
      [change(3, "new", Self.at(7))], [change(1, "new", .zero)],
      // One of the beginning, and one who joined, written again; one who will join, put off and
      // taken in now.
      [change(3, "u0", .zero)], [change(5, "soon", .zero)], [change(5, "soon", Self.at(6))],
      [change(3, "gone", Self.at(8))], [change(3, "later", .zero)],
      [change(3, "new", .zero), change(4, "new", .zero)],
      // A record of a thread that becomes a group.
      [thread[0], record(3)], [thread[0], record(3), thread[1]],
    ].map { try joins($0) }
    #expect(found == [2, 3, 3, 3, 2, 2, 2, 2, 2, 1, 3, 3, 2, 3])
  }

  @Test func whatTheSettingsDoNotKnowIsRefused() throws {
    var settings = Self.world(1)
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    settings.setConversation("r", ConversationSettings(kind: .room))
    let member = { (conversation: Identifier, user: Identifier, present: PresentFields) in
      ReplayEvent.change(
        SettingsChange(
          at: Self.at(1), .member(user, of: conversation, MemberSettings(), present)))
    }
    let rows: [(ReplayEvent, FileProblem.Problem)] = [
      (Self.message(1, in: "x"), .unknownConversation("x")),
      (Self.online(1, "x", true), .unknownConversation("x")),
      (
        member("t", "x", PresentFields()),
        .notInParent(user: "x", parent: "g")
      ),
      (
        member("t", "u0", PresentFields(since: true)),
        .sinceInThread("t")
      ),
      (
        member("g", "u0", PresentFields(channels: true)),
        .channelsOutsideUltraGroup("g")
      ),
      (
        .change(
          SettingsChange(
            at: Self.at(1),
            .conversation("n", ConversationSettings(kind: .thread, parent: "x")))),
        .parentMissing("x")
      ),
      (
        .change(
          SettingsChange(
            at: Self.at(1),
            .conversation("n", ConversationSettings(kind: .thread, parent: "r")))),
        .parentNotGroup("r")
      ),
    ]
    let replayer = try Replayer(try Fanout(settings, threads: 1))
    var problems: [FileProblem.Problem?] = []
    for (event, _) in rows {
      do throws(FileProblem.Problem) {
        try replayer.add(event)
        problems.append(nil)
      } catch {
        problems.append(error)
      }
    }
    #expect(problems == rows.map(\.1))
    try replayer.add(Self.message(2))
    let result = replayer.finish()
    #expect([result.messages, result.conversations, result.users] == [1, 1, 1])
  }

  @Test func noChangeMakesAWorldThatNoFileMaySay() throws {
    var settings = Self.world(1)
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    settings.setMember("late", of: "h", MemberSettings(since: Self.at(20)))
    settings.setMember("x", of: "k")
    let rows: [(Identifier, ConversationSettings, FileProblem.Problem?)] = [
      ("g", ConversationSettings(kind: .room), .parentOfThread("g", thread: "t")),
      (
        "g", ConversationSettings(kind: .thread, parent: "h"), .parentOfThread("g", thread: "t")
      ),
      ("g", ConversationSettings(kind: .thread, parent: "g"), .parentNotGroup("g")),
      (
        "h", ConversationSettings(kind: .thread, parent: "g"),
        .memberInTheWay(
          user: "late", why: "\(FileProblem.Problem.sinceInThread("h"))")
      ),
      (
        "k", ConversationSettings(kind: .thread, parent: "g"),
        .memberInTheWay(
          user: "x", why: "\(FileProblem.Problem.notInParent(user: "x", parent: "g"))")
      ),
      ("g", ConversationSettings(), nil), ("h", ConversationSettings(kind: .room), nil),
      ("t", ConversationSettings(), nil), ("g", ConversationSettings(kind: .room), nil),
    ]
    #expect(Self.problems(settings, rows) == rows.map(\.2))
    var ultra = FanoutSettings(app: AppSettings(rules: .rongcloud))
    ultra.setConversation("u", ConversationSettings(kind: .ultraGroup))
    ultra.setMember("x", of: "u", MemberSettings(channels: ["c": .all]))
    let changes: [(Identifier, ConversationSettings, FileProblem.Problem?)] = [
      (
        "u", ConversationSettings(),
        .memberInTheWay(
          user: "x", why: "\(FileProblem.Problem.channelsOutsideUltraGroup("u"))")
      ),
      ("u", ConversationSettings(kind: .ultraGroup, level: .all), nil),
    ]
    #expect(Self.problems(ultra, changes) == changes.map(\.2))
  }

  /// What is wrong with each of the changes of conversations, which come one after the other.
  private static func problems(
    _ settings: FanoutSettings,
    _ rows: [(Identifier, ConversationSettings, FileProblem.Problem?)]
  ) -> [FileProblem.Problem?] {
    guard let replayer = try? Replayer(Fanout(settings, threads: 1)) else { return [] }
    return rows.map { id, conversation, _ in
      let change = SettingsChange(at: at(1), .conversation(id, conversation))
      do throws(FileProblem.Problem) { try replayer.add(.change(change)) } catch { return error }
      return nil
    }
  }

  // MARK: Holding

  private static func quiet(_ start: Int, _ end: Int) throws -> QuietHours {
    .interval(try QuietInterval(startHour: start, startMinute: 0, endHour: end, endMinute: 0))
  }

  @Test func theMorningPeak() throws {
    // u0 and u1 sleep until 8, u2 until 7, u3 all day; u4 is muted until 7:30 but quiet until 9.
    var settings = Self.world(5)
    for (user, end) in [("u0", 8), ("u1", 8), ("u2", 7), ("u3", 22), ("u4", 9)] {
      let quiet = try Self.quiet(22, end)
      settings.updateUser(Identifier(user)) { $0.quietHours = quiet }
    }
    settings.setMember("u4", of: "g", MemberSettings(mutedUntil: Self.at(7, 30)))
    let result = try Self.replay(
      settings, [Self.message(2), Self.message(2, 10), Self.message(7), Self.message(23)],
      holds: true)
    let hold = try #require(result.hold)
    // At 2:00 and 2:10 all five are quiet; at 7:00 u2 is not; at 23:00 all again.
    #expect(hold.never == 4)
    #expect(hold.held == 4 + 4 + 3 + 4)
    let times = [Self.at(2), Self.at(2, 10), Self.at(7), Self.at(8), Self.at(9), Self.at(23)]
    let next = times + [31, 32, 33].map { Self.at($0) }
    let minutes = try #require(hold.minutes)
    #expect(minutes.at == next.map(\.milliseconds))
    #expect(minutes.held == [4, 4, 3, 0, 0, 4, 0, 0, 0])
    #expect(minutes.released == [0, 0, 2, 6, 3, 0, 1, 2, 1])
    #expect(minutes.waiting == [4, 8, 9, 3, 0, 4, 3, 1, 0])
    #expect(hold.releasePeak == HoldPeak(at: Self.at(8).milliseconds, count: 6))
    #expect(hold.waitingPeak == HoldPeak(at: Self.at(7).milliseconds, count: 9))
    #expect(hold.peakDay.at == next.prefix(6).map(\.milliseconds))
    #expect(hold.outcomes.map(\.reason) == ["quietHours"])
  }

  @Test func nothingIsReleasedOnceItHasExpired() throws {
    var settings = Self.world(1)
    settings.setMember("u0", of: "g", MemberSettings(mutedUntil: Self.at(30)))
    let events = [Self.message(5, 59), Self.message(6), Self.message(6, 1)]
    let day = try #require(try Self.replay(settings, events, holds: true).hold)
    // E-69: exactly a day old is not yet expired.
    #expect([day.held, day.never] == [2, 1])
    settings.app.easemob.expireSeconds = 3600
    let hour = try #require(try Self.replay(settings, events, holds: true).hold)
    #expect([hour.held, hour.never] == [0, 3])
  }

  // MARK: Sums

  @Test func minutesAreListedUpToALimit() throws {
    var options = ReplayOptions()
    options.minuteLimit = 2
    let events = [Self.message(1), Self.message(1, 1), Self.message(1, 1), Self.message(25)]
    let replayer = try Replayer(try Fanout(Self.world(1), threads: 1), options)
    for event in events { try replayer.add(event) }
    let result = replayer.finish()
    #expect(result.minutes == nil)
    #expect(result.peakDay.at == [Self.at(1), Self.at(1, 1)].map(\.milliseconds))
    #expect(result.peakDay.pushes == [1, 2])
    #expect(result.hours.at == [Self.at(1), Self.at(25)].map(\.milliseconds))
    let week = result.week.filter { $0.messages > 0 }.map { [$0.weekday, $0.hour, $0.messages] }
    #expect(week == [[1, 1, 3], [2, 1, 1]])
  }

  /// 1970-01-01T00:30Z and an hour later are Wednesday in New York, Thursday in Tokyo.
  @Test func theFirstHoursOf1970() throws {
    let events = [1_800_000, 5_400_000, 5 * 3_600_000].map { at in
      ReplayEvent.message(Message(id: "m", conversation: "g", at: Instant(milliseconds: at)))
    }
    let found = try ["America/New_York", "UTC", "Asia/Tokyo", "Africa/Monrovia"].map { zone in
      var options = ReplayOptions()
      options.timeZone = zone
      let replayer = try Replayer(try Fanout(Self.world(1), threads: 1), options)
      for event in events { try replayer.add(event) }
      return replayer.finish().week.filter { $0.messages > 0 }
        .map { "\($0.weekday) \($0.hour) \($0.messages)" }
    }
    #expect(
      found == [
        ["3 19 1", "3 20 1", "4 0 1"], ["4 0 1", "4 1 1", "4 5 1"], ["4 9 1", "4 10 1", "4 14 1"],
        ["3 23 1", "4 0 1", "4 4 1"],
      ])
  }

  @Test func withoutMessagesThereIsNothing() throws {
    let result = try Self.replay(Self.world(1), [], holds: true)
    #expect([result.messages, result.decisions, result.conversations] == [0, 0, 0])
    #expect(result.first == nil && result.peaks.isEmpty && result.week.count == 168)
    #expect(result.hold?.held == 0)
  }

  @Test func aZoneMustBeKnown() throws {
    var options = ReplayOptions()
    options.timeZone = "Nowhere"
    let fanout = try Fanout(Self.world(1), threads: 1)
    #expect(throws: FanoutError.unknownTimeZone("Nowhere")) { try Replayer(fanout, options) }
  }
}
