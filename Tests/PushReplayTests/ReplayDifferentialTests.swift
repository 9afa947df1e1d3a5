import Foundation
import PushFanout
import PushFiles
import PushReplay
import PushModel
import QuietTime
import TestSupport
import Testing

/// Goal: a replay in one go, a replay in random pieces on any number of threads, and each message
/// decided alone at its instant by the reference come to the same, on real messages with joins,
/// presence and settings changes.
///
/// A plain run takes some of the messages in `data/`, with presence and changes drawn from a seed;
/// `PUSH_FULL=1` takes all of them. With the folder `PUSH_DATA` a day with real presence is compared
/// too.
@Suite struct ReplayDifferentialTests {
  static let environment = ProcessInfo.processInfo.environment
  static let isFull = environment["PUSH_FULL"] == "1"
  static let data = Repository.root.appending(path: "data")

  struct Slice: CustomTestStringConvertible {
    let folder: URL
    let name: String
    var rules = RuleSet.easemob
    /// How many messages are replayed, evenly spread.
    let count: Int
    var holds = false
    var presence: String?

    var testDescription: String { "\(name), \(rules.rawValue)" + (holds ? ", holding" : "") }
    func path(_ kind: String) -> String { folder.appending(path: "\(name).\(kind).csv.gz").path }
  }

  static let slices: [Slice] = {
    var slices = [
      Slice(folder: data, name: "fcc-2016-03-03", count: 300),
      Slice(folder: data, name: "fcc-2016-03-03", count: 60, holds: true),
      Slice(folder: data, name: "fcc-2016-03-03", rules: .rongcloud, count: 60, holds: true),
      Slice(folder: data, name: "qa-2021-05-19", count: 10),
      Slice(folder: data, name: "qa-2021-05-19", count: 2, holds: true),
    ]
    if let folder = environment["PUSH_DATA"] {
      let url = URL(fileURLWithPath: folder)
      let name = "irc-2013-03-07"
      let presence = url.appending(path: "\(name).presence.csv.gz").path
      if FileManager.default.fileExists(atPath: presence) {
        slices.append(Slice(folder: url, name: name, count: 12, presence: presence))
      }
    }
    return slices
  }()

  @Test(.tags(.slow), .unlessFast, arguments: slices)
  func allWaysAreTheSame(slice: Slice) throws {
    for seed in TestSupport.seeds([1]) { try compare(slice, seed) }
  }

  private func compare(_ slice: Slice, _ seed: UInt64) throws {
    let label = "\(slice.testDescription), seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let settings = try Self.settings(slice)
    let events = try Self.events(slice, settings, &random)
    var options = ReplayOptions()
    options.countsPeople = true
    options.holds = slice.holds
    options.timeZone = "Asia/Kolkata"
    let whole = try Replayer(try Fanout(settings, threads: 2), options)
    for event in events { try whole.add(event) }
    let result = whole.finish()
    let listed = try Self.listed(events, settings, options)
    #expect(listed.result == result, "\(label): with rows of the held")

    let pieces = try Self.inPieces(events, settings, options, &random)
    #expect(pieces == result, "\(label): in pieces")

    var naive = NaiveReplay(settings, holds: slice.holds)
    for event in events { naive.add(event) }
    let differences = ReplayComparison(naive, result, zone: "Asia/Kolkata").differences
    #expect(differences == [], "\(label)")
    // Not compared by the expectation, which would look for the edits between long lists.
    let wanted = naive.messages.flatMap(\.heldRows)
    let place = zip(listed.rows, wanted).enumerated().first { $1.0 != $1.1 }
    #expect(place == nil && listed.rows.count == wanted.count, "\(label): held rows")
    let reasons = Set(result.outcomes.map(\.reason))
    #expect(reasons.isSuperset(of: ["allowed", "quietHours", "online"]), "\(label): \(reasons)")
    if slice.holds {
      #expect((result.hold?.held ?? 0) > 0 && (result.hold?.never ?? 0) > 0, "\(label)")
    }
  }

