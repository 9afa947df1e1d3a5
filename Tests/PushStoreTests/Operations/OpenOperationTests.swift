import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: each operation of open rules changes what it says, and the decision; stands in the feed with
/// what was and what is; and is refused in words where it may not be.
@Suite struct OpenOperationTests {
  static let noon = OperationWorld.noon

  /// The entries that a write adds, with their ends.
  private func expect(
    _ world: OperationWorld, _ lines: [String], at location: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
  ) throws {
    let end = try world.end()
    try world.changes(sourceLocation: location, body)
    let found = try world.store.changes(after: end).map {
      "\($0.change.rawValue): \($0.old ?? "none") -> \($0.new ?? "none")"
    }
    #expect(found == lines, sourceLocation: location)
    // The same again changes nothing.
    try world.expect([], sourceLocation: location, body)
  }

  @Test func levels() throws {
    try withWorld(.open) { world in
      try expect(world, ["userLevel: default -> direct"]) { try $0.setLevel(.direct, of: "u") }
      #expect(world.outcome(in: "group") == "none/levelExcludes/user")
      #expect(world.outcome(in: "private") == "push/allowed/user")
      try expect(world, ["memberLevel: default -> [plain, thread]"]) {
        try $0.setLevel([.plain, .thread], of: "u", in: "group")
      }
      #expect(world.outcome(in: "group") == "push/allowed/conversation")
      #expect(world.outcome(in: "group", mentioning: ["u"]) == "none/levelExcludes/conversation")
      // A mention takes plain away: the level is a set, and no threshold.
      try expect(world, ["memberLevel: default -> none"]) {
        try $0.setLevel([], of: "u", in: "thread")
      }
      #expect(world.outcome(in: "thread") == "none/levelNone/thread")
      try expect(
        world, ["memberLevel: none -> default", "memberLevel: [plain, thread] -> default"]
      ) {
        try $0.setLevel(nil, of: "u", in: "thread")
        try $0.setLevel(nil, of: "u", in: "group")
      }
      try expect(world, ["userLevel: direct -> [me]"]) { try $0.setLevel(.mentionsMe, of: "u") }
      #expect(try world.store.openSettings(of: "u").level == NotificationLevel(.mentionsMe))
      #expect(try world.store.openSettings(of: "u", in: "group") == MemberSettings())
    }
  }

  @Test func mutes() throws {
    try withWorld(.open) { world in
      let end = Self.noon.after(minutes: 60)
      try expect(world, ["userMute: none -> 2025-11-25T13:00:00Z"]) { try $0.mute(until: end, "u") }
      #expect(world.outcome(in: "group") == "none/muted/user")
      #expect(world.outcome(in: "group", at: end) == "push/allowed/default")
      try expect(world, ["mutedAllow: none -> [me, role]"]) {
        try $0.setMutedAllow([.mentionsMe, .role], of: "u")
      }
      #expect(world.outcome(in: "group", mentioning: ["u"]) == "push/allowed/default")
      try expect(world, ["important: off -> on"]) {
        try $0.setImportant(true, of: "u", in: "group")
      }
      #expect(world.outcome(in: "group") == "push/allowed/default")
      let last = Instant(milliseconds: Instant.maximumMilliseconds)
      try expect(world, ["memberMute: none -> \(last.rfc3339)"]) {
        try $0.mute(until: last, "u", in: "group")
      }
      #expect(world.outcome(in: "group") == "none/muted/conversation")
      try expect(
        world,
        [
          "memberMute: \(last.rfc3339) -> none", "important: on -> off",
          "userMute: 2025-11-25T13:00:00Z -> none", "mutedAllow: [me, role] -> none",
        ]
      ) {
        try $0.mute(until: .zero, "u", in: "group")
        try $0.setImportant(false, of: "u", in: "group")
        try $0.mute(until: .zero, "u")
        try $0.setMutedAllow([], of: "u")
      }
      try expect(world, ["allowForce: on -> off"]) { try $0.setAllowForce(false, of: "u") }
      #expect(world.store.fanout.user("u")?.allowForce == false)
    }
  }

