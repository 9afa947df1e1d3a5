/// What a key allows.
enum Scope: String, CaseIterable, Sendable {
  /// Decisions.
  case decide
  /// Requests to providers, which have the tokens of devices.
  case send
  /// Explanations, members and events.
  case read
  /// Heartbeats of devices.
  case presence
  /// Changes of settings.
  case write
  /// Metrics, snapshots and keys.
  case admin

  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// Scopes separated by commas; nil for another text.
  static func set(_ text: String) -> Set<Scope>? {
    var scopes: Set<Scope> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let scope = Scope(rawValue: String(name)) else { return nil }
      scopes.insert(scope)
    }
    return scopes
  }
}
