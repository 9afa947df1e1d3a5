internal import Algorithms
public import PushModel

/// An immutable version of an engine's settings.
public struct FanoutVersion: Sendable {
  let engineVersion: EngineVersion

  /// The number of the update that published it, from 1.
  public var number: UInt64 { engineVersion.number }

  /// As ``Fanout/settingsVersion``, of this version.
  public var settingsVersion: UInt64 { engineVersion.settingsVersion }

  /// As `Fanout.decision`, on this version.
  public func decision(_ message: Message, for user: Identifier) -> Decision? {
    engineVersion.tables.userIDs.index(of: user)
      .flatMap { engineVersion.decision(message, for: $0) }
  }

  /// Whether the version has a user.
  package func contains(user: Identifier) -> Bool { index(of: user) != nil }

  package func index(of user: Identifier) -> UInt32? {
    engineVersion.tables.userIDs.index(of: user)
  }

  /// The users that a message mentions by name, and whether it mentions everyone.
  ///
  /// - Complexity: O(mentions).
  package func mentions(of message: Message) -> (users: Set<UInt32>, everyone: Bool) {
    let tables = engineVersion.tables
    guard let index = tables.conversationIDs.index(of: message.conversation) else {
      return ([], false)
    }
    let target = ConversationTarget(index, channel: message.channel, tables)
    let mentions = MentionedUsers(message, target.kind, tables.app)
    var users: Set<UInt32> = []
    mentions.forEachUser(in: tables) { users.insert($0) }
    return (users, mentions.everyone)
  }

  /// The engine's ``Fanout/epoch``.
  public var epoch: UInt64 { engineVersion.epoch }

  /// The number of user ids that had appeared.
  public var userCount: Int { engineVersion.tables.userCount }

  /// The number of members that a message to a conversation goes to; 0 if its id never appeared.
  public func memberCount(of conversation: Identifier) -> Int {
    let tables = engineVersion.tables
    return tables.conversationIDs.index(of: conversation).map { tables.memberCount($0) } ?? 0
  }

  /// The ids of the conversations with most members, the largest first: those that are worth
  /// `Fanout.warmUp(_:at:)`.
  ///
  /// - Complexity: O(conversations + limit · log conversations).
  public func largestConversations(_ limit: Int) -> [Identifier] {
    let tables = engineVersion.tables
    let sizes = (0..<UInt32(tables.conversations.count))
      .map { (index: $0, count: tables.memberCount($0)) }
    return sizes.min(count: limit) { $0.count > $1.count }.map { tables.conversationIDs[$0.index] }
  }

  /// Calls `body` with the UTF-8 of the id of each user in a range of indices; the bytes are the
  /// engine's own.
  ///
  /// - Precondition: within 0 ..< ``userCount``.
  public func forEachUserID(in users: Range<Int>, _ body: (UserIndex, RawSpan) -> Void) {
    precondition(users.lowerBound >= 0 && users.upperBound <= userCount, "no such user")
    defer { withExtendedLifetime(engineVersion) {} }
    let ids = engineVersion.tables.userIDs
    for user in users {
      unsafe body(UserIndex(UInt32(user)), RawSpan(_unsafeBytes: ids.characters(UInt32(user))))
    }
  }

  /// The number of memberships that begin within a range of instants.
  ///
  /// - Complexity: O(memberships).
  package func joinCount(in range: ClosedRange<Instant>) -> Int {
    let tables = engineVersion.tables
    var count = 0
    for conversation in 0..<tables.conversations.count {
      tables.forEachMember(of: UInt32(conversation)) { _, member in
        guard member.packed.hasSince else { return }
        if range.contains(Instant(milliseconds: member.since)) { count += 1 }
      }
    }
    return count
  }
}

extension EngineVersion {
  /// - Parameter seenAt: as for ``Decider/decide(_:for:_:presenceAt:)``.
  func decision(
    _ message: Message, for user: UInt32, presenceAt seenAt: Instant? = nil
  ) -> Decision? {
    guard let outcome = Decider.decide(message, for: user, self, presenceAt: seenAt) else {
      return nil
    }
    let filter = message.filter ?? message.ext.filter
    let targets = deviceReader.targets(
      of: user, outcome.action, filter.isEmpty ? nil : filter, at: message.at.milliseconds)
    return Decision(outcome, devices: targets.map(\.id))
  }
}

extension Fanout {
  /// The current version of the settings, for a ``FanoutTimeline``.
  ///
  /// Its pages stay in memory as long as the value exists.
  public var currentVersion: FanoutVersion { FanoutVersion(engineVersion: current) }
}
