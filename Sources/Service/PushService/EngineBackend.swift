public import PushContent
public import PushFanout
public import PushModel
internal import PushFiles
internal import PushSupport
internal import Synchronization

/// Settings that live as long as the process, in an engine.
public final class EngineBackend: SettingsBackend {
  /// Decides by all changes so far.
  public let engine: Fanout
  private let directory: Lock<ContentDirectory>

  /// A backend of settings that an engine has loaded.
  public init(_ engine: Fanout, content: ContentDirectory = ContentDirectory()) {
    self.engine = engine
    directory = Lock(content)
  }

  /// How pushes look, by all changes so far.
  public func content() -> ContentDirectory { directory.withLock { $0 } }

  /// Applies a batch in one update of the engine; O(records of the batch).
  public func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) throws {
    try change(batch)
  }

  /// The same; it is short enough to run on the caller's thread.
  public func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) async throws
  {
    try change(batch)
  }

  private func change(_ batch: SettingsBatch) throws {
    // One change at a time: a batch is judged beside the settings that it is applied to.
    try directory.withLock { directory in
      let isSame = batch.settings.app.rules == engine.app.rules
      guard isSame || batch.replacesApp && isEmpty else {
        throw ServiceError.rulesDiffer(engine: engine.app.rules, batch: batch.settings.app.rules)
      }
      if let wrong = SettingsOverlay(batch.settings, over: engine).contradiction {
        throw ServiceError.contradiction("\(wrong)")
      }
      // Who has settings in a group's threads is a member of the group.
      let removed = batch.removedMembers.flatMap { member in
        [member]
          + engine.currentVersion.threads(of: member.conversation)
          .filter { engine.member(member.user, of: $0) != nil }
          .map { SettingsBatch.Member(member.user, of: $0) }
      }
      try engine.update { update throws(FanoutError) in
        if batch.replacesApp { try update.setApp(batch.settings.app) }
        try update.addRecords(of: batch.settings)
        for member in removed { try update.removeMember(member.user, of: member.conversation) }
      }
      if let content = batch.content { directory.replace(by: content, for: batch.settings) }
    }
  }

  /// Whether nothing is set that other rules could not have.
  private var isEmpty: Bool {
    var hasConversations = false
    engine.currentVersion.forEachConversation { _, _ in hasConversations = true }
    return engine.userCount == 0 && !hasConversations
  }
}
