internal import ArgumentParser
internal import Foundation
internal import Logging
internal import QuietTime

/// The options of a server, or of one of its apps: flags, and by the same names variables and keys
/// of a file (``ServerConfiguration``).
struct ServerOptions: ParsableArguments, Sendable {
  /// A host and a port.
  struct Address: Hashable, Sendable, CustomStringConvertible {
    /// A name or a numeric address.
    var host: String
    /// 0 lets the system choose.
    var port: Int

    /// The host of `HOST` or `HOST:PORT`, in lower case and without brackets; nil for no host.
    static func host(of authority: String) -> String? {
      let end = authority.lastIndex { $0 == ":" || $0 == "]" }
      var host = authority[...]
      if let end, authority[end] == ":" { host = host[..<end] }
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      return host.isEmpty ? nil : host.lowercased()
    }

    /// Reads `HOST:PORT` or `[IPv6]:PORT`; nil for another text.
    init?(_ text: String) {
      guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
        (0...65_535).contains(port)
      else { return nil }
      var host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { return nil }
      self.host = String(host)
      self.port = port
    }

    var description: String { "\(host):\(port)" }
  }

  @Option(help: .value("FILE", "The store that keeps the settings."))
  var store = ""

  @Flag(help: "Make the store if it is not there, without settings.")
  var create = false

  @Option(
    help: .value("HOST:PORT", "Where clients connect. (default: 127.0.0.1:8080)"),
    transform: address)
  var listen = Address("127.0.0.1:8080")!

  @Option(
    help: .value("HOST:PORT", "Where metrics and administration are served, instead of there."),
    transform: address)
  var adminListen: Address?

  @Option(help: .value("FILE", "Who may do what; push-fanout-server key makes keys."))
  var keys: String?

  @Flag(help: "Give every client all scopes, without keys.")
  var insecure = false

  @Option(help: .value("FILE", "Certificate chain, PEM: HTTPS, HTTP/2."))
  var tlsCertificate: String?

  @Option(help: .value("FILE", "The certificate's private key, PEM."))
  var tlsKey: String?

  @Option(
    help: .value(
      "URL", "What browsers call the support page behind a proxy, like https://push.example.com."))
  var pageOrigin: String?

  @Option(help: .value("FILE", "Clients need a certificate signed by these."))
  var clientCa: String?

  @Option(
    help: .value(
      "SCOPES", "What a client with a certificate may do without a key. (default: decide,read)"),
    transform: scopeSet)
  var clientScopes: Set<Scope>?

  @Option("N", "Threads of connections. (default: the cores it may use)", in: 1...1024)
  var threads: Int?

  @Option(
    "N", "Threads that one large decision may use. (default: the cores it may use)", in: 1...1024)
  var engineThreads: Int?

  @Option("BYTES", "The largest body of a request.", in: 1...(1 << 30), default: 8 << 20)
  var bodyLimit: Int

  @Option("N", "Requests worked on at a time.", in: 1...1_000_000, default: 1024)
  var requestsInFlight: Int

  @Option("BYTES", "Their bodies together.", in: 1...(1 << 40), default: 256 << 20)
  var bytesInFlight: Int

  @Option("N", "Open connections.", in: 1...1_000_000, default: 20_000)
  var connections: Int

  @Option("N", "Requests a second of one key; 0 for no limit.", in: 0...10_000_000, default: 0)
  var rateLimit: Int

  @Option("SECONDS", "For the headers of a request.", in: 1...3600, default: 10)
  var headerTimeout: Int

  @Option("SECONDS", "For the body of a request.", in: 1...3600, default: 30)
  var bodyTimeout: Int

  @Option(
    "SECONDS", "Between requests, and for a client that does not read.", in: 1...86_400, default: 60
  )
  var idleTimeout: Int

  @Option(
    "SECONDS", "How long connections are accepted when it is asked to end.", in: 0...3600,
    default: 5)
  var drain: Int

