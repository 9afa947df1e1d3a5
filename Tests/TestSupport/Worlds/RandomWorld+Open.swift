internal import PushModel

// What only worlds of open rules have.
extension RandomWorld {
  private static let words = ["deploy", "Straße", "café", "東京", "한글", "C++", "two words"]
  private static let roles: [Identifier] = ["oncall", "design"]

  private static func classes(_ random: inout SeededGenerator) -> MessageClasses {
    random.pick([
      [], .all, .mentions, .direct, .plain, .mentionsMe,
      MessageClasses(rawValue: UInt16.random(in: 0..<512, using: &random)),
    ])
  }

  static func openLevel(_ random: inout SeededGenerator) -> NotificationLevel {
    random.chance(50) ? .unset : NotificationLevel(classes(&random))
  }

  static func openWindows(_ random: inout SeededGenerator) -> QuietHours? {
    let windows = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
      let start = Int.random(in: 0..<24, using: &random)
      let end = random.pick([start, (start + 8) % 24, 0])
      return try? QuietWindows.Window(
        days: random.pick([QuietWindows.Window.everyDay, 0b0110_0000, 0b0101_0101]),
        start: "\(start):\(random.pick([0, 30]))", end: "\(end):0",
        allow: random.chance(50) ? [] : classes(&random))
    }
    return (try? QuietWindows(windows)).map { .windows($0) }
  }

  static func openApp(_ app: inout AppSettings, _ random: inout SeededGenerator) {
    app.level = openLevel(&random)
    if random.chance(40) { app.quietHours = openWindows(&random) }
    app.open.threadPlain = random.pick(OpenOptions.ThreadPlain.allCases)
    app.open.expireSeconds = random.pick([0, 60, 86_400])
    app.open.presenceSeconds = random.pick([0, 90, 3600])
  }

  mutating func addOpenSettings(to user: inout UserSettings) {
    if random.chance(30) { user.mutedAllow = Self.classes(&random) }
    user.allowForce = random.chance(80)
    if random.chance(40) { user.keywords = [random.pick(Self.words), random.pick(Self.words)] }
    let (important, blocked) = (random.pick(users), random.pick(users))
    if random.chance(30) { user.importantSenders = [important] }
    if random.chance(15), important != blocked { user.blockedSenders = [blocked] }
  }

  mutating func addOpenSettings(to member: inout MemberSettings, _ kind: ConversationKind) {
    member.isImportant = random.chance(15)
    if kind == .thread {
      if random.chance(50) { member.isFollowing = random.chance(60) }
    } else if random.chance(30) {
      member.roles = [random.pick(Self.roles)]
    }
  }

  mutating func addOpenFields(to message: inout Message) {
    if random.chance(20) { message.mentionsRoles = [random.pick(Self.roles), "nobody"] }
    if random.chance(20) { message.replyToUser = random.pick(users) }
    if random.chance(40) {
      message.text = "we \(random.pick(Self.words)), then \(random.pick(Self.words))"
    }
  }
}
