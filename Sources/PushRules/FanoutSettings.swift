/// A user's place in the order in which user ids first appeared. Decisions are listed in it.
public struct UserIndex: Hashable, Comparable, Sendable {
  public let rawValue: UInt32
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (left: UserIndex, right: UserIndex) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// Everything that a decision depends on but the message: the app, its users, its conversations and
/// who is in them.
///
/// Made to be read by a person and by ``PushReference``. Records may come in any order; the same key
/// again replaces the whole earlier record and keeps its place.
///
/// - Complexity: every call is O(1), or O(log members) where it looks up a member, unless it says
///   otherwise.
/// - Source: formats.md, "settings.ndjson".
public struct FanoutSettings: Sendable {
  public var app: AppSettings

  private var userIDs = IdentifierTable()
  /// For each user id, its place in ``declared`` plus one; 0 for one that was only named.
  private var places: [UInt32] = []
  private var declared: [UserSettings] = []
  private var conversationTable = IdentifierTable()
  private var readAhead: UInt64 = 0
  private var conversations: [Conversation] = []
  /// How many users had settings, and how many records each conversation had, when the rows of CSV
  /// files began; nil without such rows.
  private var beforeRows: (declared: Int, members: [Int])?

  private struct Conversation: Sendable {
    var settings = ConversationSettings()
    /// Whether there is a record of it; otherwise only members name it.
    var isDeclared = false
    var members = MemberTable()
  }

  public init(app: AppSettings = AppSettings()) { self.app = app }

  // MARK: Users

  /// How many user ids have appeared, declared or only named by a membership.
  public var userCount: Int { userIDs.count }

  /// Makes room for so many user ids in all, of which so many have settings.
  public mutating func reserveCapacity(users: Int, declared count: Int) {
    userIDs.reserveCapacity(users)
    places.reserveCapacity(users)
    declared.reserveCapacity(count)
  }

  /// How many users have settings.
  public var declaredCount: Int { declared.count }

  /// Touches the memory of a user id that will be set soon; see ``IdentifierTable/readAhead(utf8:)``.
  public mutating func readAhead(userUTF8: RawSpan) {
    readAhead ^= userIDs.readAhead(utf8: userUTF8)
  }

  /// Where a user id stands in the order of first appearance; nil for one that never appeared.
  public func index(of user: Identifier) -> UserIndex? {
    userIDs.place(of: user).map { UserIndex($0) }
  }

  /// The id at an index.
  ///
  /// - Precondition: the index came from this value.
  public func id(of user: UserIndex) -> Identifier { userIDs[user.rawValue] }

  /// Whether a user has settings, or was only named.
  package func isDeclared(_ user: UserIndex) -> Bool { places[Int(user.rawValue)] != 0 }

  /// The settings of a user; those of one never declared are empty.
  public func user(_ user: UserIndex) -> UserSettings {
    let place = places[Int(user.rawValue)]
    return place == 0 ? UserSettings() : declared[Int(place) - 1]
  }

  /// The settings of a user; those of one never declared are empty.
  public func user(_ id: Identifier) -> UserSettings {
    index(of: id).map { user($0) } ?? UserSettings()
  }

  /// Replaces the whole settings of a user.
  public mutating func setUser(_ id: Identifier, _ user: consuming UserSettings) {
    let index = Int(intern(id).rawValue)
    if places[index] == 0 {
      declared.append(user)
      places[index] = UInt32(declared.count)
    } else {
      declared[Int(places[index]) - 1] = user
    }
  }

  /// Changes the settings of a user, empty ones at first.
  public mutating func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void) {
    let index = Int(intern(id).rawValue)
    if places[index] == 0 {
      declared.append(UserSettings())
      places[index] = UInt32(declared.count)
    }
    change(&declared[Int(places[index]) - 1])
  }

  /// The place of a user id, which it has from now on.
  private mutating func intern(_ id: Identifier) -> UserIndex {
    let place = userIDs.insert(id)
    if place == places.count { places.append(0) }
    return UserIndex(place)
  }

  // MARK: Conversations

  /// The ids of all conversations that were named, in the order in which they first were.
  public var conversationIDs: [Identifier] {
    conversations.indices.map { conversationTable[UInt32($0)] }
  }

  /// What is set for a conversation; nil for one that was never named. One that only members name
  /// is a group.
  public func conversation(_ id: Identifier) -> ConversationSettings? {
    conversationTable.place(of: id).map { conversations[Int($0)].settings }
  }

  /// Replaces the whole settings of a conversation; its members stay.
  public mutating func setConversation(_ id: Identifier, _ settings: ConversationSettings) {
    let place = internConversation(id)
    conversations[place].settings = settings
    conversations[place].isDeclared = true
  }

