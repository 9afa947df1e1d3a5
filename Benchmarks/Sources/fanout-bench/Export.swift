import ArgumentParser
import BenchSupport
import Foundation
import PushReference
import PushModel

/// Writes the benchmark's world for other tools, with what they must come to.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the world as NumPy arrays, with the counts that the reference gives.",
    discussion: """
      Examples:

        fanout-bench export --folder world
        fanout-bench export --folder world --users 1000000 --sizes 500 --sizes 100000

      world.json says what the arrays hold; Benchmarks/peers/README.md goes through it.
      """)

  @Option(
    help: ArgumentHelp("Where to; it is made, and files in it are replaced.", valueName: "folder"))
  var folder: String

  @Option(help: ArgumentHelp("How many users there are.", valueName: "count"))
  var users = 10_000_000

  @Option(help: ArgumentHelp("How many members a group has; one group each.", valueName: "count"))
  var sizes: [Int] = [5, 50, 500, 5_000, 100_000, 1_000_000]

  func validate() throws {
    if !(10...100_000_000).contains(users) {
      throw ValidationError("--users \(users) is not 10...100000000.")
    }
    for size in sizes where !(1...users).contains(size) {
      throw ValidationError("--sizes \(size) is not 1...\(users), the number of users.")
    }
  }

  func run() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let at = BenchWorld.start + 15 * 60_000
    try writeUsers()
    var world = BenchWorld(userCount: users)
    var groups: [WorldDescription.Group] = []
    for size in sizes {
      let place = world.addGroups(size: size, memberships: 0).lowerBound
      let group = world.groups[place]
      try write("members-\(size).user", "<u4", group.members)
      try write(
        "members-\(size).level", "|u1", group.members.map { code(BenchWorld.level(Int($0))) })
      groups.append(
        WorldDescription.Group(
          name: "\(size)", members: size,
          counts: counts(world, place, at: at), mentions: group.mentioned))
    }
    let description = WorldDescription(
      at: at, users: users, sender: BenchWorld.sender, zones: BenchWorld.zones,
      zoneOffsets: try BenchWorld.zones.map { try offset(of: $0, at: at) }, groups: groups)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    try (encoder.encode(description) + Data("\n".utf8)).write(
      to: url("world.json"), options: .atomic)
  }

  private func url(_ name: String) -> URL {
    URL(fileURLWithPath: folder).appendingPathComponent(name)
  }

  private func writeUsers() throws {
    var levels: [UInt8] = []
    var mutes: [Int64] = []
    var starts: [Int16] = []
    var ends: [Int16] = []
    var zones: [UInt8] = []
    for user in 0..<users {
      let settings = BenchWorld.settings(user)
      levels.append(code(settings.level))
      mutes.append(max(0, settings.mutedUntil.milliseconds))
      if case .interval(let interval) = settings.quietHours {
        starts.append(Int16(interval.startMinute))
        ends.append(Int16(interval.endMinute))
      } else {
        starts.append(-1)
        ends.append(-1)
      }
      zones.append(UInt8(BenchWorld.zones.firstIndex { $0 == settings.timeZone } ?? 0))
    }
    try write("user.level", "|u1", levels)
    try write("user.muted_until", "<i8", mutes)
    try write("user.quiet_start", "<i2", starts)
    try write("user.quiet_end", "<i2", ends)
    try write("user.zone", "|u1", zones)
  }

  private func code(_ level: NotificationLevel) -> UInt8 {
    switch level {
    case .all: 1
    case .mention: 2
    case .blocked: 3
    default: 0
    }
  }

  private func offset(of zone: String, at milliseconds: Int64) throws -> Int {
    guard let zone = TimeZone(identifier: zone) else {
      throw ValidationError("The time-zone data has no \(zone).")
    }
    return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1000)) / 60
  }

  /// How often the reference gives each outcome, by the kind of message.
  private func counts(_ world: BenchWorld, _ place: Int, at: Int64) -> [String: [String: Int]] {
    var evaluator = Referee.evaluator(world, group: place)
    var counts: [String: [String: Int]] = [:]
    for kind in MessageKind.allCases {
      var outcomes: [String: Int] = [:]
      evaluator.decide(kind.message(to: world.groups[place], at: at)) { _, decision in
        outcomes[decision.outcome.key, default: 0] += 1
      }
      counts[kind.rawValue] = outcomes
    }
    return counts
  }

  /// Writes an array in NumPy's format, version 1.0.
  private func write<Number: BitwiseCopyable>(
    _ name: String, _ type: String, _ numbers: [Number]
  ) throws {
    var header =
      "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(numbers.count),), }"
    header += String(repeating: " ", count: 63 - (10 + header.utf8.count) % 64) + "\n"
    var data = Data([0x93] + Array("NUMPY".utf8) + [1, 0])
    data.append(contentsOf: [UInt8(header.utf8.count & 0xFF), UInt8(header.utf8.count >> 8)])
    data.append(contentsOf: header.utf8)
    unsafe numbers.withUnsafeBytes { unsafe data.append(contentsOf: $0) }
    try data.write(to: url(name + ".npy"), options: .atomic)
  }
}

/// What world.json says.
private struct WorldDescription: Encodable {
  var rules = "easemob"
  /// When the message is decided, in milliseconds since 1970.
  let at: Int64
  let users: Int
  let sender: Int
  let zones: [String]
  /// Minutes east of UTC at that instant.
  let zoneOffsets: [Int]
  let groups: [Group]

  struct Group: Encodable {
    let name: String
    let members: Int
    /// By the kind of message and the outcome's key.
    let counts: [String: [String: Int]]
    /// Whom the message of kind user names.
    let mentions: [Int]

    enum CodingKeys: String, CodingKey {
      case name = "case"
      case members, counts, mentions
    }
  }
}
