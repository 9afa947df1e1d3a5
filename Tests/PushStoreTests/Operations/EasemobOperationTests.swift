import PushFanout
import PushModel
import PushStore
import Testing

/// Goal: Easemob's operations do what its clients may expect, E-1 to E-15.
@Suite struct EasemobOperationTests {
  typealias World = OperationWorld
  static let noon = OperationWorld.noon

  static func mode(
    _ level: NotificationLevel? = nil, minutes: Int64? = nil,
    quiet: SilentModeWrite.IntervalChange? = nil
  ) throws -> SilentModeWrite {
    SilentModeWrite(
      level: level, duration: try minutes.map { try MuteDuration(minutes: $0) }, interval: quiet)
  }

  static func interval(_ start: String, _ end: String) throws -> QuietInterval {
    try #require(try QuietInterval.parse(start: start, end: end))
  }

  /// E-2: an absent field stays; E-6: the expiry is absolute.
  @Test func aWriteToTheAppMerges() throws {
    try withWorld(.easemob) { world in
      let night = try Self.interval("22:00", "8:0")
      let first = try Self.mode(.mention, minutes: 240, quiet: .set(night))
      try world.expect([.userLevel, .userMute, .quietHours]) {
        try $0.setSilentMode(first, of: "u")
      }
      let until = Self.noon.after(minutes: 240)
      #expect(
        try world.store.silentMode(of: "u")
          == SilentMode(level: .mention, mutedUntil: until, interval: night))
      #expect(world.outcome(in: "group") == "none/muted/app")
      #expect(world.outcome(in: "group", at: until) == "none/notMentioned/app")

      let second = try Self.mode(.blocked)
      try world.expect([.userLevel]) { try $0.setSilentMode(second, of: "u") }
      let third = try Self.mode(quiet: .remove)
      try world.expect([.quietHours]) { try $0.setSilentMode(third, of: "u") }
      #expect(
        try world.store.silentMode(of: "u") == SilentMode(level: .blocked, mutedUntil: until))
    }
  }

  /// A write that changes nothing is acknowledged and leaves no entry.
  @Test func nothingChangedIsNotAnnounced() throws {
    try withWorld(.easemob) { world in
      let mode = try Self.mode(.mention, minutes: 10, quiet: .set(try Self.interval("1:0", "2:0")))
      try world.changes { try $0.setSilentMode(mode, of: "u") }
      try world.expect([]) { try $0.setSilentMode(mode, of: "u") }
      // E-5: a duration restarts from now, which is a change of its end.
      try world.expect([.userMute], at: Self.noon.after(minutes: 1)) {
        try $0.setSilentMode(mode, of: "u")
      }
      let empty = SilentModeWrite()
      try world.expect([]) { try $0.setSilentMode(empty, of: "never seen") }
      #expect(world.store.fanout.user("never seen") == nil)
      try world.changes { try $0.setSilentMode(mode, of: "never seen") }
      #expect(world.store.fanout.user("never seen")?.level == .mention)
    }
  }

  /// E-1, E-3, E-22: a conversation's own settings, and DEFAULT, which is unset.
  @Test func aConversationHasItsOwn() throws {
    try withWorld(.easemob) { world in
      let (app, own) = (try Self.mode(.blocked), try Self.mode(.all, minutes: 5))
      try world.changes { try $0.setSilentMode(app, of: "u") }
      try world.expect([.memberLevel, .memberMute]) {
        _ = try $0.setSilentMode(own, of: "u", in: "group")
      }
      #expect(world.outcome(in: "group") == "none/muted/conversation")
      let end = Self.noon.after(minutes: 5)
      #expect(world.outcome(in: "group", at: end) == "push/allowed/conversation")
      #expect(
        try world.store.silentMode(of: "u", in: "group")
          == SilentMode(conversation: "group", level: .all, mutedUntil: end))

      let unset = try Self.mode(.unset)
      try world.changes { _ = try $0.setSilentMode(unset, of: "u", in: "group") }
      #expect(world.outcome(in: "group", at: end) == "none/levelNone/app")
      try world.changes { try $0.setSilentMode(unset, of: "u") }
      #expect(world.outcome(in: "group", at: end) == "push/allowed/default")
    }
  }

  /// E-4: quiet hours of a conversation are ignored, and the rest of the write is done.
  @Test func quietHoursOfAConversationAreIgnored() throws {
    try withWorld(.easemob) { world in
      let mode = try Self.mode(.mention, quiet: .set(try Self.interval("0:0", "12:0")))
      let ignored = try world.store.write(at: Self.noon) {
        try $0.setSilentMode(mode, of: "u", in: "private")
      }
      #expect(ignored == [.quietHours])
      #expect(try world.store.silentMode(of: "u", in: "private").interval == nil)
      #expect(try world.store.silentMode(of: "u", in: "private").level == .mention)
      #expect(try world.store.silentMode(of: "u") == SilentMode())
    }
  }

  /// E-5: 0 through 10,080 minutes; 0 is no duration.
  @Test(arguments: [(0 as Int64, false), (1, true), (10_080, true)])
  func durations(minutes: Int64, isMuted: Bool) throws {
    try withWorld(.easemob) { world in
      let (before, mode) = (try Self.mode(minutes: 60), try Self.mode(minutes: minutes))
      try world.changes { try $0.setSilentMode(before, of: "u") }
      try world.expect([.userMute]) { try $0.setSilentMode(mode, of: "u") }
      let until = isMuted ? Self.noon.after(minutes: minutes) : .zero
      #expect(try world.store.silentMode(of: "u").mutedUntil == until)
      #expect(
        world.outcome(in: "group") == (isMuted ? "none/muted/app" : "push/allowed/default"))
    }
  }

  /// E-3, E-4, E-5, E-31, E-32: what is refused leaves all as it was.
  @Test func refusals() throws {
    try withWorld(.easemob) { world in
      try world.refuses(SettingsWriteError.durationMinutesOutOfRange(10_081)) {
        try $0.setSilentMode(try Self.mode(.all, minutes: 10_081), of: "u")
      }
      try world.refuses(SettingsWriteError.durationMinutesOutOfRange(-1)) {
        _ = try $0.setSilentMode(try Self.mode(.all, minutes: -1), of: "u", in: "group")
      }
      try world.refuses(SettingsWriteError.levelNotAvailable(.mentionAll, .easemob)) {
        try $0.setSilentMode(try Self.mode(.mentionAll, minutes: 5), of: "u")
      }
      try world.refuses(SettingsWriteError.levelNotAvailable(.mentionUsers, .easemob)) {
        _ = try $0.setSilentMode(try Self.mode(.mentionUsers, minutes: 5), of: "u", in: "group")
      }
      try world.refuses(SettingsWriteError.halfSetInterval) {
        let half = try QuietInterval.parse(start: "22:00", end: "").map {
          SilentModeWrite.IntervalChange.set($0)
        }
        try $0.setSilentMode(SilentModeWrite(level: .all, interval: half), of: "u")
      }
      try world.refuses(SettingsWriteError.legacyHourOutOfRange(25)) {
        try $0.setLegacyNoDisturbing(startHour: 22, endHour: 25, of: "u")
      }
      try world.refuses(StoreError.idLength(0)) {
        try $0.setSilentMode(SilentModeWrite(), of: "")
      }
      try world.refuses(StoreError.unknownTimeZone("Mars/Base")) {
        try $0.setTimeZone("Mars/Base", of: "u")
      }
    }
  }

  /// E-31: start = end is all day; E-32: 0:0-0:0 is off, and is stored all the same.
  @Test func equalEnds() throws {
    try withWorld(.easemob) { world in
      let always = try Self.mode(quiet: .set(try Self.interval("9:30", "09:30")))
      let zero = try Self.mode(quiet: .set(try Self.interval("0:0", "0:0")))
      try world.changes { try $0.setSilentMode(always, of: "u") }
      #expect(world.outcome(in: "group") == "none/quietHours/app")
      try world.changes { try $0.setSilentMode(zero, of: "u") }
      #expect(world.outcome(in: "group") == "push/allowed/default")
      #expect(try world.store.silentMode(of: "u").interval == Self.interval("0:0", "0:0"))
    }
  }

  /// E-36: the window follows the user's own zone.
  @Test func timeZones() throws {
    try withWorld(.easemob) { world in
      let mode = try Self.mode(quiet: .set(try Self.interval("20:00", "21:00")))
      try world.changes { try $0.setSilentMode(mode, of: "u") }
      #expect(world.outcome(in: "group") == "push/allowed/default")
      try world.expect([.quietHours]) { try $0.setTimeZone("Asia/Shanghai", of: "u") }
      #expect(world.outcome(in: "group") == "none/quietHours/app")
      try world.expect([]) { try $0.setTimeZone("Asia/Shanghai", of: "u") }
      try world.expect([.quietHours]) { try $0.setTimeZone(nil, of: "u") }
    }
  }

  /// E-11: the level goes, a running duration stays.
  @Test func clearing() throws {
    try withWorld(.easemob) { world in
      let mode = try Self.mode(.all, minutes: 5)
      try world.changes { _ = try $0.setSilentMode(mode, of: "u", in: "group") }
      try world.expect([.memberLevel]) { try $0.clearLevel(of: "u", in: "group") }
      #expect(
        try world.store.silentMode(of: "u", in: "group")
          == SilentMode(conversation: "group", mutedUntil: Self.noon.after(minutes: 5)))
      try world.expect([]) { try $0.clearLevel(of: "u", in: "group") }
    }
  }

  /// E-1, and who may set something for a conversation; a thread's members are its parent's (E-63).
  @Test func whoMaySet() throws {
    try withWorld(.easemob) { world in
      let mode = try Self.mode(.blocked)
      let refusals: [(Identifier, Identifier, StoreError)] = [
        ("u", "room", .wrongKind("room", .room)),
        ("x", "room", .wrongKind("room", .room)),
        ("x", "group", .notAMember(user: "x", conversation: "group")),
        ("x", "private", .notAMember(user: "x", conversation: "private")),
        ("x", "thread", .notAMember(user: "x", conversation: "group")),
        ("u", "nowhere", .unknownConversation("nowhere")),
      ]
      for (user, id, error) in refusals {
        try world.refuses(error) { _ = try $0.setSilentMode(mode, of: user, in: id) }
        try world.refuses(error) { try $0.clearLevel(of: user, in: id) }
        try world.refuses(error) { try $0.setLegacyNoPush(true, of: user, in: [id]) }
        world.expectError(error) { _ = try world.store.silentMode(of: user, in: id) }
      }
      // One that is refused refuses them all.
      try world.refuses(StoreError.wrongKind("room", .room)) {
        try $0.setLegacyNoPush(true, of: "u", in: ["group", "room"])
      }
    }
  }

  /// E-63: a thread's record is made by its first setting; without one it reads as empty.
  @Test func threads() throws {
    try withWorld(.easemob) { world in
      #expect(
        try world.store.silentMode(of: "u", in: "thread") == SilentMode(conversation: "thread"))
      try world.expect([]) { try $0.clearLevel(of: "u", in: "thread") }
      #expect(world.store.fanout.member("u", of: "thread") == nil)
      let mode = try Self.mode(.blocked)
      try world.expect([.memberLevel]) { _ = try $0.setSilentMode(mode, of: "u", in: "thread") }
      #expect(world.outcome(in: "thread") == "none/levelNone/conversation")
      #expect(world.outcome(in: "group") == "push/allowed/default")
    }
  }

  /// E-10: 20 are read and 21 are not; who inherits or has expired is left out.
  @Test func batchedReads() throws {
    try withWorld(.easemob) { world in
      let (level, mute) = (try Self.mode(.all), try Self.mode(minutes: 5))
      try world.changes {
        _ = try $0.setSilentMode(level, of: "u", in: "group")
        _ = try $0.setSilentMode(mute, of: "u", in: "private")
      }
      let end = Self.noon.after(minutes: 5)
      let asked: [Identifier] = ["private", "thread", "nowhere", "room", "group"]
      let muted = SilentMode(conversation: "private", mutedUntil: end)
      let all = SilentMode(conversation: "group", level: .all)
      let last = Instant(milliseconds: end.milliseconds - 1)
      #expect(try world.store.silentModes(of: "u", in: asked, at: last) == [muted, all])
      // E-35: at that instant it is over.
      #expect(try world.store.silentModes(of: "u", in: asked, at: end) == [all])
      #expect(try world.store.silentModes(of: "x", in: asked, at: end) == [])
      // E-6: a single read says what is stored.
      #expect(try world.store.silentMode(of: "u", in: "private") == muted)

      let many = [Identifier](repeating: "group", count: 21)
      #expect(
        try world.store.silentModes(of: "u", in: Array(many.dropLast()), at: end).count == 20)
      world.expectError(SettingsWriteError.tooManyConversations(21)) {
        _ = try world.store.silentModes(of: "u", in: many, at: end)
      }
    }
  }

  /// E-15: what older clients wrote.
  @Test func legacy() throws {
    try withWorld(.easemob) { world in
      try world.changes { try $0.setLegacyNoDisturbing(startHour: 22, endHour: 8, of: "u") }
      #expect(try world.store.silentMode(of: "u").interval == Self.interval("22:0", "8:0"))
      try world.expect([.memberLevel, .memberLevel]) {
        try $0.setLegacyNoPush(true, of: "u", in: ["group", "private"])
      }
      #expect(try world.store.silentMode(of: "u", in: "private").level == .blocked)
      let all = try Self.mode(.all)
      try world.changes { _ = try $0.setSilentMode(all, of: "u", in: "private") }
      try world.expect([.memberLevel]) {
        try $0.setLegacyNoPush(false, of: "u", in: ["group", "private"])
      }
      #expect(try world.store.silentMode(of: "u", in: "group").level == .unset)
      #expect(try world.store.silentMode(of: "u", in: "private").level == .all)
    }
  }

  @Test func theOtherVendorHasNoneOfThem() throws {
    try withWorld(.rongcloud) { world in
      let error = StoreError.otherRules(.rongcloud)
      try world.refuses(error) { try $0.setSilentMode(SilentModeWrite(level: .all), of: "u") }
      try world.refuses(error) {
        _ = try $0.setSilentMode(SilentModeWrite(level: .all), of: "u", in: "group")
      }
      try world.refuses(error) { try $0.clearLevel(of: "u", in: "group") }
      try world.refuses(error) { try $0.setLegacyNoPush(true, of: "u", in: ["group"]) }
      try world.refuses(error) { try $0.setLegacyNoDisturbing(startHour: 1, endHour: 2, of: "u") }
      world.expectError(error) { _ = try world.store.silentMode(of: "u") }
      world.expectError(error) { _ = try world.store.silentMode(of: "u", in: "group") }
      world.expectError(error) { _ = try world.store.silentModes(of: "u", in: [], at: .zero) }
    }
  }
}
