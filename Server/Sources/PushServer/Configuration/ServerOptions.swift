public import Configuration
internal import Foundation
internal import PushFanout
public import QuietTime

/// How a server is started: from flags, the environment, and a JSON file, in this order.
public struct ServerOptions: Sendable {
  /// A host and a port.
  public struct Address: Hashable, Sendable {
    /// A name or a numeric address.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int

    /// The host of `HOST` or `HOST:PORT`, in lower case and without brackets; nil for no host.
    static func host(of authority: String) -> String? {
      let end = authority.lastIndex { $0 == ":" || $0 == "]" }
      var host = authority[...]
      if let end, authority[end] == ":" { host = host[..<end] }
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      return host.isEmpty ? nil : host.lowercased()
    }

    /// Reads `HOST:PORT` or `[IPv6]:PORT`; nil for another text.
    public init?(_ text: String) {
      guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
        (0...65_535).contains(port)
      else { return nil }
      var host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { return nil }
      self.host = String(host)
      self.port = port
    }
  }

  /// The store that keeps the settings.
  public var store: String
  /// Whether a store that is not there is made.
  public var creates: Bool
  /// Where clients connect.
  public var listen: Address
  /// Where metrics and administration are served; nil for where clients connect, with the scope
  /// admin.
  public var adminListen: Address?
  /// The file of keys; nil for none.
  public var keys: String?
  /// Whether requests without a key are allowed everything.
  public var isInsecure: Bool
  /// Certificate chain and private key, PEM; nil for plain text.
  public var tlsCertificate, tlsKey: String?
  /// The origin of the support page, where a proxy is before it; nil for that of the server.
  public var pageOrigin: String?
  /// Certificates that sign those of clients, PEM; nil for no client certificates.
  public var clientCA: String?
  /// What a client with a certificate and without a key may do.
  public var clientScopes: Set<Scope>
  /// How many threads serve connections.
  public var threads: Int
  /// How many threads one large decision may use.
  public var engineThreads: Int
  /// The largest body of a request, in bytes.
  public var bodyLimit: Int
  /// How many requests are worked on at a time, and how many bytes their bodies have together.
  public var requestsInFlight, bytesInFlight: Int
  /// How many connections are open at a time.
  public var connections: Int
  /// Requests a second that one key may make; 0 for no limit.
  public var rateLimit: Int
  /// Seconds for the headers of a request, for its body, between requests, for all that is under
  /// way when the server ends, and for settings that `at-least` waits for.
  public var headerTimeout, bodyTimeout, idleTimeout, shutdownTimeout, atLeastTimeout: Int
  /// Seconds for which connections are accepted when the server is asked to end.
  public var drain: Int
  /// Milliseconds that writes wait at most for others that share their commit.
  public var commitInterval: Int
  /// What is done with users whose time zone the machine does not have: refuse or ignore.
  public var unknownZones: UnknownZones
  /// The file to which writes are noted, a JSON object a line; nil for only the log.
  public var audit: String?
  /// The server whose settings are followed; nil for a primary.
  public var follow: String?
  /// The file with the key to show to that server and to peers, and certificates that sign theirs.
  public var peerKey, peerCA: String?
  /// A follower is not ready when it has had no news for so many seconds.
  public var stalenessLimit: Int
  /// Whether the copy of a follower becomes a primary.
  public var promotes: Bool
  /// Servers that may have been promoted to replace this one.
  public var peers: [String]
  /// Where decided messages are noted; nil for nowhere.
  public var decisionLog: String?
  /// One of so many messages is noted, in a file of at most so many bytes.
  public var decisionLogOneIn, decisionLogLimit: Int
  /// The collector that spans are sent to, OTLP as JSON over HTTP; nil for none.
  public var otlp: String?
  /// One in so many requests that have no trace begins a sampled one; 0 for none.
  public var traceOneIn: Int
  /// The least level that is logged.
  public var logLevel: String
  /// Several apps, each with its own options; empty for one, whose options these are.
  public var apps: [App] = []

  /// One of several apps.
  public struct App: Sendable {
    /// Its name in metrics, logs and the login of the support page.
    public let name: String
    /// What it has of its own, and what it shares.
    public let options: ServerOptions
  }

  /// The options of each app.
  public var ofEachApp: [ServerOptions] { apps.isEmpty ? [self] : apps.map(\.options) }

  /// Reads options.
  ///
  /// - Throws: ``OptionError``.
  public init(_ reader: ConfigReader) throws(OptionError) {
    let names = reader.stringArray(forKey: ConfigKey(OptionList.appNames)) ?? []
    try self.init(OptionValues(reader), hasApps: !names.isEmpty)
    for name in names {
      let read = OptionValues(reader, app: name)
      do {
        apps.append(App(name: name, options: try ServerOptions(read, hasApps: false)))
      } catch {
        throw OptionError("the app \(name): \(error)")
      }
    }
    try checkApps()
  }