  @Option("SECONDS", "For requests at the end.", in: 1...3600, default: 10)
  var shutdownTimeout: Int

  @Option("SECONDS", "How long at-least waits.", in: 0...3600, default: 5)
  var atLeastTimeout: Int

  @Option(
    "MS", "How long writes wait at most for others that share their commit.", in: 0...1000,
    default: 30)
  var commitInterval: Int

  @Option(
    help: .value(
      "refuse|ignore",
      "Users of time zones that the machine lacks: no decisions, or without quiet hours. (default: refuse)"
    ),
    transform: { text in
      switch text {
      case "refuse": return .refuse
      case "ignore": return .ignore
      default: throw ValidationError("is not refuse or ignore")
      }
    })
  var unknownZones = UnknownZones.refuse

  @Option(help: .value("FILE", "Where writes are noted, a JSON object a line."))
  var audit: String?

  @Option(
    help: .value("URL", "Keep a copy of that server's settings, and decide by it."))
  var follow: String?

  @Option(help: .value("FILE", "The key (admin) to show to that server and peers."))
  var peerKey: String?

  @Option(help: .value("FILE", "Certificates that sign theirs, PEM. (default: the system's)"))
  var peerCa: String?

  @Option(
    "SECONDS", "A follower without news for so long is not ready.", in: 1...86_400, default: 10)
  var stalenessLimit: Int

  @Flag(help: "Make the copy of a follower a primary, by hand.")
  var promote = false

  @Option(
    help: .value(
      "URLS", "Servers that may have been promoted to replace this one, with commas."))
  var peers: String?

  @Option(help: .value("FILE", "How requests to providers are made: senders.ndjson."))
  var senders: String?

  @Option(help: .value("FILE", "Where decided messages are noted, without text."))
  var decisionLog: String?

  @Option("N", "Note one of so many messages.", in: 1...1_000_000_000, default: 1)
  var decisionLogOneIn: Int

  @Option(
    "BYTES", "The largest size of that file and of the one before it.", in: 1_000_000...(1 << 40),
    default: 256 << 20)
  var decisionLogLimit: Int

  @Option(
    help: .value(
      "URL", "Where spans of sampled traces are sent, like http://127.0.0.1:4318/v1/traces."))
  var otlp: String?

  @Option(
    "N", "Begin a sampled trace for one in so many requests without one; 0 for none.",
    in: 0...1_000_000_000, default: 0)
  var traceOneIn: Int

  @Option(
    help: .value("LEVEL", "debug, info, warning or error. (default: info)"),
    transform: { text in
      guard let level = Logger.Level(rawValue: text) else {
        throw ValidationError("is not debug, info, warning or error")
      }
      return level
    })
  var logLevel = Logger.Level.info

  @Option(help: .value("FILE", "A JSON file with these options by their keys, or with apps."))
  var config: String?

  @Flag(help: "Check the options and files, and exit.")
  var checkConfig = false

  /// Servers that may have been promoted to replace this one.
  var peerList: [String] { (peers ?? "").split(separator: ",").map(String.init) }

