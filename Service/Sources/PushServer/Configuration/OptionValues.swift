internal import Configuration
internal import Glibc

/// Values of options by their keys, checked.
struct OptionValues {
  private let reader: ConfigReader

  init(_ reader: ConfigReader) { self.reader = reader }

  static var coreCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  /// A text, or a number as one: the name of a file may be a number.
  func text(_ key: String) -> String? {
    reader.string(forKey: ConfigKey(key)) ?? reader.int(forKey: ConfigKey(key)).map { "\($0)" }
  }

  func flag(_ key: String) throws(OptionError) -> Bool {
    if let value = reader.bool(forKey: ConfigKey(key)) { return value }
    if let text = text(key) {
      throw OptionError("\(OptionList.flag(key)) \(text) is not true or false")
    }
    return false
  }

  func number(
    _ key: String, _ range: ClosedRange<Int>, default value: Int
  ) throws(OptionError) -> Int {
    guard let number = reader.int(forKey: ConfigKey(key)) else {
      guard let text = text(key) else { return value }
      throw OptionError("\(OptionList.flag(key)) \(text) is not a number")
    }
    guard range.contains(number) else {
      throw OptionError(
        "\(OptionList.flag(key)) \(number) is not in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }

  func address(_ key: String) throws(OptionError) -> ServerOptions.Address? {
    guard let text = text(key) else { return nil }
    guard let address = ServerOptions.Address(text) else {
      throw OptionError(
        "\(OptionList.flag(key)) \(text) is not HOST:PORT, like 127.0.0.1:8080 or [::1]:8080")
    }
    return address
  }

  func scopes(_ key: String) throws(OptionError) -> Set<Scope>? {
    guard let text = text(key) else { return nil }
    guard let scopes = Scope.set(text) else {
      throw OptionError("\(OptionList.flag(key)) \(text): scopes are \(Scope.names)")
    }
    return scopes
  }
}
