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
    // The last ones are open rules'.
    #expect(
      Self.unset(user) == [
        "quiet", "mutedAllow", "allowForce", "keywords", "importantSenders", "blockedSenders",
      ])
    #expect(Self.unset(member) == ["important", "follow", "roles"])
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

  /// Fields that only open rules have are refused under others; nothing has changed then.
  @Test func openFieldsAreRefused() throws {
    let level = NotificationLevel([.keyword])
    var users = [UserSettings](repeating: UserSettings(), count: 6)
    users[0].level = level
    users[1].mutedAllow = .mentionsMe
    users[2].allowForce = false
    users[3].keywords = ["a"]
    users[4].blockedSenders = ["v"]
    users[5].devices = [Device(id: "d", seenAt: Instant(milliseconds: 1))]
    var members = [MemberSettings](repeating: MemberSettings(), count: 4)
    members[0].level = level
    members[1].isImportant = true
    members[2].isFollowing = false
    members[3].roles = ["r"]
    let changes: [SettingsRecord] =
      users.map { .user("u", $0) } + members.map { .member("u", of: "c", $0) }
      + [.conversation("c", ConversationSettings(level: level))]
    let refused = FanoutError.otherRules(.easemob)
    let fanout = try Fanout(FanoutSettings(app: AppSettings()), threads: 1)
    let open = try Fanout(FanoutSettings(app: AppSettings(rules: .open)), threads: 1)
    for change in changes {
      #expect(throws: refused, "\(change)") {
        try fanout.update { (update) throws(FanoutError) in try update.set(change) }
      }
      #expect(throws: refused, "\(change)") {
        var builder = FanoutBuilder()
        try builder.set(change)
        return try builder.build(threads: 1)
      }
      try open.update { (update) throws(FanoutError) in try update.set(change) }
      // The records that the engine now has are those written.
      let records = open.currentVersion.records(of: "u", in: "c").map { "\($0)" }
      #expect(records.contains("\(change)"), "\(change)")
    }
    #expect(fanout.userCount == 0)
    #expect(throws: refused) {
      try open.update { (update) throws(FanoutError) in try update.setApp(AppSettings()) }
    }
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
    #expect(PackedMember(MemberSettings(level: level), nil).level == level.vendorCode)
    #expect(UserClass(level: level.vendorCode).level == level)
    #expect(MemberClass(level: level.vendorCode).level == level)
  }

  /// The fields that have their defaults.
  private static func unset<Record: RecordFields>(_ record: Record) -> [String] {
    var unset = UnsetFields(record: record)
    Record.visitFields(&unset)
    return unset.names
  }

  private struct UnsetFields<Record>: FieldVisitor {
    let record: Record
    var names: [String] = []

    mutating func visit(_ field: RecordField<Record>) {
      if field.owner(in: record) == nil { names.append("\(field.name)") }
    }
  }
}
