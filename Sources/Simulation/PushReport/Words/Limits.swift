internal import PushReplay

/// What a result does not say, in sentences.
enum Limits {
  /// Of every result.
  static let assumed = [
    "A result does not say where its input is from. Settings and messages that push-fanout "
      + "generate made follow rates that were partly measured and partly assumed; docs/generate.md "
      + "says which. Figures of such an input hold as far as those rates do.",
    "A push is counted when it is sent. Whether it arrived, was seen or was opened is not known.",
  ]

  /// Of every comparison.
  static let reactions = [
    "Reactions are not simulated: the same messages come at the same instants in A and in B. "
      + "Whether people who get fewer pushes come back later, write less, mention others more often "
      + "or change their settings is not known.",
    "What a user has set applies in both as it was. Who would have set something else under other "
      + "defaults is not known.",
  ]

  static func list(_ sentences: [String]) -> String {
    let items = sentences.map { "<li>\(Escaping.text($0))</li>" }
    return "<ul class=\"panel-box limits\">\(items.joined())</ul>\n"
  }
}

/// What a run took, for the end of a page.
enum RunCost {
  /// A sentence with a space before it; empty without a cost.
  static func words(_ cost: ReplayCost?) -> String {
    guard let cost else { return "" }
    return " Decided in \(Figures.seconds(cost.seconds)) on "
      + "\(Figures.count(cost.threads, "thread")), "
      + "\(Figures.short(cost.decisionsPerSecond)) decisions a second."
  }
}
