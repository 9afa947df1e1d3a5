import BenchSupport
import PushFanout
import PushModel
import PushReference
import QuietTime

extension OpenSuite {
  /// A word that half of all users have as a keyword, in conversations of 100,000 and of a million
  /// members: the engine beside a plain loop over the members.
  func hostile() -> [Line] {
    let sizes = [min(100_000, users), min(1_000_000, users)]
    let world = HostileWorld(userCount: users, sizes: sizes)
    var lines: [Line] = []
    var loop = PlainLoop(world)
    var result = FanoutResult()
    for (place, size) in sizes.enumerated() {
      var message = Message(
        id: "m", conversation: HostileWorld.conversation(place),
        at: Instant(milliseconds: BenchWorld.start), sender: BenchWorld.userID(BenchWorld.sender))
      let plain = message
      message.text = "is this \(HostileWorld.keyword) at last"
      loop.advance(to: BenchWorld.start)
      let reference = world.check(message, place, &loop)
      var (without, with, looped) = (Samples(), Samples(), Samples())
      var codes = [UInt8](repeating: 0, count: size)
      for round in 0...Self.rounds {
        let times = [
          seconds { keep(Self.count(world.fanout, plain, &result)) },
          seconds { keep(Self.count(world.fanout, message, &result)) },
          seconds { keep(loop.decide(message, place, into: &codes)) },
        ]
        if round == 0 { continue }
        without.add(times[0])
        with.add(times[1])
        looped.add(times[2])
      }
      let each = 1e9 / Double(size)
      let name = "\(size) members, half with the keyword"
      lines += [
        Line(name: "\(name): no text", value: without.median * each, unit: "ns a member"),
        Line(name: "\(name): a plain loop", value: looped.median * each, unit: "ns a member"),
        Line(name: "\(name): a text with it", value: with.median * each, unit: "ns a member"),
        Line(name: "the same", value: with.median / looped.median, unit: "× the plain loop"),
        Line(
          name: "the same, beside the reference", value: reference / (with.median * each),
          unit: "× as fast", least: 2),
      ]
    }
    return lines
  }

  private static func count(
    _ fanout: Fanout, _ message: Message, _ result: inout FanoutResult
  ) -> Int {
    fanout.decide(message, into: &result)
    return result.pushCount
  }
}

/// Users of whom half have one keyword, and conversations of them.
struct HostileWorld {
  static let keyword = "hostile"

  let userCount: Int
  let sizes: [Int]
  let fanout: Fanout

  init(userCount: Int, sizes: [Int]) {
    self.userCount = userCount
    self.sizes = sizes
    var builder = FanoutBuilder()
    do {
      try builder.setApp(AppSettings(rules: .open))
      for user in 0..<userCount {
        try builder.setUser(BenchWorld.userID(user), Self.settings(user))
      }
      for (place, size) in sizes.enumerated() {
        for user in 0..<size {
          try builder.setMember(
            BenchWorld.userID(user), of: Self.conversation(place),
            MemberSettings(level: Self.level(user)))
        }
      }
      fanout = try builder.build(threads: 1)
    } catch {
      fatalError("the benchmark's own world is not accepted: \(error)")
    }
  }

  static func conversation(_ place: Int) -> Identifier { Identifier("g\(place)") }

  /// Half have the keyword, all have others; half have windows, of which some let keywords through.
  static func settings(_ user: Int) -> UserSettings {
    var random = Seeded(UInt64(user) &* 7919 &+ 5)
    var settings = UserSettings()
    settings.timeZone = BenchWorld.zones[random.below(BenchWorld.zones.count)]
    if random.below(2) == 0 {
      let start = 20 + random.below(4)
      let window = try? QuietWindows.Window(
        days: QuietWindows.Window.everyDay, start: "\(start):0", end: "\(5 + random.below(3)):30",
        allow: random.below(3) == 0 ? .keyword : [])
      settings.quietHours = window.flatMap { try? QuietWindows([$0]) }.map { .windows($0) }
    }
    let levels: [NotificationLevel] = [.unset, .unset, NotificationLevel(.mentions), .all]
    settings.level = levels[random.below(levels.count)]
    settings.keywords = (0..<2).map { _ in "word\(random.below(100_000))" }
    if random.below(2) == 0 { settings.keywords.append(keyword) }
    return settings
  }

  static func level(_ user: Int) -> NotificationLevel {
    let levels: [NotificationLevel] = [
      .unset, .unset, NotificationLevel(.mentions), NotificationLevel(.direct), .blocked,
    ]
    return levels[(user &* 104_729 &+ 7) % levels.count]
  }

