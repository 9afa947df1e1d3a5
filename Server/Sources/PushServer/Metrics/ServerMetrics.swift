internal import PushFanout
internal import PushStore
internal import Synchronization

/// Counts what the server does. Counting and reading take no lock.
final class ServerMetrics: Sendable {
  /// Upper limits of durations, in microseconds.
  private static let limits: [Int64] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000,
  ]

  private final class Counter: Sendable {
    let value = Atomic<Int64>(0)
    func add(_ number: Int64 = 1) { value.wrappingAdd(number, ordering: .relaxed) }
    var now: Int64 { value.load(ordering: .relaxed) }
  }

  private struct Endpoint: Sendable {
    /// By the first digit of the status.
    let statuses = (0..<6).map { _ in Counter() }
    let durations = (0...ServerMetrics.limits.count).map { _ in Counter() }
    let microseconds = Counter()
  }

  private let endpoints = Route.all.map { _ in Endpoint() }
  private let messages = Counter()
  private let itemErrors = Counter()
  private let unknownConversations = Counter()
  private let refused = Counter()
  private let peerRefusals = Counter()
  private let requestsNow = Counter()
  private let writes = Counter()
  private let heartbeats = Counter()
  private let refusedHeartbeats = Counter()

  func begin() { requestsNow.add() }

  func end(_ route: Route, status: Int, _ duration: Duration) {
    requestsNow.add(-1)
    let counters = endpoints[route.index]
    counters.statuses[min(5, max(0, status / 100))].add()
    let microseconds = Int64(duration / .microseconds(1))
    counters.microseconds.add(microseconds)
    let bucket = Self.limits.firstIndex { microseconds <= $0 } ?? Self.limits.count
    counters.durations[bucket].add()
  }

  /// - Parameter unknown: how many went to conversations that the settings do not have.
  func decided(_ count: Int, errors: Int, unknown: Int) {
    messages.add(Int64(count))
    if unknown > 0 { unknownConversations.add(Int64(unknown)) }
    if errors > 0 { itemErrors.add(Int64(errors)) }
  }

  func refuse() { refused.add() }
  func refusedByPeer() { peerRefusals.add() }
  func wrote(_ operations: Int) { writes.add(Int64(operations)) }

  /// - Parameter count: of heartbeats that decisions are by.
  func noted(_ count: Int, refused: Int) {
    heartbeats.add(Int64(count))
    refusedHeartbeats.add(Int64(refused))
  }

  /// Takes requests out of those under way, or adds them again.
  func changeRequests(by count: Int) { requestsNow.add(Int64(count)) }

  /// - Parameter bytesInFlight: of bodies.
  func add(
    to text: inout MetricsText, _ app: OpenedApp?, isReady: Bool, bytesInFlight: Int
  ) {
    for route in Route.all {
      for (status, counter) in endpoints[route.index].statuses.enumerated()
      where counter.now > 0 {
        text.add(
          "requests_total", "counter", "Requests by endpoint and class of status.",
          "\(counter.now)", labels: "endpoint=\"\(route.name)\",status=\"\(status)xx\"")
      }
    }
    for route in Route.all { addDurations(of: route, to: &text) }
    func single(_ name: String, _ kind: String, _ help: String, _ value: Int64) {
      text.add(name, kind, help, "\(value)")
    }
    single("messages_total", "counter", "Messages decided.", messages.now)
    single("message_errors_total", "counter", "Messages refused within a batch.", itemErrors.now)
    single(
      "unknown_conversation_messages_total", "counter",
      "Messages to conversations that the settings do not have.", unknownConversations.now)
    single("operations_total", "counter", "Operations on settings, acknowledged.", writes.now)
    single("heartbeats_total", "counter", "Heartbeats that decisions are by.", heartbeats.now)
    single(
      "heartbeat_errors_total", "counter", "Heartbeats that were refused.", refusedHeartbeats.now)
    single("overload_total", "counter", "Requests refused as too many were under way.", refused.now)
    single(
      "peer_refusals_total", "counter", "Questions to peers that refused the key.",
      peerRefusals.now)
    single("requests_in_flight", "gauge", "Requests under way.", requestsNow.now)
    single("body_bytes_in_flight", "gauge", "Bytes of their bodies.", Int64(bytesInFlight))
    single("ready", "gauge", "Whether the server is ready.", isReady ? 1 : 0)
    if let app {
      single(
        "settings_sequence", "gauge", "The last change that decisions are by.",
        app.visibleSequence)
      let counts = app.engine.currentVersion.unknownZoneCounts
      for (zone, count) in counts.isEmpty ? [("", 0)] : counts.sorted(by: { $0.key < $1.key }) {
        text.add(
          "unknown_time_zone_users", "gauge",
          "Users whose time zone this machine lacks: not decided for, or without quiet hours.",
          "\(count)", labels: zone.isEmpty ? "" : "time_zone=\"\(MetricsText.escaped(zone))\"")
      }
      single("users", "gauge", "Users with settings or memberships.", Int64(app.engine.userCount))
    }
  }

  private func addDurations(of route: Route, to text: inout MetricsText) {
    let counters = endpoints[route.index]
    let label = "endpoint=\"\(route.name)\""
    func add(_ suffix: String, _ value: String, _ more: String = "") {
      text.add(
        "request_duration_seconds", "histogram", "From the headers to the end of the response.",
        value, labels: label + more, suffix: suffix)
    }
    var total: Int64 = 0
    for (index, counter) in counters.durations.enumerated() {
      total += counter.now
      let limit =
        index < Self.limits.count ? "\(Double(Self.limits[index]) / 1_000_000)" : "+Inf"
      add("_bucket", "\(total)", ",le=\"\(limit)\"")
    }
    add("_sum", "\(Double(counters.microseconds.now) / 1_000_000)")
    add("_count", "\(total)")
  }
}
