import GRDB
import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: what only open rules have is kept, read back and told as it was written, is NULL where it is
/// not set, and is refused where it is damaged.
@Suite struct OpenFieldsTests {
  private static let odd = "\"\\/\0\u{7F}\u{2028}é漢😀 x"

  private static func user() throws -> UserSettings {
    var user = UserSettings()
    user.level = NotificationLevel([.keyword, .sender])
    user.quietHours = .windows(
      try QuietWindows([
        .init(days: 0b1_0001, start: "22:00", end: "7:5", allow: .direct),
        .init(start: "0:0", end: "0:0"),
      ]))
    user.mutedAllow = [.mentionsMe, .role]
    user.allowForce = false
    try user.setKeywords(["deploy", odd, "deploy"])
    try user.setSenders(important: ["boss", Identifier(odd)], blocked: ["bot"])
    user.devices = [
      Device(id: "d", state: .foreground, seenAt: Instant(milliseconds: 5)),
      Device(id: "e", seenAt: .zero),
    ]
    return user
  }

  private static func member() throws -> MemberSettings {
    var member = MemberSettings()
    member.isImportant = true
    try member.setRoles(["oncall", Identifier(odd), "oncall"])
    return member
  }

  private static func app() throws -> AppSettings {
    var app = AppSettings(rules: .open, level: NotificationLevel(.direct))
    app.quietHours = .windows(try QuietWindows([.init(days: 1, start: "1:0", end: "2:0")]))
    app.open.threadPlain = .everyone
    (app.open.expireSeconds, app.open.presenceSeconds) = (7, 0)
    return app
  }

  /// Each field by itself, in a record that has nothing else, and all of them: by single writes and
  /// by an import.
  @Test func everyFieldIsReadBack() throws {
    let all = try Self.user()
    var users: [UserSettings] = [all]
    for body: (inout UserSettings) throws -> Void in [
      { $0.level = all.level }, { $0.quietHours = all.quietHours },
      { $0.quietHours = .windows(.none) }, { $0.mutedAllow = all.mutedAllow },
      { $0.allowForce = false }, { $0.keywords = all.keywords },
      { $0.importantSenders = all.importantSenders }, { $0.blockedSenders = all.blockedSenders },
      { $0.devices = all.devices },
    ] {
      var user = UserSettings()
      try body(&user)
      users.append(user)
    }
    let own = try Self.member()
    var members: [MemberSettings] = [own, MemberSettings(level: NotificationLevel(.thread))]
    for body: (inout MemberSettings) -> Void in [
      { $0.isImportant = true }, { $0.roles = own.roles }, { $0.since = Instant(milliseconds: 3) },
      { ($0.isImportant, $0.mutedUntil) = (true, Instant(milliseconds: 9)) },
    ] {
      var member = MemberSettings()
      body(&member)
      members.append(member)
    }
    let followers = [true, false].map { isFollowing in
      var member = MemberSettings()
      member.isFollowing = isFollowing
      return member
    }
    var settings = FanoutSettings(app: try Self.app())
    settings.setConversation("g", ConversationSettings(level: NotificationLevel([.role, .reply])))
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    for (number, user) in users.enumerated() { settings.setUser(Identifier("u\(number)"), user) }
    for (number, member) in members.enumerated() {
      settings.setMember(Identifier("u\(number)"), of: "g", member)
    }
    for (number, member) in followers.enumerated() {
      settings.setMember(Identifier("u\(number)"), of: "t", member)
    }
    for isImport in [true, false] {
      try withStore { path in
        var store = try SettingsStore(path, .create, threads: 1)
        if isImport {
          try store.importSettings(settings, at: .zero)
        } else {
          let settings = settings
          try store.write(at: .zero) { write in
            try write.setApp(settings.app)
            for number in 0..<UInt32(settings.userCount) {
              let user = UserIndex(number)
              try write.setUser(settings.id(of: user), settings.user(user))
            }
            for id in settings.conversationIDs {
              try write.setConversation(id, settings.conversation(id) ?? ConversationSettings())
              for user in settings.members(of: id) {
                guard let member = settings.member(user, of: id) else { continue }
                try write.setMember(settings.id(of: user), of: id, member)
              }
            }
          }
        }
        try store.close()
        store = try SettingsStore(path, .read, threads: 1)
        #expect(try store.reader.check() == [])
        #expect(try store.reader.settings().hasSameRecords(as: settings))
        #expect(store.fanout.difference(from: try Fanout(settings, threads: 1)) == nil)
        for (number, user) in users.enumerated() {
          #expect(try store.reader.user(Identifier("u\(number)")) == user)
        }
        try store.close()
      }
    }
  }

