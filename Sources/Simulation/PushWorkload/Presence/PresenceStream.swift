public import PushModel
internal import PushSupport

/// A user of a generated world begins or ends being connected.
public struct WorkloadPresence: Hashable, Sendable {
  /// When.
  public var at: Instant
  /// The user, 0 ..< ``Workload/userCount``.
  public var user: Int
  /// Whether the user is connected from now on.
  public var isOnline: Bool
}

/// The sessions of all users, by the instant at which they begin.
///
/// Each user begins one session in each cycle, at an instant by the hour of the user's own day. All
/// users of a zone are spread over the cycle in an order that changes from cycle to cycle, so
/// that those who begin within some time are found without looking at the others.
struct GeneratedSessions: TimeChunks, Sendable {
  struct Session: Sendable {
    let user: UInt32
    let start: Int64
    let end: Int64
  }

  private let workload: Workload
  /// The weight of a cycle in positions of a zone's day; nil when no user is ever connected.
  private let cycle: UInt64?
  private let lengths: SessionLengths
  let chunkCount: Int
  /// The approximate number of changes, with the state at the start.
  let expectedChangeCount: Int
  private let time: Range<Int64>

  /// The approximate number of sessions of a piece.
  private static let chunkSize = 16_384.0

  init(_ workload: Workload) {
    self.workload = workload
    time = workload.time
    let presence = workload.options.presence
    lengths = SessionLengths(quantiles: presence.sessionMinutes)
    let visits = workload.visits.map { $0.perMessage * Double(workload.messageCount) } ?? 0
    guard let cycleMinutes = workload.presenceCycle?.minutes else {
      cycle = nil
      chunkCount = 1 + Int(visits / Self.chunkSize)
      expectedChangeCount = Int(visits * 2)
      return
    }
    cycle = UInt64(Double(workload.localDay.day) * (cycleMinutes / 1440))
    let durationMinutes = Double(workload.options.traffic.durationMilliseconds) / 60_000
    let starts = Double(workload.userCount) * durationMinutes / cycleMinutes
    chunkCount = 1 + Int(starts / Self.chunkSize)
    let online = Double(workload.userCount) * (presence.onlineShare ?? 0.06)
    expectedChangeCount = Int((starts + visits) * 2 + online)
  }

  func start(ofChunk chunk: Int) -> Int64 {
    let length = UInt64(time.upperBound - time.lowerBound)
    return time.lowerBound
      + Int64(length.scaled(by: UInt64(chunk), of: UInt64(chunkCount)))
  }

  func chunk(of milliseconds: Int64) -> Int {
    let length = UInt64(time.upperBound - time.lowerBound)
    let passed = UInt64(milliseconds - time.lowerBound)
    var chunk = min(chunkCount - 1, Int(UInt64(chunkCount).scaled(by: passed, of: length)))
    while chunk > 0, start(ofChunk: chunk) > milliseconds { chunk -= 1 }
    while chunk + 1 < chunkCount, start(ofChunk: chunk + 1) <= milliseconds { chunk += 1 }
    return chunk
  }

  /// The sessions that begin in a piece.
  func sessions(ofChunk chunk: Int) -> [Session] {
    sessions(beginning: start(ofChunk: chunk)..<start(ofChunk: chunk + 1))
  }

  /// How many pieces ``earlierSessions(piece:)`` has.
  var earlierPieceCount: Int {
    let length = time.upperBound - time.lowerBound
    return max(1, Int(Int64(chunkCount) * Self.longestMilliseconds / length))
  }

  private static let longestMilliseconds = Int64(SessionLengths.longestMinutes * 60_000)

  /// The sessions that began before the world's time and continue in it, in ``earlierPieceCount``
  /// pieces.
  func earlierSessions(piece: Int) -> [Session] {
    let longest = Self.longestMilliseconds
    let first = time.lowerBound - longest
    let count = Int64(earlierPieceCount)
    let begin = first + longest * Int64(piece) / count
    let end = first + longest * Int64(piece + 1) / count
    return sessions(beginning: begin..<end).filter { $0.end > time.lowerBound }
  }

  private func sessions(beginning range: Range<Int64>) -> [Session] {
    guard let cycle else { return [] }
    var found: [Session] = []
    for (number, zone) in ZonePopulation.zones.enumerated() {
      let people = UInt64(workload.zones.count(inZone: number))
      if people == 0 { continue }
      let offset = Int64(zone.offsetMinutes) * 60_000
      let begin = workload.localDay.position(at: range.lowerBound + offset)
      let end = workload.localDay.position(at: range.upperBound + offset)
      for cycleIndex in begin / cycle...end / cycle {
        let now = ZoneCycle(self, number, cycleIndex, people)
        let after = ZoneCycle(self, number, cycleIndex + 1, people)
        let base = cycleIndex * cycle
        let first = begin > base ? people.scaled(by: begin - base, of: cycle) : 0
        let last = end - base >= cycle ? people - 1 : people.scaled(by: end - base, of: cycle)
        if first > last { continue }
        for index in first...min(last, people - 1) {
          let (position, session) = now.position(Int(index))
          guard begin <= position, position < end else { continue }
          let member = now.order[Int(index)]
          let (next, _) = after.position(after.order.index(of: member))
          add(session, position, next, member, number, offset, to: &found)
        }
      }
    }
    return found
  }

  private func add(
    _ draws: Draws, _ position: UInt64, _ next: UInt64, _ member: Int, _ zone: Int,
    _ offset: Int64, to found: inout [Session]
  ) {
    var draws = draws
    let start = workload.localDay.milliseconds(at: position) - offset
    let following = workload.localDay.milliseconds(at: next) - offset
    let length = Int64(lengths.minutes(draws.share()) * 60_000)
    let end = min(
      start + max(PresenceCycle.shortestMilliseconds, length),
      following - PresenceCycle.pauseMilliseconds)
    // Sessions without duration are left out.
    guard end > start else { return }
    let user = workload.zones.user(member, inZone: zone)
    found.append(Session(user: UInt32(user), start: start, end: end))
  }

