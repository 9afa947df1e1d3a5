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
/// Plain dictionaries, made to be read by a person and by ``PushReference``. Records may come in
/// any order; the same key again replaces the whole earlier record and keeps its place.
///
/// - Complexity: every call is O(1) unless it says otherwise.
/// - Source: formats.md, "settings.ndjson".
public struct FanoutSettings: Sendable {
  public var app: AppSettings

  private var indices: [Identifier: UserIndex] = [:]
  private var ids: [Identifier] = []
  private var settings: [UserSettings] = []
  private var conversations: [Identifier: Conversation] = [:]

  private struct Conversation: Sendable {
    var settings = ConversationSettings()
    var members: [UserIndex: MemberSettings] = [:]
  }

  public init(app: AppSettings = AppSettings()) { self.app = app }

  // MARK: Users

  /// How many user ids have appeared, declared or only named by a membership.
  public var userCount: Int { ids.count }

  /// Where a user id stands in the order of first appearance; nil for one that never appeared.
  public func index(of user: Identifier) -> UserIndex? { indices[user] }

  /// The id at an index.
  ///
  /// - Precondition: the index came from this value.
  public func id(of user: UserIndex) -> Identifier { ids[Int(user.rawValue)] }

  /// The settings of a user; those of one never declared are empty.
  public func user(_ user: UserIndex) -> UserSettings { settings[Int(user.rawValue)] }

  /// The settings of a user; those of one never declared are empty.
  public func user(_ id: Identifier) -> UserSettings {
    indices[id].map { user($0) } ?? UserSettings()
  }

  /// Replaces the whole settings of a user.
  public mutating func setUser(_ id: Identifier, _ user: UserSettings) {
    settings[Int(intern(id).rawValue)] = user
  }

  /// The place of a user id, which it has from now on.
  ///
  /// - Precondition: fewer than 2^32 users.
  private mutating func intern(_ id: Identifier) -> UserIndex {
    if let index = indices[id] { return index }
    let index = UserIndex(UInt32(ids.count))
    indices[id] = index
    ids.append(id)
    settings.append(UserSettings())
    return index
  }

  // MARK: Conversations

  public var conversationIDs: some Collection<Identifier> { conversations.keys }

  /// What is set for a conversation; nil for one that was never named. One that only members name
  /// is a group.
  public func conversation(_ id: Identifier) -> ConversationSettings? {
    conversations[id]?.settings
  }

  /// Replaces the whole settings of a conversation; its members stay.
  public mutating func setConversation(_ id: Identifier, _ settings: ConversationSettings) {
    conversations[id, default: Conversation()].settings = settings
  }

  // MARK: Members

  /// Replaces the whole membership of a user in a conversation.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) {
    let index = intern(user)
    conversations[conversation, default: Conversation()].members[index] = member
  }

  /// The record of a user in a conversation; nil for none.
  public func member(_ user: UserIndex, of conversation: Identifier) -> MemberSettings? {
    conversations[conversation]?.members[user]
  }

  /// The records of a conversation: its members, or, of a thread, who has settings of its own.
  public func members(of conversation: Identifier) -> [UserIndex: MemberSettings] {
    conversations[conversation]?.members ?? [:]
  }

  /// How many records members have, over all conversations.
  ///
  /// - Complexity: O(conversations).
  public var memberCount: Int { conversations.values.reduce(0) { $0 + $1.members.count } }
}
