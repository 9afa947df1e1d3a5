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
  let sessions = PageSessions()
  /// Where decided messages are noted; nil for nowhere.
  let decisionLog: DecisionLog?
  /// What is followed; nil for a server that was not started as a follower.
  let following: FollowState?
  private let before = Mutex(Lineage())
  private let superseded = Mutex<(epoch: String, url: String)?>(nil)
  let logger: Logger
  private let opened = Mutex<OpenedApp?>(nil)
  private let isEnding = Atomic<Bool>(false)
  private let date: Mutex<String>

  init(_ options: ServerOptions, _ logger: Logger) throws(OptionError) {
    self.options = options
    self.logger = logger
    access = try Access(options)
    decisionLog = try options.decisionLog.map { (path) throws(OptionError) in
      try DecisionLog(
        path, oneIn: options.decisionLogOneIn, fileLimit: options.decisionLogLimit)
    }
    following = options.follow.map {
      FollowState(url: $0, limit: .seconds(options.stalenessLimit))
    }
    audit = try AuditLog(options.audit, logger)
    date = Mutex(WallClock.httpDate(WallClock.now))
  }

  var isEndingNow: Bool { isEnding.load(ordering: .relaxed) }

  /// The `Date` field of responses.
  var httpDate: String { date.withLock { $0 } }

  func open(_ app: OpenedApp) { opened.withLock { $0 = app } }

  func end() { isEnding.store(true, ordering: .relaxed) }

  var openedApp: OpenedApp? { opened.withLock { $0 } }

  /// Opens the settings of a store with what it was before.
  func open(_ app: OpenedApp, _ lineage: Lineage) {
    before.withLock { $0 = lineage }
    open(app)
  }

  /// What the store was before.
  var lineage: Lineage {
    get { before.withLock { $0 } }
    set { before.withLock { $0 = newValue } }
  }

  /// The server that was promoted to replace this one; nil for none.
  var successor: (epoch: String, url: String)? { superseded.withLock { $0 } }

  /// Another server was promoted to replace this one: it decides and writes nothing any more.
  func supersede(by epoch: String, at url: String) {
    guard superseded.withLock({ $0 == nil }) else { return }
    superseded.withLock { $0 = (epoch, url) }
    logger.error("superseded", metadata: ["by": "\(epoch)", "at": "\(url)"])
  }

  /// - Throws: ``ServerFailure`` 503 while the store is being opened, and when another server was
  ///   promoted to replace this one.
  func app() throws(ServerFailure) -> OpenedApp {
    if let successor {
      throw ServerFailure(
        .serviceUnavailable, "superseded",
        "\(successor.url) was promoted to replace this server; use that one")
    }
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
    if let successor { return "\(successor.url) was promoted to replace this server" }
    if let reason = following?.reasonNotReady { return reason }
    let staleness = app.staleness(at: WallClock.now)
    if staleness > Self.stalenessLimit { return "the clock was read \(staleness) ms ago" }
    return nil
  }

  /// The support page, of the app `default`.
  var page: SupportPage {
    SupportPage(sessions, isSecure: options.tlsCertificate != nil) {
      [self] name throws(ServerFailure) in
      name == "default" ? SupportPage.App(access: access, service: try app().service) : nil
    }
  }

  /// Called once a second.
  func tick() {
    let now = WallClock.now
    date.withLock { $0 = WallClock.httpDate(now) }
    openedApp?.advance(to: now)
  }
}
