import Foundation
import PushModel
import PushReference
import QuietTime
import Synchronization
import TestSupport
import Testing

@testable import PushFanout

/// Goal: what changed users and members leave behind is taken back while an engine lives: after any
/// number of changes it takes the memory of one that is built now, and answers as that does.
///
/// `PUSH_CHANGES=1000000 swift test --filter CompactionTests` makes more changes.
@Suite struct CompactionTests {
  private static let noon = RandomWorld.noon

  /// An engine whose settings change all the time, with most of the changes to values that nobody
  /// had before.
  private struct Churn {
    let rules: RuleSet
    var random: SeededGenerator
    var users: [UserSettings]
    /// By group; nil for users who are not members.
    var members: [[MemberSettings?]]
    let fanout: Fanout

    init(_ rules: RuleSet, seed: UInt64, users userCount: Int) throws {
      self.rules = rules
      random = SeededGenerator(seed: seed)
      users = []
      members = []
      fanout = try Fanout(FanoutSettings(app: AppSettings(rules: rules)), threads: 2)
      for _ in 0..<userCount { users.append(try user()) }
      for _ in 0..<8 {
        members.append((0..<userCount).map { _ in random.chance(50) ? member() : nil })
      }
      let (users, members) = (users, members)
      try fanout.update { (update) throws(FanoutError) in
        for (user, settings) in users.enumerated() {
          try update.setUser(Self.id(user), settings)
        }
        for (group, members) in members.enumerated() {
          for (user, member) in members.enumerated() {
            if let member { try update.setMember(Self.id(user), of: Self.group(group), member) }
          }
        }
        update.writer.spareBytes = 0
        update.writer.compact()
      }
    }

    static func id(_ user: Int) -> Identifier { Identifier("user-\(user)-of-a-long-name") }

    static func group(_ group: Int) -> Identifier { Identifier("g\(group)") }

    private mutating func user() throws -> UserSettings {
      var user = UserSettings()
      let hour = Int.random(in: 0..<22, using: &random)
      let (start, end) = (random.pick(Array(0..<60)), random.pick(Array(0..<60)))
      switch rules {
      case .easemob:
        user.level = random.pick([.all, .mention, .blocked, .unset])
        user.quietHours = .interval(
          try QuietInterval(
            startHour: hour, startMinute: start, endHour: hour + 1, endMinute: end))
        if random.chance(30) { user.mutedUntil = instant() }
      case .rongcloud:
        user.quietHours = .span(
          try QuietSpan(
            hour: hour, minute: start, second: end, spanMinutes: 60 + start, level: .mention))
      case .open:
        user.level = NotificationLevel(classes())
        let window = try QuietWindows.Window(
          start: "\(hour):\(start)", end: "\(hour + 1):\(end)",
          allow: random.chance(50) ? classes() : [])
        user.quietHours = .windows(try QuietWindows([window]))
        if random.chance(50) {
          try user.setKeywords(["word \(random.next() % 1_000_000)", "deploy"])
        }
        if random.chance(20) { user.blockedSenders = [Self.id(Int(random.next() % 999))] }
        if random.chance(20) { (user.mutedUntil, user.mutedAllow) = (instant(), classes()) }
      }
      if random.chance(20) {
        user.devices = (0..<random.pick([1, 2, 3])).map {
          Device(id: Identifier("device \(random.next() % 10_000_000) of \($0)"))
        }
      }
      return user
    }

    private mutating func member() -> MemberSettings {
      var member = MemberSettings(level: random.pick([.unset, .all, .mention, .blocked]))
      if random.chance(20) { member.since = instant() }
      if rules != .rongcloud, random.chance(20) { member.mutedUntil = instant() }
      if rules == .open, random.chance(20) {
        member.roles = [Identifier("role \(random.next() % 1_000_000)")]
      }
      return member
    }

    private mutating func classes() -> MessageClasses {
      MessageClasses(rawValue: UInt16.random(in: 0..<512, using: &random))
    }

    private mutating func instant() -> Instant {
      Instant(milliseconds: noon + Int64.random(in: -90...90, using: &random) * 3_600_000)
    }

    private enum Change {
      case user(Int)
      case member(Int, group: Int)
    }

