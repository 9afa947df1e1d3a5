/// Adds the visits of those who write to sessions, in the order of time: a user is connected as
/// long as either lasts.
///
/// - Memory: about 90 bytes for each user who is connected, and the visits of messages that were
///   added ahead of the changes.
struct VisitMerge {
  private let workload: Workload
  private let share: VisitShare
  private let tail: Int64
  private var begins = Queue()
  private var ends = Queue()
  /// Whether and until when connected users are; others are not there.
  private var users: [UInt32: Connected] = [:]
  /// No message is missing before this instant.
  private var addedUntil = Int64.min

  private struct Connected {
    var hasSession = false
    var visitEnd: Int64

    /// Returns whether the user was not connected before.
    mutating func begin(until end: Int64) -> Bool {
      let isNew = !hasSession && visitEnd == .min
      visitEnd = max(visitEnd, end)
      return isNew
    }
  }

  init(_ workload: Workload, _ share: VisitShare) {
    self.workload = workload
    self.share = share
    tail = workload.visitTail
  }

  /// Whether the messages that decide the changes before an instant have been added.
  func hasMessages(before end: Int64) -> Bool { addedUntil > end + VisitShare.leadMilliseconds }

  /// The changes before an instant, from those of sessions.
  ///
  /// - Precondition: ``hasMessages(before:)``.
  mutating func add(to sessions: [PresenceEvent], before end: Int64) -> [PresenceEvent] {
    var changes: [PresenceEvent] = []
    changes.reserveCapacity(sessions.count)
    var next = 0
    while true {
      let session = next < sessions.count ? sessions[next].at : Int64.max
      let begin = begins.first?.at ?? Int64.max
      let visitEnd = ends.first?.at ?? Int64.max
      // A user whose visits end and begin at one instant stays connected.
      if begin <= session, begin <= visitEnd {
        guard begin < end else { break }
        if let event = begins.removeFirst() { beginVisit(event, &changes) }
      } else if session <= visitEnd {
        guard session < end else { break }
        change(sessions[next], &changes)
        next += 1
      } else {
        guard visitEnd < end else { break }
        if let event = ends.removeFirst() { endVisit(event, &changes) }
      }
    }
    return changes
  }

  private mutating func beginVisit(_ event: Queue.Event, _ changes: inout [PresenceEvent]) {
    let visitEnd = event.message + tail
    ends.append(Queue.Event(at: visitEnd, user: event.user, message: event.message))
    guard users[event.user, default: Connected(visitEnd: .min)].begin(until: visitEnd) else {
      return
    }
    changes.append(PresenceEvent(at: event.at, user: event.user, isOnline: true))
  }

  private mutating func change(_ event: PresenceEvent, _ changes: inout [PresenceEvent]) {
    if event.isOnline {
      let isNew = users[event.user] == nil
      users[event.user, default: Connected(visitEnd: .min)].hasSession = true
      if isNew { changes.append(event) }
    } else {
      users[event.user]?.hasSession = false
      // Otherwise the visit's end ends it.
      if let user = users[event.user], user.visitEnd <= event.at {
        users[event.user] = nil
        changes.append(event)
      }
    }
  }

  private mutating func endVisit(_ event: Queue.Event, _ changes: inout [PresenceEvent]) {
    guard let user = users[event.user], !user.hasSession, user.visitEnd <= event.at else { return }
    users[event.user] = nil
    changes.append(PresenceEvent(at: event.at, user: event.user, isOnline: false))
  }

  /// Adds the next messages, in the order of time; nil for the end of all.
  mutating func add(_ pieces: [[PlainMessage]]?) {
    guard let pieces else {
      addedUntil = .max
      return
    }
    let begin = workload.time.lowerBound
    for message in pieces.joined() {
      addedUntil = message.at
      if !isLeftOut(message) {
        let at = max(begin, message.at - VisitShare.leadMilliseconds)
        begins.append(Queue.Event(at: at, user: message.sender, message: message.at))
      }
    }
  }

  /// Whether a message's sender does not connect for it: drawn once for a user and an hour.
  private func isLeftOut(_ message: PlainMessage) -> Bool {
    if share.leftOut <= 0 { return false }
    let hour = UInt64(message.at / 3_600_000)
    var draws = Draws(workload.options.seed, .visit, UInt64(message.sender), hour)
    return draws.isBelow(share.leftOut)
  }

  /// Events in the order of time.
  private struct Queue {
    struct Event {
      var at: Int64
      var user: UInt32
      /// The instant of the message.
      var message: Int64
    }

    private var events: [Event] = []
    private var removed = 0

    var first: Event? { removed < events.count ? events[removed] : nil }

    mutating func append(_ event: Event) { events.append(event) }

    mutating func removeFirst() -> Event? {
      guard let first else { return nil }
      removed += 1
      if removed > 1 << 14, removed * 2 > events.count {
        events.removeFirst(removed)
        removed = 0
      }
      return first
    }
  }
}
