import Foundation
import PushFanout
import PushFiles
import PushModel
import PushReference
import PushReplay
import TestSupport
import Testing

/// Goal: what people get a day is what the reference says they get, message by message, whatever
/// the batches and threads.
///
/// `PUSH_SEED=n swift test --filter PeopleTests` runs one more seed.
@Suite struct PeopleTests {
  /// Pushes by day and person, and why others were not reached.
  private struct Naive {
    private var calendar = Calendar(identifier: .iso8601)
    /// By person, then by date: pushes on both sides.
    private(set) var days: [String: [DateComponents: [Int]]] = [:]
    private var reasons: [String: [String: Int]] = [:]
    /// Pushes of side A by person, then by conversation.
    private var rooms: [String: [String: Int]] = [:]
    private var senders: [String: TopSender] = [:]

    init(_ zone: String) { calendar.timeZone = TimeZone(identifier: zone)! }

    mutating func add(_ message: Message, _ sides: [[String: Outcome]]) {
      let date = Date(timeIntervalSince1970: Double(message.at.milliseconds / 1000))
      let day = calendar.dateComponents([.year, .month, .day], from: date)
      for (side, outcomes) in sides.enumerated() {
        for (user, outcome) in outcomes {
          days[user, default: [:]][day, default: [0, 0]][side] += outcome.action == .push ? 1 : 0
          guard side == 0 else { continue }
          reasons[user, default: [:]][outcome.reason.name, default: 0] += 1
          if outcome.action == .push {
            rooms[user, default: [:]][message.conversation.text, default: 0] += 1
          }
        }
      }
      guard let sender = message.sender?.text else { return }
      senders[sender, default: TopSender(id: sender)].messages += 1
      senders[sender]?.decisions += sides[0].count
      senders[sender]?.pushes += sides[0].values.count { $0.action == .push }
    }

    /// Those with most pushes; of equals the first by id.
    func top(_ limit: Int) -> TopPushes {
      func first(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
      var top = TopPushes(limit: limit)
      let people = rooms.map { user, rooms in
        let most = rooms.sorted {
          $0.value != $1.value ? $0.value > $1.value : first($0.key, $1.key)
        }[0]
        return TopPerson(
          id: user, pushes: rooms.values.reduce(0, +),
          days: days[user]?.values.count { $0[0] > 0 } ?? 0, conversation: most.key,
          share: most.value)
      }
      top.people = Array(
        people.sorted { $0.pushes != $1.pushes ? $0.pushes > $1.pushes : first($0.id, $1.id) }
          .prefix(limit))
      top.senders = Array(
        senders.values.filter { $0.pushes > 0 }
          .sorted { $0.pushes != $1.pushes ? $0.pushes > $1.pushes : first($0.id, $1.id) }
          .prefix(limit))
      return top
    }

    func counts(_ side: Int) -> [Int] {
      days.values.flatMap { $0.values.map { $0[side] } }.sorted()
    }

    func total(_ user: String, _ side: Int) -> Int {
      days[user]?.values.reduce(0) { $0 + $1[side] } ?? 0
    }

    /// The reason of most decisions; of equals the first by name.
    func reason(_ user: String) -> String? {
      reasons[user]?.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.first?.key
    }
  }

  private static func pushes(_ counts: [Int]) -> DailyPushes {
    var expected = DailyPushes()
    func least(_ share: Double) -> Int {
      counts.first { limit in
        Double(counts.count { $0 <= limit }) >= share * Double(counts.count) - 1e-9
      } ?? 0
    }
    (expected.median, expected.p90, expected.p99) = (least(0.5), least(0.9), least(0.99))
    expected.most = counts.last ?? 0
    for (index, from) in DailyPushes.classes.enumerated() {
      let next = index + 1 < DailyPushes.classes.count ? DailyPushes.classes[index + 1] : .max
      expected.classes[index] = counts.count { from <= $0 && $0 < next }
    }
    return expected
  }

