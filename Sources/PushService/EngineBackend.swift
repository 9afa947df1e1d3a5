public import PushContent
public import PushFanout
public import PushModel
internal import PushFiles
internal import PushSupport
internal import Synchronization

/// Settings that live as long as the process: an engine, and the last changes that were made to it.
public final class EngineBackend: SettingsBackend {
  /// The number of events that are kept.
  public static let eventLimit = 65_536

  /// Decides by all changes so far.
  public let engine: Fanout
  private let state: Lock<State>
  private let eventLimit: Int
  /// Distinguishes this feed from another process's: sequence numbers restart with each.
  private let token = String(UInt64.random(in: .min ... .max), radix: 16)

  private struct State {
    var content: ContentDirectory
    var events: [ServiceEvent] = []
    var last: Int64 = 0
  }

  /// A backend of settings that an engine has loaded; the change feed begins empty.
  public convenience init(_ engine: Fanout, content: ContentDirectory = ContentDirectory()) {
    self.init(engine, content: content, eventLimit: Self.eventLimit)
  }

  init(_ engine: Fanout, content: ContentDirectory, eventLimit: Int) {
    self.engine = engine
    self.eventLimit = eventLimit
    state = Lock(State(content: content))
  }

  /// How pushes look, by all changes so far.
  public func content() -> ContentDirectory { state.withLock { $0.content } }

  /// Applies a batch in one update of the engine; O(records of the batch).
  public func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) throws {
    try change(batch, now, device)
  }

  /// The same; it is short enough to run on the caller's thread.
  public func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) async throws
  {
    try change(batch, now, device)
  }

  /// Up to `limit` entries after a cursor, of the last ``eventLimit``.
  public func events(after cursor: String, limit: Int) throws -> [ServiceEvent] {
    let sequence = try sequence(of: cursor)
    return try state.withLock { state in
      let dropped = state.last - Int64(state.events.count)
      guard sequence >= dropped else { throw ServiceError.eventsDropped(upTo: dropped) }
      guard sequence <= state.last else { throw ServiceError.unknownCursor(cursor) }
      return Array(state.events.dropFirst(Int(sequence - dropped)).prefix(max(0, limit)))
    }
  }

  private func sequence(of cursor: String) throws(ServiceError) -> Int64 {
    if cursor == "0" { return 0 }
    let parts = cursor.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let sequence = Int64(parts[0]), sequence > 0, parts[1] == token else {
      throw .unknownCursor(cursor)
    }
    return sequence
  }

  private func change(
    _ batch: SettingsBatch, _ now: Instant, _ device: Identifier?
  ) throws {
    // One change at a time, so that events come in the order of versions.
    try state.withLock { state in
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
        try update.add(batch.settings)
        for member in removed { try update.removeMember(member.user, of: member.conversation) }
      }
      if let content = batch.content { state.content.replace(by: content, for: batch.settings) }
      note(batch, removed, now, device, &state)
    }
  }

  /// Whether nothing is set that other rules could not have.
  private var isEmpty: Bool {
    var hasConversations = false
    engine.currentVersion.forEachConversation { _, _ in hasConversations = true }
    return engine.userCount == 0 && !hasConversations
  }

  private func note(
    _ batch: SettingsBatch, _ removed: [SettingsBatch.Member], _ now: Instant,
    _ device: Identifier?, _ state: inout State
  ) {
    func add(_ change: String, user: Identifier? = nil, conversation: Identifier? = nil) {
      state.last += 1
      state.events.append(
        ServiceEvent(
          sequence: state.last, cursor: "\(state.last)-\(token)", at: now, change: change,
          user: user, conversation: conversation,
          device: device))
    }
    let settings = batch.settings
    if batch.replacesApp { add("app") }
    for index in 0..<UInt32(settings.userCount) where settings.isDeclared(UserIndex(index)) {
      add("user", user: settings.id(of: UserIndex(index)))
    }
    for id in settings.conversationIDs {
      if settings.isDeclared(id) { add("conversation", conversation: id) }
      for user in settings.members(of: id) {
        add("member", user: settings.id(of: user), conversation: id)
      }
    }
    for member in removed {
      add("memberRemoved", user: member.user, conversation: member.conversation)
    }
    if state.events.count > eventLimit {
      state.events.removeFirst(state.events.count - eventLimit)
    }
  }
}