    /// So many changes in one update.
    mutating func change(_ count: Int) throws {
      var changes: [Change] = []
      for _ in 0..<count {
        let user = Int.random(in: users.indices, using: &random)
        let group = Int.random(in: members.indices, using: &random)
        if random.chance(50) {
          users[user] = try self.user()
          changes.append(.user(user))
        } else if members[group][user] == nil || random.chance(80) {
          members[group][user] = member()
          changes.append(.member(user, group: group))
        } else {
          members[group][user] = nil
          changes.append(.member(user, group: group))
        }
      }
      let (users, members) = (users, members)
      try fanout.update { (update) throws(FanoutError) in
        for change in changes {
          switch change {
          case .user(let user): try update.setUser(Self.id(user), users[user])
          case .member(let user, let group):
            // It may have joined and left in this update.
            if let member = members[group][user] {
              try update.setMember(Self.id(user), of: Self.group(group), member)
            } else {
              try? update.removeMember(Self.id(user), of: Self.group(group))
            }
          }
        }
      }
    }

    var settings: FanoutSettings {
      var settings = FanoutSettings(app: AppSettings(rules: rules))
      for (user, record) in users.enumerated() { settings.setUser(Self.id(user), record) }
      for (group, members) in members.enumerated() {
        for (user, member) in members.enumerated() {
          if let member { settings.setMember(Self.id(user), of: Self.group(group), member) }
        }
      }
      return settings
    }

    mutating func message(_ number: Int) -> Message {
      var message = Message(
        id: "m", conversation: Self.group(number % 8),
        at: Instant(milliseconds: noon + Int64.random(in: -20...20, using: &random) * 1_800_000),
        sender: Self.id(number))
      if rules == .open { message.text = "please deploy word \(number)" }
      message.mentionsAll = number % 3 == 0
      return message
    }
  }

  private static let changeCount =
    ProcessInfo.processInfo.environment["PUSH_CHANGES"].flatMap { Int($0) } ?? 60_000

  @Test(arguments: RuleSet.allCases)
  func memoryIsThatOfAnEngineBuiltNow(rules: RuleSet) throws {
    for seed in TestSupport.seeds([1]) {
      var churn = try Churn(rules, seed: seed, users: 6000)
      let first = churn.message(1)
      let held = (churn.fanout.decide(first), try Fanout(churn.settings).decide(first).rows)
      var most = 0.0
      for step in 0..<Self.changeCount / 500 {
        try churn.change(500)
        // Readers number what occurs.
        for number in 0..<4 { _ = churn.fanout.decide(churn.message(number)).counts }
        guard step % 20 == 19 else { continue }
        let fresh = try Fanout(churn.settings, threads: 2)
        let report = (aged: churn.fanout.memoryReport(), fresh: fresh.memoryReport())
        // Of a length that changes do not matter for, or made by the first change.
        let apart = churn.fanout.current.log.byteCount + churn.fanout.current.memberships.byteCount
        most = max(
          most,
          Double(report.aged.total - report.aged.states - apart) / Double(report.fresh.total))
        #expect(churn.fanout.difference(from: fresh) == nil, "seed \(seed), step \(step)")
      }
      #expect(most < 1.05, "seed \(seed)")
      var evaluator = ReferenceEvaluator(churn.settings)
      for number in 0..<12 {
        let message = churn.message(number)
        let difference = churn.fanout.decide(message).disagreement(with: evaluator.rows(message))
        #expect(difference == nil, "seed \(seed), \(message)")
      }
      #expect(held.0.rows == held.1, "seed \(seed)")
    }
  }

