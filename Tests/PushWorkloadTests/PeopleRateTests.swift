import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: worlds of people have the rates that docs/generate.md names, and those that are asked for:
/// shared zones, the hours and days of writing, replies, changes.
///
/// The draws are fixed by the seed, so a test that passes once passes always. A number may be off by
/// four standard errors of its sample (`isChance`, `misses`); what is allowed beyond has its reason
/// beside it.
@Suite struct PeopleRateTests {
  static func world(_ change: (inout WorkloadOptions) -> Void) throws -> Workload {
    var options = WorkloadOptions()
    options.sizes.users = 10_000
    options.traffic.messages = 40_000
    change(&options)
    return try Workload(options, threads: 2)
  }

  static func sender(_ user: Int, _ world: Workload) -> WorkloadSender {
    WorkloadSender(user, zone: world.zones.zone(of: user), world)
  }

  static func messages(_ world: Workload) -> [WorkloadMessage] {
    var messages: [WorkloadMessage] = []
    world.forEachMessage(threads: 2) { messages.append($0) }
    return messages
  }

  /// Every day active, and all days alike but for what is measured, which long bursts would blur.
  static func steady(_ options: inout WorkloadOptions) {
    options.traffic.burstMaximum = 20
    options.traffic.activeShares = [1, 1, 1, 1, 1]
    options.traffic.dayDeviation = 0
  }

  // MARK: Zones

