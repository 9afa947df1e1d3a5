internal import Algorithms

/// Everything that a decision depends on but the message: the app, its users, its conversations and
/// who is in them.
///
/// Made to be read by a person and by ``PushReference``. Records may come in any order; the same
/// key again replaces the whole earlier record and keeps its position.
///
/// - Complexity: every call is O(1), or O(log members) where it looks up a member, unless it
///   states another.
/// - Source: formats.md, "settings.ndjson".
public struct FanoutSettings: Sendable {
  /// The settings of the app.
  public var app: AppSettings

  private var userIDs = IdentifierTable()
  /// For each user id, its index in ``declared`` plus one; 0 for one that was only named.
  private var declaredIndices: [UInt32] = []
  private var declared: [UserSettings] = []
  private var conversationTable = IdentifierTable()
  private var conversations: [Conversation] = []

  private struct Conversation: Sendable {
    var settings = ConversationSettings()
    /// Whether there is a record of it; otherwise only members name it.
    var isDeclared = false
    var members = MemberTable()
  }

  /// Settings of an app without users and conversations.
  public init(app: AppSettings = AppSettings()) { self.app = app }

  // MARK: Users

  /// How many user ids have appeared, declared or only named by a membership.
  public var userCount: Int { userIDs.count }

  /// Makes room for so many user ids in all, of which so many have settings.
  public mutating func reserveCapacity(users: Int, declared count: Int) {
    userIDs.reserveCapacity(users)
    declaredIndices.reserveCapacity(users)
    declared.reserveCapacity(count)
  }

  /// How many users have settings.
  public var declaredCount: Int { declared.count }

  /// The position of a user id in the order of first appearance; nil for one that never appeared.
  public func index(of user: Identifier) -> UserIndex? {
    userIDs.index(of: user).map { UserIndex($0) }
  }

  /// The id at an index.
  ///
  /// - Precondition: the index came from this value.
  public func id(of user: UserIndex) -> Identifier { userIDs[user.rawValue] }

  /// Whether a user has settings, or was only named.
  package func isDeclared(_ user: UserIndex) -> Bool {
    declaredIndices[Int(user.rawValue)] != 0
  }

  /// The settings of a user; those of one never declared are empty.
  public func user(_ user: UserIndex) -> UserSettings {
    let index = declaredIndices[Int(user.rawValue)]
    return index == 0 ? UserSettings() : declared[Int(index) - 1]
  }

  /// The settings of a user; those of one never declared are empty.
  public func user(_ id: Identifier) -> UserSettings {
    index(of: id).map { user($0) } ?? UserSettings()
  }

  /// Replaces the whole settings of a user.
  public mutating func setUser(_ id: Identifier, _ user: consuming UserSettings) {
    let index = Int(intern(id).rawValue)
    if declaredIndices[index] == 0 {
      declared.append(user)
      declaredIndices[index] = UInt32(declared.count)
    } else {
      declared[Int(declaredIndices[index]) - 1] = user
    }
  }