  /// Compares the engine and the plain loop with each other, and with the reference for the first
  /// 2,000 members.
  ///
  /// - Returns: what the reference takes, in nanoseconds a member.
  func check(_ message: Message, _ place: Int, _ loop: inout PlainLoop) -> Double {
    var codes = [UInt8](repeating: 0, count: sizes[place])
    _ = loop.decide(message, place, into: &codes)
    let result = fanout.decide(message)
    var own = [UInt8](repeating: 0, count: sizes[place])
    var span = own.mutableSpan
    result.writeCodes(into: &span)
    require(own == codes, "the plain loop answers otherwise than the engine")
    var settings = FanoutSettings(app: AppSettings(rules: .open))
    let members = (0..<min(2000, sizes[place])).map { UInt32($0) }
    for user in members {
      let id = BenchWorld.userID(Int(user))
      settings.setUser(id, Self.settings(Int(user)))
      settings.setMember(
        id, of: message.conversation, MemberSettings(level: Self.level(Int(user))))
    }
    var evaluator = Referee.evaluator(settings)
    let expected = Referee.codes(&evaluator, members, message)
    require(Array(own.prefix(members.count)) == expected, "the engine answers otherwise")
    var times = Samples()
    for _ in 0..<OpenSuite.rounds {
      var pushes = 0
      times.add(
        seconds { evaluator.decide(message) { pushes += $1.outcome.action == .push ? 1 : 0 } })
      require(pushes == Checksum(expected).pushes, "the reference answers otherwise")
    }
    return times.median / Double(members.count) * 1e9
  }
}

/// What a good engineer writes in an hour: settings in arrays, a dictionary from words to those who
/// have them, windows looked up once a minute, and the rules member by member, as far as the world of
/// the benchmark needs them.
struct PlainLoop {
  private struct Row {
    var schedule: UInt32
    /// Bits of classes.
    var level: UInt16
    /// In ``allowed``, ``stopped``.
    var scope: UInt8
  }

  /// By user, who are the members.
  private var rows: [Row] = []
  private var holders: [String: [UInt32]] = [:]
  private var classes: [UInt16]
  private let sizes: [Int]
  private var schedules: ScheduleTable
  /// By schedule: what its windows let through; all outside of them.
  private var quiet: [UInt16] = []

  init(_ world: HostileWorld) {
    sizes = world.sizes
    classes = Array(repeating: MessageClasses.plain.rawValue, count: world.userCount)
    schedules = ScheduleTable(app: AppSettings(rules: .open))
    for user in 0..<world.userCount {
      let settings = HostileWorld.settings(user)
      let schedule = (try? schedules.insert(QuietSettings(settings))) ?? 0
      let member = HostileWorld.level(user)
      let (level, scope): (NotificationLevel, UInt8) =
        member.isSet ? (member, 0) : settings.level.isSet ? (settings.level, 1) : (.all, 2)
      rows.append(Row(schedule: schedule, level: level.mask.rawValue, scope: scope))
      for keyword in settings.keywords { holders[keyword, default: []].append(UInt32(user)) }
    }
  }

  mutating func advance(to now: Int64) {
    quiet = (0..<UInt32(schedules.count)).map {
      (schedules.level($0, at: now / 1000)?.mask ?? .all).rawValue
    }
  }

  /// Decides a message with a text of ASCII words to the first users.
  ///
  /// - Returns: how many get a push.
  mutating func decide(_ message: Message, _ place: Int, into codes: inout [UInt8]) -> Int {
    let found = (message.text ?? "").split(separator: " ").compactMap { holders[String($0)] }
    let keyword = MessageClasses.keyword.rawValue
    for users in found { for user in users { classes[Int(user)] |= keyword } }
    var pushes = 0
    let (allowed, stopped, inWindow) = (Self.allowed, Self.stopped, Self.inWindow)
    for user in 0..<sizes[place] {
      let row = rows[user]
      let left = row.level & classes[user]
      let code =
        left == 0
        ? stopped[Int(row.scope) + (row.level == 0 ? 0 : 3)]
        : left & quiet[Int(row.schedule)] == 0 ? inWindow : allowed[Int(row.scope)]
      codes[user] = code
      pushes += Int(code & 1)
    }
    if BenchWorld.sender < codes.count {
      pushes -= Int(codes[BenchWorld.sender] & 1)
      codes[BenchWorld.sender] = 0
    }
    for users in found { for user in users { classes[Int(user)] &= ~keyword } }
    return pushes
  }

  private static let scopes = [Scope.conversation, .user, .default]
  private static let allowed = scopes.map { Outcome(.push, .allowed, $0).code }
  /// By an empty level, then by another.
  private static let stopped = [Reason.levelNone, .levelExcludes].flatMap { reason in
    scopes.map { Outcome(.suppress, reason, $0).code }
  }
  private static let inWindow = Outcome(.suppress, .quietHours, .user).code
}
