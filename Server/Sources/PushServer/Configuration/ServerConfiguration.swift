internal import ArgumentParser
internal import Configuration
internal import Foundation
internal import PushFiles
internal import PushSupport
internal import SystemPackage

/// How a server is started: by flags, variables, and a JSON file, in this order of precedence.
///
/// `bodyLimit` of ``ServerOptions`` is the flag `--body-limit`, the variable `PUSH_FANOUT_BODY_LIMIT`,
/// and the key `bodyLimit` of the file.
struct ServerConfiguration: Sendable {
  /// One of several apps.
  struct App: Sendable {
    /// Its name in metrics, logs and the login of the support page.
    let name: String
    /// What it has of its own, and what it shares.
    let options: ServerOptions
  }

  /// The options; of several apps, those that they share.
  let options: ServerOptions
  /// Several apps, each with its own options; empty for one, whose options are ``options``.
  private(set) var apps: [App] = []

  /// The options of each app.
  var ofEachApp: [ServerOptions] { apps.isEmpty ? [options] : apps.map(\.options) }

  /// Reads flags, variables and the file that `config` names.
  ///
  /// - Parameters:
  ///   - arguments: without the program's name.
  ///   - environment: of the process.
  /// - Throws: ``OptionError``.
  init(_ arguments: [String], environment: [String: String]) async throws(OptionError) {
    let (general, sources, names) = try await Self.read(arguments, environment)
    options = try ServerOptions(flags: general.flatMap(\.arguments) + arguments)
    try options.check(hasApps: !names.isEmpty)
    for name in names {
      do throws(OptionError) {
        let keys = OptionKey.all.filter { !$0.isOfServer }
        let own = try Self.values(of: keys, in: sources.map { $0.ofApp(name) })
        let shared = general.filter { !OptionKey.ofOneApp.contains($0.key.name) }
        var app = try ServerOptions(
          flags: shared.flatMap(\.arguments) + arguments + own.flatMap(\.arguments))
        // The server's are those of operators.
        if !own.contains(where: { $0.key.name == "keys" }) { app.keys = nil }
        try app.check(hasApps: false)
        apps.append(App(name: name, options: app))
      } catch {
        throw OptionError("the app \(name): \(error)")
      }
    }
    try checkApps()
  }

  /// An option that a variable or a file has, as it is typed on the command line.
  typealias Value = (key: OptionKey, arguments: [String])

  /// - Returns: what variables and the file have and no flag does, and the names of the apps.
  static func read(
    _ arguments: [String], _ environment: [String: String]
  ) async throws(OptionError) -> (values: [Value], sources: [OptionSource], apps: [String]) {
    let flags = try ServerOptions(flags: arguments)
    var sources = [OptionSource.variables(environment)]
    var names: [String] = []
    if let path = flags.config ?? sources[0].text("config") {
      names = try check(path)
      sources.append(try await .file(path))
    }
    try OptionSource.check(environment, apps: names)
    let keys = OptionKey.all.filter { key in
      !arguments.contains { $0 == key.flag || $0.hasPrefix(key.flag + "=") }
    }
    return (try values(of: keys, in: sources), sources, names)
  }

  /// What the first of the sources that has an option says.
  private static func values(
    of keys: [OptionKey], in sources: [OptionSource]
  ) throws(OptionError) -> [Value] {
    var values: [Value] = []
    for key in keys {
      for source in sources {
        guard let found = try source.arguments(key) else { continue }
        values.append((key, found))
        break
      }
    }
    return values
  }

  /// - Returns: the names of the file's apps.
  /// - Throws: ``OptionError`` for a file that is no JSON object, or has a key twice, or one that is
  ///   no option.
  private static func check(_ path: String) throws(OptionError) -> [String] {
    let file: JSONValue
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      file = try JSONDecoder().decode(JSONValue.self, from: data)
      try WholeFile.checkKeys(inJSON: Array(data), of: path)
    } catch let error as FileProblem {
      throw OptionError("\(error)")
    } catch {
      throw OptionError("\(path) cannot be read as JSON: \(error.localizedDescription)")
    }
    guard case .object(let fields) = file else {
      throw OptionError("\(path) is not a JSON object of options")
    }
    for (key, value) in fields.sorted(by: { $0.key < $1.key }) where key != "apps" {
      guard let option = OptionKey.all.first(where: { $0.name == key }) else {
        let near = EditDistance.nearest(to: key, in: OptionKey.all.map(\.name))
        throw OptionError(
          "\(path): unknown option \"\(key)\"" + (near.map { "; did you mean \"\($0)\"?" } ?? ""))
      }
      try value.check(option, "\(path): \"\(key)\"")
    }
    guard let value = fields["apps"] else { return [] }
    let notApps = OptionError(
      "\(path): apps is not an object of apps, each with options by their keys")
    guard case .object(let apps) = value, !apps.isEmpty else { throw notApps }
    for (name, value) in apps.sorted(by: { $0.key < $1.key }) {
      guard name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
        throw OptionError(
          "\(path): the name of an app \"\(name)\" is not 1 to 64 letters, digits, - or _")
      }
      guard case .object(let options) = value else { throw notApps }
      for (key, value) in options.sorted(by: { $0.key < $1.key }) {
        let option = OptionKey.all.first { $0.name == key }
        guard let option, !option.isOfServer else {
          throw OptionError(
            "\(path): \"\(key)\" of the app \(name) is "
              + (option == nil
                ? "no option" : "an option of the whole server: move it out of apps"))
        }
        try value.check(option, "\(path): \"apps.\(name).\(key)\"")
      }
    }
    return apps.keys.sorted()
  }

  /// - Throws: ``OptionError`` for apps that would share what only one may have.
  private func checkApps() throws(OptionError) {
    guard !apps.isEmpty else { return }
    if options.insecure {
      throw OptionError("--insecure and apps contradict each other: a key says which app is meant")
    }
    for (flag, value) in [
      ("--audit", options.audit), ("--follow", options.follow), ("--peers", options.peers),
      ("--decision-log", options.decisionLog), ("--senders", options.senders),
    ] where value != nil {
      throw OptionError("\(flag) is an option of each app: move it into apps")
    }
    if options.create || options.promote {
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
}

/// What kind of value stands in a file.
private enum JSONValue: Decodable {
  case flag, number, text, other
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if (try? value.decode(Bool.self)) != nil {
      self = .flag
    } else if (try? value.decode(Double.self)) != nil {
      self = .number
    } else if (try? value.decode(String.self)) != nil {
      self = .text
    } else if let fields = try? value.decode([String: JSONValue].self) {
      self = .object(fields)
    } else {
      self = .other
    }
  }

  /// - Throws: ``OptionError`` for a kind that an option does not have.
  func check(_ key: OptionKey, _ name: String) throws(OptionError) {
    switch self {
    case .flag where key.isSwitch: break
    case .number where !key.isSwitch, .text where !key.isSwitch: break
    default:
      throw OptionError("\(name) is not \(key.isSwitch ? "true or false" : "a text or a number")")
    }
  }
}
