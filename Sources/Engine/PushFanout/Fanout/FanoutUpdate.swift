public import PushModel

/// Changes of settings that are published together.
///
/// Passed to the closure of ``Fanout/update(_:)``. The `set` methods replace whole records, as in
/// files; the `update` methods change existing records.
@safe public struct FanoutUpdate: FanoutWriting, ~Copyable {
  let writer: TableWriter
  private var users: Set<UInt32> = []
  /// Users whose devices say something else, though they are listed as before: no stored key changes.
  private var told: Set<UInt32> = []
  private var members: [SettingsLog.Entry] = []
  private var joins: [SettingsLog.Entry] = []
  /// Whether so much was changed that it is not said of what.
  private(set) var isBulk = false

  init(_ writer: TableWriter) { self.writer = writer }

  /// The app's settings.
  public var app: AppSettings { writer.tables.app }

  /// Replaces the app's settings.
  ///
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  /// - Complexity: O(1) now; O(memberships) when the update is published.
  public mutating func setApp(_ app: AppSettings) throws(FanoutError) { try writer.setApp(app) }

  /// Replaces all settings of a user, who is added if new.
  ///
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``, ``FanoutError/emptyID`` or
  ///   ``FanoutError/tooMany(_:)``.
  /// - Complexity: O(devices), and O(memberships log members) when the update is published.
  public mutating func setUser(_ id: Identifier, _ settings: UserSettings) throws(FanoutError) {
    let user = try writer.intern(user: id)
    try writer.setUser(user, settings)
    users.insert(user)
  }

  /// Changes the settings of an existing user.
  ///
  /// - Throws: ``FanoutError/unknownUser(_:)`` if the id never appeared, and what ``setUser(_:_:)``
  ///   throws.
  public mutating func updateUser(
    _ id: Identifier, _ change: (inout UserSettings) -> Void
  ) throws(FanoutError) {
    guard let user = writer.tables.userIDs.index(of: id) else { throw .unknownUser(id) }
    var settings = writer.tables.user(user)
    change(&settings)
    try writer.setUser(user, settings)
    users.insert(user)
  }

  /// - Throws: as `Fanout.setPresence(_:)` says; the update may go on without the heartbeat.
  mutating func setPresence(_ heartbeat: Heartbeat) throws(FanoutError) {
    guard let user = writer.tables.userIDs.index(of: heartbeat.user) else {
      throw .unknownUser(heartbeat.user)
    }
    let listed = writer.tables.hasOwnDevices(user)
    try writer.setPresence(heartbeat, of: user)
    if listed == writer.tables.hasOwnDevices(user) {
      told.insert(user)
    } else {
      users.insert(user)
    }
  }

  /// Replaces the settings of a conversation, which is added if new; its members are kept.
  public mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings
  ) throws(FanoutError) {
    try writer.setConversation(try writer.intern(conversation: id), settings)
  }

  /// Replaces a user's whole membership in a conversation. Both are added if new.
  ///
  /// - Complexity: O(log members) for an existing member; O(members) for a new member; amortized
  ///   O(log members) for a user who is new to the engine.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) throws(FanoutError) {
    let user = try writer.intern(user: user)
    let conversation = try writer.intern(conversation: conversation)
    let entry = SettingsLog.Entry(user: user, conversation: conversation)
    if try writer.setMember(user, of: conversation, member) {
      members.append(entry)
    } else {
      joins.append(entry)
    }
  }

  /// Changes an existing membership.
  ///
  /// - Throws: ``FanoutError/unknownUser(_:)``, ``FanoutError/unknownConversation(_:)`` or
  ///   ``FanoutError/notAMember(user:conversation:)``.
  public mutating func updateMember(
    _ user: Identifier, of conversation: Identifier, _ change: (inout MemberSettings) -> Void
  ) throws(FanoutError) {
    let (userIndex, conversationIndex) = try find(user, conversation)
    guard var member = writer.tables.member(userIndex, of: conversationIndex) else {
      throw .notAMember(user: user, conversation: conversation)
    }
    change(&member)
    _ = try writer.setMember(userIndex, of: conversationIndex, member)
    members.append(SettingsLog.Entry(user: userIndex, conversation: conversationIndex))
  }

  /// Says that settings were changed which are not listed: all conversations are read again.
  mutating func noteBulk() { isBulk = true }

  /// Ends a membership.
  ///
  /// - Throws: as ``updateMember(_:of:_:)``.
  /// - Complexity: O(members).
  public mutating func removeMember(
    _ user: Identifier, of conversation: Identifier
  ) throws(FanoutError) {
    let (userIndex, conversationIndex) = try find(user, conversation)
    guard writer.removeMember(userIndex, of: conversationIndex) else {
      throw .notAMember(user: user, conversation: conversation)
    }
  }

  /// Adds a user id without settings, if it is new.
  @discardableResult
  package mutating func intern(user id: Identifier) throws(FanoutError) -> UserIndex {
    UserIndex(try writer.intern(user: id))
  }

  /// Adds a conversation id as a group without members, if it is new.
  @discardableResult
  package mutating func intern(conversation id: Identifier) throws(FanoutError) -> UInt32 {
    try writer.intern(conversation: id)
  }

  private func find(
    _ user: Identifier, _ conversation: Identifier
  ) throws(FanoutError) -> (UInt32, UInt32) {
    guard let userIndex = writer.tables.userIDs.index(of: user) else { throw .unknownUser(user) }
    guard let conversationIndex = writer.tables.conversationIDs.index(of: conversation) else {
      throw .unknownConversation(conversation)
    }
    return (userIndex, conversationIndex)
  }

  /// Logs the changes, and delivers them to the cached conversations that they concern.
  mutating func finish(
    _ cache: ConversationCache, _ memberships: Memberships, number: UInt64, threads: Int
  ) {
    let everywhere = (told.isEmpty ? users : users.union(told)).map {
      SettingsLog.Entry(user: $0, conversation: SettingsLog.everywhere)
    }
    let entries = everywhere + members
    if isBulk { writer.log.removeAll(writer.store) }
    for entry in entries { writer.log.append(entry, writer.store) }
    for join in joins { memberships.add(join.user, to: join.conversation) }
    if !everywhere.isEmpty { memberships.all.build(writer.tables, threads: threads) }
    if writer.needsKeys {
      // The app's zone may be another.
      writer.findUnknownZones()
    } else if !users.isEmpty {
      writer.findUnknownZones(of: users)
    }
    if writer.needsKeys {
      writer.fillKeys(threads: threads)
    } else {
      let memberships = memberships.all.reader
      for user in users {
        _ = memberships.forEachConversation(of: user) { writer.setKey(of: user, in: $0) }
      }
    }
    let isDelivered = cache.deliver(entries, memberships.all, number: number)
    let isCompacted = writer.compactIfWorthwhile(threads: threads)
    if isBulk || isCompacted || !isDelivered { cache.removeAll() }
  }
}
