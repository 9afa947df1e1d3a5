internal import ArgumentParser
internal import Configuration
internal import Foundation
internal import PushSupport
internal import SystemPackage

/// A name of ``ServerOptions``, as the file has it.
struct OptionKey: Sendable {
  let name: String
  let isSwitch: Bool

  /// All options, as they are declared.
  static let all: [OptionKey] = Mirror(reflecting: ServerOptions()).children.compactMap { child in
    child.label.map {
      OptionKey(name: String($0.drop { $0 == "_" }), isSwitch: child.value is Flag<Bool>)
    }
  }

  /// What an app has for itself; it does not take those of the server.
  static let ofOneApp: Set<String> = [
    "store", "create", "keys", "audit", "follow", "promote", "peers", "decisionLog",
    "senders",
  ]

  /// What else an app may set; without, it takes what the server has.
  static let ofEachApp: Set<String> = [
    "engineThreads", "bodyLimit", "requestsInFlight", "bytesInFlight", "rateLimit",
    "atLeastTimeout", "commitInterval", "peerKey", "peerCa", "stalenessLimit", "decisionLogOneIn",
    "decisionLogLimit", "unknownZones",
  ]

  /// Whether an app cannot set it.
  var isOfServer: Bool { !Self.ofOneApp.union(Self.ofEachApp).contains(name) }

  /// `bodyLimit` → `--body-limit`.
  var flag: String { "--" + words.joined(separator: "-") }

  /// `bodyLimit` → `PUSH_FANOUT_BODY_LIMIT`, and of an app `PUSH_FANOUT_APPS_GAMES_BODY_LIMIT`.
  func variable(app: String? = nil) -> String {
    let path = app.map { "APPS_\(Self.words($0).joined(separator: "_"))_" } ?? ""
    let name = "PUSH_FANOUT_\(path)\(words.joined(separator: "_"))".uppercased()
    return String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  private var words: [String] { Self.words(name).map { $0.lowercased() } }

  /// The parts of a name that begin with a capital letter behind a small one.
  private static func words(_ name: String) -> [String] {
    name.replacing(/[a-z](?=[A-Z])/) { "\($0.output) " }.split(separator: " ").map(String.init)
  }
}

/// Where options stand that are no flags: variables, or a file.
struct OptionSource: Sendable {
  private let reader: ConfigReader
  private let app: String?
  /// What messages call an option of the server, or of an app.
  private let name: @Sendable (OptionKey, _ app: String?) -> String

  static func variables(_ environment: [String: String]) -> OptionSource {
    let provider = EnvironmentVariablesProvider(environmentVariables: environment)
      .prefixKeys(with: "push.fanout")
    return OptionSource(reader: ConfigReader(provider: provider), app: nil) { $0.variable(app: $1) }
  }

  static func file(_ path: String) async throws(OptionError) -> OptionSource {
    do {
      let provider = try await FileProvider<JSONSnapshot>(filePath: FilePath(path))
      return OptionSource(reader: ConfigReader(provider: provider), app: nil) { key, app in
        "\(path): \"\(app.map { "apps.\($0)." } ?? "")\(key.name)\""
      }
    } catch {
      throw OptionError("\(path): \(error)")
    }
  }

  /// Where an app's own options stand.
  func ofApp(_ app: String) -> OptionSource {
    OptionSource(reader: reader.scoped(to: ConfigKey(["apps", app])), app: app, name: name)
  }

  /// A text, or a number as one: the name of a file may be a number.
  func text(_ name: String) -> String? {
    let key = ConfigKey(name)
    return reader.string(forKey: key) ?? reader.int(forKey: key).map { "\($0)" }
      ?? reader.double(forKey: key).map { "\($0)" }
  }

  /// An option as it is typed on the command line; nil if it is not here.
  ///
  /// - Throws: ``OptionError`` for a value that the option does not have.
  func arguments(_ key: OptionKey) throws(OptionError) -> [String]? {
    let flag = key.isSwitch ? reader.bool(forKey: ConfigKey(key.name)) : nil
    if let flag { return flag ? [key.flag] : [] }
    guard let text = text(key.name) else { return nil }
    if key.isSwitch { throw OptionError("\(name(key, app)) \(text) is not true or false") }
    let arguments = ["\(key.flag)=\(text)"]
    _ = try ServerOptions(flags: arguments, calledAs: name(key, app))
    return arguments
  }

  // MARK: Misspelt variables

  /// Variables of other programs of the project.
  private static let others: Set<String> = [
    "PUSH_FANOUT_CACHE", "PUSH_FANOUT_COMMAND", "PUSH_FANOUT_DEVELOP", "PUSH_FANOUT_SERVER",
  ]

  /// - Throws: ``OptionError`` for a variable that looks like an option and is none.
  static func check(_ environment: [String: String], apps: [String]) throws(OptionError) {
    let names: [String?] = [nil] + apps
    let known = names.flatMap { app in
      OptionKey.all.filter { app == nil || !$0.isOfServer }.map { $0.variable(app: app) }
    }
    for name in environment.keys.sorted()
    where name.hasPrefix("PUSH_FANOUT_") && !known.contains(name) && !others.contains(name) {
      // What Kubernetes tells each container of a service named push-fanout, or push-fanout-…
      if name.wholeMatch(
        of: /\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)/
      )
        != nil
      {
        continue
      }
      if let key = OptionKey.all.first(where: { key in
        key.isOfServer && apps.contains { key.variable(app: $0) == name }
      }) {
        throw OptionError("\(name) is an option of the whole server: \(key.variable())")
      }
      // Not by what all have in common.
      let start = "PUSH_FANOUT_".count
      let near = EditDistance.nearest(
        to: String(name.dropFirst(start)), in: known.map { String($0.dropFirst(start)) })
      throw OptionError(
        "the variable \(name) is no option; "
          + (near.map { "did you mean PUSH_FANOUT_\($0)?" }
            ?? "push-fanout-server --help lists all options"))
    }
  }
}
