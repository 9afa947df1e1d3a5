internal import PushModel
internal import Synchronization

/// What is known of following, for requests, health and metrics.
final class FollowState: Sendable {
  struct Position: Sendable {
    /// The followed epoch and its last change that decisions are by.
    let epoch: String
    var sequence: Int64
  }

  private struct Fields {
    var position: Position?
    var currentAt: ContinuousClock.Instant?
    var problem: String?
    var delays: [Double] = []
    var next = 0
    var isPromoted = false
    var isWriting = false
    var changes: Int64 = 0
    var snapshots: Int64 = 0
  }

  /// The server that is followed.
  let url: String
  /// It may be so long since all changes were there.
  let limit: Duration
  private let fields = Mutex(Fields())
  private static let delayCount = 4096

  init(url: String, limit: Duration) {
    self.url = url
    self.limit = limit
  }

  /// The position in the followed feed; nil before the first snapshot, and after a promotion.
  var position: Position? { fields.withLock { $0.position } }

  /// Counts a snapshot.
  func noteSnapshot() { fields.withLock { $0.snapshots += 1 } }

  /// Notes what the decisions are by.
  func begin(_ position: Position) {
    fields.withLock { fields in
      fields.position = position
      fields.currentAt = nil
    }
  }

  /// Notes that all changes up to one are there.
  ///
  /// - Parameters:
  ///   - delay: of the oldest of them, in seconds; nil when there was none.
  ///   - asked: when the primary was asked: it had no more changes then.
  func note(
    _ sequence: Int64, count: Int64, delay: Double?, asked: ContinuousClock.Instant
  ) {
    fields.withLock { fields in
      fields.position?.sequence = sequence
      fields.currentAt = asked
      fields.problem = nil
      fields.changes += count
      guard let delay else { return }
      if fields.delays.count < Self.delayCount {
        fields.delays.append(delay)
      } else {
        fields.delays[fields.next % Self.delayCount] = delay
      }
      fields.next += 1
    }
  }

  func note(_ problem: String) { fields.withLock { $0.problem = problem } }

  var isPromoted: Bool { fields.withLock { $0.isPromoted } }

  /// - Returns: false after a promotion: nothing may be written then.
  func beginWriting() -> Bool {
    fields.withLock { fields in
      guard !fields.isPromoted else { return false }
      fields.isWriting = true
      return true
    }
  }

  func endWriting() { fields.withLock { $0.isWriting = false } }

  /// Ends following; when it returns, nothing of the followed server is written any more.
  ///
  /// - Returns: false when it was promoted before.
  func promote() async -> Bool {
    let isFirst = fields.withLock { fields in
      defer { fields.isPromoted = true }
      return !fields.isPromoted
    }
    while fields.withLock({ $0.isWriting }) { try? await Task.sleep(for: .milliseconds(1)) }
    fields.withLock { $0.position = nil }
    return isFirst
  }

  /// Waits until decisions are by a change of the followed feed, or the task is cancelled.
  func wait(_ sequence: Int64) async -> Bool {
    while !Task.isCancelled {
      if let position, position.sequence >= sequence { return true }
      try? await Task.sleep(for: .milliseconds(2))
    }
    return false
  }

  /// How long ago all changes were there, in seconds; nil for never.
  var lag: Double? {
    fields.withLock { $0.currentAt }.map { (ContinuousClock.now - $0) / .seconds(1) }
  }

  /// Why the follower is not ready; nil when it is.
  var reasonNotReady: String? {
    let (current, problem, isPromoted) = fields.withLock {
      ($0.currentAt, $0.problem, $0.isPromoted)
    }
    if isPromoted { return nil }
    let why = problem.map { ": \($0)" } ?? ""
    guard let current else { return "the settings of \(url) are not all here yet\(why)" }
    let age = ContinuousClock.now - current
    guard age > limit else { return nil }
    return "the settings are those of \(Int(age / .seconds(1))) s ago\(why)"
  }

  func addMetrics(to text: inout MetricsText) {
    let (delays, changes, snapshots) = fields.withLock { ($0.delays, $0.changes, $0.snapshots) }
    text.add(
      "follower_lag_seconds", "gauge", "How long ago all changes of the primary were here.",
      lag.map { "\($0)" } ?? "+Inf")
    text.add(
      "follower_changes_total", "counter", "Changes that were followed.", "\(changes)")
    text.add(
      "follower_snapshots_total", "counter", "Snapshots that were taken.", "\(snapshots)")
    let sorted = delays.sorted()
    for quantile in [0.5, 0.99, 1] where !sorted.isEmpty {
      let value = sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
      text.add(
        "follower_delay_seconds", "summary",
        "From a change to the decisions by it, by the clocks of both.", "\(value)",
        labels: "quantile=\"\(quantile)\"")
    }
  }
}
