public import PushModel

extension FanoutResult {
  /// The devices that a push or local notification goes to, in the order they are listed, as they
  /// were in the version that the message was decided on; empty for a user who gets none.
  ///
  /// - Complexity: O(log members + devices).
  public func targets(of user: UserIndex) -> [Device] {
    guard let engineVersion, let outcome = outcome(of: user) else { return [] }
    return engineVersion.tables.targets(of: user.rawValue, outcome.action, filter, at: instant)
  }
}

extension Fanout: Evaluator {
  /// Calls `body` with each recipient of a message and what the recipient gets, in the order of
  /// users, all of the version that is current when it is called.
  ///
  /// - Complexity: O(recipients), and O(devices) for those who are notified; ``decide(_:)`` gives
  ///   the same without a value for each recipient.
  public func decide(
    _ message: Message, each body: (UserIndex, Decision) throws -> Void
  ) rethrows {
    let result = decide(message)
    try result.forEachRecipient { user, outcome in
      try body(user, Decision(outcome, devices: result.devices(of: user)))
    }
  }
}
