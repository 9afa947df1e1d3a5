internal import PushModel

// How kept conversations hear of their members who come online or go offline.

extension OnlineUsers {
  /// How far ahead the memberships of users are prefetched.
  private static let ahead = 8

  /// Takes in changes of presence.
  ///
  /// - Parameters:
  ///   - range: which of the changes; those behind them are prefetched.
  ///   - cache: what kept the conversations.
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
        // The index is made again when it was discarded, and may list other conversations.
        cache.removeAll()
        memberships = large.reader
      }
    }
    self.memberships = memberships
    if changed.isFull {
      changed.takeAll { cache.deliver($1, to: $0, number: version.number) }
    }
  }

  /// Delivers the changes of a large conversation's members to what is kept of it and of its threads.
  @inline(__always)
  func deliver(to conversation: UInt32, _ cache: ConversationCache, number: UInt64) {
    guard changed.hasAny(of: conversation) else { return }
    cache.deliver(changed.take(conversation), to: conversation, number: number)
  }

  /// Delivers them to what is kept of a conversation whose members are all looked at.
  @inline(__always)
  func deliver(to entry: CachedConversation, _ version: EngineVersion) {
    guard entry.scansPresence, entry.seenPresence != revision else { return }
    let changes = scan(entry, version.tables)
    if changes.isEmpty { return }
    entry.deliver(
      changes.lazy.map { .presence($0.user, near: $0.rank) }, number: version.number)
  }

  /// Has changes of a new conversation's members listed from now on, or them looked at.
  func keep(_ entry: CachedConversation, _ version: EngineVersion) {
    let members = entry.target.members
    let memberships = self.memberships ?? version.memberships.large.reader
    if memberships.lists(members) { return changed.keep(members) }
    entry.scansPresence = true
    _ = scan(entry, version.tables)
  }

  /// The members whose presence is another than when they were last looked at.
  ///
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
