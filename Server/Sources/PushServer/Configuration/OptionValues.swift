internal import Configuration
internal import QuietTime

/// Values of options by their keys, checked.
struct OptionValues {
  private let reader: ConfigReader
  /// Those of the process, where the app has none of its own.
  private let general: ConfigReader?
  private let app: String?

  /// - Parameter app: one of the configuration's apps; nil for the process.
  init(_ reader: ConfigReader, app: String? = nil) {
    self.reader = app.map { reader.scoped(to: ConfigKey(["apps", $0])) } ?? reader
    general = app == nil ? nil : reader
    self.app = app
  }

  /// What messages call an option.
  private func name(_ key: String) -> String {
    app.map { "apps.\($0).\(key)" } ?? OptionList.flag(key)
  }

  /// The first of the readers, by precedence, that has a value.
  private func first<Value>(_ key: String, _ find: (ConfigReader) -> Value?) -> Value? {
    if let value = find(reader) { return value }
    guard let general, !OptionList.ofOneApp.contains(key) else { return nil }
    return find(general)
  }

  /// A text, or a number as one: the name of a file may be a number.
  func text(_ key: String) -> String? {
    first(key) { reader in
      reader.string(forKey: ConfigKey(key)) ?? reader.int(forKey: ConfigKey(key)).map { "\($0)" }
    }
  }

  func flag(_ key: String) throws(OptionError) -> Bool {
    if let value = first(key, { $0.bool(forKey: ConfigKey(key)) }) { return value }
    if let text = text(key) {
      throw OptionError("\(name(key)) \(text) is not true or false")
    }
    return false
  }

  func number(
    _ key: String, _ range: ClosedRange<Int>, default value: Int
  ) throws(OptionError) -> Int {
    guard let number = first(key, { $0.int(forKey: ConfigKey(key)) }) else {
      guard let text = text(key) else { return value }
      throw OptionError("\(name(key)) \(text) is not a number")
    }
    guard range.contains(number) else {
      throw OptionError(
        "\(name(key)) \(number) is not in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }

  func address(_ key: String) throws(OptionError) -> ServerOptions.Address? {
    guard let text = text(key) else { return nil }
    guard let address = ServerOptions.Address(text) else {
      throw OptionError(
        "\(name(key)) \(text) is not HOST:PORT, like 127.0.0.1:8080 or [::1]:8080")
    }
    return address
  }

  func unknownZones(_ key: String) throws(OptionError) -> UnknownZones? {
    guard let text = text(key) else { return nil }
    switch text {
    case "refuse": return .refuse
    case "ignore": return .ignore
    default: throw OptionError("\(name(key)) \(text) is not refuse or ignore")
    }
  }

  func scopes(_ key: String) throws(OptionError) -> Set<Scope>? {
    guard let text = text(key) else { return nil }
    guard let scopes = Scope.set(text) else {
      throw OptionError("\(name(key)) \(text): scopes are \(Scope.names)")
    }
    return scopes
  }
}