  @Test func quietWindows() throws {
    try withWorld(.open) { world in
      let day = try QuietWindows.Window(start: "9:00", end: "17:00", allow: .direct)
      let weekend = try QuietWindows.Window(
        days: QuietWindows.Window.days(["sat", "sun"]), start: "0:00", end: "0:00")
      try world.expect([.quietHours]) { try $0.addQuietWindow(day, of: "u") }
      #expect(world.outcome(in: "group") == "none/quietHours/user")
      #expect(world.outcome(in: "private") == "push/allowed/default")
      try world.expect([.quietHours]) { try $0.addQuietWindow(weekend, of: "u") }
      #expect(
        try world.store.openSettings(of: "u").quietHours
          == .windows(QuietWindows([day, weekend])))
      for position in [0, 3, -1] {
        try world.refuses(StoreError.unknownWindow(user: "u", position: position)) {
          try $0.removeQuietWindow(at: position, of: "u")
        }
      }
      try world.expect([.quietHours]) { try $0.removeQuietWindow(at: 1, of: "u") }
      try world.expect([.quietHours]) { try $0.removeQuietWindow(at: 1, of: "u") }
      #expect(try world.store.openSettings(of: "u").quietHours == .windows(.none))
      try expect(world, ["quietHours: no windows -> none"]) { try $0.clearQuietWindows(of: "u") }
      try expect(world, ["quietHours: none -> no windows"]) {
        try $0.clearQuietWindows(of: "u", keepsNone: true)
      }
      let texts = try world.store.changes().map { "\($0.old ?? "none") -> \($0.new ?? "none")" }
      #expect(
        texts.suffix(6).prefix(4) == [
          "none -> 09:00-17:00 allow direct",
          "09:00-17:00 allow direct -> 09:00-17:00 allow direct; sat sun 00:00-00:00",
          "09:00-17:00 allow direct; sat sun 00:00-00:00 -> sat sun 00:00-00:00",
          "sat sun 00:00-00:00 -> no windows",
        ])
      try world.changes { write in
        for _ in 0..<16 { try write.addQuietWindow(day, of: "x") }
      }
      try world.refuses(SettingsWriteError.tooMany("quiet windows", 17, limit: 16)) {
        try $0.addQuietWindow(day, of: "x")
      }
    }
  }

  @Test func keywordsAndSenders() throws {
    try withWorld(.open) { world in
      try expect(world, ["keywords: none -> deploy", "keywords: none -> on call"]) {
        try $0.addKeyword("deploy", of: "u")
        try $0.addKeyword("on call", of: "u")
      }
      try expect(world, ["keywords: deploy -> none"]) { try $0.removeKeyword("deploy", of: "u") }
      try expect(world, ["importantSenders: none -> boss"]) {
        try $0.addSender("boss", to: .important, of: "u")
      }
      try expect(world, ["blockedSenders: none -> bot"]) {
        try $0.addSender("bot", to: .blocked, of: "u")
      }
      let own = try world.store.openSettings(of: "u")
      #expect(own.keywords == ["on call"])
      #expect(own.importantSenders == ["boss"] && own.blockedSenders == ["bot"])
      func outcome(_ sender: Identifier, _ text: String) -> String? {
        let message = {
          var message = Message(id: "m", conversation: "group", at: Self.noon, sender: sender)
          message.text = text
          return message
        }()
        return world.store.fanout.decision(message, for: "u")?.outcome.reason.name
      }
      try world.changes { try $0.setLevel([.keyword, .sender], of: "u") }
      #expect(
        [
          outcome("v", "on"), outcome("v", "On CALL!"), outcome("boss", ""),
          outcome("bot", "on call"),
        ]
          == ["levelExcludes", "allowed", "allowed", "senderBlocked"])
      try world.refuses(SettingsWriteError.importantAndBlocked("boss")) {
        try $0.addSender("boss", to: .blocked, of: "u")
      }
      try world.refuses(SettingsWriteError.importantAndBlocked("bot")) {
        try $0.addSender("bot", to: .important, of: "u")
      }
      try world.refuses(SettingsWriteError.keywordWithoutToken("++")) {
        try $0.addKeyword("++", of: "u")
      }
      try world.refuses(StoreError.idLength(0)) { try $0.addSender("", to: .blocked, of: "u") }
      try world.changes { write in
        for number in 0..<50 { try write.addKeyword("k\(number)", of: "x") }
      }
      try world.refuses(SettingsWriteError.tooMany("keywords", 51, limit: 50)) {
        try $0.addKeyword("more", of: "x")
      }
      try expect(world, ["importantSenders: boss -> none", "blockedSenders: bot -> none"]) {
        try $0.removeSender("boss", from: .important, of: "u")
        try $0.removeSender("bot", from: .blocked, of: "u")
        try $0.removeSender("bot", from: .important, of: "u")
      }
    }
  }

  /// O-3: what others chose counts for those who have chosen nothing.
  @Test func defaults() throws {
    try withWorld(.open) { world in
      try expect(world, ["app: level default -> level none"]) { try $0.setAppLevel([]) }
      #expect(world.outcome(in: "group") == "none/levelNone/appDefault")
      try expect(world, ["groupDefault: default -> [plain]"]) {
        try $0.setDefaultLevel(.plain, of: "group")
      }
      #expect(world.outcome(in: "group") == "push/allowed/conversationDefault")
      try expect(world, []) { try $0.setDefaultLevel(.plain, of: "group") }
      #expect(try world.store.openDefaultLevel(of: "group") == .plain)
      #expect(try world.store.openDefaultLevel(of: nil) == [])
      try expect(world, ["groupDefault: [plain] -> default"]) {
        try $0.setDefaultLevel(nil, of: "group")
      }
      try world.changes { try $0.setAppLevel(nil) }
      #expect(try world.store.openDefaultLevel(of: nil) == nil)
      #expect(world.outcome(in: "group") == "push/allowed/default")
      for (id, error) in [
        ("nowhere", StoreError.unknownConversation("nowhere")),
        ("thread", .wrongKind("thread", .thread)), ("room", .wrongKind("room", .room)),
      ] as [(Identifier, StoreError)] {
        try world.refuses(error) { try $0.setDefaultLevel(.all, of: id) }
        world.expectError(error) { _ = try world.store.openDefaultLevel(of: id) }
      }
    }
  }

  @Test func threadsAndRoles() throws {
    try withWorld(.open) { world in
      #expect(world.outcome(in: "thread") == "none/notFollowing")
      try expect(world, ["follow: none -> on"]) { try $0.setFollow(true, of: "u", in: "thread") }
      #expect(world.outcome(in: "thread") == "push/allowed/default")
      try expect(world, ["follow: on -> off"]) { try $0.setFollow(false, of: "u", in: "thread") }
      #expect(world.outcome(in: "thread") == "none/notFollowing")
      try expect(world, ["follow: off -> none"]) { try $0.setFollow(nil, of: "u", in: "thread") }
      try expect(world, ["roles: none -> oncall, design"]) {
        try $0.setRoles(["oncall", "design"], of: "u", in: "group")
      }
      try expect(world, ["roles: design -> none"]) {
        try $0.setRoles(["oncall"], of: "u", in: "group")
      }
      #expect(try world.store.openSettings(of: "u", in: "group").roles == ["oncall"])
      try world.refuses(StoreError.wrongKind("group", .group)) {
        try $0.setFollow(true, of: "u", in: "group")
      }
      try world.refuses(StoreError.wrongKind("thread", .thread)) {
        try $0.setRoles(["oncall"], of: "u", in: "thread")
      }
      try world.refuses(SettingsWriteError.tooMany("roles", 17, limit: 16)) {
        try $0.setRoles((0..<17).map { Identifier("r\($0)") }, of: "u", in: "group")
      }
      // Roles are not the user's: they are not listed, and the user's devices are not told.
      #expect(
        try world.store.conversationLevels(of: "u").map(\.conversation) == [])
      try world.changes { try $0.setImportant(true, of: "u", in: "thread") }
      #expect(
        try world.store.conversationLevels(of: "u") == [
          ConversationLevel(conversation: "thread", kind: .thread, isImportant: true)
        ])
      let announced = try world.store.announcements(to: "u").map(\.change)
      #expect(announced == [.member, .member, .member, .follow, .follow, .follow, .important])
    }
  }

  @Test func whoMaySetSomething() throws {
    try withWorld(.open) { world in
      for (id, user, error) in [
        ("nowhere", "u", StoreError.unknownConversation("nowhere")),
        ("room", "u", .wrongKind("room", .room)),
        ("group", "x", .notAMember(user: "x", conversation: "group")),
      ] as [(Identifier, Identifier, StoreError)] {
        try world.refuses(error) { try $0.setLevel(.all, of: user, in: id) }
        try world.refuses(error) { try $0.mute(until: Self.noon, user, in: id) }
        try world.refuses(error) { try $0.setImportant(true, of: user, in: id) }
        try world.refuses(error) { try $0.setRoles(["r"], of: user, in: id) }
      }
      try world.refuses(StoreError.notAMember(user: "x", conversation: "group")) {
        try $0.setFollow(true, of: "x", in: "thread")
      }
      try world.refuses(StoreError.unknownConversation("nowhere")) {
        try $0.setFollow(true, of: "u", in: "nowhere")
      }
    }
  }

  /// Every operation of open rules under a vendor's, and those of vendors under open rules.
  @Test(arguments: RuleSet.allCases)
  func otherRulesHaveNoneOfThem(rules: RuleSet) throws {
    let open: [SettingsOperation] = [
      .setLevel(user: "u", level: .all), .setLevel(user: "u", conversation: "group", level: .all),
      .setDefaultLevel(conversation: "group", level: .all), .setAppLevel(level: .all),
      .muteUntil(user: "u", mutedUntil: Self.noon), .setMutedAllow(user: "u", allow: .all),
      .setAllowForce(user: "u", allowForce: false),
      .addQuietWindow(user: "u", start: "1:0", end: "2:0"),
      .removeQuietWindow(user: "u", position: 1), .clearQuietWindows(user: "u"),
      .addKeyword(user: "u", keyword: "k"), .removeKeyword(user: "u", keyword: "k"),
      .addSender(user: "u", other: "v", list: .important),
      .removeSender(user: "u", other: "v", list: .blocked),
      .setImportant(user: "u", conversation: "group", important: true),
      .setFollow(user: "u", conversation: "group", follow: true),
      .setRoles(user: "u", conversation: "group", roles: ["r"]),
    ]
    let vendors: [SettingsOperation] = [
      .setSilentModeForAll(user: "u", level: .all),
      .setSilentModeForConversation(user: "u", conversation: "group", level: .all),
      .clearRemindTypeForConversation(user: "u", conversation: "group"),
      .updatePushServiceForGroups(user: "u", conversations: ["group"], noPush: true),
      .setPreferredNotificationLanguage(user: "u", language: nil),
      .updatePushDisplayName(user: "u", name: "U"), .setPushTemplate(user: "u", name: "t"),
      .setConversationNotificationLevel(user: "u", conversation: "group", level: .all),
      .setConversationTypeNotificationLevel(user: "u", level: .all, type: .group),
      .setNotificationQuietHours(user: "u", start: "01:00:00", spanMinutes: 5),
      .removeNotificationQuietHours(user: "u"), .setPushReceiveStatus(user: "u", receive: true),
      .setAppKeyLevel(level: .all), .setAdvancedPush(isOn: false),
      .setDevicePolicy(policy: .anyOffline), .setMessageNotification(isOn: false),
      .setTemplate(name: "t", content: "c"), .updatePushDisplayStyle(user: "u", style: nil),
      .setRemark(user: "u", other: "v", remark: "V"), .setOfflineMessages(user: "u", count: 2),
    ]
    try withWorld(rules) { world in
      for operation in rules == .open ? vendors : open {
        try world.refuses(StoreError.otherRules(rules)) { _ = try operation.apply(to: &$0) }
      }
      if rules != .open {
        world.expectError(StoreError.otherRules(rules)) {
          _ = try world.store.openSettings(of: "u")
        }
        world.expectError(StoreError.otherRules(rules)) {
          _ = try world.store.openSettings(of: "u", in: "group")
        }
      }
    }
  }
}
