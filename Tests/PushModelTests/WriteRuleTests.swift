import PushModel
import Testing

@Suite struct EasemobWriteTests {
  let now = Instant(milliseconds: 1_717_387_200_000)

  @Test func anAbsentFieldStays() throws {  // E-2
    var user = UserSettings()
    user.level = .mention
    user.mutedUntil = Instant(milliseconds: 5)
    user.quietHours = .interval(
      try QuietInterval(startHour: 22, startMinute: 0, endHour: 8, endMinute: 0))
    let before = user
    try SilentModeWrite().apply(to: &user, now: now)
    #expect(user == before)

    try SilentModeWrite(level: .blocked).apply(to: &user, now: now)
    #expect(user.level == .blocked)
    #expect(user.mutedUntil == before.mutedUntil)
    #expect(user.quietHours == before.quietHours)
  }

  @Test func defaultIsUnset() throws {  // E-3
    var user = UserSettings()
    user.level = .blocked
    try SilentModeWrite(level: .unset).apply(to: &user, now: now)
    #expect(!user.level.isSet)
    var member = MemberSettings(level: .blocked)
    #expect(try SilentModeWrite(level: .unset).apply(to: &member, now: now) == [])
    #expect(!member.level.isSet)
  }

  @Test func aConversationHasNoQuietHours() throws {  // E-4
    let interval = try QuietInterval(startHour: 8, startMinute: 0, endHour: 10, endMinute: 0)
    var member = MemberSettings()
    let ignored = try SilentModeWrite(level: .all, interval: .set(interval))
      .apply(to: &member, now: now)
    #expect(ignored == [.quietHours])
    #expect(member == MemberSettings(level: .all))
  }

  @Test func aNewWindowReplacesTheOldOne() throws {  // E-4
    var user = UserSettings()
    let first = try QuietInterval(startHour: 8, startMinute: 0, endHour: 10, endMinute: 0)
    let second = try QuietInterval(startHour: 22, startMinute: 30, endHour: 7, endMinute: 15)
    try SilentModeWrite(interval: .set(first)).apply(to: &user, now: now)
    try SilentModeWrite(interval: .set(second)).apply(to: &user, now: now)
    #expect(user.quietHours == .interval(second))
    try SilentModeWrite(interval: .remove).apply(to: &user, now: now)
    #expect(user.quietHours == nil)
  }

  @Test func durationsHaveARange() throws {  // E-5
    for minutes: Int64 in [0, 1, 10_080] {
      #expect(try MuteDuration(minutes: minutes).milliseconds == minutes * 60_000)
    }
    for minutes: Int64 in [-1, 10_081] {
      #expect(throws: SettingsWriteError.durationMinutesOutOfRange(minutes)) {
        try MuteDuration(minutes: minutes)
      }
    }
    for milliseconds: Int64 in [0, 1, 604_800_000] {
      #expect(try MuteDuration(milliseconds: milliseconds).milliseconds == milliseconds)
    }
    for milliseconds: Int64 in [-1, 604_800_001] {
      #expect(throws: SettingsWriteError.durationMillisecondsOutOfRange(milliseconds)) {
        try MuteDuration(milliseconds: milliseconds)
      }
    }
  }

  @Test func aDurationIsStoredAsItsExpiryAndStartsAgain() throws {  // E-5, E-6
    var user = UserSettings()
    try SilentModeWrite(duration: MuteDuration(minutes: 240)).apply(to: &user, now: now)
    #expect(user.mutedUntil.milliseconds == now.milliseconds + 240 * 60_000)
    let later = Instant(milliseconds: now.milliseconds + 60_000)
    try SilentModeWrite(duration: MuteDuration(minutes: 60)).apply(to: &user, now: later)
    #expect(user.mutedUntil.milliseconds == later.milliseconds + 60 * 60_000)
    try SilentModeWrite(duration: MuteDuration(minutes: 0)).apply(to: &user, now: later)
    #expect(user.mutedUntil == .zero)
  }

  @Test func aLevelOfRongCloudChangesNothing() throws {
    var user = UserSettings()
    #expect(throws: SettingsWriteError.levelNotAvailable(.mentionUsers, .easemob)) {
      try SilentModeWrite(level: .mentionUsers, duration: MuteDuration(minutes: 5))
        .apply(to: &user, now: now)
    }
    #expect(user == UserSettings())
  }

  @Test func batchedReads() throws {  // E-10
    try BatchedRead.check(conversationCount: 20)
    #expect(throws: SettingsWriteError.tooManyConversations(21)) {
      try BatchedRead.check(conversationCount: 21)
    }
    #expect(MemberSettings().isLeftOutOfBatchedRead(at: now))
    #expect(MemberSettings(mutedUntil: now).isLeftOutOfBatchedRead(at: now))
    #expect(!MemberSettings(level: .all).isLeftOutOfBatchedRead(at: now))
    let running = MemberSettings(mutedUntil: Instant(milliseconds: now.milliseconds + 1))
    #expect(!running.isLeftOutOfBatchedRead(at: now))
  }

  @Test func clearingTheLevelKeepsTheDuration() {  // E-11
    var member = MemberSettings(level: .blocked, mutedUntil: now)
    member.clearLevel()
    #expect(member == MemberSettings(mutedUntil: now))
  }

  @Test func legacySettings() throws {  // E-15
    let interval = try QuietInterval.legacy(noDisturbingStart: 22, noDisturbingEnd: 7)
    #expect(interval == (try QuietInterval.parse(start: "22:00", end: "7:0")))
    let hours = try [(0, 24), (24, 24), (22, 24), (24, 7), (0, 0), (9, 9)].map {
      let interval = try QuietInterval.legacy(noDisturbingStart: $0.0, noDisturbingEnd: $0.1)
      return [interval.startMinute / 60, interval.endMinute / 60]
    }
    #expect(hours == [[12, 12], [12, 12], [22, 0], [0, 7], [0, 0], [9, 9]])
    for (start, end, wrong) in [(25, 7, 25), (7, 25, 25), (-1, 7, -1)] {
      #expect(throws: SettingsWriteError.legacyHourOutOfRange(wrong)) {
        try QuietInterval.legacy(noDisturbingStart: start, noDisturbingEnd: end)
      }
    }
    #expect(MemberSettings.legacyNoPush.level == .blocked)
  }

  @Test func clockTimes() throws {  // E-4
    #expect(
      try QuietInterval.parse(start: "8:0", end: "10:5")
        == QuietInterval.parse(start: "08:00", end: "10:05"))
    #expect(try QuietInterval.parse(start: "", end: "") == nil)
    #expect(throws: SettingsWriteError.halfSetInterval) {
      try QuietInterval.parse(start: "8:0", end: "")
    }
    #expect(throws: SettingsWriteError.hourOutOfRange(24)) {
      try QuietInterval.parse(start: "24:00", end: "8:00")
    }
    #expect(throws: SettingsWriteError.minuteOutOfRange(60)) {
      try QuietInterval.parse(start: "8:00", end: "9:60")
    }
    for text in ["8", "8:00:00", "008:00", "8:000", "8:", ":8", "-8:00", " 8:00", "８:00", "8.00"] {
      #expect(throws: SettingsWriteError.malformedTime(text, expected: "H:M")) {
        try QuietInterval.parse(start: text, end: "9:00")
      }
    }
  }
}

