internal import HTTPTypes
internal import Logging
internal import PushFanout
internal import PushModel
internal import PushStore
internal import QuietTime
internal import Synchronization

/// What all connections share of an app, or of all apps of the process.
final class ServerState: Sendable {
  /// What an app is called that is the only one.
  static let soleName = "default"

  let options: ServerOptions
  /// The app's name; empty for what answers for several apps.
  let name: String
  /// Those apps; none for an app itself.
  private let apps: [ServerState]
  /// Sends spans; nil where none are sent.
  let exporter: SpanExporter?
  /// The listeners' connections.
  let gates = Mutex<[ConnectionGate]>([])
  let access: Access
  let metrics = ServerMetrics()
  /// What all keys have under way, and what only those have that ask for the scope admin.
  let load: Load
  let administration = Load.administration
  /// What clients without a key have under way.
  let keyless = Load.keyless
  let audit: AuditLog
  let sessions = PageSessions()
  /// How requests are made; nil for a server that makes none.
  let senders: SenderFile?
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
  /// Why nothing can be written any more; nil when it can.
  private let writeProblem = Mutex<String?>(nil)

  /// - Parameters:
  ///   - owners: is told the keys.
  ///   - name: of the app.
  ///   - exporter: sends spans.
  ///   - apps: those for which this one answers requests without a key of theirs.
  init(
    _ options: ServerOptions, _ logger: Logger, owners: KeyOwners, name: String,
    exporter: SpanExporter?, apps: [ServerState] = []
  ) throws(OptionError) {
    self.options = options
    self.logger = logger
    self.name = name
    self.apps = apps
    self.exporter = exporter
    access = try Access(options, owners, app: name)
    load = Load(requests: options.requestsInFlight, bytes: options.bytesInFlight)
    decisionLog = try options.decisionLog.map { (path) throws(OptionError) in
      try DecisionLog(
        path, oneIn: options.decisionLogOneIn, fileLimit: options.decisionLogLimit)
    }
    following = options.follow.map {
      FollowState(url: $0, limit: .seconds(options.stalenessLimit))
    }
    audit = try AuditLog(options.audit, logger)
    senders = try options.senders.map { (path) throws(OptionError) in try SenderFile(path) }
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
    guard apps.isEmpty else {
      throw ServerFailure(
        .forbidden, "forbidden", "the key is of no app; use a key of the app that is meant")
    }
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
  static let stalenessLimit = Duration.seconds(120)

  /// Why the server is not ready; nil when it is.
  var reasonNotReady: String? {
    if isEnding.load(ordering: .relaxed) { return "the server is ending" }
    guard apps.isEmpty else {
      for app in apps {
        if let reason = app.reasonNotReady { return "\(app.name): \(reason)" }
      }
      return nil
    }
    guard let app = openedApp else { return "the settings are being opened" }
    if let successor { return "\(successor.url) was promoted to replace this server" }
    if let reason = following?.reasonNotReady { return reason }
    if let problem = writeProblem.withLock({ $0 }) { return problem }
    if app.staleness > Self.stalenessLimit {
      return "the clock was read \(app.staleness / .milliseconds(1)) ms ago"
    }
    return nil
  }

  /// What a ready server says of users whose time zone the machine lacks, of each app; empty for none.
  var unknownZonesText: String {
    guard apps.isEmpty else {
      return apps.map { app in
        let text = app.unknownZonesText
        return text.isEmpty ? "" : "\(app.name): \(text)"
      }.joined()
    }
    guard let engine = openedApp?.engine else { return "" }
    let users = engine.currentVersion.unknownZoneUsers
    if users.count == 0 { return "" }
    let what = engine.unknownZones == .ignore ? "decided without quiet hours" : "not decided"
    return "\(what): \(users)\n"
  }

  /// The support page, of each app.
  var page: SupportPage {
    SupportPage(
      sessions, origin: options.pageOrigin, isSecure: options.tlsCertificate != nil
    ) {
      [self] name throws(ServerFailure) in
      guard let found = (apps.isEmpty ? [self] : apps).first(where: { $0.name == name }) else {
        return nil
      }
      return SupportPage.App(access: found.access, service: try found.app().service)
    }
  }

  /// Who asks on the support page; nil for somebody who has not logged in.
  func pageCaller(_ fields: HTTPFields) -> Caller? { page.caller(fields) }

  /// Reads the keys again, and those of the apps that this one answers for.
  ///
  /// - Throws: ``OptionError`` for the first file that is wrong; then all keys stay.
  func reloadKeys() throws(OptionError) {
    try Access.reload([access] + apps.map(\.access))
  }

  /// Reads the senders again.
  ///
  /// - Throws: ``OptionError`` for a file that is wrong; then they stay.
  func reloadSenders() throws(OptionError) { try senders?.reload(for: openedApp?.rules) }

  /// Prometheus' text: of the app, or of each app with its name as a label.
  var metricsText: String {
    var text = MetricsText()
    metrics(&text)
    let gates = gates.withLock { $0 }
    if !gates.isEmpty {
      text.label = nil
      text.add(
        "connections", "gauge", "Open connections.", "\(gates.reduce(0) { $0 + $1.counts.open })")
      text.add(
        "connections_refused_total", "counter", "Connections refused as too many were open.",
        "\(gates.reduce(0) { $0 + $1.counts.refused })")
      exporter?.addMetrics(to: &text)
    }
    return text.text
  }

  private func metrics(_ text: inout MetricsText) {
    guard apps.isEmpty else {
      for app in apps { app.metrics(&text) }
      return
    }
    if name != Self.soleName { text.label = ("app", name) }
    metrics.add(
      to: &text, openedApp, isReady: reasonNotReady == nil, bytesInFlight: load.counts.bytes)
    following?.addMetrics(to: &text)
    decisionLog?.addMetrics(to: &text)
  }

  /// Called once a second.
  func tick() {
    let now = WallClock.now
    date.withLock { $0 = WallClock.httpDate(now) }
    guard let app = openedApp else { return }
    app.advance(to: now)
    // A follower replaces the file of its copy itself.
    guard !isFollower else { return }
    let problem: String?
    do {
      try app.store.checkFile()
      problem = nil
    } catch {
      problem =
        "nothing can be written: \(error); put the file back, or keep the one that is there, and "
        + "restart the server"
    }
    let isNew = writeProblem.withLock { known in
      defer { known = problem }
      return known != problem
    }
    if isNew, let problem { logger.error("not ready", metadata: ["error": "\(problem)"]) }
  }
}
