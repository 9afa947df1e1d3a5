internal import PushFanout

/// Who came online and went offline among the messages of a batch, in the order of time.
struct PresenceMarks: Sendable {
  /// More than this, and a batch is handed on with the messages that it has.
  static let limit = 1 << 16

  private(set) var changes: [UserPresenceChange] = []
  /// The index in the batch of the message that each change comes before.
  private var positions: [Int32] = []

  /// Whether no more should be added.
  var isFull: Bool { changes.count >= Self.limit }

  /// Adds a change.
  ///
  /// - Parameter position: the index in the batch of the message that comes next.
  mutating func append(_ change: UserPresenceChange, before position: Int) {
    changes.append(change)
    positions.append(Int32(position))
  }

  /// Has a timeline take in the changes before a message.
  ///
  /// - Parameter start: where those before an earlier message end; set to where these do.
  func apply(to timeline: FanoutTimeline, before position: Int, from start: inout Int) {
    let first = start
    while start < positions.count, positions[start] <= position { start += 1 }
    timeline.apply(changes, first..<start)
  }
}
