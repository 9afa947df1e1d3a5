internal import PushModel

/// Decides messages of any instants on one version, on one thread, with users' classes of its own.
@safe final class BatchDecider: @unchecked Sendable {
  // SAFETY: used by one thread at a time; handed over under a lock.
  let base: EngineVersion
  private var version: EngineVersion
  private var userClasses = UserClasses()
  private let store = PageStore()
  private var expiries = ExpiryQueue()
  private let cache: StateCache
  private var rebuildHeuristic = RebuildHeuristic()

  init(_ base: EngineVersion) {
    self.base = base
    version = EngineVersion(base, userClasses)
    cache = StateCache(slotCount: 4096, byteLimit: 1 << 30)
  }

  deinit {
    cache.removeAll()
    freeRetired()
    userClasses.free()
  }

  func decide(_ message: Message, into result: inout FanoutResult) {
    // An earlier message's result may share its state with the cache.
    result.state = nil
    let now = message.at.milliseconds
    let conversation = base.tables.conversationIDs.index(of: message.conversation)
    if let conversation {
      let (kind, members) = base.tables.size(conversation)
      if rebuildHeuristic.shouldRebuild(
        userClasses, to: now, kind: kind, members: members, users: base.tables.userCount)
      {
        userClasses.move(to: now, base.tables, &expiries, store)
        userClasses.add(kind: kind, at: now, base.tables, &expiries, store)
        version = EngineVersion(base, userClasses)
        freeRetired()
      }
    }
    Decider(version: version, cache: cache, threads: 1).decide(
      message, in: conversation, into: &result)
    result.engineVersion = base
  }

  /// No other thread reads these classes, so retired pages are freed at once.
  private func freeRetired() {
    for page in store.commit() { PageStore.free(page) }
  }
}
