internal import HTTPTypes
internal import Logging
internal import Synchronization

/// The apps of a process. A key is of one app, so the key of a request chooses the app.
struct AppSet: Sendable {
  /// What answers requests without the key of an app: health, the page, and the metrics of all.
  /// Where there is one app, it is that.
  let front: ServerState
  /// Every app.
  let all: [ServerState]
  /// Sends spans of all apps; nil where none are sent.
  let exporter: SpanExporter?
  private let byName: [String: ServerState]
  private let owners: KeyOwners

  /// - Throws: ``OptionError`` for a file that cannot be used, or a key of two apps.
  init(_ configuration: ServerConfiguration, _ logger: Logger) throws(OptionError) {
    let options = configuration.options
    let owners = KeyOwners()
    let exporter = options.otlp.map {
      SpanExporter($0, authority: options.peerCa, logger)
    }
    self.exporter = exporter
    var all: [ServerState] = []
    for app in configuration.apps {
      var named = logger
      named[metadataKey: "app"] = "\(app.name)"
      all.append(
        try ServerState(app.options, named, owners: owners, name: app.name, exporter: exporter))
    }
    let isSingle = all.isEmpty
    front = try ServerState(
      options, logger, owners: owners, name: isSingle ? ServerState.soleName : "",
      exporter: exporter, apps: all)
    self.all = isSingle ? [front] : all
    byName = [String: ServerState](uniqueKeysWithValues: self.all.map { ($0.name, $0) })
    self.owners = owners
  }

  /// The app that a request is about.
  func state(for fields: HTTPFields) -> ServerState {
    guard all.first !== front, let key = Access.bearer(fields),
      let name = owners.app(of: Secret.digest(key))
    else { return front }
    return byName[name] ?? front
  }

  /// Reads all keys again.
  ///
  /// - Throws: ``OptionError`` for the first file that is wrong; then all keys stay.
  func reloadKeys() throws(OptionError) { try front.reloadKeys() }

  /// Opens the audit files again.
  ///
  /// - Throws: ``OptionError`` for the first that cannot be.
  func reopenAudits() throws(OptionError) {
    for state in all { try state.audit.reopen() }
  }

  /// Reads the senders of all apps again.
  ///
  /// - Throws: ``OptionError`` for the first file that is wrong; then its senders stay.
  func reloadSenders() throws(OptionError) {
    for state in all { try state.reloadSenders() }
  }

  /// Whether the settings of every app are open.
  var areOpen: Bool { all.allSatisfy { $0.openedApp != nil } }

  /// Called once a second.
  func tick() {
    for state in all { state.tick() }
    if all.first !== front { front.tick() }
  }

  /// No new work is begun.
  func end() {
    for state in all { state.end() }
    front.end()
  }

  /// Has the metrics name a listener's connections.
  func watch(_ gate: ConnectionGate) { front.gates.withLock { $0.append(gate) } }
}

/// Which app each key is of.
final class KeyOwners: Sendable {
  /// Names of apps by the digests of keys: the time of a look-up says nothing about a key.
  private let names = Mutex<[[UInt8]: String]>([:])

  func app(of digest: [UInt8]) -> String? { names.withLock { $0[digest] } }

  /// Replaces the keys of apps.
  ///
  /// - Throws: ``OptionError`` when a key is of two apps; then nothing is replaced.
  func set(_ files: [(app: String, keys: KeyFile, path: String)]) throws(OptionError) {
    let twice = names.withLock { names -> (path: String, key: String, app: String)? in
      var new = names.filter { name in !files.contains { $0.app == name.value } }
      for file in files {
        for key in file.keys.keys {
          if let other = new.updateValue(file.app, forKey: key.digest), other != file.app {
            return (file.path, key.name, other)
          }
        }
      }
      names = new
      return nil
    }
    guard let twice else { return }
    throw OptionError(
      "\(twice.path): the key \(twice.key) is also one of the app \(twice.app); make another key, as "
        + "it is the key that says which app is meant")
  }
}
