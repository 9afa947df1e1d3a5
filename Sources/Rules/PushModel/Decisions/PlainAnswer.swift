/// The answer for a plain message to one user in one conversation, and until when it holds.
///
/// A plain message is a text from another user without mentions.
public struct PlainAnswer: Hashable, Sendable {
  /// The answer at the given instant; nil for a user who is no recipient.
  public let before: Decision?
  /// From when on there is another answer; nil for never.
  public let changesAt: Instant?
  /// The answer from then on.
  public let after: Decision?

  /// An answer from its parts.
  public init(before: Decision?, changesAt: Instant?, after: Decision?) {
    self.before = before
    self.changesAt = changesAt
    self.after = after
  }
}
