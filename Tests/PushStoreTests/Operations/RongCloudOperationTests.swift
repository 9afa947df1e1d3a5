import PushFanout
import PushModel
import PushStore
import Testing

/// Goal: RongCloud's operations do what its clients may expect, R-2 to R-36.
@Suite struct RongCloudOperationTests {
  static let noon = OperationWorld.noon

  /// levels by scope, and each read says its own.
  @Test func levelsByScope() throws {
    try withWorld(.rongcloud) { world in
      try world.expect([.app]) { try $0.setAppKeyLevel(.blocked) }
      #expect(world.outcome(in: "group") == "none/levelNone/appKey")
      try world.expect([.typeLevel]) {
        try $0.setNotificationLevel(.mention, of: "u", forType: .group)
      }
      #expect(world.outcome(in: "group") == "none/notMentioned/type")
      try world.expect([.memberLevel]) { try $0.setNotificationLevel(.all, of: "u", in: "group") }
      #expect(world.outcome(in: "group") == "push/allowed/conversation")
      let appKey = try world.store.appKeyLevel()
      #expect(appKey == .blocked)
      #expect(try world.store.notificationLevel(of: "u", forType: .group) == .mention)
      #expect(try world.store.notificationLevel(of: "u", forType: .private) == .unset)
      #expect(try world.store.notificationLevel(of: "u", in: "group") == .all)
      #expect(try world.store.notificationLevel(of: "v", in: "group") == .unset)
    }
  }

  /// removing is writing 0, after which the next scope decides.
  @Test func removing() throws {
    try withWorld(.rongcloud) { world in
      try world.changes {
        try $0.setNotificationLevel(.all, of: "u", in: "group")
        try $0.setNotificationLevel(.blocked, of: "u", forType: .group)
      }
      try world.expect([.memberLevel]) {
        try $0.setNotificationLevel(.removed, of: "u", in: "group")
      }
      #expect(world.outcome(in: "group") == "none/levelNone/type")
      try world.expect([.typeLevel]) {
        try $0.setNotificationLevel(.removed, of: "u", forType: .group)
      }
      #expect(world.outcome(in: "group") == "push/allowed/default")
      try world.expect([]) {
        try $0.setNotificationLevel(.removed, of: "u", in: "group")
        try $0.setNotificationLevel(.removed, of: "never seen", forType: .group)
        try $0.setAppKeyLevel(.unset)
        try $0.setDefaultLevel(.unset, ofUltraGroup: "ultraGroup")
        try $0.setDefaultLevel(.unset, ofUltraGroup: "ultraGroup", channel: "c")
      }
    }
  }

  /// an ultra group's channels and defaults.
  @Test func ultraGroups() throws {
    try withWorld(.rongcloud) { world in
      let (group, channel): (Identifier, Identifier) = ("ultraGroup", "c")
      try world.expect([.groupDefault]) { try $0.setDefaultLevel(.blocked, ofUltraGroup: group) }
      #expect(world.outcome(in: group, channel: channel) == "none/levelNone/groupDefault")
      try world.expect([.channelDefault]) {
        try $0.setDefaultLevel(.all, ofUltraGroup: group, channel: channel)
      }
      #expect(world.outcome(in: group, channel: channel) == "push/allowed/channelDefault")
      try world.changes { try $0.setNotificationLevel(.blocked, of: "u", in: group) }
      #expect(world.outcome(in: group, channel: channel) == "none/levelNone/conversation")
      try world.expect([.channelLevel]) {
        try $0.setNotificationLevel(.all, of: "u", in: group, channel: channel)
      }
      #expect(world.outcome(in: group, channel: channel) == "push/allowed/channel")
      try world.changes { try $0.setNotificationLevel(.mention, of: "u", in: group, channel: "") }
      #expect(world.outcome(in: group) == "none/notMentioned/channel")

      let store = world.store
      #expect(try store.defaultLevel(ofUltraGroup: group) == .blocked)
      #expect(try store.defaultLevel(ofUltraGroup: group, channel: channel) == .all)
      #expect(try store.defaultLevel(ofUltraGroup: group, channel: "d") == .unset)
      #expect(try store.notificationLevel(of: "u", in: group, channel: channel) == .all)
      #expect(try store.notificationLevel(of: "u", in: group, channel: "") == .mention)
      #expect(try store.notificationLevel(of: "v", in: group, channel: channel) == .unset)
      let events = try store.changes().filter { $0.channel != nil }
      #expect(events.map(\.channel) == [channel, channel, ""])

      try world.changes {
        try $0.setNotificationLevel(.removed, of: "u", in: group, channel: channel)
        try $0.setDefaultLevel(.removed, ofUltraGroup: group, channel: channel)
      }
      #expect(store.fanout.member("u", of: group)?.channels == ["": .mention])
      #expect(store.fanout.conversation(group)?.channels == [:])
    }
  }