  /// A zone's users in one cycle.
  private struct ZoneCycle {
    let order: Permutation
    private let sessions: GeneratedSessions
    private let cycleIndex: UInt64
    private let key: UInt64
    private let people: UInt64
    private let cycle: UInt64

    init(_ sessions: GeneratedSessions, _ zone: Int, _ cycleIndex: UInt64, _ people: UInt64) {
      self.sessions = sessions
      self.cycleIndex = cycleIndex
      self.people = people
      cycle = sessions.cycle ?? 1
      key = UInt64(zone) << 48 ^ cycleIndex
      let seed = sessions.workload.options.seed
      order = Permutation(count: Int(people), key: Draws.key(seed, .presence, key))
    }

    /// Where in time the session at an index of the order is, and what else is drawn for it.
    func position(_ index: Int) -> (UInt64, Draws) {
      var draws = Draws(sessions.workload.options.seed, .session, key, UInt64(index))
      // The indices divide the cycle evenly; within its part each session is anywhere.
      let begin = cycle.scaled(by: UInt64(index), of: people)
      let end = cycle.scaled(by: UInt64(index) + 1, of: people)
      return (cycleIndex * cycle + begin + draws.below(max(1, end - begin)), draws)
    }
  }
}

/// A user begins or ends being connected.
struct PresenceEvent: TimedEvent {
  var at: Int64
  var user: UInt32
  var isOnline: Bool

  static func precedes(_ first: PresenceEvent, _ second: PresenceEvent) -> Bool {
    (first.at, first.user) < (second.at, second.user)
  }
}

/// Presence changes in the order of time, a batch at a time, of sessions and of the messages that
/// are added.
struct PresenceStream {
  private let sessions: GeneratedSessions
  private let threads: Int
  private let time: Range<Int64>
  private var order = EventOrder<PresenceEvent>()
  private var done = 0
  private var hasBegun = false

  /// The visits of senders, in addition to sessions; nil when there are none.
  private var visits: VisitMerge?

  init(_ workload: Workload, threads: Int) {
    sessions = GeneratedSessions(workload)
    time = workload.time
    self.threads = threads
    visits = workload.visits.map { VisitMerge(workload, $0) }
  }

  /// The pieces that are made next.
  private var nextChunks: Range<Int> { done..<min(sessions.chunkCount, done + threads * 2) }

  /// Whether messages have to be added before the next pieces can be made.
  var needsMessages: Bool {
    guard let visits, done < sessions.chunkCount else { return false }
    return !visits.hasMessages(before: sessions.start(ofChunk: nextChunks.upperBound))
  }

  /// Adds the next messages, in the order of time; nil for the end of all.
  mutating func add(_ messages: [[PlainMessage]]?) { visits?.add(messages) }

  /// The next pieces, of messages that are made as they are needed; nil at the end.
  mutating func next(of messages: inout PlainMessageStream) -> [[WorkloadPresence]]? {
    while needsMessages { add(messages.next()) }
    return next()
  }

  /// The next pieces; nil at the end.
  ///
  /// - Precondition: not ``needsMessages``.
  mutating func next() -> [[WorkloadPresence]]? {
    if !hasBegun { begin() }
    if done == sessions.chunkCount { return nil }
    let chunks = nextChunks
    let made = Parallel.map(chunks.count, threads: threads) { [sessions] in
      sessions.sessions(ofChunk: chunks.lowerBound + $0)
    }
    for (chunk, sessions) in zip(chunks, made) { add(sessions, madeIn: chunk) }
    done = chunks.upperBound
    var pieces = order.take(chunks, threads: threads)
    for (index, chunk) in chunks.enumerated() where visits != nil {
      let end = sessions.start(ofChunk: chunk + 1)
      pieces[index] = visits?.add(to: pieces[index], before: end) ?? []
    }
    return pieces.map { piece in
      piece.map {
        WorkloadPresence(
          at: Instant(milliseconds: $0.at), user: Int($0.user), isOnline: $0.isOnline)
      }
    }
  }

  /// Who is connected when the world's time begins.
  private mutating func begin() {
    hasBegun = true
    let count = sessions.earlierPieceCount
    for first in stride(from: 0, to: count, by: threads * 2) {
      let made = Parallel.map(min(threads * 2, count - first), threads: threads) { [sessions] in
        sessions.earlierSessions(piece: first + $0)
      }
      for sessions in made { add(sessions, madeIn: 0) }
    }
  }

  private mutating func add(_ found: [GeneratedSessions.Session], madeIn chunk: Int) {
    for session in found {
      let start = max(time.lowerBound, session.start)
      order.add(
        PresenceEvent(at: start, user: session.user, isOnline: true), madeIn: chunk, sessions)
      if session.end < time.upperBound {
        order.add(
          PresenceEvent(at: session.end, user: session.user, isOnline: false), madeIn: chunk,
          sessions)
      }
    }
  }
}

extension Workload {
  /// Calls for each presence change, in the order of time: first who is connected when the world's
  /// time begins.
  ///
  /// - Memory: about 90 bytes for each user who is connected.
  public func forEachPresenceChange(
    threads: Int = 1, _ body: (WorkloadPresence) throws -> Void
  ) rethrows {
    let threads = Workload.usefulThreads(threads)
    var messages = PlainMessageStream(self, threads: threads)
    var stream = PresenceStream(self, threads: threads)
    while let pieces = stream.next(of: &messages) {
      for piece in pieces {
        for change in piece { try body(change) }
      }
    }
  }
}
