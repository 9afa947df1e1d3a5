import Foundation
import PushFiles
import PushReference
import PushReplay
import PushModel
import TestSupport

/// A replay as one would write it down: settings as values, one event after the other, the reference
/// for each message, and sums by name.
struct NaiveReplay {
  private var settings: FanoutSettings
  private let holds: Bool
  private var online: [Identifier: Set<Identifier?>] = [:]
  /// A user's own devices, as the settings say.
  private var ownDevices: [Identifier: [Device]?] = [:]
  /// What heartbeats said, and the device as it was set.
  private var told: [Identifier: [Identifier: (heartbeat: Heartbeat, set: Device)]] = [:]
  private var reference: HoldReference?
  private(set) var messages: [One] = []
  /// By conversation and user: when a record was last written, and when the membership began.
  private var written: [[Identifier]: Instant] = [:]
  private var begun: [[Identifier]: Instant] = [:]

  /// What one message came to.
  struct One {
    let message: Message
    let counts: [String: Int]
    let held: [String: Int]
    let released: [Int64: Int]
    let heldRows: [String]
    /// Pushes by the hour of the recipient's own day.
    let localHours: [Int]

    var decisions: Int { counts.values.reduce(0, +) }
    var pushes: Int {
      counts.filter { $0.key.hasPrefix("push/") }.values.reduce(0, +)
    }
  }

  init(_ settings: FanoutSettings, holds: Bool) {
    self.settings = settings
    self.holds = holds
  }

  mutating func add(_ event: ReplayEvent) {
    switch event {
    case .message(let message):
      messages.append(decide(message))
      return
    case .presence(let change):
      if change.isOnline {
        online[change.user, default: []].insert(change.conversation)
      } else {
        online[change.user, default: []].remove(change.conversation)
      }
      noteOwnDevices(of: change.user)
      connect(change.user)
    case .heartbeat(let heartbeat, _):
      noteOwnDevices(of: heartbeat.user)
      for device in ownDevices(of: heartbeat.user) where device.id == heartbeat.device {
        told[heartbeat.user, default: [:]][device.id] = (heartbeat, device)
      }
      connect(heartbeat.user)
    case .change(let change):
      switch change.record {
      case .app(let app): settings.app = app
      case .user(let id, let user):
        settings.setUser(id, user)
        ownDevices.updateValue(user.devices, forKey: id)
        told[id] = told[id]?.filter { device, told in
          user.effectiveDevices.contains {
            $0.id == device && ($0.state, $0.seenAt) == (told.set.state, told.set.seenAt)
          }
        }
        if online[id] != nil || told[id] != nil { connect(id) }
      case .conversation(let id, let conversation): settings.setConversation(id, conversation)
      case .member(let user, let conversation, let member, _):
        begin(user, conversation, until: change.at)
        settings.setMember(user, of: conversation, member)
        written[[conversation, user]] = change.at
      }
    }
    reference = nil
  }

  /// Notes a membership that has begun by an instant.
  private mutating func begin(_ user: Identifier, _ conversation: Identifier, until at: Instant) {
    guard let place = settings.index(of: user),
      let since = settings.member(place, of: conversation)?.since, since <= at,
      begun[[conversation, user]] == nil
    else { return }
    begun[[conversation, user]] = max(since, written[[conversation, user]] ?? .zero)
  }

  /// How many memberships began from the first message to the last. No conversation is a thread.
  func joins() -> Int {
    guard let first = messages.first?.message.at, let last = messages.last?.message.at else {
      return 0
    }
    var replay = self
    for id in settings.conversationIDs {
      for user in settings.members(of: id) { replay.begin(settings.id(of: user), id, until: last) }
    }
    return replay.begun.values.count { first <= $0 && $0 <= last && $0 > .zero }
  }

  private mutating func noteOwnDevices(of user: Identifier) {
    guard ownDevices[user] == nil else { return }
    ownDevices.updateValue(settings.user(user).devices, forKey: user)
  }

  private func ownDevices(of user: Identifier) -> [Device] {
    (ownDevices[user] ?? nil) ?? [Device(id: "default")]
  }

