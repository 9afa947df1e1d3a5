/// An option of a rule set: its name in files, and where it is among an app's settings.
package struct AppOption: Sendable {
  /// The name, as decision-rules.md gives it.
  package let name: String
  /// What values it has, and where.
  package let value: Value

  /// The values that an option may have.
  package enum Value: Sendable {
    /// One of several words.
    case choice(
      allowed: [String], get: @Sendable (AppSettings) -> String,
      set: @Sendable (inout AppSettings, String) -> Bool)
    /// Yes or no.
    case flag(any WritableKeyPath<AppSettings, Bool> & Sendable)
    /// A span in seconds.
    case seconds(any WritableKeyPath<AppSettings, Int64> & Sendable, ClosedRange<Int64>)
  }

  /// Seconds that stay exact as milliseconds.
  package static let seconds: ClosedRange<Int64> = 0...Instant.maximumMilliseconds

  static func choice<Word: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, _ path: any WritableKeyPath<AppSettings, Word> & Sendable
  ) -> AppOption {
    AppOption(
      name: name,
      value: .choice(
        allowed: Word.allCases.map(\.rawValue), get: { $0[keyPath: path].rawValue },
        set: { app, text in
          guard let word = Word(rawValue: text) else { return false }
          app[keyPath: path] = word
          return true
        }))
  }

  static func flag(
    _ name: String, _ path: any WritableKeyPath<AppSettings, Bool> & Sendable
  ) -> AppOption {
    AppOption(name: name, value: .flag(path))
  }

  static func seconds(
    _ name: String, _ path: any WritableKeyPath<AppSettings, Int64> & Sendable,
    _ range: ClosedRange<Int64> = seconds
  ) -> AppOption {
    AppOption(name: name, value: .seconds(path, range))
  }
}

extension AppOption {
  /// The value as text.
  package func text(in app: AppSettings) -> String {
    switch value {
    case .choice(_, let get, _): get(app)
    case .flag(let path): "\(app[keyPath: path])"
    case .seconds(let path, _): "\(app[keyPath: path])"
    }
  }

  /// Other values that it may have: of seconds its default, the least, one and the most.
  package func others(in app: AppSettings) -> [String] {
    let values: [String] =
      switch value {
      case .choice(let allowed, _, _): allowed
      case .flag: ["true", "false"]
      case .seconds(_, let range):
        [
          text(in: AppSettings(rules: app.rules)), "\(range.lowerBound)", "1",
          "\(range.upperBound)",
        ]
      }
    return values.filter { $0 != text(in: app) }
  }

  /// Sets the option.
  ///
  /// - Returns: whether it may have that value.
  package func set(_ text: String, in app: inout AppSettings) -> Bool {
    switch value {
    case .choice(_, _, let set): return set(&app, text)
    case .flag(let path):
      guard let value = Bool(text) else { return false }
      app[keyPath: path] = value
    case .seconds(let path, let range):
      guard let value = Int64(text), range.contains(value) else { return false }
      app[keyPath: path] = value
    }
    return true
  }
}
