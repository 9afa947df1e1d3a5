public import PushModel
public import QuietTime

extension Fanout {
  /// What is done with users whose time zone the system does not have.
  public var unknownZones: UnknownZones { reading { $0.scheduleTable.unknownZones } }
}

extension FanoutVersion {
  /// The users whose time zone the system does not have. By ``Fanout/unknownZones`` they are not
  /// decided for, or decided without quiet hours.
  ///
  /// - Complexity: O(1).
  public var unknownZoneUsers: UnknownZoneUsers {
    let tables = engineVersion.tables
    var found = UnknownZoneUsers()
    for user in tables.unknownZoneUsers.prefix(UnknownZoneUsers.limit) {
      if let user = tables.unknownZoneUser(user) { found.add(user) }
    }
    found.add(moreUsers: tables.unknownZoneUsers.count - found.count)
    return found
  }

  /// Calls `body` with each of them, in the order of users.
  public func forEachUnknownZoneUser(_ body: (UnknownZoneUsers.User) -> Void) {
    let tables = engineVersion.tables
    for user in tables.unknownZoneUsers {
      if let user = tables.unknownZoneUser(user) { body(user) }
    }
  }

  /// Whether there are users who are not decided for, as the system does not have their time zone.
  public var refusesUsers: Bool { engineVersion.refusesUsers }

  /// How many users have a time zone that the system does not have, by its name.
  ///
  /// - Complexity: O(these users).
  public var unknownZoneCounts: [String: Int] {
    let tables = engineVersion.tables
    return tables.unknownZoneUsers.reduce(into: [:]) { counts, user in
      if let zone = tables.unknownZone(of: user) { counts[zone, default: 0] += 1 }
    }
  }

  /// Checks that a user is decided for.
  ///
  /// - Throws: ``FanoutError/unknownZones(_:)`` for one whose time zone the system does not have,
  ///   where the engine refuses such users.
  /// - Complexity: O(1).
  public func checkIsDecided(_ user: Identifier) throws(FanoutError) {
    let tables = engineVersion.tables
    guard refusesUsers, let index = tables.userIDs.index(of: user), tables.isRefused(index),
      let refused = tables.unknownZoneUser(index)
    else { return }
    throw .unknownZones(UnknownZoneUsers(refused))
  }

  /// The time zone that a user's settings need and the system does not have; nil if it has all.
  ///
  /// - Complexity: O(1).
  package func unknownZone(of user: Identifier) -> String? {
    let tables = engineVersion.tables
    return tables.userIDs.index(of: user).flatMap { tables.unknownZone(of: $0) }
  }

  /// The members of a message's conversation who are not decided for, as their time zone is unknown:
  /// recipients if it were known.
  ///
  /// - Complexity: O(1) if there are no such users; otherwise O(these users log members).
  public func refusedRecipients(of message: Message) -> [UnknownZoneUsers.User] {
    engineVersion.refusedRecipients(of: message)
  }
}

extension FanoutResult {
  /// The members who are not decided for, as their time zone is unknown.
  ///
  /// - Complexity: as for ``FanoutVersion/refusedRecipients(of:)``.
  public var refusedRecipients: [UnknownZoneUsers.User] {
    guard let version = engineVersion, version.refusesUsers, let target else { return [] }
    let sender = sender < 0 ? nil : member(at: sender).rawValue
    return version.refusedRecipients(target, sender, at: instant)
  }
}

extension EngineVersion {
  fileprivate var refusesUsers: Bool {
    !tables.unknownZoneUsers.isEmpty && tables.scheduleTable.unknownZones == .refuse
  }

  fileprivate func refusedRecipients(of message: Message) -> [UnknownZoneUsers.User] {
    guard refusesUsers, let conversation = tables.conversationIDs.index(of: message.conversation)
    else { return [] }
    let target = ConversationTarget(conversation, channel: message.channel, tables)
    let sender = message.sender.flatMap { tables.userIDs.index(of: $0) }
    return refusedRecipients(target, sender, at: message.at.milliseconds)
  }

  fileprivate func refusedRecipients(
    _ target: ConversationTarget, _ sender: UInt32?, at now: Int64
  ) -> [UnknownZoneUsers.User] {
    let resolver = MemberResolver(self)
    return tables.unknownZoneUsers.compactMap { user in
      guard user != sender, let rank = tables.rank(of: user, in: target.memberRow),
        resolver.overrides(of: user, rank: rank, target).since <= now
      else { return nil }
      return tables.unknownZoneUser(user)
    }
  }
}

extension Tables {
  fileprivate func unknownZoneUser(_ user: UInt32) -> UnknownZoneUsers.User? {
    unknownZone(of: user).map { UnknownZoneUsers.User(userIDs[user], timeZone: $0) }
  }
}
