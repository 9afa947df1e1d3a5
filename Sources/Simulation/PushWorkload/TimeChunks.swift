internal import PushSupport

/// A stretch of the world's time in pieces whose events are made one piece at a time, in order.
protocol TimeChunks {
  var chunkCount: Int { get }
  /// The piece that an instant is in, 0 ..< ``chunkCount``.
  func chunk(of milliseconds: Int64) -> Int
}

/// An event with an order of its own.
protocol TimedEvent: Sendable {
  var at: Int64 { get }
  static func precedes(_ first: Self, _ second: Self) -> Bool
}

/// Puts events in order that are made piece by piece, when a piece's events may be in later pieces.
///
/// - Memory: the events of later pieces that are already there.
struct EventOrder<Event: TimedEvent> {
  /// The events of each piece that is not done.
  private var pending: [Int: [Event]] = [:]

  mutating func add(_ event: Event, madeIn chunk: Int, _ chunks: some TimeChunks) {
    pending[max(chunk, chunks.chunk(of: event.at)), default: []].append(event)
  }

  /// Adds the events of a piece, most of which are of that piece.
  mutating func add(_ events: [Event], madeIn chunk: Int, _ chunks: some TimeChunks) {
    var own = pending.removeValue(forKey: chunk) ?? []
    own.reserveCapacity(own.count + events.count)
    for event in events {
      let later = chunks.chunk(of: event.at)
      if later <= chunk { own.append(event) } else { pending[later, default: []].append(event) }
    }
    pending[chunk] = own
  }

  /// All events of some pieces, in order, once everything up to the last of them has been made.
  mutating func take(_ chunks: Range<Int>, threads: Int) -> [[Event]] {
    let taken = chunks.map { pending.removeValue(forKey: $0) ?? [] }
    return Parallel.map(taken.count, threads: threads) { taken[$0].sorted(by: Event.precedes) }
  }
}
