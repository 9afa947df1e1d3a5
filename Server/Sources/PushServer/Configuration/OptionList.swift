public import Configuration
internal import Foundation
internal import SystemPackage

/// The options of the server, by their keys in a file. A flag is the key in lower case with
/// hyphens, a variable is it in upper case with underscores behind `PUSH_FANOUT_`.
public enum OptionList {
  struct Option {
    let key: String
    /// nil for a switch.
    let value: String?
    let help: String
  }

  static let all: [Option] = [
    Option(key: "store", value: "FILE", help: "The store that keeps the settings."),
    Option(key: "create", value: nil, help: "Make the store if it is not there, without settings."),
    Option(key: "listen", value: "HOST:PORT", help: "Where clients connect (127.0.0.1:8080)."),
    Option(
      key: "adminListen", value: "HOST:PORT",
      help: "Where metrics and administration are served, instead of there."),
    Option(key: "keys", value: "FILE", help: "Who may do what; push-fanout-server key makes keys."),
    Option(key: "insecure", value: nil, help: "Give every client all scopes, without keys."),
    Option(key: "tlsCertificate", value: "FILE", help: "Certificate chain, PEM: HTTPS, HTTP/2."),
    Option(key: "tlsKey", value: "FILE", help: "The certificate's private key, PEM."),
    Option(key: "clientCa", value: "FILE", help: "Clients need a certificate signed by these."),
    Option(
      key: "clientScopes", value: "SCOPES",
      help: "What a client with a certificate may do without a key (decide,read)."),
    Option(key: "threads", value: "N", help: "Threads of connections (the cores it may use)."),
    Option(key: "engineThreads", value: "N", help: "Threads that one large decision may use."),
    Option(key: "bodyLimit", value: "BYTES", help: "The largest body of a request (8388608)."),
    Option(key: "requestsInFlight", value: "N", help: "Requests worked on at a time (1024)."),
    Option(key: "bytesInFlight", value: "BYTES", help: "Their bodies together (268435456)."),
    Option(key: "connections", value: "N", help: "Open connections (20000)."),
    Option(key: "rateLimit", value: "N", help: "Requests a second of one key (0: no limit)."),
    Option(key: "headerTimeout", value: "SECONDS", help: "For the headers of a request (10)."),
    Option(key: "bodyTimeout", value: "SECONDS", help: "For the body of a request (30)."),
    Option(
      key: "idleTimeout", value: "SECONDS",
      help: "Between requests, and for a client that does not read (60)."),
    Option(key: "shutdownTimeout", value: "SECONDS", help: "For requests at the end (10)."),
    Option(key: "atLeastTimeout", value: "SECONDS", help: "How long at-least waits (5)."),
    Option(
      key: "commitInterval", value: "MS",
      help: "How long writes wait at most for others that share their commit (30)."),
    Option(
      key: "unknownZones", value: "refuse|ignore",
      help:
        "Users of time zones that the machine lacks: no decisions, or without quiet hours (refuse)."
    ),
    Option(key: "audit", value: "FILE", help: "Where writes are noted, a JSON object a line."),
    Option(
      key: "follow", value: "URL", help: "Keep a copy of that server's settings, and decide by it."),
    Option(
      key: "peerKey", value: "FILE", help: "The key (admin) to show to that server and peers."),
    Option(
      key: "peerCa", value: "FILE", help: "Certificates that sign theirs, PEM (the system's)."),
    Option(
      key: "stalenessLimit", value: "SECONDS",
      help: "A follower without news for so long is not ready (10)."),
    Option(key: "promote", value: nil, help: "Make the copy of a follower a primary, by hand."),
    Option(
      key: "peers", value: "URLS",
      help: "Servers that may have been promoted to replace this one, with commas."),
    Option(
      key: "decisionLog", value: "FILE", help: "Where decided messages are noted, without text."),
    Option(key: "decisionLogOneIn", value: "N", help: "Note one of so many messages (1)."),
    Option(
      key: "decisionLogLimit", value: "BYTES",
      help: "The largest size of that file and of the one before it (268435456)."),
    Option(
      key: "otlp", value: "URL",
      help: "Where spans of sampled traces are sent, like http://127.0.0.1:4318/v1/traces."),
    Option(
      key: "traceOneIn", value: "N",
      help: "Begin a sampled trace for one in so many requests without one (0: none)."),
    Option(key: "logLevel", value: "LEVEL", help: "debug, info, warning or error (info)."),
    Option(
      key: "config", value: "FILE",
      help: "A JSON file with these options by their keys, or with apps."),
    Option(key: "checkConfig", value: nil, help: "Check the options and files, and exit."),
  ]