  private init(_ read: OptionValues, hasApps: Bool) throws(OptionError) {
    let store = read.text("store")
    guard (store != nil) != hasApps else {
      throw OptionError(
        hasApps
          ? "--store and apps contradict each other: each app has its own store"
          : "no store: give --store FILE, PUSH_FANOUT_STORE or \"store\" in the file")
    }
    self.store = store ?? ""
    creates = try read.flag("create")
    listen = try read.address("listen") ?? Address("127.0.0.1:8080")!
    adminListen = try read.address("adminListen")
    keys = read.text("keys")
    isInsecure = try read.flag("insecure")
    tlsCertificate = read.text("tlsCertificate")
    tlsKey = read.text("tlsKey")
    pageOrigin = read.text("pageOrigin")
    clientCA = read.text("clientCa")
    clientScopes = try read.scopes("clientScopes") ?? [.decide, .read]
    threads = try read.number("threads", 1...1024, default: Fanout.coreCount)
    engineThreads = try read.number("engineThreads", 1...1024, default: Fanout.coreCount)
    bodyLimit = try read.number("bodyLimit", 1...(1 << 30), default: 8 << 20)
    requestsInFlight = try read.number("requestsInFlight", 1...1_000_000, default: 1024)
    bytesInFlight = try read.number("bytesInFlight", 1...(1 << 40), default: 256 << 20)
    connections = try read.number("connections", 1...1_000_000, default: 20_000)
    rateLimit = try read.number("rateLimit", 0...10_000_000, default: 0)
    headerTimeout = try read.number("headerTimeout", 1...3600, default: 10)
    bodyTimeout = try read.number("bodyTimeout", 1...3600, default: 30)
    idleTimeout = try read.number("idleTimeout", 1...86_400, default: 60)
    shutdownTimeout = try read.number("shutdownTimeout", 1...3600, default: 10)
    drain = try read.number("drain", 0...3600, default: 5)
    atLeastTimeout = try read.number("atLeastTimeout", 0...3600, default: 5)
    commitInterval = try read.number("commitInterval", 0...1000, default: 30)
    unknownZones = try read.unknownZones("unknownZones") ?? .refuse
    audit = read.text("audit")
    follow = read.text("follow")
    peerKey = read.text("peerKey")
    peerCA = read.text("peerCa")
    stalenessLimit = try read.number("stalenessLimit", 1...86_400, default: 10)
    promotes = try read.flag("promote")
    peers = (read.text("peers") ?? "").split(separator: ",").map(String.init)
    decisionLog = read.text("decisionLog")
    decisionLogOneIn = try read.number("decisionLogOneIn", 1...1_000_000_000, default: 1)
    decisionLogLimit = try read.number(
      "decisionLogLimit", 1_000_000...(1 << 40), default: 256 << 20)
    otlp = read.text("otlp")
    traceOneIn = try read.number("traceOneIn", 0...1_000_000_000, default: 0)
    logLevel = read.text("logLevel") ?? "info"
    try check(hasApps: hasApps)
  }

  /// - Throws: ``OptionError`` for apps that would share what only one may have.
  private func checkApps() throws(OptionError) {
    guard !apps.isEmpty else { return }
    if isInsecure {
      throw OptionError("--insecure and apps contradict each other: a key says which app is meant")
    }
    for (key, value) in [
      ("audit", audit), ("follow", follow), ("peers", peers.first), ("decisionLog", decisionLog),
    ] where value != nil {
      throw OptionError("\(OptionList.flag(key)) is an option of each app: move it into apps")
    }
    if creates || promotes {
      throw OptionError("--create and --promote are options of each app: move them into apps")
    }
    var owners: [String: String] = [:]
    for app in apps {
      guard app.options.keys != nil else {
        throw OptionError("the app \(app.name) has no keys: a key says which app is meant")
      }
      let files = [app.options.store, app.options.audit, app.options.decisionLog].compactMap { $0 }
      for file in files.map({ URL(filePath: $0).standardizedFileURL.path }) {
        if let other = owners.updateValue(app.name, forKey: file) {
          throw OptionError("\(file) is there twice: for the app \(other), and for \(app.name)")
        }
      }
    }
  }

  private static func isOrigin(_ text: String) -> Bool {
    text.wholeMatch(of: /https?:\/\/[^\/?#@\s]+/) != nil
  }

  private func check(hasApps: Bool) throws(OptionError) {
    if keys == nil, clientCA == nil, !isInsecure, !hasApps {
      throw OptionError(
        "no authentication: give --keys FILE (push-fanout-server key makes a key), "
          + "--client-ca FILE with TLS, or --insecure to give every client all scopes")
    }
    if follow != nil, promotes {
      throw OptionError("--promote ends following: leave out --follow")
    }
    for url in [follow, otlp].compactMap({ $0 }) + peers
    where !url.hasPrefix("http://") && !url.hasPrefix("https://") {
      throw OptionError("\(url) is no address of a server, like https://host:8080")
    }
    // Appended lines would be written into the database.
    let files = [store, audit, decisionLog].compactMap { $0 }.map {
      URL(filePath: $0).resolvingSymlinksInPath().standardizedFileURL.path
    }
    if let twice = files.first(where: { file in files.filter { $0 == file }.count > 1 }) {
      throw OptionError("\(twice) is there twice: store, audit and decision log are files of their own")
    }
    if keys != nil, isInsecure { throw OptionError("--keys and --insecure contradict each other") }
    if let pageOrigin, !Self.isOrigin(pageOrigin) {
      throw OptionError(
        "--page-origin \(pageOrigin) is not what a browser calls it: https://HOST or https://HOST:PORT")
    }
    if (tlsCertificate == nil) != (tlsKey == nil) {
      throw OptionError("--tls-certificate and --tls-key go together")
    }
    if clientCA != nil, tlsCertificate == nil {
      throw OptionError("--client-ca needs --tls-certificate and --tls-key")
    }
    if !["trace", "debug", "info", "notice", "warning", "error", "critical"].contains(logLevel) {
      throw OptionError("--log-level \(logLevel) is not debug, info, warning or error")
    }
  }
}

/// An option that is missing, or has a value that it cannot have.
public struct OptionError: Error, CustomStringConvertible {
  /// What is wrong and what to do.
  public let description: String

  init(_ description: String) { self.description = description }
}