  /// What is not set is NULL, and so are a vendor's rows.
  @Test(arguments: RuleSet.allCases)
  func whatIsNotSetIsNull(rules: RuleSet) throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.importSettings(RandomWorld(rules, seed: 3).settings(), at: .zero)
      try store.write(at: .zero) { write in
        try write.setUser("u0", UserSettings())
        try write.setMember("u0", of: "c-group", MemberSettings(level: .all))
      }
      try store.close()
      let queue = try storeQueue(path)
      let count = try queue.read { db in
        try ["app WHERE quiet", "users WHERE open_fields", "member_settings WHERE open_fields"]
          .map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0) IS NOT NULL") ?? 0 }
      }
      let own = try queue.read { db in
        try String.fetchAll(
          db,
          sql: """
            SELECT open_fields FROM users WHERE id = x'7530' AND open_fields IS NOT NULL UNION
            SELECT open_fields FROM member_settings WHERE open_fields IN ('', '{}')
            """)
      }
      try queue.close()
      #expect(own == [])
      #expect(rules == .open ? count[1] > 0 && count[2] > 0 : count == [0, 0, 0], "\(count)")
    }
  }

  @Test func theFeedSaysWhatItWas() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setApp(try Self.app())
        var user = try Self.user()
        user.keywords = ["deploy"]
        user.importantSenders = ["boss"]
        try write.setUser("u", user)
        user.quietHours = .windows(.none)
        try write.setUser("u", user)
        var member = try Self.member()
        member.roles = ["oncall"]
        try write.setMember("u", of: "g", member)
      }
      let texts = try store.changes().map { event -> String in
        let old = event.change == .app ? "" : event.old ?? "-"
        return "\(old) | \(event.new ?? "-")"
      }
      try store.close()
      let expected: [String] = [
        " | rules open, level direct, quiet hours mon 01:00-02:00, threadPlain everyone, "
          + "expireSeconds 7, presenceSeconds 0",
        "- | level [keyword, sender], quiet hours mon fri 22:00-07:05 allow direct; 00:00-00:00, "
          + "device d: mobile, foreground, seen 1970-01-01T00:00:00.005Z, token, "
          + "device e: mobile, offline, seen 1970-01-01T00:00:00Z, token, "
          + "muted allow [me, role], allow force off, keyword deploy, important sender boss, "
          + "blocked sender bot",
        "quiet hours mon fri 22:00-07:05 allow direct; 00:00-00:00 | quiet hours no windows",
        "- | important on, role oncall",
      ]
      #expect(texts == expected)
    }
  }

  @Test(arguments: [
    ("users", "quiet", #"[{"start":"22:00"}]"#), ("users", "quiet", #"{"start":"22:00"}"#),
    ("users", "quiet", #"[{"days":[],"start":"22:00","end":"7:00"}]"#),
    ("users", "quiet", #"[{"start":"24:00","end":"7:00"}]"#),
    ("users", "quiet", #"[{"start":"2:00","end":"7:00","allow":["all"]}]"#),
    ("users", "mutedAllow", #"["me","me"]"#), ("users", "allowForce", "1"),
    ("users", "keywords", #"["++"]"#), ("users", "importantSenders", #"[""]"#),
    ("users", "blockedSenders", #"["x"],"importantSenders":["x"]"#),
    ("member_settings", "follow", #""yes""#), ("member_settings", "roles", #"[""]"#),
    ("member_settings", "roles", #"["r""#), ("app", "quiet", "[5]"),
  ])
  func damagedTextIsFound(table: String, field: String, value: String) throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setApp(try Self.app())
        try write.setUser("u", try Self.user())
        try write.setMember("u", of: "g", try Self.member())
      }
      try store.close()
      let column = table == "app" ? "quiet" : "open_fields"
      let text = table == "app" ? value : "{\"\(field)\":\(value)}"
      let queue = try storeQueue(path)
      try queue.write {
        try $0.execute(sql: "UPDATE \(table) SET \(column) = ?", arguments: [text])
      }
      try queue.close()
      let damaged = StoreError.damaged(
        path, reason: "\(table).\(column) has an invalid value")
      let reader = try StoreReader(path)
      #expect(throws: damaged) { _ = try reader.settings() }
      if table == "users" { #expect(throws: damaged) { _ = try reader.user("u") } }
      let found = try reader.check().map(\.description)
      #expect(found.contains("\(table).\(column) has an invalid value"))
      try reader.close()
      #expect(throws: damaged) { _ = try SettingsStore(path, threads: 1) }
    }
  }

  /// An id that is erased is erased from the lists of others too.
  @Test func anErasedSenderIsInNoList() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setApp(AppSettings(rules: .open))
        for id: Identifier in ["secret-boss", "v"] { try write.setUser(id, UserSettings()) }
        var user = UserSettings()
        try user.setSenders(important: ["secret-boss", "v"], blocked: ["w"])
        try write.setUser("a", user)
        try user.setSenders(important: [], blocked: ["secret-boss"])
        try write.setUser("b", user)
      }
      let report = try store.erase(.user("secret-boss"), at: .zero)
      #expect(report.isClean, "\(report)")
      for (id, important, blocked) in [
        ("a", ["v"], ["w"]), ("b", [], []),
      ] as [(Identifier, [Identifier], [Identifier])] {
        let stored = try #require(try store.reader.user(id))
        #expect(stored.importantSenders == important && stored.blockedSenders == blocked)
        #expect(store.fanout.user(id) == stored)
      }
      try store.close()
    }
  }

  /// A backup's sums are over these columns too.
  @Test func aBackupIsComparedWithThem() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.importSettings(RandomWorld(.open, seed: 5).settings(), at: .zero)
      let copy = path + ".copy"
      try store.reader.backup(to: copy)
      let whole = try StoreReader(copy).verifyBackup()
      #expect(whole.problems == [] && whole.hasSums)
      let queue = try storeQueue(copy)
      try queue.write {
        try $0.execute(
          sql: """
            UPDATE member_settings SET open_fields = '{"important":true,"roles":["x"]}'
              WHERE open_fields = (SELECT max(open_fields) FROM member_settings)
            """)
      }
      try queue.close()
      let changed = try StoreReader(copy).verifyBackup().problems
      #expect(changed.map { $0.description.prefix { $0 != " " } } == ["member_settings"])
      try store.close()
    }
  }

  /// Records that files would refuse are found by a check.
  @Test func aCheckKnowsTheRules() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setApp(AppSettings(rules: .open))
        try write.setConversation("p", ConversationSettings(kind: .private, level: .all))
        try write.setConversation("r", ConversationSettings(kind: .room, level: .all))
        try write.setConversation("t", ConversationSettings(kind: .thread, parent: "p"))
        try write.setConversation("alone", ConversationSettings(kind: .thread))
        try write.setConversation("below", ConversationSettings(kind: .thread, parent: "r"))
        var (follower, oncall) = (MemberSettings(), MemberSettings())
        (follower.isFollowing, oncall.roles) = (true, ["oncall"])
        try write.setMember("u", of: "p", follower)
        try write.setMember("u", of: "t", oncall)
        try write.setMember("u", of: "alone", follower)
        try write.setMember("u", of: "g", oncall)
      }
      let found = try store.reader.check().map(\.description)
      try store.close()
      #expect(
        Set(found) == [
          #""r" is a room with a default level"#,
          #"thread "below" has the parent "r", which is a room"#,
          #""u" follows "p", which is not a thread"#, #""u" has roles in thread "t""#,
          #""u" has settings in thread "alone", which has no parent"#,
        ])
    }
  }
}