  /// Quiet hours that nobody has any more leave room for others; more than there is room for are
  /// refused, and nothing changes.
  @Test func quietHoursBeyondTheLimit() throws {
    let writer = try TableWriter(app: AppSettings(rules: .open))
    let fanout = Fanout(writer, threads: 1)
    writer.scheduleLimit = 100
    func set(_ user: Int, minute: Int) throws {
      let window = try QuietWindows.Window(start: "\(minute / 60):\(minute % 60)", end: "23:59")
      var settings = UserSettings()
      settings.quietHours = .windows(try QuietWindows([window]))
      let changed = settings
      try fanout.update { (update) throws(FanoutError) in
        try update.setUser(Identifier("u\(user)"), changed)
      }
    }
    for minute in 0..<1200 { try set(minute % 90, minute: minute) }
    #expect(fanout.reading { $0.scheduleTable.count } <= 100)
    let full = FanoutError.tooMany("distinct quiet hours")
    #expect(full.description == "more than 4194304 distinct quiet hours")
    #expect(throws: full) {
      for user in 90..<120 { try set(user, minute: user) }
    }
    let found = (0..<120).map { fanout.user(Identifier("u\($0)"))?.quietHours != nil }
    #expect(found == (0..<120).map { $0 < 99 })
    // What an update that fails has compacted is as it was, and so is what is counted of it.
    for user in 0..<9 { try set(user, minute: 1199) }
    let counted = writer.replaced.schedules
    #expect(throws: FanoutError.emptyID) {
      try fanout.update { (update) throws(FanoutError) in
        update.writer.compact()
        try update.setUser("", UserSettings())
      }
    }
    #expect(counted >= 9 && writer.replaced.schedules == counted)
  }

  /// Tables are made again while other threads decide, on this version and on earlier ones.
  @Test(arguments: RuleSet.allCases) func othersDecideMeanwhile(rules: RuleSet) throws {
    let churn = try Churn(rules, seed: 5, users: 400)
    let fanout = churn.fanout
    let state = Locked(churn)
    let ledger = ConcurrencyTests.Ledger(1, least: 60)
    let messages = state.withLock { churn in (0..<40).map { churn.message($0) } }
    let writer: @Sendable () -> Void = {
      var number = 0
      while !ledger.isOver {
        number += 1
        do {
          try state.withLock { try $0.change(20) }
          if number % 5 == 0 {
            try fanout.update { (update) throws(FanoutError) in update.writer.compact() }
          }
        } catch {
          ledger.report("\(error)")
        }
        ledger.versions.add(1, ordering: .relaxed)
      }
    }
    let rows: @Sendable (Message, FanoutVersion) -> [Row] = { message, version in
      var result = FanoutResult()
      fanout.decide(message, on: version, into: &result)
      return result.rows
    }
    let reader: @Sendable () -> Void = {
      var (result, number) = (FanoutResult(), 0)
      var held: [(FanoutVersion, Message, [Row])] = []
      while !ledger.isOver {
        number += 1
        let message = messages[number % messages.count]
        fanout.decide(message, into: &result)
        if number % 7 == 0 { held.append((fanout.currentVersion, message, [])) }
        if let last = held.last, last.2.isEmpty {
          held[held.count - 1].2 = rows(message, last.0)
        }
        if held.count > 5 {
          let (version, message, before) = held.removeFirst()
          if rows(message, version) != before {
            ledger.report("version \(version.number) answers another way than before")
          }
        }
        ledger.checked.add(1, ordering: .relaxed)
      }
    }
    ConcurrencyTests.onThreads([writer, reader, reader, reader])
    #expect(ledger.found.first == nil)
    let settings = state.withLock { $0.settings }
    var evaluator = ReferenceEvaluator(settings)
    for message in messages {
      #expect(fanout.decide(message).disagreement(with: evaluator.rows(message)) == nil)
    }
  }

  /// What nobody has is counted in a snapshot, and taken back after it is opened; the keys of members
  /// are read as they are.
  @Test(arguments: RuleSet.allCases) func anOpenedSnapshot(rules: RuleSet) throws {
    var churn = try Churn(rules, seed: 9, users: 2000)
    let folder = ScratchFolder()
    // Not enough for the engine to do it by itself.
    for _ in 0..<3 { try churn.change(100) }
    let identity = SnapshotTests.identity
    try churn.fanout.writeSnapshot(to: folder.path("s"), identity: identity, sequence: 1)
    let opened = try Fanout(snapshot: folder.path("s"), identity: identity, threads: 2)
    let keys = [churn.fanout, opened].map { fanout in
      fanout.reading { tables in (0..<tables.memberKeys.count).map { tables.memberKeys[$0] } }
    }
    #expect(keys[0] == keys[1])
    // Pages that no update made.
    let isMapped = opened.reading { tables in
      PageStore.generation(of: UInt(bitPattern: unsafe tables.memberKeys.page(at: 0))) == 0
    }
    #expect(isMapped)
    let unused = (churn.fanout.memoryReport().unused, opened.memoryReport().unused)
    #expect(unused.0 > 10_000 && unused.1 * 4 > unused.0, "\(unused)")
    try opened.update { (update) throws(FanoutError) in update.writer.compact() }
    #expect(opened.memoryReport().unused == 0)
    #expect(opened.difference(from: try Fanout(churn.settings)) == nil)
    var evaluator = ReferenceEvaluator(churn.settings)
    for number in 0..<6 {
      let message = churn.message(number)
      #expect(opened.decide(message).disagreement(with: evaluator.rows(message)) == nil)
    }
  }
}