  /// Pairs of members that share a zone: by chance, and by the square of the share beyond.
  @Test(arguments: [[0.9, 0.7, 0.5, 0.3], [0], [0.5], [1]])
  func pairsShareZones(shares: [Double]) throws {
    let world = try Self.world {
      $0.sizes.users = 100_000
      $0.sizes.rooms = 3000
      $0.sizes.giants = Array(repeating: 400, count: 40) + [3000, 3000, 3000, 3000]
      // Of them many zones have as many as a giant wants.
      $0.sizes.topJoinersShare = 0.1
      $0.sizes.sharedZone = shares
    }
    let total = Double(ZonePopulation.zones.reduce(0) { $0 + $1.weight })
    let chance = ZonePopulation.zones.reduce(0.0) { $0 + pow(Double($1.weight) / total, 2) }
    var pairs = [Double](repeating: 0, count: 4)
    var same = pairs
    for room in 0..<world.roomCount {
      var counts: [Int: Double] = [:]
      world.forEachMember(ofRoom: room) { user, _ in
        counts[world.zones.zone(of: user), default: 0] += 1
      }
      let size = Double(world.size(ofRoom: room))
      if size < 2 { continue }
      // A room counts once, however many pairs it has.
      let number = Workload.sharedZoneClass(Int(size))
      pairs[number] += 1
      same[number] += counts.values.reduce(0) { $0 + $1 * ($1 - 1) } / (size * (size - 1))
    }
    for number in 0..<4 {
      let share = shares[min(number, shares.count - 1)]
      let expected = chance + share * share * (1 - chance)
      let found = same[number] / pairs[number]
      // Of four giants some are of large zones by chance.
      #expect(
        abs(found - expected) < (number == 3 ? 0.08 : 0.04), "\(number): \(found), \(expected)")
    }
  }

  // MARK: Hours and days

  @Test(arguments: [1, 3, 10.0])
  func hoursAreAsAsked(ratio: Double) throws {
    let messages = 120_000
    let world = try Self.world {
      Self.steady(&$0)
      $0.sizes.rooms = 400
      $0.traffic.hourRatio = ratio
      $0.traffic.messages = messages
      $0.traffic.durationMilliseconds = 16 * 86_400_000
    }
    // The busiest and the quietest of 24 hours are so by chance, too: of 24 normal draws the
    // greatest is 1.95 standard errors above the mean. Messages come in bursts, whose sizes' mean
    // square by their mean makes the error greater.
    let law = (1...20).map { pow(Double($0), -1.2) }
    let square = (0..<20).reduce(0.0) { $0 + Double(2 * $1 + 1) * law[$1] }
    let error = (square / law.reduce(0, +) * 24 / Double(messages)).squareRoot()
    #expect(
      world.profile().misses("hour-ratio", [ratio], model: 0...(2 * 1.95 * error * ratio)) == [])
  }

  /// What people with a window write within it.
  @Test(arguments: [nil, 0.01, 0.05])
  func fewWriteInTheirWindows(share: Double?) throws {
    let world = try Self.world {
      $0.people.quietWritingShare = share
      $0.traffic.messages = 100_000
      $0.traffic.durationMilliseconds = 3 * 86_400_000
    }
    let asked = share ?? 0.025
    #expect(
      world.profile().misses("quiet-writing-share", [asked], model: 0...0) == [])
  }

  @Test(arguments: [0.72, 0.3, 1.1])
  func weekendsAreAsAsked(ratio: Double) throws {
    let world = try Self.world {
      Self.steady(&$0)
      $0.sizes.users = 2000
      $0.sizes.rooms = 60
      $0.traffic.weekendRatio = ratio
      $0.traffic.messages = 60_000
      $0.traffic.durationMilliseconds = 70 * 86_400_000
    }
    #expect(world.profile().misses("weekend-ratio", [ratio], model: 0...0) == [])
  }

  /// The variation of the messages of a day, in rooms where much is written.
  @Test(arguments: [0.9, 1.2, 2.2])
  func daysDiffer(deviation: Double) throws {
    let days = 120
    let world = try Self.world {
      $0.sizes.rooms = 16
      $0.sizes.giants = Array(repeating: 1500, count: 16)
      $0.traffic.dayDeviation = deviation
      $0.traffic.burstMaximum = 5
      $0.traffic.messages = 150_000
      $0.traffic.durationMilliseconds = Int64(days) * 86_400_000
    }
    let found = try #require(world.profile().rate("day-deviation")?.estimate)
    let law = DayLaw(deviation: deviation, days: days, messages: 150_000 / 16 / Double(days))
    // The median of ten rooms has 1.25 times the error of their mean.
    let reach = 4 * 1.25 * law.error / 10.0.squareRoot()
    #expect(abs(found.value - law.mean) < reach, "\(found), \(law)")
    // Of few days the greatest are missing: what is asked for is that of very many.
    let many = DayLaw(deviation: deviation, days: 20_000, messages: 1e6, isSteady: true)
    #expect(abs(many.mean / deviation - 1) < 0.1, "\(many)")
  }

  /// The coefficient of variation that is found in a room whose days are drawn as asked for: active
  /// with 0.9, log-normal, weekends 0.72, bursts of up to five messages.
  struct DayLaw {
    var mean = 0.0
    var error = 0.0

    init(deviation: Double, days: Int, messages: Double, isSteady: Bool = false) {
      var draws = Draws(1, .day)
      let sigma = log((1 + deviation * deviation) * 0.9).squareRoot()
      let law = (1...5).map { pow(Double($0), -1.2) }
      let square = (0..<5).reduce(0.0) { $0 + Double(2 * $1 + 1) * law[$1] } / law.reduce(0, +)
      let rounds = isSteady ? 20 : 400
      let found = (0..<rounds).map { _ in
        let counts = (0..<days).map { day in
          guard draws.isBelow(0.9) else { return 0.0 }
          let factor = exp(draws.normal(mean: -sigma * sigma / 2, deviation: sigma)) / 0.9
          let expected = messages * factor * (day % 7 >= 5 && !isSteady ? 0.72 : 1)
          return max(0, draws.normal(mean: expected, deviation: (square * expected).squareRoot()))
        }
        let mean = counts.reduce(0, +) / Double(days)
        let squares = counts.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(days)
        return squares.squareRoot() / mean
      }
      let count = Double(rounds)
      let all = found.reduce(0, +) / count
      mean = all
      error = (found.reduce(0) { $0 + ($1 - all) * ($1 - all) } / (count - 1)).squareRoot()
    }
  }

  /// The share of the days that have a message, in rooms of each size. A day that is drawn has two
  /// bursts in the mean, at least, so up to e^-2 of such days have none. Bursts that go on over
  /// midnight make another day active: of a day's bursts, which take some minutes, less than 5 %.
  @Test(arguments: [
    nil, [0.03, 0.15, 0.4, 0.8, 0.9], [0.4, 0.4, 0.4, 0.8, 0.9], [0.01, 0.01, 0.01, 0.01, 0.01],
  ])
  func roomsAreActiveOnSomeDays(shares: [Double]?) throws {
    let world = try Self.world {
      $0.traffic.activeShares = shares
      $0.sizes.users = 20_000
      $0.sizes.giants = Array(repeating: 1000, count: 16)
      $0.traffic.messages = 100_000
      $0.traffic.durationMilliseconds = 5 * 86_400_000
    }
    let profile = world.profile()
    for (number, share) in (shares ?? [0.01, 0.07, 0.22, 0.6, 0.9]).enumerated() {
      var asked = [Double?](repeating: nil, count: 5)
      asked[number] = share
      #expect(
        profile.misses("active-shares", asked, model: -share * exp(-2)...share * 0.05) == [])
    }
  }

  /// Shares that the messages cannot reach are refused when they are asked for, and the share that
  /// the error names is accepted.
  @Test func activeSharesNeedMessages() throws {
    func world(_ shares: [Double]?) throws(WorkloadError) -> Workload {
      var options = WorkloadOptions()
      options.traffic.messages = 2000
      options.traffic.activeShares = shares
      return try Workload(options)
    }
    let asked = [0.4, 0.5, 0.6, 0.7, 0.9]
    var most = 1.0
    do throws(WorkloadError) {
      _ = try world(asked)
      Issue.record("so many days cannot be active")
    } catch {
      guard case .more("active-shares", 0.4, let found, _) = error else { throw error }
      most = found
      #expect(error.description.contains("more than the 0.0"), "\(error)")
    }
    #expect((0.01..<0.4).contains(most))
    let profile = try world(asked.map { $0 * most / 0.4 * 0.999 }).profile()
    let reached = most * 0.999
    #expect(
      profile.misses(
        "active-shares", [reached, nil, nil, nil, nil], model: -reached * exp(-2)...reached * 0.05)
        == [])
    // Without being asked for they are as many as can be.
    var family = WorkloadOptions()
    family.apply(.family)
    family.traffic.messages = 100
    #expect(try Workload(family).messageCount == 100)
    _ = try world(nil)
  }

  /// A family's room is small, and every second day somebody writes.
  @Test func familiesAreSmallAndActive() throws {
    var options = WorkloadOptions()
    options.apply(.family)
    let world = try Workload(options)
    let sizes = (0..<world.roomCount).map { world.size(ofRoom: $0) }
    #expect(sizes.max()! < 200)
    #expect((4...7).contains(sizes.sorted()[sizes.count / 2]))
    let rooms = Set(Self.messages(world).map(\.room))
    let share = Double(rooms.count) / Double(sizes.count)
    #expect((0.25...0.6).contains(share), "\(share)")
  }

  // MARK: Replies, texts, changes

  @Test(arguments: [0.1, 0.53])
  func messagesReply(share: Double) throws {
    let messages = Self.messages(
      try Self.world {
        $0.traffic.replyShare = share
        $0.traffic.messages = 40_000
      })
    // Only to another user who posted in the room within a day.
    var lately: [Int: [Int: Int64]] = [:]
    let eligible = messages.count { message in
      let at = message.at.milliseconds
      defer { lately[message.room, default: [:]][message.sender] = at }
      return lately[message.room]?.contains { user, then in
        user != message.sender && at - then <= 86_400_000
      } ?? false
    }
    let replies = messages.count { $0.replyTo != nil }
    #expect(isChance(replies, of: eligible, share), "\(replies) of \(eligible)")
    var posted: [Int: Set<Int>] = [:]
    let isRight = messages.allSatisfy { message in
      defer { posted[message.room, default: []].insert(message.sender) }
      guard let user = message.replyTo else { return true }
      return user != message.sender && posted[message.room]?.contains(user) == true
    }
    #expect(isRight)
  }

  @Test func textsAreOfSeveralScripts() throws {
    let world = try Self.world {
      $0.traffic.hasText = true
      $0.traffic.messages = 4000
    }
    let lines = bytes(.messages, of: WorkloadText(world, .ndjson)).split(
      separator: UInt8(ascii: "\n"))
    let texts = try lines.map { line in
      let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      return try #require(record?["text"] as? String)
    }
    #expect(texts.count == 4000 && !texts.contains(""))
    let scripts: [(name: String, range: ClosedRange<UInt32>)] = [
      ("Latin", 0x61...0x7A), ("Cyrillic", 0x410...0x44F), ("Arabic", 0x620...0x64A),
      ("Devanagari", 0x900...0x97F), ("Han", 0x4E00...0x9FFF), ("kana", 0x3041...0x30FF),
      ("Thai", 0xE00...0xE7F), ("emoji", 0x1F300...0x1FAFF),
    ]
    let found = scripts.filter { script in
      texts.contains { $0.unicodeScalars.contains { script.range.contains($0.value) } }
    }
    #expect(found.map(\.name) == scripts.map(\.name))
    let plain = try Self.world { $0.traffic.messages = 10 }
    #expect(
      !String(decoding: bytes(.messages, of: WorkloadText(plain, .ndjson)), as: UTF8.self)
        .contains("text"))
  }

  /// Each change is of what is there, in one fact, in the order of time.
  @Test func settingsChange() throws {
    let world = try Self.world {
      $0.people.changes = 0.2
      $0.traffic.durationMilliseconds = 2 * 86_400_000
      $0.traffic.messages = 10
    }
    #expect(world.changeCount == 4000)
    let changes = (0..<world.changeCount).map { world.change($0) }
    #expect(changes.map(\.at) == changes.map(\.at).sorted())
    #expect(changes.allSatisfy { world.time.contains($0.at) })
    var (members, windows, levels, same, night) = (0, 0, 0, 0, 0)
    var records: [Int: [Int: MemberSettings]] = [:]
    for change in changes {
      switch change.settings {
      case .user(let user, let drawn):
        let before = world.drawnUser(user)
        let isWindow =
          before.isSilent != drawn.isSilent || before.window != drawn.window
        if isWindow { windows += 1 }
        if before.level != drawn.level { levels += 1 }
        if !isWindow, before.level == drawn.level { same += 1 }
        if Self.sender(user, world).isQuiet(at: change.at) { night += 1 }
        #expect(!(isWindow && before.level != drawn.level))
      case .member(let room, let drawn):
        members += 1
        if records[room] == nil {
          var found: [Int: MemberSettings] = [:]
          world.forEachMember(ofRoom: room) { found[$0] = $1 }
          records[room] = found
        }
        let before = try #require(records[room]?[drawn.user])
        #expect(before.level != drawn.level && before.since.milliseconds == drawn.since)
      }
    }
    #expect(isChance(members, of: 4000, 0.6), "\(members)")
    // A window may be drawn that is there already, which is then no change.
    #expect(isChance(windows + same, of: 4000, 0.25), "\(windows), \(same)")
    #expect(isChance(levels, of: 4000, 0.15), "\(levels)")
    #expect(same < windows / 20 && night < 80, "\(same), \(night)")
  }
}