  /// - Parameter hasApps: whether these are the options that apps share.
  /// - Throws: ``OptionError`` for options that contradict each other, or are missing.
  func check(hasApps: Bool) throws(OptionError) {
    guard store.isEmpty == hasApps else {
      throw OptionError(
        hasApps
          ? "--store and apps contradict each other: each app has its own store"
          : "no store: give --store FILE, PUSH_FANOUT_STORE or \"store\" in the file")
    }
    if keys == nil, clientCa == nil, !insecure, !hasApps {
      throw OptionError(
        "no authentication: give --keys FILE (push-fanout-server key makes a key), "
          + "--client-ca FILE with TLS, or --insecure to give every client all scopes")
    }
    if follow != nil, promote {
      throw OptionError("--promote ends following: leave out --follow")
    }
    for url in [follow, otlp].compactMap({ $0 }) + peerList
    where !url.hasPrefix("http://") && !url.hasPrefix("https://") {
      throw OptionError("\(url) is no address of a server, like https://host:8080")
    }
    // Appended lines would be written into the database.
    let files = [store, audit, decisionLog].compactMap { $0 }.filter { !$0.isEmpty }.map {
      URL(filePath: $0).resolvingSymlinksInPath().standardizedFileURL.path
    }
    if let twice = files.first(where: { file in files.filter { $0 == file }.count > 1 }) {
      throw OptionError(
        "\(twice) is there twice: store, audit and decision log are files of their own")
    }
    if let pageOrigin, pageOrigin.wholeMatch(of: /https?:\/\/[^\/?#@\s]+/) == nil {
      throw OptionError(
        "--page-origin \(pageOrigin) is not what a browser calls it: https://HOST or https://HOST:PORT"
      )
    }
    if keys != nil, insecure { throw OptionError("--keys and --insecure contradict each other") }
    if (tlsCertificate == nil) != (tlsKey == nil) {
      throw OptionError("--tls-certificate and --tls-key go together")
    }
    if clientCa != nil, tlsCertificate == nil {
      throw OptionError("--client-ca needs --tls-certificate and --tls-key")
    }
  }
}

// What a value may be. Errors go on where the option and the value were named.

private func address(_ text: String) throws -> ServerOptions.Address {
  guard let address = ServerOptions.Address(text) else {
    throw ValidationError("is not HOST:PORT, like 127.0.0.1:8080 or [::1]:8080")
  }
  return address
}

func scopeSet(_ text: String) throws -> Set<Scope> {
  guard let scopes = Scope.set(text) else {
    throw ValidationError("is no list of scopes with commas: these are \(Scope.names)")
  }
  return scopes
}

private func number(in range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
  { text in
    guard let number = Int(text) else { throw ValidationError("is not a number") }
    guard range.contains(number) else {
      throw ValidationError("is not in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }
}

extension Option<Int> {
  /// A whole number of a range; help names the default.
  fileprivate init(
    _ value: String, _ help: String, in range: ClosedRange<Int>, default initial: Int
  ) {
    self.init(
      wrappedValue: initial, help: .value(value, "\(help) (default: \(initial))"),
      transform: number(in: range))
  }
}

extension Option<Int?> {
  fileprivate init(_ value: String, _ help: String, in range: ClosedRange<Int>) {
    self.init(help: .value(value, help), transform: number(in: range))
  }
}

extension ArgumentHelp {
  /// - Parameter name: what the value is called.
  fileprivate static func value(_ name: String, _ abstract: String) -> ArgumentHelp {
    ArgumentHelp(abstract, valueName: name)
  }
}

extension ServerOptions {
  /// Reads arguments as they are typed; what they leave out has its default.
  ///
  /// - Parameter name: what errors call the option, when it stands elsewhere.
  init(flags: [String], calledAs name: String? = nil) throws(OptionError) {
    do { self = try ServerOptions.parse(flags) } catch { throw OptionError(error, of: name) }
  }
}

/// An option that is missing, or has a value that it cannot have.
struct OptionError: Error, CustomStringConvertible {
  /// What is wrong and what to do.
  let description: String

  init(_ description: String) { self.description = description }

  /// - Parameters:
  ///   - error: of ArgumentParser.
  ///   - name: what the message calls the option; nil for its flag.
  init(_ error: any Error, of name: String? = nil) {
    let message = ServerOptions.message(for: error).replacing("\n", with: " ")
    // The value 'no' is invalid for '--threads <N>': is not a number
    if let parts = message.wholeMatch(of: /The value '(.*)' is invalid for '([^ ]+).*'(?:: (.*))?/)
    {
      self.init("\(name ?? "\(parts.2)") \(parts.1) \(parts.3 ?? "is not understood")")
    } else {
      self.init("\(message); push-fanout-server --help lists all options")
    }
  }
}
