import ArgumentParser
import BenchSupport
import Foundation
import PushFanout
import PushModel

/// An engine after the changes of a server's life, beside one that is built of the same settings.
struct ChurnCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "churn",
    abstract: """
      Changes windows, levels, keywords, roles and memberships, most of them to what nobody had \
      before; fails if the engine then takes more memory than one built of the same settings, or \
      answers another way. It prints how long both decide.
      """)

  @Option(help: "How many changes.")
  var changes = 1_000_000

  @Option(help: "How many users; each is a member of ten of a hundred groups.")
  var users = 100_000

  @Option(help: "One of the rule sets, not all.")
  var rules: String?

  @Option(help: "Where random numbers begin.")
  var seed: UInt64 = 1

  private static let groupCount = 100
  private static let noon: Int64 = 1_711_800_000_000

  func run() throws {
    var failures: [String] = []
    for rules in RuleSet.allCases where self.rules ?? rules.rawValue == rules.rawValue {
      var world = ChurnWorld(rules, seed: seed, users: users, groups: Self.groupCount)
      let aged = try Fanout(world.settings, threads: 2)
      // Both have the index that the first change makes.
      try touch(aged)
      let clock = ContinuousClock()
      var (taken, longest) = (Duration.zero, Duration.zero)
      for _ in 0..<changes / 100 {
        let update = try world.changes(100)
        let one = try clock.measure { try aged.update(update) }
        taken += one
        longest = max(longest, one)
      }
      let fresh = try Fanout(world.settings, threads: 2)
      try touch(fresh)
      let instants = (0..<10).map { Self.noon + Int64($0) * 1_900_000 }
      var times: [[Double]] = [[], []]
      for round in 0..<7 {
        for (index, fanout) in (round % 2 == 0 ? [0, 1] : [1, 0]).map({ ($0, [aged, fresh][$0]) }) {
          fanout.forgetConversations()
          times[index].append(
            clock.measure {
              for at in instants {
                fanout.decide(messages(at)) { keep($1.pushCount) }
              }
            } / .seconds(1))
        }
      }
      let pushes = [aged, fresh].map { fanout in
        instants.flatMap { at in
          messages(at).map { fanout.decide($0).pushCount }
        }
      }
      // Which empties the log of changes, bounded apart.
      for fanout in [aged, fresh] {
        try fanout.update { (update) throws(FanoutError) in try update.setApp(update.app) }
      }
      let (agedBytes, freshBytes) = (bytes(of: aged), bytes(of: fresh))
      print(
        """
        \(rules.rawValue): \(changes) changes, \(taken / changes) each, the longest update of 100 \
        \(longest); memory \(agedBytes) of \(freshBytes) bytes \
        (\(ratio(Double(agedBytes), Double(freshBytes)))), deciding \
        \(ratio(times[0].min()!, times[1].min()!)) of \(times[1].min()!) s
        """)
      // A MiB may be unused in any case.
      if agedBytes - (1 << 20) > freshBytes / 100 * 105 {
        failures.append("\(rules.rawValue): memory")
      }
      if pushes[0] != pushes[1] { failures.append("\(rules.rawValue): other answers") }
    }
    for failure in failures { print("FAILED: \(failure)") }
    if !failures.isEmpty { throw ExitCode.failure }
  }

  /// One to each group.
  private func messages(_ at: Int64) -> [Message] {
    (0..<Self.groupCount).map { group in
      Message(
        id: "m", conversation: ChurnWorld.group(group), at: Instant(milliseconds: at),
        sender: ChurnWorld.user(group))
    }
  }

  private func touch(_ fanout: Fanout) throws {
    try fanout.update { (update) throws(FanoutError) in
      try update.updateUser(ChurnWorld.user(0)) { _ in }
    }
  }

  /// Without what is kept of conversations, which is bounded apart.
  private func bytes(of fanout: Fanout) -> Int {
    let report = fanout.memoryReport()
    return report.total - report.states
  }

  private func ratio(_ one: Double, _ other: Double) -> String {
    String(format: "%.3f", one / other)
  }
}

