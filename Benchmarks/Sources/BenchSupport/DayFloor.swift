internal import CDayFloor
internal import Foundation
internal import PushModel
internal import PushWorkload

/// The least that deciding a generated day takes, in C: a contestant that gives the same numbers of
/// decisions and pushes as the engine, from numbers instead of ids, on one thread, without versions,
/// results or reasons.
///
/// What the engine must reach was set on another machine, together with what such a program reached
/// there. What it reaches here says what the same bound is on this machine: see ``there``.
///
/// SAFETY: nothing is written after `init`; what ``columns`` retain is what `day` points to.
@safe public final class DayFloor: @unchecked Sendable {
  /// What a program of the same steps reached on the machine for which the bounds were set.
  public struct Figures: Sendable {
    /// Billions of decisions a second, all messages in their order.
    public var decisions = 6.6
    /// Millions of messages a second, in their order.
    public var inOrder = 1.84
    /// Microseconds of a message in that run, means of sixteen, by percentile: 50, 99, 99.9.
    public var latency = [0.43, 2.2, 5]
    /// Millions of messages a second at one instant.
    public var still = 8.1
    /// Nanoseconds a member for the states of conversations, by ``sizes``.
    public var firstStates = [2.5, 0.7, 0.36, 0.31, 0.29]
  }

  public static let there = Figures()
  /// Conversations by members, as they were on that machine.
  public static let sizes = [3...7, 40...63, 400...639, 3_000...5_999, 20_000...100_000]

  /// Values at one place in memory, for C.
  @safe private final class Column<Value> {
    let start: UnsafeMutablePointer<Value>

    init(_ values: [Value]) {
      unsafe start = .allocate(capacity: max(1, values.count))
      unsafe start.initialize(from: values, count: values.count)
    }

    deinit { unsafe start.deallocate() }
  }

  /// What ``day`` points to.
  private let columns: [AnyObject]
  private let day: FloorDay
  private let rooms: [[UInt32]]
  private let messageCount: Int

  init(_ workload: Workload) {
    var schedules = ScheduleNumbers()
    let users = (0..<workload.userCount).map { user in
      let settings = workload.user(user)
      return (level: settings.level, schedule: schedules.number(of: settings))
    }
    var first: [UInt32] = [0]
    var (members, levels, memberSchedules) = ([UInt32](), [UInt8](), [UInt16]())
    var since: [Int64] = []
    for room in 0..<workload.roomCount {
      var found: [(user: Int, settings: MemberSettings)] = []
      workload.forEachMember(ofRoom: room) { found.append(($0, $1)) }
      found.sort { $0.user < $1.user }
      for (user, settings) in found {
        members.append(UInt32(user))
        levels.append(
          Self.number(settings.level == .unset ? users[user].level : settings.level))
        memberSchedules.append(users[user].schedule)
        since.append(settings.since.milliseconds)
      }
      first.append(UInt32(members.count))
    }
    rooms = Self.sizes.map { size in
      var random = Seeded(1)
      let all = (0..<workload.roomCount).filter { size.contains(workload.size(ofRoom: $0)) }
      return all.shuffled(using: &random).prefix(200_000).map { UInt32($0) }
    }
    var (at, room, sender) = ([Int64](), [UInt32](), [UInt32]())
    var (mentionsAll, firstMention, mentioned) = ([UInt8](), [UInt32](), [UInt32]())
    workload.forEachMessage {
      at.append($0.at.milliseconds)
      room.append(UInt32($0.room))
      sender.append(UInt32($0.sender))
      mentionsAll.append($0.mentionsAll ? 1 : 0)
      firstMention.append(UInt32(mentioned.count))
      mentioned += $0.mentions.map { UInt32($0) }
    }
    firstMention.append(UInt32(mentioned.count))
    messageCount = at.count
    var columns: [AnyObject] = []
    func column<Value>(_ values: [Value]) -> UnsafePointer<Value> {
      let column = Column(values)
      columns.append(column)
      return unsafe UnsafePointer(column.start)
    }
    unsafe day = FloorDay(
      roomCount: workload.roomCount, scheduleCount: schedules.begin.count,
      messageCount: messageCount, firstMember: column(first), user: column(members),
      level: column(levels), schedule: column(memberSchedules), since: column(since),
      begin: column(schedules.begin), length: column(schedules.length), at: column(at),
      room: column(room), sender: column(sender), mentionsAll: column(mentionsAll),
      firstMention: column(firstMention), mentioned: column(mentioned))
    self.columns = columns
  }

