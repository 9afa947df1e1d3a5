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
    Option(key: "threads", value: "N", help: "Threads that serve connections (one a core)."),
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
    Option(key: "audit", value: "FILE", help: "Where writes are noted, a JSON object a line."),
    Option(key: "logLevel", value: "LEVEL", help: "debug, info, warning or error (info)."),
    Option(key: "config", value: "FILE", help: "A JSON file with these options by their keys."),
    Option(key: "checkConfig", value: nil, help: "Check the options and files, and exit."),
  ]

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
    try check(path)
    do {
      let file = try await FileProvider<JSONSnapshot>(filePath: FilePath(path))
      return ConfigReader(providers: [flags, variables, file])
    } catch {
      throw OptionError("\(path): \(error)")
    }
  }

  /// A number where it is one, as files have it.
  private static func content(_ text: String) -> ConfigContent {
    if let number = Int(text) { return .int(number) }
    return .string(text)
  }

  /// - Throws: ``OptionError`` for a file that is no JSON object, or has a key that is no option.
  private static func check(_ path: String) throws(OptionError) {
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
    for key in fields.keys.sorted() where !all.contains(where: { $0.key == key }) {
      throw OptionError("\(path): unknown option \"\(key)\"")
    }
  }
}