@Suite struct RongCloudWriteTests {
  @Test func numbers() throws {
    let levels: [(Int64, NotificationLevel)] = [
      (-1, .all), (0, .unset), (1, .mention), (2, .mentionUsers), (4, .mentionAll), (5, .blocked),
    ]
    for (number, level) in levels {
      #expect(try NotificationLevel(rongCloudNumber: number) == level)
      #expect(NotificationLevel.read(rongCloudNumber: number) == level)
      #expect(level.rongCloudNumber == number)
    }
    for number: Int64 in [-2, 3, 6, .max, .min] {
      #expect(throws: SettingsWriteError.unknownLevel(number)) {
        try NotificationLevel(rongCloudNumber: number)
      }
      #expect(NotificationLevel.read(rongCloudNumber: number) == .unset)
    }
  }

  @Test func quietHours() throws {
    var user = UserSettings()
    for span in [1, 1439] {
      try user.setQuietHours(start: "22:00:30", spanMinutes: span, level: .blocked)
      let expected = try QuietSpan(
        hour: 22, minute: 0, second: 30, spanMinutes: span, level: .blocked)
      #expect(user.quietHours == .span(expected))
    }
    let before = user
    for span in [-1, 1440] {
      #expect(throws: SettingsWriteError.spanOutOfRange(span)) {
        try user.setQuietHours(start: "22:00:30", spanMinutes: span, level: .blocked)
      }
    }
    #expect(throws: SettingsWriteError.secondOutOfRange(60)) {
      try user.setQuietHours(start: "22:00:60", spanMinutes: 60, level: .blocked)
    }
    #expect(throws: SettingsWriteError.malformedTime("22:00", expected: "HH:MM:SS")) {
      try user.setQuietHours(start: "22:00", spanMinutes: 60, level: .blocked)
    }
    #expect(throws: SettingsWriteError.malformedTime("2:00:00", expected: "HH:MM:SS")) {
      try user.setQuietHours(start: "2:00:00", spanMinutes: 60, level: .blocked)
    }
    for level in [NotificationLevel.all, .mentionUsers, .mentionAll] {
      #expect(throws: SettingsWriteError.quietLevel(level)) {
        try user.setQuietHours(start: "22:00:00", spanMinutes: 60, level: level)
      }
    }
    #expect(user == before)
    try user.setQuietHours(start: "22:00:00", spanMinutes: 0, level: .blocked)
    #expect(user.quietHours == nil)
  }

  @Test func removing() throws {
    #expect(NotificationLevel.removed.rongCloudNumber == 0)
    var user = UserSettings()
    try user.setQuietHours(start: "22:00:00", spanMinutes: 5, level: .mention)
    user.removeQuietHours()
    #expect(user.quietHours == nil)
  }

  @Test func legacyStates() {
    #expect(LegacyNotificationState.doNotDisturb.level.rongCloudNumber == 5)
    #expect(LegacyNotificationState.notify.level.rongCloudNumber == -1)
    let read = NotificationLevel.ofVendors.map { LegacyNotificationState(reading: $0) }
    #expect(
      read == [.notify, .notify, .doNotDisturb, .doNotDisturb, .doNotDisturb, .doNotDisturb])
  }
}
