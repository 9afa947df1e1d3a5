public import PushModel
import QuietTime

/// What a good engineer writes in an hour: the same rows in arrays, a dictionary for ids, quiet
/// hours looked up once a minute, and the rules member by member.
public struct Scalar {
  private struct UserRow {
    var mutedUntil: Int64
    var schedule: UInt32
    var level: NotificationLevel
  }

  private struct MemberRow {
    var user: UInt32
    var level: NotificationLevel
  }

  private var userPlaces: [String: UInt32] = [:]
  private var users: [UserRow] = []
  private var groupPlaces: [String: Int] = [:]
  private var groups: [[MemberRow]] = []
  private var schedules: ScheduleTable
  private var isQuiet: [Bool] = []

  private let allowed = [Scope.conversation, .app, .default].map {
    Outcome(.push, .allowed, $0).code
  }
  private let forced = [Scope.conversation, .app, .default].map {
    Outcome(.push, .forced, $0).code
  }
  private let levelNone = [Scope.conversation, .app].map {
    Outcome(.suppress, .levelNone, $0).code
  }
  private let notMentioned = [Scope.conversation, .app].map {
    Outcome(.suppress, .notMentioned, $0).code
  }
  private let quiet = Outcome(.suppress, .quietHours, .app).code
  private let muted = Outcome(.suppress, .muted, .app).code

  public init(_ world: BenchWorld) {
    schedules = ScheduleTable(app: AppSettings(timeZone: "UTC"))
    userPlaces.reserveCapacity(world.userCount)
    for user in 0..<world.userCount {
      let settings = BenchWorld.settings(user)
      let schedule = QuietSettings(settings)
      users.append(
        UserRow(
          mutedUntil: settings.mutedUntil.milliseconds,
          schedule: (try? schedules.insert(schedule)) ?? 0,
          level: settings.level))
      userPlaces[BenchWorld.userID(user).text] = UInt32(user)
    }
    for group in world.groups {
      groupPlaces[group.id.text] = groups.count
      groups.append(
        group.members.map { MemberRow(user: $0, level: BenchWorld.level(Int($0))) })
    }
  }

  /// Computes which schedules are quiet.
  public mutating func advance(to now: Int64) {
    isQuiet = (0..<UInt32(schedules.count)).map { schedules.level($0, at: now / 1000) != nil }
  }

  /// Decides a message to a group, by Easemob's rules with their default options.
  ///
  /// - Returns: how many members there are, and how many get a push.
  public func decide(
    _ message: Message, into codes: UnsafeMutablePointer<UInt8>
  ) -> (members: Int, pushes: Int) {
    guard let group = groupPlaces[message.conversation.text] else { return (0, 0) }
    let sender = message.sender.flatMap { userPlaces[$0.text] }
    let now = message.at.milliseconds
    if let stop = stop(message) {
      for place in groups[group].indices { unsafe codes[place] = stop }
      return (groups[group].count, 0)
    }
    let force = message.force ?? message.ext.force
    let everyone = message.mentionsAll ?? false
    var named: Set<UInt32> = []
    for id in message.mentions ?? [] {
      if let user = userPlaces[id.lowercased().text] { named.insert(user) }
    }
    var pushes = 0
    for (place, member) in groups[group].enumerated() {
      let isMentioned = everyone || (!named.isEmpty && named.contains(member.user))
      let code =
        member.user == sender
        ? 0 : decide(member, users[Int(member.user)], now, force: force, isMentioned)
      if code & 1 != 0 { pushes += 1 }
      unsafe codes[place] = code
    }
    return (groups[group].count, pushes)
  }

  /// What stops a message for everybody.
  private func stop(_ message: Message) -> UInt8? {
    if message.onlineOnly { return Outcome(.suppress, .onlineOnly).code }
    if message.body == .command { return Outcome(.suppress, .messageType).code }
    if message.silent ?? message.ext.ignore { return Outcome(.suppress, .silentMessage).code }
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    return age > 86_400_000 ? Outcome(.suppress, .expired).code : nil
  }

  private func decide(
    _ member: MemberRow, _ user: UserRow, _ now: Int64, force: Bool, _ isMentioned: Bool
  ) -> UInt8 {
    var isForced = false
    if isQuiet[Int(user.schedule)] {
      if !force { return quiet }
      isForced = true
    } else if now < user.mutedUntil {
      if !force { return muted }
      isForced = true
    }
    let scope = member.level.isSet ? 0 : user.level.isSet ? 1 : 2
    switch scope == 0 ? member.level : user.level {
    case .blocked: return levelNone[scope]
    case .mention where !isMentioned: return notMentioned[scope]
    default: return isForced ? forced[scope] : allowed[scope]
    }
  }
}
