import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: worlds of people have the rates that docs/generate.md names, and those that are asked for:
/// shared zones, the hours and days of writing, replies, changes.
///
/// The draws are fixed by the seed, so a test that passes once passes always; tolerances are several
/// standard errors of the sample.
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
    let world = try Self.world {
      Self.steady(&$0)
      $0.traffic.hourRatio = ratio
      $0.traffic.messages = 120_000
    }
    var hours = [Double](repeating: 0, count: 24)
    for message in Self.messages(world) {
      let sender = Self.sender(message.sender, world)
      hours[sender.minute(at: message.at.milliseconds) / 60] += 1
    }
    let found = hours.max()! / hours.min()!
    // The busiest and the quietest of 24 hours are so by chance, too.
    #expect(abs(found / ratio - 1) < 0.15, "\(found) \(hours)")
  }

  /// What people with a window write within it.
  @Test(arguments: [nil, 0.01, 0.05])
  func fewWriteInTheirWindows(share: Double?) throws {
    let world = try Self.world {
      $0.people.quietWritingShare = share
      $0.traffic.messages = 100_000
      $0.traffic.durationMilliseconds = 3 * 86_400_000
    }
    var (within, all) = (0.0, 0.0)
    for message in Self.messages(world) {
      let sender = Self.sender(message.sender, world)
      if world.drawnUser(message.sender).window == nil { continue }
      all += 1
      if sender.isQuiet(at: message.at.milliseconds) { within += 1 }
    }
    let found = within / all
    #expect(abs(found / (share ?? 0.025) - 1) < 0.3, "\(found)")
    if share == nil { #expect((0.007...0.036).contains(found), "\(found)") }
  }

  @Test(arguments: [0.72, 0.3, 1.1])
  func weekendsAreAsAsked(ratio: Double) throws {
    let world = try Self.world {
      Self.steady(&$0)
      $0.traffic.weekendRatio = ratio
      $0.traffic.messages = 60_000
      $0.traffic.durationMilliseconds = 14 * 86_400_000
    }
    var counts = [0.0, 0.0]
    for message in Self.messages(world) {
      let zone = ZonePopulation.zones[world.zones.zone(of: message.sender)]
      let minutes = message.at.milliseconds / 60_000 + Int64(zone.offsetMinutes)
      counts[(minutes / 1440 + 3) % 7 >= 5 ? 1 : 0] += 1
    }
    let found = counts[1] / 2 / (counts[0] / 5)
    // Members of other zones have their room's weekend.
    #expect(abs(found - ratio) < 0.06, "\(found)")
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
    var counts = [[Double]](repeating: [Double](repeating: 0, count: days), count: 16)
    for message in Self.messages(world) {
      let day = Int((message.at.milliseconds - world.time.lowerBound) / 86_400_000)
      counts[message.room][day] += 1
    }
    let variations = counts.map { counts in
      let mean = counts.reduce(0, +) / Double(days)
      let square = counts.reduce(0) { $0 + pow($1 - mean, 2) } / Double(days)
      return square.squareRoot() / mean
    }.sorted()
    // Bursts and weekends add a little; days of very many are seldom, and may be missing.
    #expect(abs(variations[8] / deviation - 1) < 0.25, "\(variations)")
  }

  /// Days on which somebody writes in a room of a size, within a factor of two.
  @Test(arguments: [nil, [0.03, 0.15, 0.4, 0.8, 0.9]])
  func roomsAreActiveOnSomeDays(shares: [Double]?) throws {
    let days = 5
    let world = try Self.world {
      if let shares { $0.traffic.activeShares = shares }
      $0.sizes.users = 20_000
      $0.traffic.messages = 100_000
      $0.traffic.durationMilliseconds = Int64(days) * 86_400_000
    }
    struct RoomDay: Hashable { var room, day: Int }
    var active: Set<RoomDay> = []
    for message in Self.messages(world) {
      let day = Int((message.at.milliseconds - world.time.lowerBound) / 86_400_000)
      active.insert(RoomDay(room: message.room, day: day))
    }
    let wanted = shares ?? [0.01, 0.07, 0.22, 0.6, 0.9]
    for (number, sizes) in [3..<10, 10..<50, 50..<200, 200..<1000].enumerated() {
      let rooms = (0..<world.roomCount).count { sizes ~= world.size(ofRoom: $0) }
      let found = Double(active.count { sizes ~= world.size(ofRoom: $0.room) })
      let share = found / Double(rooms * days)
      #expect((0.5...2).contains(share / wanted[number]), "\(sizes): \(share)")
    }
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
    let found = Double(messages.count { $0.replyTo != nil }) / Double(messages.count)
    // The first of a day in a room has nobody to reply to.
    #expect(found < share * 1.05 && found > share * 0.85, "\(found)")
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
    #expect(abs(Double(members) / 4000 - 0.6) < 0.03)
    #expect(abs(Double(windows) / 4000 - 0.25) < 0.03)
    #expect(abs(Double(levels) / 4000 - 0.15) < 0.03)
    // A window may be drawn that is there already.
    #expect(same < 20 && night < 80, "\(same), \(night)")
  }
}
