internal import PushSupport
internal import Synchronization
public import PushModel

/// Other ways to decide, by those of ``Fanout``.
extension Fanout {
  /// Decides a message for every recipient.
  ///
  /// - Complexity: as for ``decide(_:on:memberLimit:into:)``.
  public func decide(_ message: Message) -> FanoutResult {
    var result = FanoutResult()
    decide(message, into: &result)
    return result
  }

  /// The action, reason, scope and devices for one user; nil if the user is not a recipient.
  ///
  /// - Complexity: O(log members + devices).
  public func decision(_ message: Message, for user: Identifier) -> Decision? {
    currentVersion.decision(message, for: user)
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Parameters:
  ///   - messages: messages of any instants and conversations; fastest in the order of time.
  ///   - version: one of this engine's settings; nil for the current one.
  ///   - body: called once per message with its index in `messages`, from several threads and in
  ///     any order. The result is reused afterwards; copy what you keep.
  /// - Complexity: as for ``decide(_:on:memberLimit:into:)``, per message.
  public func decide(
    _ messages: [Message], on version: FanoutVersion? = nil,
    _ body: @Sendable (Int, borrowing FanoutResult) -> Void
  ) {
    precondition(version.map { $0.epoch == epoch } ?? true, "a version of another engine")
    decide(messages, .whenSmallOrCold, version?.engineVersion ?? current, body)
  }

  func decide(
    _ messages: [Message], _ tableUse: Decider.TableUse, _ version: EngineVersion,
    _ body: @Sendable (Int, borrowing FanoutResult) -> Void
  ) {
    // Short pieces in the order of the messages: threads stay close to each other in time.
    let size = max(1, min(256, messages.count / (threads * 8)))
    unsafe messages.withUnsafeBufferPointer { messages in
      // SAFETY: the messages are read only, and outlive the calls.
      nonisolated(unsafe) let start = messages.baseAddress
      let count = messages.count
      let results = Lock<[FanoutResult]>([])
      Parallel.perform((count + size - 1) / size, threads: threads) { piece in
        guard let start = unsafe start else { return }
        var decider = Decider(version: version, threads: 1)
        decider.tableUse = tableUse
        var result = results.withLock { $0.popLast() } ?? FanoutResult()
        let indices = piece * size..<min((piece + 1) * size, count)
        let all = unsafe MessageList(start)
        decider.decide(all, indices, self.cache, into: &result, body)
        let used = result
        results.withLock { $0.append(used) }
      }
    }
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Parameter version: one of this engine's settings; nil for the current one.
  /// - Returns: one result per message, in order.
  public func decide(
    _ messages: [Message], on version: FanoutVersion? = nil
  ) -> [FanoutResult] {
    let results = Lock([FanoutResult](repeating: FanoutResult(), count: messages.count))
    decide(messages, on: version) { index, result in
      let copy = copy result
      results.withLock { $0[index] = copy }
    }
    return results.withLock { $0 }
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
      let targets = result.targets(of: user, outcome.action)
      try body(user, Decision(outcome, devices: targets.map(\.id)))
    }
  }
}

extension Fanout {
  /// Calls `body` with the index and the id's UTF-8 of each user in a range of indices.
  ///
  /// - Precondition: within 0 ..< ``userCount``.
  package func forEachUser(
    in users: Range<Int>, _ body: (Int, UnsafeRawBufferPointer) -> Void
  ) {
    reading { tables in
      for user in users { unsafe body(user, tables.userIDs.characters(UInt32(user))) }
    }
  }
}
