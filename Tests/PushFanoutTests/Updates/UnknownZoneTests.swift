import PushFanout
import PushModel
import QuietTime
import TestSupport
import Testing

/// Goal: a user whose time zone the system does not have is refused alone: all others are decided for
/// as if that user were no member, in whatever way it is asked, and the user is named. Ignored, the
/// zone means no quiet hours.
///
/// `PUSH_SEED=n swift test --filter UnknownZoneTests` runs one more seed; each failure names its own.
@Suite struct UnknownZoneTests {
  private static let mars = "Mars/Base"

  private static func user(_ quietHours: QuietHours?, _ zone: String?) -> UserSettings {
    var user = UserSettings()
    (user.quietHours, user.timeZone) = (quietHours, zone)
    return user
  }

  /// Gives some users a zone that there is not.
  private static func lost(
    _ world: RandomWorld, _ random: inout SeededGenerator
  ) throws -> (settings: FanoutSettings, users: Set<Identifier>) {
    var settings = world.settings()
    var lost: Set<Identifier> = []
    for user in world.users where random.chance(25) {
      settings.updateUser(user) { $0.timeZone = mars }
      lost.insert(user)
    }
    return (settings, lost)
  }

  /// The same world in which the users never become members.
  private static func without(
    _ users: Set<Identifier>, _ settings: FanoutSettings
  ) -> FanoutSettings {
    var settings = settings
    for user in users { settings.updateUser(user) { ($0.timeZone, $0.quietHours) = (nil, nil) } }
    for conversation in settings.conversationIDs
    where settings.conversation(conversation)?.kind != .thread {
      for index in settings.members(of: conversation) {
        guard users.contains(settings.id(of: index)),
          var member = settings.member(index, of: conversation)
        else { continue }
        member.since = Instant(milliseconds: Instant.maximumMilliseconds)
        settings.setMember(settings.id(of: index), of: conversation, member)
      }
    }
    return settings
  }

  @Test(arguments: RuleSet.allCases, TestSupport.seeds([11, 12, 13]))
  func othersAreDecidedFor(rules: RuleSet, seed: UInt64) throws {
    for userCount in [20, 700] {
      let world = RandomWorld(rules, seed: seed, userCount: userCount, messageCount: 30)
      var random = SeededGenerator(seed: seed)
      let (settings, lost) = try Self.lost(world, &random)
      #expect(throws: FanoutError.unknownTimeZone(Self.mars)) { try Fanout(settings) }
      let fanout = try Fanout(settings, threads: 2, unknownZones: .refuse)
      let others = try Fanout(Self.without(lost, settings), threads: 2)
      #expect(fanout.currentVersion.unknownZoneUsers.count == lost.count)
      #expect(fanout.currentVersion.unknownZoneCounts == [Self.mars: lost.count])
      // Twice: from the tables at first, then from the cache.
      for message in world.messages + world.messages {
        let rows = others.decide(message).rows
        let difference = fanout.decide(message).disagreement(with: rows)
        #expect(difference == nil, "seed \(seed), \(message.id)")
        let recipients = world.recipients(of: message)
        let refused = Set(fanout.currentVersion.refusedRecipients(of: message).map(\.id))
        #expect(refused == recipients.intersection(lost), "seed \(seed), \(message.id)")
        for user in lost {
          #expect(fanout.decision(message, for: user) == nil)
          #expect(throws: FanoutError.self) { try fanout.currentVersion.checkIsDecided(user) }
        }
        for user in recipients.subtracting(lost).prefix(5) {
          #expect(fanout.decision(message, for: user) == others.decision(message, for: user))
          try fanout.currentVersion.checkIsDecided(user)
        }
      }
      // Held pushes, and the counts of a timeline.
      func listed(_ counts: FanoutCounts) -> [[Int]] {
        var list: [[Int]] = []
        counts.forEach { list.append([Int($0), $1]) }
        return list.sorted { $0[0] < $1[0] }
      }
      let timelines = [fanout, others].map { FanoutTimeline($0.currentVersion) }
      for message in world.messages {
        let held = timelines.map { timeline in
          var (held, pushes) = (FanoutCounts(), [Int64: Int]())
          let counts = timeline.counts(message, held: &held) { pushes[$0, default: 0] += $1 }
          let later = pushes.filter { $0.value != 0 }.sorted { $0.key < $1.key }
          return "\(listed(counts)) \(listed(held)) \(later)"
        }
        #expect(held[0] == held[1], "seed \(seed), \(message.id)")
      }
    }
  }