  /// Whether a conversation has settings, or is only named by its members.
  package func isDeclared(_ conversation: Identifier) -> Bool {
    conversationTable.place(of: conversation).map { conversations[Int($0)].isDeclared } ?? false
  }

  private mutating func internConversation(_ id: Identifier) -> Int {
    let place = Int(conversationTable.insert(id))
    if place == conversations.count { conversations.append(Conversation()) }
    return place
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
    conversationTable.place(of: conversation).flatMap { conversations[Int($0)].members[user] }
  }

  /// Who has a record in a conversation, in the order of user ids: its members, or, of a thread, who
  /// has settings of its own.
  ///
  /// - Complexity: O(members), or O(members log members) if they were not set in that order.
  public func members(of conversation: Identifier) -> [UserIndex] {
    conversationTable.place(of: conversation).map { conversations[Int($0)].members.sortedUsers }
      ?? []
  }

  /// Calls `body` with every record of a conversation, in the order of user ids.
  ///
  /// - Complexity: that of ``members(of:)``, without looking for each record.
  package func forEachMember<Failure: Error>(
    of conversation: Identifier,
    _ body: (UserIndex, borrowing MemberSettings) throws(Failure) -> Void
  ) throws(Failure) {
    guard let place = conversationTable.place(of: conversation) else { return }
    try conversations[Int(place)].members.forEach(body)
  }
}

// MARK: Rows

extension FanoutSettings {
  /// Says that all records of users and members from now on are rows of CSV files, which cannot say
  /// all of a record; those whose key was said before are whole all the same.
  package mutating func beginRows() {
    beforeRows = (declared.count, conversations.map { $0.members.count })
  }

  /// Whether there may be records of which only rows say something.
  package var hasRows: Bool { beforeRows != nil }

  /// Whether only rows say something of a user.
  package func isRow(_ user: UserIndex) -> Bool {
    guard let beforeRows else { return false }
    return Int(places[Int(user.rawValue)]) > beforeRows.declared
  }

  /// Whether only rows say something of a membership.
  package func isRow(_ user: UserIndex, of conversation: Identifier) -> Bool {
    guard let beforeRows, let number = conversationTable.place(of: conversation),
      let place = conversations[Int(number)].members.place(of: user)
    else { return false }
    return number >= beforeRows.members.count || place >= beforeRows.members[Int(number)]
  }
}

extension UserSettings {
  /// A row of users.csv replaces a user's record in what a row can say.
  package mutating func replaceWhatRowsSay(with row: UserSettings) {
    level = row.level
    quietHours = row.quietHours
    timeZone = row.timeZone
    mutedUntil = row.mutedUntil
  }
}

/// The records of one conversation, in the order in which they were set.
///
/// As long as they come in the order of user ids, which is how files list them, a record is found by
/// binary search; from the first that does not, by a dictionary.
private struct MemberTable: Sendable {
  private var users: [UserIndex] = []
  private var settings: [MemberSettings] = []
  private var places: [UserIndex: Int32] = [:]
  private var isAscending = true

  var count: Int { users.count }

  subscript(user: UserIndex) -> MemberSettings? { place(of: user).map { settings[$0] } }

  var sortedUsers: [UserIndex] { isAscending ? users : users.sorted() }

  mutating func set(_ user: UserIndex, _ member: MemberSettings) {
    if isAscending, users.last.map({ $0 < user }) ?? true {
      users.append(user)
      settings.append(member)
      return
    }
    if let place = place(of: user) {
      settings[place] = member
      return
    }
    if isAscending {
      isAscending = false
      places.reserveCapacity(users.count * 2)
      for (place, user) in users.enumerated() { places[user] = Int32(place) }
    }
    places[user] = Int32(users.count)
    users.append(user)
    settings.append(member)
  }

  func forEach<Failure: Error>(
    _ body: (UserIndex, borrowing MemberSettings) throws(Failure) -> Void
  ) throws(Failure) {
    if isAscending {
      for (place, user) in users.enumerated() { try body(user, settings[place]) }
    } else {
      for user in users.sorted() {
        if let place = places[user] { try body(user, settings[Int(place)]) }
      }
    }
  }

  func place(of user: UserIndex) -> Int? {
    if !isAscending { return places[user].map { Int($0) } }
    var low = 0
    var high = users.count
    while low < high {
      let middle = (low + high) / 2
      if users[middle] < user { low = middle + 1 } else { high = middle }
    }
    return low < users.count && users[low] == user ? low : nil
  }
}
