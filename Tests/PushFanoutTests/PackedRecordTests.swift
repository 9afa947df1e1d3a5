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
    #expect(Self.unset(user, UserSettings()) == [])
    #expect(Self.unset(member, MemberSettings()) == [])
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

  /// A level has three bits in the classes and in a user's record.
  @Test(arguments: NotificationLevel.allCases)
  func everyLevelFits(level: NotificationLevel) {
    var user = UserSettings()
    user.level = level
    for kind in ConversationKind.allCases { user.levels[kind] = level }
    let packed = PackedUser(user)
    let kinds = ConversationKind.allCases.map { packed.level(kind: $0.ordinal) }
    #expect([packed.level] + kinds == [UInt8](repeating: level.rawValue, count: kinds.count + 1))
    #expect(packed.bits >> 27 == 0x10, "only the flag of a record with settings")
    #expect(PackedMember(MemberSettings(level: level)).level == level.rawValue)
    #expect(UserClass(level: level.rawValue).level == level)
    #expect(MemberClass(level: level.rawValue).level == level)
  }

  /// The stored properties that have the same value in both.
  private static func unset<T>(_ value: T, _ plain: T) -> [String] {
    zip(Mirror(reflecting: value).children, Mirror(reflecting: plain).children)
      .filter { String(reflecting: $0.value) == String(reflecting: $1.value) }
      .map { $0.0.label ?? "" }
  }
}