  /// The same with a row for each who is held.
  private static func listed(
    _ events: [ReplayEvent], _ settings: FanoutSettings, _ options: ReplayOptions
  ) throws -> (result: ReplayResult, rows: [String]) {
    var options = options
    options.heldRow = { held, bytes in
      let row = NaiveReplay.row(held.message, held.user, held.outcome, held.pushAt)
      bytes += Array((row + "\n").utf8)
    }
    let replayer = try Replayer(try Fanout(settings, threads: 2), options)
    var bytes: [UInt8] = []
    replayer.takeHeldRows = { bytes += $0 }
    for event in events { try replayer.add(event) }
    let result = replayer.finish()
    return (result, String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  /// The same events in batches of random sizes, some of them waited for.
  private static func inPieces(
    _ events: [ReplayEvent], _ settings: FanoutSettings, _ options: ReplayOptions,
    _ random: inout SeededGenerator
  ) throws -> ReplayResult {
    var options = options
    options.batch = (
      messages: random.pick([1, 3, 20, 100]), versions: random.pick([1, 2, 5, 50])
    )
    let replayer = try Replayer(
      try Fanout(settings, threads: random.pick([1, 2, 3])), options)
    for event in events {
      try replayer.add(event)
      if random.chance(5) { replayer.flush() }
    }
    return replayer.finish()
  }

  // MARK: What is replayed

  private static func settings(_ slice: Slice) throws -> FanoutSettings {
    var settings = try SettingsLoader.load(
      SettingsPaths(users: [slice.path("users")], members: [slice.path("members")]))
    guard slice.rules == .rongcloud else { return settings }
    // The same people with the windows and levels of the other vendor.
    var other = FanoutSettings(app: AppSettings(rules: .rongcloud))
    for place in 0..<UInt32(settings.userCount) {
      var user = settings.user(UserIndex(place))
      if case .interval(let interval) = user.quietHours {
        let span = (interval.endMinute - interval.startMinute + 1440) % 1440
        let quiet = try QuietSpan(
          hour: Int(interval.startMinute / 60), minute: Int(interval.startMinute % 60), second: 0,
          spanMinutes: span == 0 ? 1439 : Int(span), level: place % 3 == 0 ? .mention : .blocked,
          timeZone: nil)
        user.quietHours = .span(quiet)
      }
      user.levels[.group] = user.level
      user.level = .unset
      other.setUser(settings.id(of: UserIndex(place)), user)
    }
    for conversation in settings.conversationIDs {
      for user in settings.members(of: conversation) {
        guard let member = settings.member(user, of: conversation) else { continue }
        other.setMember(settings.id(of: user), of: conversation, member)
      }
    }
    settings = other
    return settings
  }

  private static func events(
    _ slice: Slice, _ settings: FanoutSettings, _ random: inout SeededGenerator
  ) throws -> [ReplayEvent] {
    let files = ReplayFiles(
      messages: [slice.path("messages")], presence: slice.presence.map { [$0] } ?? [])
    let reader = try ReplayEvents(files, rules: slice.rules)
    var messages: [ReplayEvent] = []
    var others: [ReplayEvent] = []
    while let event = try reader.next() {
      if case .message = event { messages.append(event) } else { others.append(event) }
    }
    if !isFull, messages.count > slice.count {
      messages = (0..<slice.count).map { messages[$0 * messages.count / slice.count] }
    }
    let range = messages[0].at.milliseconds...messages[messages.count - 1].at.milliseconds
    var drawn = DrawnEvents(settings, range, random)
    if slice.presence == nil { others += drawn.presence(400) }
    others += drawn.changes(120)
    random = drawn.random
    // Sorted by time; at the same instant in the order of ReplayEvents.
    return (others + messages).enumerated().sorted {
      ($0.element.at.milliseconds, $0.element.order, $0.offset)
        < ($1.element.at.milliseconds, $1.element.order, $1.offset)
    }.map(\.element)
  }
}

extension ReplayEvent {
  fileprivate var order: Int {
    switch self {
    case .change: 0
    case .presence, .heartbeat: 1
    case .message: 2
    }
  }
}

/// Presence and settings changes drawn from a seed.
struct DrawnEvents {
  private let settings: FanoutSettings
  private let range: ClosedRange<Int64>
  private let conversations: [Identifier]
  var random: SeededGenerator

  init(_ settings: FanoutSettings, _ range: ClosedRange<Int64>, _ random: SeededGenerator) {
    self.settings = settings
    self.range = range
    self.random = random
    conversations = settings.conversationIDs.filter {
      settings.conversation($0)?.kind == .group && !settings.members(of: $0).isEmpty
    }
  }

  private mutating func at() -> Instant {
    // A message's own instant matters most.
    if random.chance(10) { return Instant(milliseconds: range.lowerBound) }
    return Instant(milliseconds: Int64.random(in: range, using: &random))
  }

  private mutating func membership() -> (conversation: Identifier, user: Identifier) {
    let conversation = random.pick(conversations)
    let user = random.pick(settings.members(of: conversation))
    return (conversation: conversation, user: settings.id(of: user))
  }

  mutating func presence(_ count: Int) -> [ReplayEvent] {
    (0..<count).map { _ in
      let place = membership()
      let isOnline = random.chance(75)
      return .presence(
        PresenceChange(
          at: at(), conversation: place.conversation, user: place.user, isOnline: isOnline))
    }
  }

  mutating func changes(_ count: Int) -> [ReplayEvent] {
    (0..<count).map { number in
      let at = at()
      let place = membership()
      if random.chance(50) {
        var user = settings.user(place.user)
        if random.chance(50) { user.quietHours = nil }
        if random.chance(30) { user.timeZone = random.pick(["Asia/Tokyo", "Europe/London"]) }
        if settings.app.rules == .easemob, random.chance(40) {
          user.mutedUntil = Instant(milliseconds: at.milliseconds + 1_800_000)
        }
        if random.chance(20) {
          user.devices = [
            Device(id: "p", state: .background, backgroundSince: at), Device(id: "q"),
          ]
        }
        return .change(SettingsChange(at: at, .user(place.user, user)))
      }
      var member = MemberSettings(level: random.pick([.unset, .blocked, .mention, .all]))
      if settings.app.rules == .easemob, random.chance(40) {
        member.mutedUntil = Instant(milliseconds: at.milliseconds + 3_600_000)
      }
      if random.chance(30) {
        let hours: Int64 = random.pick([-2, -1, 0, 1, 2])
        member.since = Instant(milliseconds: at.milliseconds + hours * 3_600_000)
      }
      let user = random.chance(20) ? Identifier("new \(number)") : place.user
      return .change(
        SettingsChange(
          at: at, .member(user, of: place.conversation, member)))
    }
  }
}