  private static func outcomes(
    _ evaluator: inout ReferenceEvaluator, _ settings: FanoutSettings, _ message: Message
  ) -> [String: Outcome] {
    var found: [String: Outcome] = [:]
    evaluator.decide(message) { found[settings.id(of: $0).text] = $1.outcome }
    return found
  }

  /// The messages of a world along time, some of them many times.
  private static func messages(_ world: RandomWorld, in settings: [FanoutSettings]) -> [Message] {
    let known = world.messages.filter { message in
      settings.contains { $0.conversation(message.conversation) != nil }
    }
    let many = known.enumerated().flatMap { index, message in
      Array(repeating: message, count: index == 3 ? 40 : index % 7 == 0 ? 5 : 1)
    }
    return many.sorted { $0.at < $1.at }
  }

  /// A change of a user, a membership, a room or the app.
  private static func change(
    of settings: FanoutSettings, at: Instant, _ random: inout SeededGenerator
  ) -> SettingsChange {
    let fields = settings.app.rules.fields
    let levels: [NotificationLevel] = [.all, .mention, .blocked, .unset]
    let user = settings.id(
      of: UserIndex(UInt32.random(in: 0..<UInt32(settings.userCount), using: &random)))
    let groups = settings.conversationIDs.filter { settings.conversation($0)?.kind == .group }
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      var app = settings.app
      app.devicePolicy = random.pick(AppSettings.DevicePolicy.allCases)
      app.timeZone = random.pick(RandomWorld.zones)
      return SettingsChange(at: at, .app(app))
    case 1...5 where !groups.isEmpty:
      let member = MemberSettings(
        level: random.pick(levels),
        since: random.chance(30) ? Instant(milliseconds: at.milliseconds + 3_600_000) : .zero)
      return SettingsChange(at: at, .member(user, of: random.pick(groups), member))
    default:
      var changed = settings.user(user)
      changed.timeZone = random.pick(RandomWorld.zones)
      if fields.contains(.userLevel) { changed.level = random.pick(levels) }
      if fields.contains(.kindLevels) { changed.levels[.group] = random.pick(levels) }
      if random.chance(30) { changed.devices = [Device(id: "p", hasToken: random.chance(50))] }
      return SettingsChange(at: at, .user(user, changed))
    }
  }

