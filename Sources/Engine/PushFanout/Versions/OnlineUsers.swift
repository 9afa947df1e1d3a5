package import PushModel

/// Who is online, beside the settings of a version: two bits for each user.
///
/// A timeline changes it between messages. It is no part of the tables, so that a change costs no
/// page, and words in the tables stay as they are. Conversations that are kept hear of their members
/// when they get a message: until then a change is an element of a list.
///
/// SAFETY: used by one thread at a time; the arrays have ``wordCount`` words, and are freed by
/// `deinit`.
@safe final class OnlineUsers: @unchecked Sendable {
  @safe @exclusivity(unchecked) private var wordCount = 0
  /// A bit for each user who is online, and for each who was ever named.
  @exclusivity(unchecked) private var online: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var named: UnsafeMutablePointer<UInt64>
  @safe @exclusivity(unchecked) private var changed = ChangedMembers()
  @safe @exclusivity(unchecked) private var memberships: MembershipIndex.Reader?

  init() {
    unsafe (online, named) = (.allocate(capacity: 0), .allocate(capacity: 0))
  }

  deinit {
    unsafe online.deallocate()
    unsafe named.deallocate()
  }

  /// Whether a user is online. Only then can the word of a user without listed devices be another
  /// than the one in the tables.
  @inline(__always)
  func contains(_ user: UInt32) -> Bool {
    let word = Int(user >> 6)
    return unsafe word < wordCount && online[word] >> UInt64(user & 63) & 1 != 0
  }

  /// What device a user has.
  func presence(of user: UInt32) -> UserPresence {
    let word = Int(user >> 6)
    guard unsafe word < wordCount && named[word] >> UInt64(user & 63) & 1 != 0 else { return .none }
    return contains(user) ? .foreground : .loggedOut
  }

  /// Sets whether a user, who is named from now on, is online.
  func set(_ user: UInt32, isOnline: Bool) {
    let word = Int(user >> 6)
    if word >= wordCount { grow(to: max(word + 1, 2 * wordCount)) }
    let bit: UInt64 = 1 << UInt64(user & 63)
    unsafe named[word] |= bit
    if isOnline { unsafe online[word] |= bit } else { unsafe online[word] &= ~bit }
  }

  private func grow(to count: Int) {
    let before = wordCount
    func grown(_ old: UnsafeMutablePointer<UInt64>) -> UnsafeMutablePointer<UInt64> {
      let new = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
      unsafe new.initialize(repeating: 0, count: count)
      unsafe new.update(from: old, count: before)
      unsafe old.deallocate()
      return unsafe new
    }
    unsafe (online, named) = unsafe (grown(online), grown(named))
    wordCount = count
  }
}

/// That a user came online anywhere, or went offline everywhere.
package struct UserPresenceChange: Sendable {
  package var user: UserIndex
  package var isOnline: Bool

  package init(user: UserIndex, isOnline: Bool) {
    self.user = user
    self.isOnline = isOnline
  }
}

extension OnlineUsers {
  /// How far ahead the memberships of users are prefetched.
  private static let ahead = 8

  /// Takes in changes of presence.
  ///
  /// - Parameters:
  ///   - range: which of the changes; those behind them are prefetched.
  ///   - cache: what kept the conversations.
  /// - Complexity: O(memberships of the users).
  func apply(
    _ changes: [UserPresenceChange], _ range: Range<Int>, _ version: EngineVersion,
    _ cache: ConversationCache
  ) {
    // The index is made again when it was discarded.
    var memberships = self.memberships ?? version.memberships.reader
    for index in range {
      if index + 2 * Self.ahead < changes.count {
        memberships.prefetch(changes[index + 2 * Self.ahead].user.rawValue)
        memberships.prefetchConversations(of: changes[index + Self.ahead].user.rawValue)
      }
      let user = changes[index].user.rawValue
      set(user, isOnline: changes[index].isOnline)
      if !memberships.forEachEntry(of: user, { changed.add(user, to: $0, at: $1) }) {
        memberships = version.memberships.reader
        if !memberships.forEachEntry(of: user, { changed.add(user, to: $0, at: $1) }) {
          cache.removeAll()
        }
      }
    }
    self.memberships = memberships
    if changed.isFull {
      changed.takeAll { cache.deliver($1, to: $0, number: version.number) }
    }
  }

  /// Delivers the changes of a conversation's members to what is kept of it and of its threads.
  @inline(__always)
  func deliver(to conversation: UInt32, _ cache: ConversationCache, number: UInt64) {
    guard changed.hasAny(of: conversation) else { return }
    cache.deliver(changed.take(conversation), to: conversation, number: number)
  }

  /// Has changes of a conversation's members listed from now on.
  func keep(_ conversation: UInt32) { changed.keep(conversation) }
}

/// The members of each kept conversation whose presence has changed.
private struct ChangedMembers {
  /// So many changes, and all are delivered, as those of a conversation without messages would
  /// become more and more.
  private static let limit = 1 << 16

  /// A bit for each conversation that is kept.
  private var kept: [UInt64] = []
  /// By conversation: the position behind the last change of a member in ``changes``, 0 for none.
  private var lasts: [UInt32] = []
  /// A user, the user's rank to look at first, and what ``lasts`` was before.
  private var changes: [(user: UInt32, rank: UInt32, before: UInt32)] = []
  /// What was taken last.
  private var taken: [(user: UInt32, rank: UInt32)] = []

  var isFull: Bool { changes.count > Self.limit }

  mutating func keep(_ conversation: UInt32) {
    let index = Int(conversation)
    if index >= lasts.count {
      let words = max(index / 64 + 1, 2 * kept.count)
      kept += Array(repeating: 0, count: words - kept.count)
      lasts += Array(repeating: 0, count: words * 64 - lasts.count)
    }
    kept[index / 64] |= 1 << UInt64(index % 64)
  }

  @inline(__always)
  mutating func add(_ user: UInt32, to conversation: UInt32, at rank: UInt32) {
    let index = Int(conversation)
    guard index < lasts.count, kept[index / 64] >> UInt64(index % 64) & 1 != 0 else { return }
    changes.append((user, rank, lasts[index]))
    lasts[index] = UInt32(changes.count)
  }

  @inline(__always)
  func hasAny(of conversation: UInt32) -> Bool {
    Int(conversation) < lasts.count && lasts[Int(conversation)] > 0
  }

  /// The members who changed, possibly more than once each.
  mutating func take(_ conversation: UInt32) -> [(user: UInt32, rank: UInt32)] {
    taken.removeAll(keepingCapacity: true)
    var last = lasts[Int(conversation)]
    while last > 0 {
      let change = changes[Int(last) - 1]
      taken.append((change.user, change.rank))
      last = change.before
    }
    lasts[Int(conversation)] = 0
    return taken
  }

  mutating func takeAll(
    _ body: (_ conversation: UInt32, _ users: [(user: UInt32, rank: UInt32)]) -> Void
  ) {
    for conversation in lasts.indices where lasts[conversation] > 0 {
      body(UInt32(conversation), take(UInt32(conversation)))
    }
    changes.removeAll(keepingCapacity: true)
  }
}