  /// and who may set something for a conversation.
  @Test func refusals() throws {
    try withWorld(.rongcloud) { world in
      try world.refuses(StoreError.wrongKind("group", .group)) {
        try $0.setNotificationLevel(.all, of: "u", in: "group", channel: "c")
      }
      try world.refuses(StoreError.wrongKind("private", .private)) {
        try $0.setDefaultLevel(.all, ofUltraGroup: "private")
      }
      try world.refuses(StoreError.wrongKind("group", .group)) {
        try $0.setDefaultLevel(.all, ofUltraGroup: "group", channel: "c")
      }
      try world.refuses(StoreError.unknownConversation("nowhere")) {
        try $0.setDefaultLevel(.all, ofUltraGroup: "nowhere", channel: "c")
      }
      try world.refuses(StoreError.wrongKind("room", .room)) {
        try $0.setNotificationLevel(.all, of: "u", in: "room")
      }
      try world.refuses(StoreError.notAMember(user: "x", conversation: "group")) {
        try $0.setNotificationLevel(.all, of: "x", in: "group")
      }
      try world.refuses(StoreError.notAMember(user: "x", conversation: "ultraGroup")) {
        try $0.setNotificationLevel(.all, of: "x", in: "ultraGroup", channel: "c")
      }
      try world.refuses(StoreError.notAMember(user: "x", conversation: "private")) {
        try $0.setLegacyState(.notify, of: "x", in: "private")
      }
      try world.refuses(StoreError.unknownConversation("nowhere")) {
        try $0.setNotificationLevel(.all, of: "u", in: "nowhere")
      }
      try world.refuses(StoreError.unavailableKind(.thread, .rongcloud)) {
        try $0.setNotificationLevel(.all, of: "u", forType: .thread)
      }
      let long = Identifier(String(repeating: "c", count: SettingsStore.idLimit + 1))
      try world.refuses(StoreError.idLength(SettingsStore.idLimit + 1)) {
        try $0.setDefaultLevel(.all, ofUltraGroup: "ultraGroup", channel: long)
      }
      world.expectError(StoreError.notAMember(user: "x", conversation: "group")) {
        _ = try world.store.notificationLevel(of: "x", in: "group")
      }
      world.expectError(StoreError.wrongKind("group", .group)) {
        _ = try world.store.notificationLevel(of: "u", in: "group", channel: "c")
      }
      world.expectError(StoreError.wrongKind("group", .group)) {
        _ = try world.store.defaultLevel(ofUltraGroup: "group")
      }
    }
  }

  /// an unknown number is refused before anything is written.
  @Test(arguments: [3 as Int64, 6, -2, .max, .min])
  func unknownNumbers(number: Int64) throws {
    try withWorld(.rongcloud) { world in
      try world.refuses(SettingsWriteError.unknownLevel(number)) {
        try $0.setNotificationLevel(
          NotificationLevel(rongCloudNumber: number), of: "u", in: "group")
      }
    }
  }

  @Test(arguments: [(-1 as Int64, NotificationLevel.all), (0, .unset), (5, .blocked)])
  func knownNumbers(number: Int64, level: NotificationLevel) throws {
    try withWorld(.rongcloud) { world in
      try world.changes {
        try $0.setNotificationLevel(
          NotificationLevel(rongCloudNumber: number), of: "u", in: "group")
      }
      #expect(try world.store.notificationLevel(of: "u", in: "group") == level)
    }
  }

  /// spans 1 and 1,439.
  @Test(arguments: [1, 1439])
  func spans(minutes: Int) throws {
    try withWorld(.rongcloud) { world in
      let changes = try world.changes {
        try $0.setQuietHours(start: "12:00:00", spanMinutes: minutes, level: .blocked, of: "u")
      }
      #expect(changes == [.quietHours])
      #expect(try world.store.quietHours(of: "u")?.spanMinutes == Int32(minutes))
      #expect(world.outcome(in: "group") == "none/quietHours/quietHours")
    }
  }

  /// outside, nothing has changed.
  @Test(arguments: [-1, 1440])
  func spansRefused(minutes: Int) throws {
    try withWorld(.rongcloud) { world in
      try world.refuses(SettingsWriteError.spanOutOfRange(minutes)) {
        try $0.setQuietHours(start: "12:00:00", spanMinutes: minutes, level: .blocked, of: "u")
      }
    }
  }