  @Test(arguments: RuleSet.allCases) func aReplayCountsWhatTheReferenceSays(rules: RuleSet) throws {
    for seed in TestSupport.seeds([21, 22, 24, 26]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 40, messageCount: 60,
        style: RandomWorld.Style(density: 60, isVaried: true))
      var settings = ModelWorld(world).settings
      var random = SeededGenerator(seed: seed)
      var options = ReplayOptions()
      options.countsPeople = true
      options.userLimit = random.pick([1, 3, 1000])
      options.timeZone = random.pick(RandomWorld.zones)
      options.holds = random.chance(50)
      options.batch = (messages: random.pick([1, 7, 512]), versions: 128)
      let replayer = try Replayer(
        try Fanout(settings, threads: random.pick([1, 2, 3])), options)
      var naive = Naive(options.timeZone ?? "")
      var reference = ReferenceEvaluator(settings)
      for message in Self.messages(world, in: [settings]) {
        try replayer.add(.message(message))
        naive.add(message, [Self.outcomes(&reference, settings, message)])
        guard seed % 2 == 0, random.chance(15) else { continue }
        let change = Self.change(of: settings, at: message.at, &random)
        try replayer.add(.change(change))
        settings.set(change.record)
        reference = ReferenceEvaluator(settings)
      }
      let result = replayer.finish()
      #expect(result.top == naive.top(options.userLimit), "seed \(seed), \(rules.rawValue)")
      let people = try #require(result.people)
      let never = naive.days.keys.filter { naive.total($0, 0) == 0 }
      var expected = PeopleResult()
      expected.people = naive.days.count
      expected.personDays = naive.counts(0).count
      expected.mostDays = naive.days.values.map(\.count).max() ?? 0
      expected.pushes = Self.pushes(naive.counts(0))
      expected.neverReached = never.count
      expected.neverReasons = Dictionary(grouping: never.compactMap { naive.reason($0) }) { $0 }
        .map { NeverReason(reason: $0.key, people: $0.value.count) }
        .sorted { ($1.people, $0.reason) < ($0.people, $1.reason) }
      #expect(people == expected, "seed \(seed), \(rules.rawValue)")
      var rows: [String] = []
      replayer.forEachPerson { person in
        rows.append(
          "\(person.user) \(person.days) \(person.pushes) \(person.neverReason?.name ?? "")")
      }
      let wanted = naive.days.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
        user in
        let pushes = naive.total(user, 0)
        return "\(user) \(naive.days[user]?.count ?? 0) \(pushes) "
          + (pushes == 0 ? naive.reason(user) ?? "" : "")
      }
      #expect(rows == wanted, "seed \(seed), \(rules.rawValue)")
      #expect(replayer.finish().people == people, "asked twice")
      #expect(replayer.finish().top == result.top, "asked twice")
    }
  }

  @Test(arguments: RuleSet.allCases) func aComparisonCountsBothSides(rules: RuleSet) throws {
    for seed in TestSupport.seeds([31, 32]) {
      var world = RandomWorld(
        rules, seed: seed, userCount: 40, messageCount: 60,
        style: RandomWorld.Style(density: 60, isVaried: true))
      var random = SeededGenerator(seed: seed)
      let model = ModelWorld(world)
      var other = model
      for _ in 0..<25 { world.change(of: other, changesApp: false).apply(to: &other) }
      var options = CompareOptions()
      options.timeZone = "Pacific/Apia"
      options.batch = (messages: random.pick([1, 7, 512]), versions: 128)
      let a = model.settings
      var b = other.settings
      // A user whom A does not know.
      b.setMember("aaa", of: "only B")
      b.setMember("u1", of: "only B")
      let comparer = try Comparer(
        try Fanout(a, threads: random.pick([1, 3])), try Fanout(b, threads: 1), labels: ([], []),
        options)
      var naive = Naive("Pacific/Apia")
      var (first, second) = (ReferenceEvaluator(a), ReferenceEvaluator(b))
      var messages = Self.messages(world, in: [a, b])
      let last = try #require(messages.last)
      messages.append(Message(id: "b", conversation: "only B", at: last.at))
      for message in messages {
        try comparer.add(.message(message))
        naive.add(
          message, [Self.outcomes(&first, a, message), Self.outcomes(&second, b, message)])
      }
      let people = try #require(comparer.finish().people)
      var expected = ComparedPeople()
      expected.people = naive.days.count
      expected.personDays = naive.counts(0).count
      expected.mostDays = naive.days.values.map(\.count).max() ?? 0
      expected.a = Self.pushes(naive.counts(0))
      expected.b = Self.pushes(naive.counts(1))
      func index(_ count: Int) -> Int { DailyPushes.classes.lastIndex { $0 <= count } ?? 0 }
      for day in naive.days.values.flatMap(\.values) {
        expected.flow[index(day[0])][index(day[1])] += 1
      }
      for user in naive.days.keys {
        switch (naive.total(user, 0) > 0, naive.total(user, 1) > 0) {
        case (true, false): expected.noneAnyMore += 1
        case (false, true): expected.firstTime += 1
        case (false, false): expected.never += 1
        case (true, true): break
        }
      }
      #expect(people == expected, "seed \(seed), \(rules.rawValue)")
      var rows: [String] = []
      comparer.forEachPerson { person in
        rows.append("\(person.user) \(person.days) \(person.pushes) \(person.pushesInB ?? -1)")
      }
      let wanted = naive.days.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
        user in
        "\(user) \(naive.days[user]?.count ?? 0) \(naive.total(user, 0)) \(naive.total(user, 1))"
      }
      #expect(rows == wanted, "seed \(seed), \(rules.rawValue)")
    }
  }

  /// A reason of one message less does not count as the most, and equals go by their names.
  @Test func whyNobodyWasReached() throws {
    var settings = ReplayerTests.world(3)
    settings.updateUser("u0") { $0.level = .mention }
    settings.updateUser("u1") { $0.level = .blocked }
    for user in ["u0", "u1"] as [Identifier] {
      settings.updateUser(user) { $0.mutedUntil = ReplayerTests.at(3) }
    }
    // Muted twice, then not mentioned and none three times.
    let events = [1, 2, 4, 5, 6].map { ReplayerTests.message($0) }
    let people = try #require(try ReplayerTests.replay(settings, events, countsPeople: true).people)
    #expect(people.neverReached == 2 && people.people == 3 && people.personDays == 3)
    #expect(
      people.neverReasons == [
        NeverReason(reason: "levelNone", people: 1), NeverReason(reason: "notMentioned", people: 1),
      ])
    #expect(people.pushes.median == 0 && people.pushes.p90 == 5 && people.pushes.most == 5)
    let even = try #require(
      try ReplayerTests.replay(
        settings, [1, 2, 4, 5].map { ReplayerTests.message($0) }, countsPeople: true
      ).people)
    #expect(
      even.neverReasons == [
        NeverReason(reason: "levelNone", people: 1), NeverReason(reason: "muted", people: 1),
      ])
  }

  /// Nobody is listed unless people are counted, and then as many as are asked for.
  @Test func whoGetsMost() throws {
    let events = [1, 2].map { ReplayerTests.message($0) }
    let settings = ReplayerTests.world(3)
    #expect(try ReplayerTests.replay(settings, events).top == nil)
    var options = ReplayOptions()
    options.countsPeople = true
    options.userLimit = 0
    let replayer = try Replayer(try Fanout(settings, threads: 2), options)
    for event in events { try replayer.add(event) }
    #expect(replayer.finish().top == nil && replayer.finish().people?.people == 3)
    let top = try #require(try ReplayerTests.replay(settings, events, countsPeople: true).top)
    #expect(top.limit == 10 && top.people.map(\.id) == ["u0", "u1", "u2"])
    #expect(
      top.people.first == TopPerson(id: "u0", pushes: 2, days: 1, conversation: "g", share: 2))
    #expect(top.senders.map { [$0.messages, $0.decisions, $0.pushes] } == [[2, 6, 6]])
  }

  /// Pushes lost by who is mentioned, by name or with everyone.
  @Test func mentionsThatAreLost() throws {
    let settings = ReplayerTests.world(4)
    var other = settings
    for user in ["u0", "u1", "u2"] as [Identifier] {
      other.updateUser(user) { $0.level = .blocked }
    }
    func result(_ change: (inout Message) -> Void) throws -> [Int?] {
      let comparer = try Comparer(
        try Fanout(settings, threads: 1), try Fanout(other, threads: 1), labels: ([], []))
      var message = Message(id: "m", conversation: "g", at: ReplayerTests.at(1), sender: "u2")
      change(&message)
      try comparer.add(.message(message))
      let result = comparer.finish()
      return [result.lost, result.mentionsLost, result.everyoneMentionsLost]
    }
    // u2 is the sender, u3 keeps its level.
    #expect(try result { _ in } == [2, 0, 0])
    #expect(try result { $0.mentions = ["u0", "u2", "u3", "nobody"] } == [2, 1, 0])
    #expect(try result { $0.mentionsAll = true } == [2, 0, 2])
    #expect(
      try result {
        $0.mentions = ["u1"]
        $0.mentionsAll = true
      } == [2, 1, 1])
    other = settings
    #expect(try result { $0.mentionsAll = true } == [0, 0, 0])
  }
}
