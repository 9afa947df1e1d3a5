import PushModel
import PushStore
import Testing

/// Goal: lists hold what a user has set, and nothing that others have.
@Suite struct ListOperationTests {
  static let noon = OperationWorld.noon

  /// Status sync, in the order of conversations, with own levels only.
  @Test func conversationLevels() throws {
    try withWorld(.rongcloud) { world in
      #expect(try world.store.conversationLevels(of: "u") == [])
      #expect(try world.store.conversationLevels(of: "nobody") == [])
      try world.changes {
        try $0.setNotificationLevel(.blocked, of: "u", in: "system")
        try $0.setNotificationLevel(.blocked, of: "v", in: "discussion")
        try $0.setNotificationLevel(.mention, of: "u", in: "private")
        try $0.setNotificationLevel(.all, of: "u", in: "ultraGroup", channel: "c")
        try $0.setNotificationLevel(.all, of: "u", forType: .group)
      }
      let all = [
        ConversationLevel(conversation: "private", kind: .private, level: .mention),
        ConversationLevel(conversation: "system", kind: .system, level: .blocked),
        ConversationLevel(conversation: "ultraGroup", kind: .ultraGroup, channels: ["c": .all]),
      ]
      #expect(try world.store.conversationLevels(of: "u") == all)
      let pages = try [nil, "private", "system", "ultraGroup"].map {
        try world.store.conversationLevels(of: "u", after: $0, limit: 1)
      }
      #expect(pages == [[all[0]], [all[1]], [all[2]], []])
      world.expectError(StoreError.unknownConversation("nowhere")) {
        _ = try world.store.conversationLevels(of: "u", after: "nowhere")
      }
      try world.store.write(at: .zero) { try $0.removeMember("u", of: "system") }
      #expect(try world.store.conversationLevels(of: "u").count == 2)
    }
  }

  /// Easemob's durations; those that are over can be left out. Threads count while the user is a
  /// member of the parent, chat rooms never (E-1).
  @Test func silentModesOfAll() throws {
    try withWorld(.easemob) { world in
      try world.changes {
        let mode = SilentModeWrite(duration: try MuteDuration(minutes: 5))
        _ = try $0.setSilentMode(mode, of: "u", in: "private")
        _ = try $0.setSilentMode(SilentModeWrite(level: .all), of: "u", in: "thread")
        try $0.setMember("u", of: "room", MemberSettings(level: .blocked))
      }
      let end = Self.noon.after(minutes: 5)
      let thread = ConversationLevel(conversation: "thread", kind: .thread, level: .all)
      let muted = ConversationLevel(conversation: "private", kind: .private, mutedUntil: end)
      let last = Instant(milliseconds: end.milliseconds - 1)
      #expect(try world.store.conversationLevels(of: "u") == [muted, thread])
      #expect(try world.store.conversationLevels(of: "u", at: last) == [muted, thread])
      #expect(try world.store.conversationLevels(of: "u", at: end) == [thread])
      try world.store.write(at: .zero) { try $0.removeMember("u", of: "group") }
      #expect(try world.store.conversationLevels(of: "u", at: end) == [])
      // Beside a level, only the duration is left out.
      try world.changes {
        _ = try $0.setSilentMode(SilentModeWrite(level: .mention), of: "u", in: "private")
      }
      let over = ConversationLevel(conversation: "private", kind: .private, level: .mention)
      #expect(try world.store.conversationLevels(of: "u", at: end) == [over])
    }
  }

  /// by type, and by the own level, not the effective one.
  @Test func blocked() throws {
    try withWorld(.rongcloud) { world in
      try world.changes {
        try $0.setAppKeyLevel(.blocked)
        try $0.setNotificationLevel(.blocked, of: "u", forType: .discussion)
        for id: Identifier in ["group", "private", "system"] {
          try $0.setNotificationLevel(.blocked, of: "u", in: id)
        }
        try $0.setNotificationLevel(.mention, of: "u", in: "customerService")
        try $0.setNotificationLevel(.blocked, of: "u", in: "ultraGroup", channel: "c")
      }
      let store = world.store
      #expect(try store.blockedConversations(of: "u") == ["private", "group", "system"])
      #expect(try store.blockedConversations(of: "u", kinds: [.group]) == ["group"])
      #expect(
        try store.blockedConversations(of: "u", kinds: [.system, .private])
          == ["private", "system"])
      #expect(try store.blockedConversations(of: "u", kinds: []) == [])
      #expect(try store.blockedConversations(of: "u", kinds: [.discussion]) == [])
      #expect(try store.blockedConversations(of: "v") == [])
      #expect(
        try store.blockedConversations(of: "u", after: "private", limit: 1) == ["group"])
      world.expectError(StoreError.unavailableKind(.thread, .rongcloud)) {
        _ = try store.blockedConversations(of: "u", kinds: [.thread])
      }
    }
    // E-15: the old lists are those of level none.
    try withWorld(.easemob) { world in
      try world.changes { try $0.setLegacyNoPush(true, of: "u", in: ["thread", "group"]) }
      #expect(try world.store.blockedConversations(of: "u") == ["group", "thread"])
      #expect(try world.store.blockedConversations(of: "u", kinds: [.group]) == ["group"])
    }
  }

  /// E-13, R-36: told to the user's other devices, and to nobody else.
  @Test func announcements() throws {
    try withWorld(.easemob) { world in
      let start = try world.end()
      try world.changes(from: "p1") {
        let mode = SilentModeWrite(level: .mention, duration: try MuteDuration(minutes: 5))
        try $0.setSilentMode(mode, of: "u")
        try $0.bindToken(ofDevice: "p1", of: "u")
      }
      try world.changes {
        _ = try $0.setSilentMode(SilentModeWrite(level: .all), of: "u", in: "group")
      }
      try world.changes {
        _ = try $0.setSilentMode(SilentModeWrite(level: .all), of: "v", in: "group")
      }
      let told = { (device: Identifier?) in
        try world.store.announcements(to: "u", on: device, after: start).map(\.change)
      }
      #expect(try told("p1") == [.memberLevel])
      #expect(try told("p2") == [.userLevel, .userMute, .memberLevel])
      #expect(try told(nil) == [.userLevel, .userMute, .memberLevel])
      let first = try #require(
        try world.store.announcements(to: "u", after: start, limit: 1).first)
      #expect(first.device == "p1")
      #expect(try world.store.announcements(to: "u", after: first.cursor).count == 2)
      #expect(try world.store.announcements(to: "x", after: start) == [])

      // What an administrator writes as a whole, which each device reads anew.
      let last = try world.end()
      try world.store.importSettings(
        FanoutSettings(app: try world.store.reader.app()), at: .zero)
      try world.changes {
        try $0.setUser("u", UserSettings())
        try $0.setMember("u", of: "group")
        try $0.setUser("v", UserSettings())
      }
      #expect(
        try world.store.announcements(to: "u", on: "p1", after: last).map(\.change)
          == [.imported, .user, .member])
    }
  }
}