  /// Changes the settings of a user, empty ones at first.
  public mutating func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void) {
    let index = Int(intern(id).rawValue)
    if declaredIndices[index] == 0 {
      declared.append(UserSettings())
      declaredIndices[index] = UInt32(declared.count)
    }
    change(&declared[Int(declaredIndices[index]) - 1])
  }

  /// The index of a user id, which is inserted if it never appeared.
  private mutating func intern(_ id: Identifier) -> UserIndex {
    let index = userIDs.insert(id)
    if index == declaredIndices.count { declaredIndices.append(0) }
    return UserIndex(index)
  }

  // MARK: Conversations

  /// The ids of all conversations that were named, in the order in which they first were.
  public var conversationIDs: [Identifier] {
    conversations.indices.map { conversationTable[UInt32($0)] }
  }

  /// What is set for a conversation; nil for one that was never named. One that only members name
  /// is a group.
  public func conversation(_ id: Identifier) -> ConversationSettings? {
    conversationTable.index(of: id).map { conversations[Int($0)].settings }
  }

  /// Replaces the whole settings of a conversation; its members stay.
  public mutating func setConversation(_ id: Identifier, _ settings: ConversationSettings) {
    let index = internConversation(id)
    conversations[index].settings = settings
    conversations[index].isDeclared = true
  }

  /// Whether a conversation has settings, or is only named by its members.
  package func isDeclared(_ conversation: Identifier) -> Bool {
    conversationTable.index(of: conversation).map { conversations[Int($0)].isDeclared } ?? false
  }

  private mutating func internConversation(_ id: Identifier) -> Int {
    let index = Int(conversationTable.insert(id))
    if index == conversations.count { conversations.append(Conversation()) }
    return index
  }

  // MARK: Members

  /// Replaces the whole membership of a user in a conversation.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) {
    let user = intern(user)
    conversations[internConversation(conversation)].members.set(user, member)
  }

  /// The record of a user in a conversation; nil for none.
  public func member(_ user: UserIndex, of conversation: Identifier) -> MemberSettings? {
    conversationTable.index(of: conversation).flatMap { conversations[Int($0)].members[user] }
  }

  /// Who has a record in a conversation, in the order of user ids: its members, or, of a thread,
  /// who has settings of its own.
  ///
  /// - Complexity: O(members), or O(members log members) if they were not set in that order.
  public func members(of conversation: Identifier) -> [UserIndex] {
    conversationTable.index(of: conversation).map { conversations[Int($0)].members.sortedUsers }
      ?? []
  }

  /// Calls `body` with every record of a conversation, in the order of user ids.
  ///
  /// - Complexity: that of ``members(of:)``, without looking for each record.
  package func forEachMember<Failure: Error>(
    of conversation: Identifier,
    _ body: (UserIndex, borrowing MemberSettings) throws(Failure) -> Void
  ) throws(Failure) {
    guard let index = conversationTable.index(of: conversation) else { return }
    try conversations[Int(index)].members.forEach(body)
  }
}

// MARK: The order of records

extension FanoutSettings {
  /// How many users' records were set before the one of a user; nil for a user without a record.
  package func recordOrder(of user: UserIndex) -> Int? {
    let index = Int(declaredIndices[Int(user.rawValue)])
    return index == 0 ? nil : index - 1
  }

  /// How many conversations were named before one, and how many records of it were set before that
  /// of a user; nil for no record.
  package func recordOrder(
    of user: UserIndex, in conversation: Identifier
  ) -> (conversation: Int, member: Int)? {
    guard let index = conversationTable.index(of: conversation).map({ Int($0) }),
      let row = conversations[index].members.row(of: user)
    else { return nil }
    return (index, row)
  }

  /// How many records each conversation has, in the order of ``conversationIDs``.
  package var memberCounts: [Int] { conversations.map { $0.members.count } }
}

/// The records of one conversation, in the order in which they were set.
///
/// As long as they come in the order of user ids, which is how files list them, a record is found
/// by binary search; from the first that does not, by a dictionary.
private struct MemberTable: Sendable {
  private var users: [UserIndex] = []
  private var settings: [MemberSettings] = []
  private var rows: [UserIndex: Int32] = [:]
  private var isAscending = true

  var count: Int { users.count }

  subscript(user: UserIndex) -> MemberSettings? { row(of: user).map { settings[$0] } }

  var sortedUsers: [UserIndex] { isAscending ? users : users.sorted() }

  mutating func set(_ user: UserIndex, _ member: MemberSettings) {
    if isAscending, users.last.map({ $0 < user }) ?? true {
      users.append(user)
      settings.append(member)
      return
    }
    if let row = row(of: user) {
      settings[row] = member
      return
    }
    if isAscending {
      isAscending = false
      rows.reserveCapacity(users.count * 2)
      for (row, user) in users.enumerated() { rows[user] = Int32(row) }
    }
    rows[user] = Int32(users.count)
    users.append(user)
    settings.append(member)
  }

  func forEach<Failure: Error>(
    _ body: (UserIndex, borrowing MemberSettings) throws(Failure) -> Void
  ) throws(Failure) {
    if isAscending {
      for (row, user) in users.enumerated() { try body(user, settings[row]) }
    } else {
      for user in users.sorted() {
        if let row = rows[user] { try body(user, settings[Int(row)]) }
      }
    }
  }

  func row(of user: UserIndex) -> Int? {
    if !isAscending { return rows[user].map { Int($0) } }
    let row = users.partitioningIndex { $0 >= user }
    return row < users.count && users[row] == user ? row : nil
  }
}
