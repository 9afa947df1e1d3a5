public import Configuration

/// How a server is started: from flags, the environment, and a JSON file, in this order.
public struct ServerOptions: Sendable {
  /// A host and a port.
  public struct Address: Hashable, Sendable {
    /// A name or a numeric address.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int

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
  /// The file to which writes are noted, a JSON object a line; nil for only the log.
  public var audit: String?
  /// The least level that is logged.
  public var logLevel: String

  /// Reads options.
  ///
  /// - Throws: ``OptionError``.
  public init(_ reader: ConfigReader) throws(OptionError) {
    let read = OptionValues(reader)
    guard let store = read.text("store") else {
      throw OptionError("no store: give --store FILE, PUSH_FANOUT_STORE or \"store\" in the file")
    }
    self.store = store
    creates = try read.flag("create")
    listen = try read.address("listen") ?? Address("127.0.0.1:8080")!
    adminListen = try read.address("adminListen")
    keys = read.text("keys")
    isInsecure = try read.flag("insecure")
    tlsCertificate = read.text("tlsCertificate")
    tlsKey = read.text("tlsKey")
    clientCA = read.text("clientCa")
    clientScopes = try read.scopes("clientScopes") ?? [.decide, .read]
    threads = try read.number("threads", 1...1024, default: OptionValues.coreCount)
    engineThreads = try read.number("engineThreads", 1...1024, default: OptionValues.coreCount)
    bodyLimit = try read.number("bodyLimit", 1...(1 << 30), default: 8 << 20)
    requestsInFlight = try read.number("requestsInFlight", 1...1_000_000, default: 1024)
    bytesInFlight = try read.number("bytesInFlight", 1...(1 << 40), default: 256 << 20)
    connections = try read.number("connections", 1...1_000_000, default: 20_000)
    rateLimit = try read.number("rateLimit", 0...10_000_000, default: 0)
    headerTimeout = try read.number("headerTimeout", 1...3600, default: 10)
    bodyTimeout = try read.number("bodyTimeout", 1...3600, default: 30)
    idleTimeout = try read.number("idleTimeout", 1...86_400, default: 60)
    shutdownTimeout = try read.number("shutdownTimeout", 1...3600, default: 10)
    atLeastTimeout = try read.number("atLeastTimeout", 0...3600, default: 5)
    audit = read.text("audit")
    logLevel = read.text("logLevel") ?? "info"
    try check()
  }

  private func check() throws(OptionError) {
    if keys == nil, clientCA == nil, !isInsecure {
      throw OptionError(
        "no authentication: give --keys FILE (push-fanout-server key makes a key), "
          + "--client-ca FILE with TLS, or --insecure to give every client all scopes")
    }
    if keys != nil, isInsecure { throw OptionError("--keys and --insecure contradict each other") }
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
