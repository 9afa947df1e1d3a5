public import PushModel

/// Decides messages on one thread, version by version, for replays of long periods.
///
/// ``Fanout`` decides on its latest version, for any number of threads. A timeline decides on the
/// versions that it is given, in their order, with a cache of its own, so several timelines may be
/// at different versions of one engine. The decisions are the same.
///
/// Messages may have any instants, and are fastest in the order of time.
@safe public final class FanoutTimeline {
  private(set) var engineVersion: EngineVersion
  private let cache: ConversationCache
  /// How far the log of settings was delivered to the cache.
  private var followed: Int
  var result = FanoutResult()
  var deferred = DeferredPushes()
  var localPushes = LocalPushes()

  var corrections: [OutcomeLedger.Correction] = []

  /// Whether all large conversations are cached, as ledgers require.
  package var keepsLargeConversations = false

  /// The most bytes of cached conversations.
  private static let cacheBytes = 1 << 29

  /// - Complexity: O(1).
  public init(_ version: FanoutVersion) {
    engineVersion = version.engineVersion
    followed = engineVersion.log.end
    cache = ConversationCache(byteLimit: Self.cacheBytes, version: engineVersion.number)
  }

  /// Continues with another version of the same engine's settings.
  ///
  /// - Complexity: O(memberships of the users whose settings changed) for a later version. After an
  ///   earlier one, or very many changes, all conversations are rebuilt on demand.
  public func follow(_ version: FanoutVersion) {
    let before = engineVersion
    if version.number == before.number { return }
    engineVersion = version.engineVersion
    if let online = before.online { engineVersion = EngineVersion(engineVersion, online: online) }
    let log = engineVersion.log
    let canFollow = engineVersion.number > before.number && followed >= log.start
    let entries = (canFollow ? followed : log.end)..<log.end
    followed = log.end
    let isComplete = cache.deliver(
      entries.lazy.map { log[$0] }, engineVersion.memberships.all, number: engineVersion.number)
    if !canFollow || !isComplete { cache.removeAll() }
  }

  /// Takes in presence since the last message. The followed version need not have these users.
  ///
  /// - Parameters:
  ///   - changes: in the order of time.
  ///   - range: which of them; those behind are taken in next.
  /// - Complexity: O(memberships of these users in large conversations) after
  ///   `Fanout.indexMemberships()`; otherwise, all conversations are rebuilt on demand.
  package func apply(_ changes: [UserPresenceChange], _ range: Range<Int>) {
    if range.isEmpty { return }
    if let online = engineVersion.online {
      return online.apply(changes, range, engineVersion, cache)
    }
    let online = OnlineUsers()
    engineVersion = EngineVersion(engineVersion, online: online)
    // The cache does not know earlier changes.
    cache.removeAll()
    online.apply(changes, range, engineVersion, cache)
  }

  // MARK: Deciding

  /// The number of a message's recipients by outcome; none for a conversation whose id never
  /// appeared.
  ///
  /// - Complexity: O(changes since the conversation's last message + states + mentions log
  ///   members).
  public func counts(_ message: Message) -> FanoutCounts {
    decide(message)
    return result.counts
  }

  /// - Parameter tableUse: follows from ``keepsLargeConversations`` by default.
  func decide(_ message: Message, _ tableUse: Decider.TableUse? = nil) {
    result.reset(message.at.milliseconds, threads: 1)
    if result.storage.version !== engineVersion { result.storage.version = engineVersion }
    var decider = Decider(version: engineVersion, threads: 1)
    decider.tableUse = tableUse ?? (keepsLargeConversations ? .small : .whenSmallOrCold)
    decider.decide(message, cache, into: &result)
  }

  /// Writes all members' codes for the last message, 0 for members who are not recipients, in the
  /// order of ``decidedMembers``.
  ///
  /// - Complexity: O(members), at the speed of memory unless a filter is evaluated.
  package func writeCodes(into output: inout [UInt8]) {
    let count = result.memberCount
    if output.count != count { output = [UInt8](repeating: 0, count: count) }
    var span = output.mutableSpan
    result.writeCodes(into: &span)
  }

  /// All members, recipients or not, in the order of users.
  package var decidedMembers: some RandomAccessCollection<UserIndex> {
    let (users, start) = (result.memberUsers, Int(result.row.start))
    return (0..<result.memberCount).lazy.map { UserIndex(users[start + $0]) }
  }

  /// The member of a rank, of ``decidedMembers``.
  package func decidedMember(at rank: Int) -> UserIndex {
    UserIndex(result.memberUsers[Int(result.row.start) + rank])
  }

  /// `max` for none.
  package var decidedMembershipVersion: UInt64 {
    result.memberCount == 0 ? .max : result.target?.membershipVersion ?? .max
  }

  /// The last message's conversation, and the one whose members are its recipients.
  ///
  /// - Precondition: the message has members.
  package var decidedConversation: (index: UInt32, members: UInt32) {
    let row = engineVersion.tables.conversations[Int(result.conversation)]
    let isThread = ConversationKind(ordinal: Int(row.kind)) == .thread && row.parent != 0
    return (result.conversation, isThread ? row.parent - 1 : result.conversation)
  }

  /// Of the last message; nil if the user is not a recipient.
  ///
  /// - Complexity: O(log members).
  package func decidedOutcome(of user: Identifier) -> Outcome? { result.outcome(of: user) }

  /// Nil if the user is not a member.
  ///
  /// - Complexity: O(log members).
  package func rank(of user: Identifier, in conversation: Identifier) -> Int? {
    let tables = engineVersion.tables
    guard let index = tables.conversationIDs.index(of: conversation),
      let user = tables.userIDs.index(of: user)
    else { return nil }
    return tables.rank(of: user, in: ConversationTarget(index, channel: "", tables).memberRow)
  }

  /// The distinct ranks that a message mentions by name, and whether it mentions everyone.
  ///
  /// - Complexity: O(mentions log members).
  package func mentions(of message: Message) -> (ranks: [Int], everyone: Bool) {
    let tables = engineVersion.tables
    guard let index = tables.conversationIDs.index(of: message.conversation) else {
      return ([], false)
    }
    let target = ConversationTarget(index, channel: message.channel, tables)
    let mentions = MentionedUsers(message, target.kind, tables.app)
    var ranks: Set<Int> = []
    mentions.forEachUser(in: tables) { user in
      if let rank = tables.rank(of: user, in: target.memberRow) { ranks.insert(rank) }
    }
    return (ranks.sorted(), mentions.everyone)
  }

  // MARK: Ids

  package var userCount: Int { engineVersion.tables.userCount }

  package func id(of user: UserIndex) -> Identifier { engineVersion.tables.userIDs[user.rawValue] }

  /// Nil if this version has no such id.
  package func user(_ id: Identifier) -> UserIndex? {
    engineVersion.tables.userIDs.index(of: id).map { UserIndex($0) }
  }
}
