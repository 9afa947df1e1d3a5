import ArgumentParser

/// What decides.
enum DecidingEngine: String, CaseIterable, ExpressibleByArgument {
  /// The engine.
  case packed
  /// The rules, member by member.
  case reference
}