  private static func number(_ level: NotificationLevel) -> UInt8 {
    switch level {
    case .unset, .all: 0
    case .mention: 1
    case .blocked: 2
    default: fatalError("a generated day has no level \(level)")
    }
  }

  /// All messages in their order.
  public func inOrder() -> (decisions: Int, pushes: Int, seconds: Double, latency: [Double]) {
    var nanoseconds = [Double](repeating: 0, count: max(1, messageCount / 16))
    let totals = unsafe nanoseconds.withUnsafeMutableBufferPointer {
      let start = $0.baseAddress
      return unsafe withUnsafePointer(to: day) { unsafe floor_decide($0, 0, start) }
    }
    let sorted = nanoseconds.sorted()
    let latency = [0.5, 0.99, 0.999].map { sorted[Int(Double(sorted.count - 1) * $0)] / 1000 }
    return (Int(totals.decisions), Int(totals.pushes), totals.seconds, latency)
  }

  /// All messages at the instant of the last: millions a second, and the pushes.
  public func still() -> (rate: Double, pushes: Int) {
    let totals = unsafe withUnsafePointer(to: day) { unsafe floor_decide($0, 1, nil) }
    return (Double(messageCount) / totals.seconds / 1e6, Int(totals.pushes))
  }

  /// The states of the conversations of a size, made for the first time: nanoseconds a member.
  ///
  /// - Parameter index: of ``sizes``.
  /// - Returns: nil if there are none.
  public func firstStates(_ index: Int) -> Double? {
    let rooms = rooms[index]
    let first = unsafe day.firstMember
    let members = rooms.reduce(0) { sum, room in
      unsafe sum + Int(first[Int(room) + 1] - first[Int(room)])
    }
    guard members > 0 else { return nil }
    let seconds = unsafe withUnsafePointer(to: day) {
      unsafe floor_first_states($0, rooms, rooms.count)
    }
    return seconds / Double(members) * 1e9
  }
}

/// Users' quiet hours as intervals of the UTC day, numbered.
private struct ScheduleNumbers {
  private(set) var begin: [UInt16] = []
  private(set) var length: [UInt16] = []
  private var numbers: [UInt32: UInt16] = [:]
  private var zones: [String: Int] = [:]

  mutating func number(of settings: UserSettings) -> UInt16 {
    var interval = (begin: 0, length: 0)
    if case .interval(let hours)? = settings.quietHours {
      let (start, end) = (Int(hours.startMinute), Int(hours.endMinute))
      // From midnight to midnight is never (E-32), from another minute to itself is always.
      if start != 0 || end != 0 {
        let length = (end - start + 1440) % 1440
        interval = (
          (start - offset(of: settings.timeZone) + 2880) % 1440, length == 0 ? 1440 : length
        )
      }
    }
    let key = UInt32(interval.begin) << 16 | UInt32(interval.length)
    if let known = numbers[key] { return known }
    let number = UInt16(begin.count)
    numbers[key] = number
    begin.append(UInt16(interval.begin))
    length.append(UInt16(interval.length))
    return number
  }

  /// In minutes. The generated day has no change of clocks, or the totals would not be the engine's.
  private mutating func offset(of name: String?) -> Int {
    guard let name else { return 0 }
    if let known = zones[name] { return known }
    let date = Date(timeIntervalSince1970: 1_767_614_400)
    guard let zone = TimeZone(identifier: name) else { fatalError("no time zone \(name)") }
    let minutes = zone.secondsFromGMT(for: date) / 60
    zones[name] = minutes
    return minutes
  }
}