/// Settings that change.
private struct ChurnWorld {
  let rules: RuleSet
  private var random: Seeded
  private var users: [UserSettings] = []
  private var members: [[Int: MemberSettings]]

  static func user(_ number: Int) -> Identifier { Identifier("user-\(number)") }
  static func group(_ number: Int) -> Identifier { Identifier("group-\(number)") }

  init(_ rules: RuleSet, seed: UInt64, users count: Int, groups: Int) {
    self.rules = rules
    random = Seeded(seed)
    members = [[Int: MemberSettings]](repeating: [:], count: groups)
    for user in 0..<count {
      users.append(settingsOfUser())
      for _ in 0..<10 { members[random.below(groups)][user] = member() }
    }
  }

  var settings: FanoutSettings {
    var settings = FanoutSettings(app: AppSettings(rules: rules))
    for (user, record) in users.enumerated() { settings.setUser(Self.user(user), record) }
    for (group, members) in members.enumerated() {
      for (user, member) in members {
        settings.setMember(Self.user(user), of: Self.group(group), member)
      }
    }
    return settings
  }

  /// So many changes, made here and by what is returned.
  mutating func changes(
    _ count: Int
  ) throws -> (inout FanoutUpdate) throws -> Void {
    var changedUsers: [Int: UserSettings] = [:]
    var changedMembers: [(user: Int, group: Int, MemberSettings?)] = []
    for _ in 0..<count {
      let (user, group) = (random.below(users.count), random.below(members.count))
      let isMember = members[group][user] != nil
      if random.below(2) == 0 {
        users[user] = settingsOfUser()
        changedUsers[user] = users[user]
      } else {
        members[group][user] = isMember && random.below(5) == 0 ? nil : member()
        if isMember || members[group][user] != nil {
          changedMembers.append((user, group, members[group][user]))
        }
      }
    }
    return { update in
      for (user, settings) in changedUsers { try update.setUser(Self.user(user), settings) }
      for (user, group, member) in changedMembers {
        if let member {
          try update.setMember(Self.user(user), of: Self.group(group), member)
        } else {
          try update.removeMember(Self.user(user), of: Self.group(group))
        }
      }
    }
  }

  private mutating func classes() -> MessageClasses {
    MessageClasses(rawValue: UInt16(random.below(512)))
  }

  private mutating func settingsOfUser() -> UserSettings {
    var user = UserSettings()
    let (hour, start, end) = (random.below(22), random.below(60), random.below(60))
    switch rules {
    case .easemob:
      user.level = rules.levels[random.below(rules.levels.count)]
      user.quietHours =
        (try? QuietInterval(
          startHour: hour, startMinute: start, endHour: hour + 1, endMinute: end)).map {
          .interval($0)
        }
    case .rongcloud:
      user.quietHours =
        (try? QuietSpan(
          hour: hour, minute: start, second: end, spanMinutes: 60, level: .mention)).map {
          .span($0)
        }
    case .open:
      user.level = NotificationLevel(classes())
      let window = try? QuietWindows.Window(
        start: "\(hour):\(start)", end: "\(hour + 1):\(end)", allow: classes())
      user.quietHours = window.flatMap { try? QuietWindows([$0]) }.map { .windows($0) }
      if random.below(4) == 0 { try? user.setKeywords(["word \(random.below(1_000_000))"]) }
    }
    return user
  }

  private mutating func member() -> MemberSettings {
    var member = MemberSettings(level: rules.levels[random.below(rules.levels.count)])
    if random.below(10) == 0 { member.since = Instant(milliseconds: Int64(random.below(1 << 40))) }
    if rules == .open, random.below(10) == 0 {
      member.roles = [Identifier("role \(random.below(1_000_000))")]
    }
    return member
  }
}
