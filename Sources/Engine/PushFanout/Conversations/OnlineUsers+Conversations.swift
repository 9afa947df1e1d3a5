internal import PushModel

// Delivers changes of presence to cached conversations.

extension OnlineUsers {
  /// How many changes ahead memberships are prefetched.
  private static let ahead = 8

  /// - Parameters:
  ///   - range: which of the changes; those behind them are prefetched.
  ///   - cache: that of the conversations.
  /// - Complexity: O(memberships of the users in large conversations).
  func apply(
    _ changes: [UserPresenceChange], _ range: Range<Int>, _ version: EngineVersion,
    _ cache: ConversationCache
  ) {
    let large = version.memberships.large
    var memberships = self.memberships ?? large.reader
    for index in range {
      if index + 2 * Self.ahead < changes.count {
        memberships.prefetch(changes[index + 2 * Self.ahead].user.rawValue)
        memberships.prefetchConversations(of: changes[index + Self.ahead].user.rawValue)
      }
      let user = changes[index].user.rawValue
      set(user, isOnline: changes[index].isOnline)
      if !memberships.forEachEntry(of: user, { changed.add(user, to: $0, at: $1) }) {
        // The remade index may list other conversations.
        cache.removeAll()
        memberships = large.reader
      }
    }
    self.memberships = memberships
    if changed.isFull {
      changed.takeAll { cache.deliver($1, to: $0, number: version.number) }
    }
  }

  /// Threads of the conversation get the changes too.
  @inline(__always)
  func deliver(to conversation: UInt32, _ cache: ConversationCache, number: UInt64) {
    guard changed.hasAny(of: conversation) else { return }
    cache.deliver(changed.take(conversation), to: conversation, number: number)
  }

  /// Delivers the changes that a scan of an entry finds.
  @inline(__always)
  func deliver(to entry: CachedConversation, _ version: EngineVersion) {
    guard entry.scansPresence, entry.seenPresence != revision else { return }
    let changes = scan(entry, version.tables)
    if changes.isEmpty { return }
    entry.deliver(
      changes.lazy.map { .presence($0.user, near: $0.rank) }, number: version.number)
  }

  /// Lists changes of a new entry's members from now on, or marks it for scans.
  func keep(_ entry: CachedConversation, _ version: EngineVersion) {
    let members = entry.target.members
    let memberships = self.memberships ?? version.memberships.large.reader
    if memberships.lists(members) { return changed.keep(members) }
    entry.scansPresence = true
    _ = scan(entry, version.tables)
  }

  /// - Complexity: O(members).
  private func scan(
    _ entry: CachedConversation, _ tables: Tables
  ) -> [(user: UInt32, rank: UInt32)] {
    entry.seenPresence = revision
    var known: [UInt64] = []
    swap(&known, &entry.presence)
    defer { swap(&known, &entry.presence) }
    if known.isEmpty { known = Array(repeating: 0, count: (entry.count + 31) / 32) }
    return findChanges(in: tables.memberUsers, entry.target.memberRow.range, &known)
  }
}