  /// what quiet hours let through, whose zone they have, and how they are removed.
  @Test func quietHours() throws {
    try withWorld(.rongcloud) { world in
      // mentions come through, even if the conversation is blocked.
      try world.changes {
        try $0.setNotificationLevel(.blocked, of: "u", in: "group")
        try $0.setQuietHours(start: "12:00:00", spanMinutes: 60, level: .mention, of: "u")
      }
      #expect(world.outcome(in: "group", mentioning: ["u"]) == "push/allowed/quietHours")
      // the window's own zone.
      try world.changes {
        try $0.setQuietHours(
          start: "12:00:00", spanMinutes: 60, level: .mention, timeZone: "Asia/Shanghai", of: "u")
      }
      #expect(world.outcome(in: "group", mentioning: ["u"]) == "none/levelNone/conversation")
      try world.expect([.quietHours]) {
        try $0.setQuietHours(start: "12:00:00", spanMinutes: 0, level: .unset, of: "u")
      }
      #expect(try world.store.quietHours(of: "u") == nil)
      try world.expect([]) { try $0.removeQuietHours(of: "u") }
      try world.changes {
        try $0.setQuietHours(start: "00:00:00", spanMinutes: 1, level: .unset, of: "u")
      }
      try world.expect([.quietHours]) { try $0.removeQuietHours(of: "u") }
      #expect(try world.store.quietHours(of: "nobody") == nil)
    }
  }

  @Test func quietHoursRefused() throws {
    try withWorld(.rongcloud) { world in
      try world.changes {
        try $0.setQuietHours(start: "12:00:00", spanMinutes: 60, level: .mention, of: "u")
      }
      try world.refuses(SettingsWriteError.malformedTime("8:00", expected: "HH:MM:SS")) {
        try $0.setQuietHours(start: "8:00", spanMinutes: 0, level: .blocked, of: "u")
      }
      try world.refuses(SettingsWriteError.secondOutOfRange(60)) {
        try $0.setQuietHours(start: "08:00:60", spanMinutes: 5, level: .blocked, of: "u")
      }
      try world.refuses(SettingsWriteError.quietLevel(.all)) {
        try $0.setQuietHours(start: "08:00:00", spanMinutes: 5, level: .all, of: "u")
      }
      try world.refuses(StoreError.unknownTimeZone("Mars/Base")) {
        try $0.setQuietHours(
          start: "08:00:00", spanMinutes: 0, level: .blocked, timeZone: "Mars/Base", of: "u")
      }
    }
  }

  /// what clients of two states write and read.
  @Test func legacy() throws {
    try withWorld(.rongcloud) { world in
      try world.changes { try $0.setLegacyState(.doNotDisturb, of: "u", in: "group") }
      #expect(try world.store.notificationLevel(of: "u", in: "group") == .blocked)
      try world.changes { try $0.setLegacyState(.notify, of: "u", in: "group") }
      #expect(try world.store.notificationLevel(of: "u", in: "group") == .all)
      for level in NotificationLevel.ofVendors {
        try world.changes { try $0.setNotificationLevel(level, of: "u", in: "group") }
        let notifies = level == .all || level == .unset
        #expect(
          try world.store.legacyState(of: "u", in: "group")
            == (notifies ? .notify : .doNotDisturb))
      }
    }
  }

  @Test func theOtherVendorHasNoneOfThem() throws {
    try withWorld(.easemob) { world in
      let error = StoreError.otherRules(.easemob)
      try world.refuses(error) { try $0.setNotificationLevel(.all, of: "u", in: "group") }
      try world.refuses(error) {
        try $0.setNotificationLevel(.all, of: "u", in: "group", channel: "c")
      }
      try world.refuses(error) { try $0.setNotificationLevel(.all, of: "u", forType: .group) }
      try world.refuses(error) {
        try $0.setQuietHours(start: "08:00:00", spanMinutes: 5, level: .blocked, of: "u")
      }
      try world.refuses(error) { try $0.removeQuietHours(of: "u") }
      try world.refuses(error) { try $0.setDefaultLevel(.all, ofUltraGroup: "group") }
      try world.refuses(error) {
        try $0.setDefaultLevel(.all, ofUltraGroup: "group", channel: "c")
      }
      try world.refuses(error) { try $0.setAppKeyLevel(.all) }
      try world.refuses(error) { try $0.setLegacyState(.notify, of: "u", in: "group") }
      world.expectError(error) { _ = try world.store.notificationLevel(of: "u", in: "group") }
      world.expectError(error) { _ = try world.store.notificationLevel(of: "u", forType: .group) }
      world.expectError(error) { _ = try world.store.quietHours(of: "u") }
      world.expectError(error) { _ = try world.store.appKeyLevel() }
    }
  }
}
