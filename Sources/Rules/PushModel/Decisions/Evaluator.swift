/// Decides messages by the rules: the reference, the engine, or one of your own.
///
/// Whatever evaluates the same settings gives the same answers, in the same order.
///
/// - Source: decision-rules.md §4.
public protocol Evaluator {
  /// Calls `body` with each recipient of a message and what the recipient gets, in the order in
  /// which the users' ids first appeared in the settings.
  ///
  /// Who is no recipient (no member, not yet a member, the sender) is left out; a message to a
  /// conversation that was never named has no recipients.
  mutating func decide(
    _ message: Message, each body: (UserIndex, Decision) throws -> Void
  ) rethrows

  /// What one user gets; nil for a user who is not a recipient.
  mutating func decision(_ message: Message, for user: Identifier) -> Decision?
}
