internal import HTTPTypes
internal import Logging
internal import PushModel
internal import Synchronization

/// What all connections share.
final class ServerState: Sendable {
  let options: ServerOptions
  let access: Access
  let metrics = ServerMetrics()
  let audit: AuditLog
  let logger: Logger
  private let opened = Mutex<OpenedApp?>(nil)
  private let isEnding = Atomic<Bool>(false)
  private let date: Mutex<String>

  init(_ options: ServerOptions, _ logger: Logger) throws(OptionError) {
    self.options = options
    self.logger = logger
    access = try Access(options)
    audit = try AuditLog(options.audit, logger)
    date = Mutex(WallClock.httpDate(WallClock.now))
  }

  var isEndingNow: Bool { isEnding.load(ordering: .relaxed) }

  /// The `Date` field of responses.
  var httpDate: String { date.withLock { $0 } }

  func open(_ app: OpenedApp) { opened.withLock { $0 = app } }

  func end() { isEnding.store(true, ordering: .relaxed) }

  var openedApp: OpenedApp? { opened.withLock { $0 } }

  /// - Throws: ``ServerFailure`` 503 while the store is being opened.
  func app() throws(ServerFailure) -> OpenedApp {
    guard let app = openedApp else {
      throw ServerFailure(
        .serviceUnavailable, "not_ready", "the settings are being opened; try again",
        fields: [.retryAfter: "1"])
    }
    return app
  }

  /// The engine may be so long without the time of day before the server is called not ready.
  static let stalenessLimit: Int64 = 120_000

  /// Why the server is not ready; nil when it is.
  var reasonNotReady: String? {
    if isEnding.load(ordering: .relaxed) { return "the server is ending" }
    guard let app = openedApp else { return "the settings are being opened" }
    let staleness = app.staleness(at: WallClock.now)
    if staleness > Self.stalenessLimit { return "the clock was read \(staleness) ms ago" }
    return nil
  }

  /// Called once a second.
  func tick() {
    let now = WallClock.now
    date.withLock { $0 = WallClock.httpDate(now) }
    openedApp?.advance(to: now)
  }
}
