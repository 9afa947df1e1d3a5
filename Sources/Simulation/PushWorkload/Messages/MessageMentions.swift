public import PushModel

/// A message of a generated world.
///
/// Users and rooms are numbers; ``Workload/userID(_:)`` and ``Workload/roomID(_:)`` give their ids.
public struct WorkloadMessage: Hashable, Sendable {
  /// When it is sent.
  public var at: Instant
  /// The room, 0 ..< ``Workload/roomCount``.
  public var room: Int
  /// The user who sends it, a member of the room by then.
  public var sender: Int
  /// Mentioned users, members by then and not the sender.
  public var mentions: [Int] = []
  /// Whether it mentions everyone in the room.
  public var mentionsAll = false
  /// The user whose message this one replies to, if it does.
  public var replyTo: Int?
}

/// Adds mentions to messages in the order of time: of people who posted in the room lately.
struct MessageMentions {
  private let workload: Workload
  private var rooms: [UInt32: RecentPosters] = [:]
  /// Above this number of rooms, those without a post for a day are dropped.
  private var limit = 1 << 16

  private static let minutes5: Int64 = 300_000
  private static let day = DayCurve.dayMilliseconds
  private static let attempts = 8

  init(_ workload: Workload) { self.workload = workload }

  mutating func complete(_ plain: [PlainMessage]) -> [WorkloadMessage] {
    let messages = plain.map { complete($0) }
    if rooms.count > limit, let now = plain.last?.at {
      rooms = rooms.filter { $0.value.latest > now - Self.day }
      limit = max(1 << 16, rooms.count * 2)
    }
    return messages
  }

  private mutating func complete(_ plain: PlainMessage) -> WorkloadMessage {
    let traffic = workload.options.traffic
    var message = WorkloadMessage(
      at: Instant(milliseconds: plain.at), room: Int(plain.room), sender: Int(plain.sender))
    var recent = rooms[plain.room] ?? RecentPosters()
    var draws = Draws(workload.options.seed, .mention, plain.order)
    let allShare =
      plain.roomSize < Self.bigRoom ? traffic.smallAllShare : traffic.bigAllShare
    message.mentionsAll = draws.isBelow(allShare)
    if draws.isBelow(traffic.mentionShare), !message.mentionsAll {
      let many = draws.share()
      let shares = traffic.mentionCountShares
      let count = many < shares[0] ? 1 : many < shares[0] + shares[1] ? 2 : 3
      for _ in 0..<count {
        let found = target(of: plain, besides: message.mentions, recent, &draws)
        if let found { message.mentions.append(found) }
      }
    }
    message.replyTo = reply(to: recent, plain)
    recent.note(plain.sender, at: plain.at)
    rooms[plain.room] = recent
    return message
  }

  /// Whose message a message replies to: one of the last day in the room.
  private func reply(to recent: RecentPosters, _ message: PlainMessage) -> Int? {
    let options = workload.options
    guard options.rates != .first else { return nil }
    var draws = Draws(options.seed, .reply, message.order)
    guard draws.isBelow(options.traffic.replyShare) else { return nil }
    let times = max(0, message.at - Self.day)...message.at
    return recent.pick(in: times, &draws, { $0 != message.sender }).map { Int($0) }
  }

  /// The size, in members, from which `bigAllShare` applies.
  private static let bigRoom = 1000

  /// Whom a message mentions: who posted within 5 minutes, within a day, or any member; if
  /// there is none of the first kind the second, and so on.
  private func target(
    of message: PlainMessage, besides others: [Int], _ recent: RecentPosters,
    _ draws: inout Draws
  ) -> Int? {
    let traffic = workload.options.traffic
    let kind = draws.share()
    let isWanted = { (user: UInt32) in user != message.sender && !others.contains(Int(user)) }
    if kind < traffic.recentShare {
      let times = message.at - Self.minutes5...message.at
      if let found = recent.pick(in: times, &draws, isWanted) { return Int(found) }
    }
    if kind < traffic.dayShare {
      let times = message.at - Self.day...max(0, message.at - Self.minutes5 - 1)
      if let found = recent.pick(in: times, &draws, isWanted) { return Int(found) }
      let all = message.at - Self.day...message.at
      if let found = recent.pick(in: all, &draws, isWanted) { return Int(found) }
    }
    return anybody(message, &draws, isWanted)
  }

  /// A current member: one of those who post, or of all.
  private func anybody(
    _ message: PlainMessage, _ draws: inout Draws, _ isWanted: (UInt32) -> Bool
  ) -> Int? {
    let room = Int(message.room)
    let size = Int(message.roomSize)
    let members = RoomMembers(room: room, size: size, workload)
    let posters = workload.rooms.posterCount(size: size)
    for _ in 0..<Self.attempts {
      let limit = draws.next() & 1 == 0 ? posters : size
      let rank = Int(draws.below(UInt64(limit)))
      if workload.since(room: room, rank: rank) > message.at { continue }
      let user = members.user(atRank: rank)
      if isWanted(UInt32(user)) { return user }
    }
    return nil
  }
}

/// The last eight people who posted in a room, and when.
struct RecentPosters {
  private var users = SIMD8<UInt32>(repeating: 0)
  private var times = SIMD8<Int64>(repeating: -1)

  var latest: Int64 { times.max() }

  mutating func note(_ user: UInt32, at time: Int64) {
    var slot = 0
    for other in 0..<8 {
      if users[other] == user, times[other] >= 0 {
        slot = other
        break
      }
      if times[other] < times[slot] { slot = other }
    }
    users[slot] = user
    times[slot] = time
  }

  /// One of those who are wanted and posted last in some time.
  func pick(
    in range: ClosedRange<Int64>, _ draws: inout Draws, _ isWanted: (UInt32) -> Bool
  ) -> UInt32? {
    var found: UInt32?
    var count: UInt64 = 0
    for slot in 0..<8
    where times[slot] >= 0 && range.contains(times[slot]) && isWanted(users[slot]) {
      count += 1
      if draws.below(count) == 0 { found = users[slot] }
    }
    return found
  }
}