  /// The user's own devices as heartbeats say, and a desktop, connected while online anywhere.
  private mutating func connect(_ user: Identifier) {
    let own = ownDevices(of: user).map { device in
      var device = device
      if let (heartbeat, _) = told[user]?[device.id] {
        (device.state, device.seenAt) = (heartbeat.state, heartbeat.seenAt)
      }
      return device
    }
    guard let rooms = online[user] else {
      return settings.updateUser(user) { $0.devices = own }
    }
    let isOnline = !rooms.isEmpty
    let desktop = Device(
      id: "a desktop", kind: .desktop, state: isOnline ? .foreground : .loggedOut,
      hasToken: false)
    settings.updateUser(user) { $0.devices = own + [desktop] }
  }

  private mutating func decide(_ message: Message) -> One {
    var reference = self.reference ?? HoldReference(settings)
    let answer = holds ? reference.answer(message) : reference.decide(message)
    self.reference = reference
    return One(
      message: message, counts: Self.named(answer.counts), held: Self.named(answer.held),
      released: answer.releases,
      heldRows: answer.rows.map { row in
        Self.row(message, settings.id(of: row.user), row.outcome, row.at)
      }, localHours: localHours(message, answer.pushed))
  }

  /// By Foundation's calendar.
  private func localHours(_ message: Message, _ users: [UserIndex]) -> [Int] {
    var hours = [Int](repeating: 0, count: 24)
    let date = Date(timeIntervalSince1970: Double(message.at.milliseconds) / 1000)
    var calendar = Calendar(identifier: .iso8601)
    for (zone, users) in Dictionary(grouping: users, by: { zone(of: settings.user($0)) }) {
      calendar.timeZone = TimeZone(identifier: zone)!
      hours[calendar.component(.hour, from: date)] += users.count
    }
    return hours
  }

  private func zone(of user: UserSettings) -> String {
    if let zone = user.timeZone { return zone }
    if case .span(let span) = user.quietHours, let zone = span.timeZone { return zone }
    return settings.app.timeZone
  }

  /// A held decision in words.
  static func row(
    _ message: Message, _ user: Identifier, _ outcome: Outcome, _ at: Instant
  ) -> String {
    "\(message.id) \(user) \(outcome.key) \(at.rfc3339)"
  }

  private static func named(_ counts: [Int]) -> [String: Int] {
    var named: [String: Int] = [:]
    for (code, outcome) in Outcome.coded where counts[Int(code)] > 0 {
      named[outcome.key] = counts[Int(code)]
    }
    return named
  }
}

/// Sums of messages, decisions and pushes, and of outcomes.
struct NaiveSums: Equatable {
  var messages = 0
  var decisions = 0
  var pushes = 0
  var outcomes: [String: Int] = [:]

  mutating func add(_ one: NaiveReplay.One) {
    messages += 1
    decisions += one.decisions
    pushes += one.pushes
    outcomes.merge(one.counts, uniquingKeysWith: +)
  }
}

extension NaiveReplay {
  /// The sums of groups of messages.
  func sums<Key: Hashable>(by key: (One) -> Key) -> [Key: NaiveSums] {
    var sums: [Key: NaiveSums] = [:]
    for one in messages { sums[key(one), default: NaiveSums()].add(one) }
    return sums
  }

  /// Weekday (1 is Monday) and hour by Foundation's calendar.
  static func weekHour(_ zone: String) -> (One) -> [Int] {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = TimeZone(identifier: zone)!
    return { one in
      let date = Date(timeIntervalSince1970: Double(one.message.at.milliseconds) / 1000)
      let parts = calendar.dateComponents([.weekday, .hour], from: date)
      return [(parts.weekday! + 5) % 7 + 1, parts.hour!]
    }
  }

  /// What waits at the end of each minute in which something was held or released.
  var waiting: [[Int64]] {
    var held: [Int64: Int] = [:]
    var released: [Int64: Int] = [:]
    for one in messages {
      let sum = one.held.values.reduce(0, +)
      if sum > 0 { held[one.message.at.milliseconds / 60_000, default: 0] += sum }
      for (at, count) in one.released { released[at / 60_000, default: 0] += count }
    }
    var waiting = 0
    return Set(held.keys).union(released.keys).sorted().map { minute in
      waiting += (held[minute] ?? 0) - (released[minute] ?? 0)
      return [
        minute * 60_000, Int64(held[minute] ?? 0), Int64(released[minute] ?? 0), Int64(waiting),
      ]
    }
  }
}
