import ArgumentParser

/// What decides.
enum DecidingEngine: String, CaseIterable, ExpressibleByArgument {
  /// The engine.
  case packed
  /// The rules, member by member.
  case reference
}

extension ArgumentHelp {
  static let engine = ArgumentHelp(
    "packed, or reference: the rules member by member, for comparison. Both give the same answers.")
}
