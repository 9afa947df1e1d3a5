import PushModel
import Testing

@testable import PushFanout

/// Goal: the tables keep every field of settings and every level.
@Suite struct PackedRecordTests {
  @Test func everyFieldSurvivesTheTables() throws {
    var user = UserSettings()
    user.level = .mention
    user.quietHours = .interval(
      try QuietInterval(startHour: 22, startMinute: 0, endHour: 7, endMinute: 30))
    user.timeZone = "Asia/Shanghai"
    user.mutedUntil = Instant(milliseconds: 1_711_843_200_001)
    user.levels[.system] = .mentionAll
    user.pushWhenDesktopOnline = true
    user.localInformationMissing = true
    user.localHandledByApp = true
    user.devices = [Device(id: "d", kind: .web, state: .kicked, hasToken: true)]
    let member = MemberSettings(
      level: .mentionUsers, mutedUntil: Instant(milliseconds: 1), since: Instant(milliseconds: 2),
      channels: ["a": .blocked])
    // A new property would be kept by accident if it had its default here.
    // The last ones are open rules', by which the engine does not decide.
    #expect(
      Self.unset(user, UserSettings())
        == ["mutedAllow", "allowForce", "keywords", "importantSenders", "blockedSenders"])
    #expect(Self.unset(member, MemberSettings()) == ["isImportant", "isFollowing", "setRoles"])
    var builder = FanoutBuilder()
    try builder.setConversation("c", ConversationSettings(kind: .ultraGroup))
    try builder.setUser("u", user)
    try builder.setMember("u", of: "c", member)
    let version = try builder.build(threads: 1).currentVersion
    var users: [UserSettings] = []
    version.forEachUser { users.append($1) }
    var members: [MemberSettings] = []
    version.forEachMember(of: "c") { members.append($1) }
    #expect(users == [user])
    #expect(members == [member])
  }

  /// Open rules, and their levels, are refused wherever they are set; nothing has changed then.
  @Test func openRulesAreRefused() throws {
    let level = NotificationLevel([.keyword])
    var user = UserSettings()
    user.level = level
    let member = MemberSettings(level: level)
    let channels = MemberSettings(channels: ["a": level])
    let conversations = [
      ConversationSettings(level: level),
      ConversationSettings(kind: .ultraGroup, channels: ["a": level]),
    ]
    let apps = [AppSettings(rules: .open), AppSettings(rules: .rongcloud, level: level)]
    let refused = FanoutError.notDecided(.open)
    for app in apps {
      #expect(throws: refused) { try Fanout(FanoutSettings(app: app), threads: 1) }
    }
    var builder = FanoutBuilder()
    #expect(throws: refused) { try builder.setApp(apps[0]) }
    #expect(throws: refused) { try builder.setUser("u", user) }
    #expect(throws: refused) { try builder.setMember("u", of: "c", member) }
    #expect(throws: refused) { try builder.setMember("u", of: "c", channels) }
    for conversation in conversations {
      #expect(throws: refused) { try builder.setConversation("c", conversation) }
    }
    let fanout = try Fanout(FanoutSettings(app: AppSettings()), threads: 1)
    let changes: [SettingsRecord] =
      apps.map { .app($0) } + conversations.map { .conversation("c", $0) } + [
        .user("u", user), .member("u", of: "c", member), .member("u", of: "c", channels),
      ]
    for change in changes {
      #expect(throws: refused) {
        try fanout.update { (update) throws(FanoutError) in try update.set(change) }
      }
    }
    #expect(fanout.userCount == 0)
  }

  /// A level has three bits in the classes and in a user's record.
  @Test(arguments: NotificationLevel.ofVendors)
  func everyLevelFits(level: NotificationLevel) {
    var user = UserSettings()
    user.level = level
    for kind in ConversationKind.allCases { user.levels[kind] = level }
    let packed = PackedUser(user)
    let kinds = ConversationKind.allCases.map { packed.level(kind: $0.ordinal) }
    #expect([packed.level] + kinds == [UInt8](repeating: level.vendorCode, count: kinds.count + 1))
    #expect(packed.bits >> 27 == 0x10, "only the flag of a record with settings")
    #expect(PackedMember(MemberSettings(level: level)).level == level.vendorCode)
    #expect(UserClass(level: level.vendorCode).level == level)
    #expect(MemberClass(level: level.vendorCode).level == level)
  }

  /// The stored properties that have the same value in both.
  private static func unset<T>(_ value: T, _ plain: T) -> [String] {
    zip(Mirror(reflecting: value).children, Mirror(reflecting: plain).children)
      .filter { String(reflecting: $0.value) == String(reflecting: $1.value) }
      .map { $0.0.label ?? "" }
  }
}