  @Test(arguments: RuleSet.allCases, TestSupport.seeds([21, 22]))
  func ignoredZonesMeanNoQuietHours(rules: RuleSet, seed: UInt64) throws {
    let world = RandomWorld(rules, seed: seed, messageCount: 40)
    var random = SeededGenerator(seed: seed)
    let (settings, lost) = try Self.lost(world, &random)
    let fanout = try Fanout(settings, threads: 1, unknownZones: .ignore)
    var plain = settings
    // By open rules, a user without quiet hours has the app's.
    let none: QuietHours? = world.app.quietHours == nil ? nil : .windows(.none)
    for user in lost { plain.updateUser(user) { ($0.timeZone, $0.quietHours) = (nil, none) } }
    let other = try Fanout(plain, threads: 1)
    for message in world.messages {
      #expect(
        fanout.decide(message).disagreement(with: other.decide(message).rows) == nil,
        "seed \(seed), \(message.id)")
      #expect(fanout.currentVersion.refusedRecipients(of: message) == [])
      for user in world.users {
        #expect(fanout.decision(message, for: user) == other.decision(message, for: user))
      }
    }
    // The names are kept.
    for user in lost { #expect(fanout.user(user)?.timeZone == Self.mars) }
    #expect(fanout.currentVersion.unknownZoneUsers.count == lost.count)
  }

  /// A user's zone becomes unknown and known again, in a conversation that is kept between messages.
  @Test(arguments: [UnknownZones.refuse, .ignore])
  func updates(policy: UnknownZones) throws {
    let quiet = QuietHours.interval(
      try QuietInterval(startHour: 0, startMinute: 0, endHour: 12, endMinute: 0))
    var settings = FanoutSettings()
    for number in 0..<100 { settings.setMember(Identifier("u\(number)"), of: "g") }
    let fanout = try Fanout(settings, threads: 1, unknownZones: policy)
    let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: 1_711_843_200_000))
    func expect(_ recipients: Int, _ users: [Identifier], _ line: Int = #line) {
      #expect(fanout.decide(message).recipientCount == recipients, "line \(line)")
      #expect(fanout.currentVersion.unknownZoneUsers.first.map(\.id) == users, "line \(line)")
    }
    let isRefused = policy == .refuse
    expect(100, [])
    try fanout.update { (update) throws(FanoutError) in
      try update.setUser("u7", Self.user(quiet, Self.mars))
      try update.setUser("u3", Self.user(nil, Self.mars))
    }
    expect(isRefused ? 98 : 100, ["u3", "u7"])
    if isRefused {
      #expect(throws: FanoutError.unknownZones(.init(.init("u7", timeZone: Self.mars)))) {
        try fanout.nextChange(for: "u7", in: "g", after: .zero)
      }
    } else {
      #expect(try fanout.nextChange(for: "u7", in: "g", after: .zero) == nil)
    }
    #expect(try fanout.nextChange(for: "u8", in: "g", after: .zero) == nil)
    try fanout.update { (update) throws(FanoutError) in
      try update.updateUser("u7") { $0.timeZone = "UTC" }
    }
    expect(isRefused ? 99 : 100, ["u3"])
    #expect(try fanout.nextChange(for: "u7", in: "g", after: .zero) != nil)
    // Of the app's zone those depend who have hours and no zone.
    try fanout.update { (update) throws(FanoutError) in
      var app = update.app
      app.timeZone = Self.mars
      try update.setApp(app)
      try update.setUser("u9", Self.user(quiet, nil))
    }
    expect(isRefused ? 98 : 100, ["u3", "u9"])
    try fanout.update { (update) throws(FanoutError) in
      var app = update.app
      app.timeZone = "Asia/Tokyo"
      try update.setApp(app)
      try update.removeUser("u3")
    }
    expect(99, [])
  }

  @Test func snapshots() throws {
    var settings = FanoutSettings()
    settings.setUser("ann", Self.user(nil, Self.mars))
    settings.setMember("ann", of: "g")
    settings.setMember("ben", of: "g")
    let folder = ScratchFolder()
    let path = folder.path("s")
    let identity = SnapshotIdentity(high: 1, low: 2)
    let fanout = try Fanout(settings, threads: 1, unknownZones: .ignore)
    try fanout.writeSnapshot(to: path, identity: identity, sequence: 1)
    let message = Message(id: "m", conversation: "g", at: .zero)
    for (policy, count) in [(UnknownZones.refuse, 1), (.ignore, 2)] {
      let opened = try Fanout(
        snapshot: path, identity: identity, threads: 1, unknownZones: policy)
      #expect(opened.decide(message).recipientCount == count)
      #expect(opened.currentVersion.unknownZoneUsers.first.map(\.id) == ["ann"])
      #expect(opened.user("ann")?.timeZone == Self.mars)
    }
    #expect(throws: SnapshotError(path: path, problem: .unknownTimeZone(Self.mars))) {
      try Fanout(snapshot: path, identity: identity, unknownZones: .fail)
    }
  }
}
