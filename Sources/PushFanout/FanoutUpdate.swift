public import PushRules

/// Changes of settings that become visible together.
///
/// Handed to the closure of ``Fanout/update(_:)``. A record that is replaced is replaced whole, as in
/// files; the `update` calls change a record that is there.
@safe public struct FanoutUpdate: ~Copyable {
  let writer: TableWriter
  private var users: Set<UInt32> = []
  private var members: [(user: UInt32, conversation: UInt32)] = []

  init(_ writer: TableWriter) { self.writer = writer }

  /// The app's settings.
  public var app: AppSettings { writer.tables.app }

  /// Replaces the app's settings, by which everything is read anew.
  ///
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``.
  /// - Complexity: O(1) now, O(users) before the next large message.
  public mutating func setApp(_ app: AppSettings) throws(FanoutError) { try writer.setApp(app) }

  /// Replaces the whole settings of a user, who exists from now on.
  ///
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``, ``FanoutError/emptyID`` or
  ///   ``FanoutError/tooMany(_:)``.
  /// - Complexity: O(1), beside O(devices).
  public mutating func setUser(_ id: Identifier, _ settings: UserSettings) throws(FanoutError) {
    let user = try writer.intern(user: id)
    try writer.setUser(user, settings)
    users.insert(user)
  }

  /// Changes the settings of a user.
  ///
  /// - Throws: ``FanoutError/unknownUser(_:)`` for one whose id never appeared, and what
  ///   ``setUser(_:_:)`` throws.
  public mutating func updateUser(
    _ id: Identifier, _ change: (inout UserSettings) -> Void
  ) throws(FanoutError) {
    guard let user = writer.tables.userIDs.index(of: id) else { throw .unknownUser(id) }
    var settings = writer.tables.user(user)
    change(&settings)
    try writer.setUser(user, settings)
    users.insert(user)
  }

  /// Replaces the settings of a conversation, which exists from now on; its members stay.
  public mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings
  ) throws(FanoutError) {
    try writer.setConversation(try writer.intern(conversation: id), settings)
  }

  /// Replaces the whole membership of a user in a conversation. Both exist from now on.
  ///
  /// - Complexity: O(log members) for a member, O(members) for somebody new, whose id comes before
  ///   others; amortised O(1) for a new user.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) throws(FanoutError) {
    let user = try writer.intern(user: user)
    let conversation = try writer.intern(conversation: conversation)
    if try writer.setMember(user, of: conversation, member) {
      members.append((user: user, conversation: conversation))
    }
  }

  /// Changes the membership of a user.
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
    members.append((user: userIndex, conversation: conversationIndex))
  }

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

  /// Gives a user id its conversationIndex among the users, if it has none; nothing is set for it.
  package mutating func name(user id: Identifier) throws(FanoutError) {
    _ = try writer.intern(user: id)
  }

  /// Gives a conversation id its conversationIndex, if it has none: a group of nobody.
  package mutating func name(conversation id: Identifier) throws(FanoutError) {
    _ = try writer.intern(conversation: id)
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

  /// Takes the changes into the userClasses.
  mutating func finish() {
    writer.userClasses.extend(writer.tables, writer.store)
    for user in users {
      writer.userClasses.update(user, writer.tables, &writer.expiries, writer.store)
    }
    for (user, conversation) in members {
      writer.userClasses.note(user, in: conversation, writer.store)
    }
  }
}
