import Foundation
import PushModel
import PushWorkload

/// A small world that is written by hand, and what is measured of it.
struct ProfileInput {
  static let start: Int64 = 1_767_571_200_000  // 2026-01-05T00:00:00Z, a Monday.
  static let hour = 3600.0
  static let day = 86_400.0

  var settings = FanoutSettings()
  var leftOut: Set<Identifier> = []
  private var events: [(seconds: Double, add: (inout WorkloadProfiler) -> Void)] = []

  static func instant(_ seconds: Double) -> Instant {
    Instant(milliseconds: start + Int64((seconds * 1000).rounded()))
  }

  /// Users `ROOM-0` … as members of a room.
  mutating func addRoom(
    _ room: String, _ size: Int, since: Double? = nil,
    member: (Int) -> NotificationLevel = { _ in .unset }
  ) {
    for index in 0..<size {
      addMember("\(room)-\(index)", of: room, since: since, member(index))
    }
  }

  mutating func addMember(
    _ user: String, of room: String, since: Double? = nil, _ level: NotificationLevel = .unset
  ) {
    settings.setMember(
      Identifier(user), of: Identifier(room),
      MemberSettings(level: level, since: since.map { Self.instant($0) } ?? .zero))
  }

  /// - Parameter seconds: since the start.
  mutating func addMessage(
    _ seconds: Double, _ room: String, _ sender: String?, mentions: [String]? = nil,
    all: Bool? = nil, isReply: Bool = false, clock: SenderClock? = nil,
    change: (inout Message) -> Void = { _ in }
  ) {
    var message = Message(
      id: "m", conversation: Identifier(room), at: Self.instant(seconds),
      sender: sender.map { Identifier($0) })
    message.mentions = mentions.map { $0.map { Identifier($0) } }
    message.mentionsAll = all
    change(&message)
    let made = message
    events.append((seconds, { $0.add(made, isReply: isReply, clock: clock) }))
  }

  mutating func addPresence(
    _ seconds: Double, _ user: String, _ isOnline: Bool, in room: String? = nil
  ) {
    events.append(
      (
        seconds,
        {
          $0.addPresence(
            at: Self.instant(seconds), user: Identifier(user),
            conversation: room.map { Identifier($0) }, isOnline: isOnline)
        }
      ))
  }

  mutating func addChange(_ seconds: Double, _ user: String) {
    events.append((seconds, { $0.addChange(of: Identifier(user)) }))
  }

  var profile: WorkloadProfile {
    var profiler = WorkloadProfiler(settings, leavingOut: leftOut)
    for event in events.enumerated().sorted(by: {
      ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset)
    }) {
      event.element.add(&profiler)
    }
    return profiler.profile()
  }
}

extension WorkloadProfile {
  /// The values of a rate's numbers, rounded to six decimals; nil for one that was not measured.
  func values(_ name: String) -> [Double?] {
    rates.filter { $0.name == name }.map { rate in
      rate.estimate.map { ($0.value * 1e6).rounded() / 1e6 }
    }
  }

  func values(of names: [String]) -> ProfileValues {
    ProfileValues(Dictionary(uniqueKeysWithValues: names.map { ($0, values($0)) }))
  }
}

/// Values of rates by name; a type of its own, so that literals of it are quickly compiled.
struct ProfileValues: Equatable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  var values: [String: [Double?]]

  init(_ values: [String: [Double?]]) { self.values = values }

  init(dictionaryLiteral elements: (String, [Double?])...) {
    values = Dictionary(uniqueKeysWithValues: elements)
  }

  var description: String {
    values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
  }
}