  /// The options that an app has for itself; it does not take those of the process.
  static let ofOneApp: Set<String> = [
    "store", "create", "keys", "audit", "follow", "promote", "peers", "decisionLog",
  ]

  /// What else an app may set; without, it takes what the process has.
  private static let ofEachApp: Set<String> = [
    "engineThreads", "bodyLimit", "requestsInFlight", "bytesInFlight", "rateLimit",
    "atLeastTimeout", "commitInterval", "peerKey", "peerCa", "stalenessLimit", "decisionLogOneIn",
    "decisionLogLimit", "unknownZones",
  ]

  /// Where the names of the apps are kept, which are no option.
  static let appNames = "appNames"

  /// `bodyLimit` → `--body-limit`.
  static func flag(_ key: String) -> String {
    "--"
      + key.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }

  /// The help text: each option with its meaning and default.
  public static var help: String {
    all.map { option in
      let name = "  " + flag(option.key) + (option.value.map { " " + $0 } ?? "")
      return name + String(repeating: " ", count: max(2, 32 - name.count)) + option.help
    }.joined(separator: "\n")
  }

  /// Reads flags, variables and the file that `config` names.
  ///
  /// - Parameters:
  ///   - arguments: without the program's name.
  ///   - environment: of the process.
  /// - Throws: ``OptionError`` for an unknown option, or a file that cannot be read.
  public static func reader(
    _ arguments: [String], environment: [String: String]
  ) async throws(OptionError) -> ConfigReader {
    var values: [AbsoluteConfigKey: ConfigValue] = [:]
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = all.first(where: { flag($0.key) == parts[0] }) else {
        throw OptionError("unknown option \(argument); push-fanout-server --help lists all")
      }
      let key = AbsoluteConfigKey([option.key])
      if option.value == nil {
        guard parts.count == 1 else { throw OptionError("\(parts[0]) takes no value") }
        values[key] = ConfigValue(.bool(true), isSecret: false)
      } else if let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() {
        values[key] = ConfigValue(content(value), isSecret: false)
      } else {
        throw OptionError("\(parts[0]) needs a value")
      }
    }
    let flags = InMemoryProvider(name: "flags", values: values)
    let variables = EnvironmentVariablesProvider(environmentVariables: environment)
      .prefixKeys(with: "push.fanout")
    let early = ConfigReader(providers: [flags, variables])
    guard let path = early.string(forKey: "config") else { return early }
    let names = InMemoryProvider(
      name: "apps",
      values: [
        AbsoluteConfigKey([appNames]): ConfigValue(.stringArray(try check(path)), isSecret: false)
      ])
    do {
      let file = try await FileProvider<JSONSnapshot>(filePath: FilePath(path))
      return ConfigReader(providers: [names, flags, variables, file])
    } catch {
      throw OptionError("\(path): \(error)")
    }
  }

  /// A number where it is one, as files have it.
  private static func content(_ text: String) -> ConfigContent {
    if let number = Int(text) { return .int(number) }
    return .string(text)
  }

  /// - Returns: the names of the file's apps.
  /// - Throws: ``OptionError`` for a file that is no JSON object, or has a key that is no option.
  private static func check(_ path: String) throws(OptionError) -> [String] {
    let object: Any
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      object = try JSONSerialization.jsonObject(with: data)
    } catch {
      throw OptionError("\(path) cannot be read as JSON: \(error.localizedDescription)")
    }
    guard let fields = object as? [String: Any] else {
      throw OptionError("\(path) is not a JSON object of options")
    }
    for key in fields.keys.sorted() where key != "apps" && !all.contains(where: { $0.key == key }) {
      throw OptionError("\(path): unknown option \"\(key)\"")
    }
    guard let value = fields["apps"] else { return [] }
    guard let apps = value as? [String: [String: Any]], !apps.isEmpty else {
      throw OptionError("\(path): apps is not an object of apps, each with options by their keys")
    }
    for (name, options) in apps.sorted(by: { $0.key < $1.key }) {
      guard name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
        throw OptionError(
          "\(path): the name of an app \"\(name)\" is not 1 to 64 letters, digits, - or _")
      }
      for key in options.keys.sorted() where !ofOneApp.union(ofEachApp).contains(key) {
        let isKnown = all.contains { $0.key == key }
        throw OptionError(
          "\(path): \"\(key)\" of the app \(name) is "
            + (isKnown ? "an option of the whole server: move it out of apps" : "no option"))
      }
    }
    return apps.keys.sorted()
  }
}
