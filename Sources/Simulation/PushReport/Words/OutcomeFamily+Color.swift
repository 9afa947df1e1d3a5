internal import PushModel

extension OutcomeFamily {
  /// The class of its colour.
  var color: String { "family-\(rawValue)" }
}
