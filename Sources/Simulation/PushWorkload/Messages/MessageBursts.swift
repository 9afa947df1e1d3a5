/// A message before it mentions anybody.
struct PlainMessage: TimedEvent {
  var at: Int64
  var room: UInt32
  var roomSize: UInt32
  var sender: UInt32
  /// Different for each message: the piece it was made in, and its number there.
  var order: UInt64

  static func precedes(_ first: PlainMessage, _ second: PlainMessage) -> Bool {
    (first.at, first.order) < (second.at, second.order)
  }
}

/// Makes messages in pieces of equally many: bursts, each in one room, that begin by the hour of
/// the day and in rooms by their activity.
struct MessageBursts: MessageChunks {
  private let workload: Workload
  private let messages: Int
  let chunkCount: Int
  /// The world's time as positions in its day.
  private let positions: Range<UInt64>

  func batch(from first: Int, atMost limit: Int, threads: Int) -> Range<Int> {
    first..<min(chunkCount, first + limit)
  }

  /// Messages per piece. It is part of every world: another value changes all bytes.
  static let chunkSize = 8192
  private static let attempts = 8

  init(_ workload: Workload) {
    self.workload = workload
    messages = workload.messageCount
    chunkCount = (messages + Self.chunkSize - 1) / Self.chunkSize
    let day = workload.worldDay
    positions =
      day.position(at: workload.time.lowerBound)..<day.position(at: workload.time.upperBound)
  }

  /// Where a piece begins.
  private func start(ofChunk chunk: Int) -> UInt64 {
    let messages = UInt64(min(chunk * Self.chunkSize, messages))
    let length = positions.upperBound - positions.lowerBound
    return positions.lowerBound + length.scaled(by: messages, of: UInt64(self.messages))
  }

  func chunk(of milliseconds: Int64) -> Int {
    let position = workload.worldDay.position(at: milliseconds)
    let length = positions.upperBound - positions.lowerBound
    let done = UInt64(messages).scaled(by: position - positions.lowerBound, of: length)
    var chunk = min(chunkCount - 1, Int(done) / Self.chunkSize)
    while chunk > 0, start(ofChunk: chunk) > position { chunk -= 1 }
    while chunk + 1 < chunkCount, start(ofChunk: chunk + 1) <= position { chunk += 1 }
    return chunk
  }

  /// The messages of the bursts that begin in a piece, in no order.
  func messages(ofChunk chunk: Int) -> [PlainMessage] {
    let count = min(Self.chunkSize, messages - chunk * Self.chunkSize)
    let begin = start(ofChunk: chunk)
    let length = start(ofChunk: chunk + 1) - begin
    let traffic = workload.options.traffic
    var draws = Draws(workload.options.seed, .burst, UInt64(chunk))
    var made: [PlainMessage] = []
    made.reserveCapacity(count)
    while made.count < count {
      let (room, size) = workload.rooms.room(
        atActivity: draws.below(workload.rooms.totalActivity))
      let at = workload.worldDay.milliseconds(at: begin + draws.below(max(1, length)))
      let wanted = draws.pareto(
        scale: 1, exponent: traffic.burstExponent, atMost: traffic.burstMaximum)
      var burst = Burst(self, room: room, size: size, at: at)
      for number in 0..<min(wanted, count - made.count) {
        if number > 0, !burst.goOn(&draws) { break }
        let sender = burst.nextSender(&draws)
        made.append(
          PlainMessage(
            at: burst.at, room: UInt32(room), roomSize: UInt32(size), sender: sender,
            order: UInt64(chunk) << 32 | UInt64(made.count)))
      }
    }
    return made
  }

  /// Messages in one room, one soon after the other, of a few people.
  private struct Burst {
    private let bursts: MessageBursts
    private let room: Int
    private let members: RoomMembers
    private let posters: Int
    private(set) var at: Int64
    private var people: [UInt32] = []
    private var last: UInt32?

    init(_ bursts: MessageBursts, room: Int, size: Int, at: Int64) {
      self.bursts = bursts
      self.room = room
      self.at = at
      members = RoomMembers(room: room, size: size, bursts.workload)
      posters = bursts.workload.rooms.posterCount(size: size)
    }

    /// Moves to the instant of the next message; false when it is behind the world's end.
    mutating func goOn(_ draws: inout Draws) -> Bool {
      at += bursts.workload.burstGap(&draws)
      return at < bursts.workload.time.upperBound
    }

    mutating func nextSender(_ draws: inout Draws) -> UInt32 {
      let sender = draw(&draws)
      if !people.contains(sender) { people.append(sender) }
      last = sender
      return sender
    }

    private func draw(_ draws: inout Draws) -> UInt32 {
      if let last {
        if draws.isBelow(bursts.workload.options.traffic.sameSenderShare) { return last }
        if people.count > 1, draws.isBelow(Workload.returningShare) {
          let others = people.filter { $0 != last }
          return others[Int(draws.below(UInt64(others.count)))]
        }
      }
      return newcomer(&draws)
    }

    /// A member who posts in the room and has joined, accepted by wakefulness.
    private func newcomer(_ draws: inout Draws) -> UInt32 {
      let workload = bursts.workload
      var found = 0
      for _ in 0..<MessageBursts.attempts {
        let rank = workload.rank(draws.share(), of: posters)
        if workload.since(room: room, rank: rank) > at { continue }
        found = members.user(atRank: rank)
        if draws.isBelow(workload.wakefulness(of: found, at: at)) { return UInt32(found) }
      }
      // The last who could, or the first member, who always can.
      return UInt32(found > 0 ? found : members.user(atRank: 0))
    }
  }
}

extension Workload {
  /// A pause is no longer within a burst.
  static let longestGapSeconds = 300.0
  /// How often another sender has already posted in the burst.
  static let returningShare = 0.6

  /// The time between two messages of a burst, in milliseconds.
  func burstGap(_ draws: inout Draws) -> Int64 {
    let mean = options.traffic.burstGapSeconds
    let gap = -PortableMath.log2(draws.share()) * 0.6931471805599453 * mean
    return Int64(min(gap, Self.longestGapSeconds) * 1000)
  }

  /// A rank by Zipf's law, the inverse of its sum as an integral.
  ///
  /// - Parameter share: more than 0 and less than 1.
  func rank(_ share: Double, of posters: Int) -> Int {
    let exponent = options.traffic.senderExponent
    let end = Double(posters + 1)
    let value: Double
    if exponent == 1 {
      value = PortableMath.power(end, share)
    } else {
      let top = PortableMath.power(end, 1 - exponent)
      value = PortableMath.power((top - 1) * share + 1, 1 / (1 - exponent))
    }
    return max(0, min(posters - 1, Int(value) - 1))
  }

  /// How busy a user's hour is against the busiest.
  func wakefulness(of user: Int, at milliseconds: Int64) -> Double {
    let offset = ZonePopulation.zones[zones.zone(of: user)].offsetMinutes
    let minute = Int(milliseconds / 60_000 % 1440) + offset + 1440
    return Double(localDay.weight(atMinute: minute % 1440))
      / (1000 * (options.traffic.hourRatio ?? 3.8))
  }
}

extension UInt64 {
  /// This times `part` / `whole`, rounded down; `part` is at most `whole`.
  func scaled(by part: UInt64, of whole: UInt64) -> UInt64 {
    whole.dividingFullWidth(multipliedFullWidth(by: part)).quotient
  }
}
