public import PushModel

/// Everything that the text of a push depends on, beside templates and the message itself: users'
/// display settings, what they call each other, and what conversations are.
///
/// A copy shares what is not changed: a change of one that is shared copies some nodes of a tree,
/// beside a million people as beside a thousand.
///
/// - Memory: 60 to 100 bytes a person beyond the characters of ids, names and remarks.
/// - Complexity: every call is O(log people), beside the characters, unless it says something else.
public struct ContentDirectory: Sendable {
  /// The settings that determine which text a user sees; many users share them.
  ///
  /// Two are the same only when they were written in the same way: what a person has set is given
  /// back as it was.
  struct DisplayPreferences: Hashable {
    var style: DisplayStyle?
    var language: LanguageTag?
    var template: String?

    static func == (left: DisplayPreferences, right: DisplayPreferences) -> Bool {
      left.style == right.style && left.language?.text == right.language?.text
        && left.template.exact == right.template.exact
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(style)
      hasher.combine(language?.text)
      hasher.combine(template.exact)
    }
  }

  /// What a person has set, without the remarks themselves.
  struct Person {
    var appearance = Appearance()
    var name: String?
    /// Whom the person calls otherwise.
    var remarked: [Identifier] = []
    /// The devices, if one of them says something that only requests need.
    var devices: [Device] = []
  }

  /// What of a person is asked for each payload.
  struct Appearance {
    /// An index in ``distinctPreferences``.
    var preferencesIndex: UInt32 = 0
    var offlineMessages: UInt32 = 1
  }

  struct Conversation: Hashable {
    var kind = ConversationKind.group
    var name: String?
    /// A thread's group.
    var parent: Identifier?
  }

  private var people = IdentifierMap<Person>()
  /// The remarks for users, by those who set them.
  private var remarks = IdentifierMap<IdentifierMap<String>>()
  /// The nicknames in conversations, by users.
  private var nicknames = IdentifierMap<IdentifierMap<String>>()
  /// The conversations in which users have nicknames.
  private var nicknamed = IdentifierMap<[Identifier]>()
  /// Conversations that are more than a group without a name.
  private var conversations = IdentifierMap<Conversation>()
  /// The first is that of users who have set nothing.
  private(set) var distinctPreferences: [DisplayPreferences] = [DisplayPreferences()]
  private var preferenceIndices: [DisplayPreferences: UInt32] = [DisplayPreferences(): 0]

  /// An empty directory: no user has settings, and every conversation is a group.
  public init() {}

  /// The number of users with settings.
  public var count: Int { people.count }

  // MARK: Users

  /// Replaces all that a person has set.
  ///
  /// - Complexity: O(log people + remarks of the person); O(different preferences) when the person
  ///   is the first with these.
  public mutating func setUser(_ id: Identifier, _ display: RecipientDisplay) {
    let appearance = Appearance(
      preferencesIndex: index(of: display.preferences), offlineMessages: display.offlineMessages)
    let before = people.update(id, default: Person()) { person in
      person.appearance = appearance
      person.name = display.name
      return person.remarked
    }
    let gone = before.filter { display.remarks[$0] == nil }
    for other in gone { setRemark(nil, for: other, by: id) }
    for (other, remark) in display.remarks
    where remarks[other]?[id].exact != Identifier(remark) {
      setRemark(remark, for: other, by: id)
    }
    if !gone.isEmpty || before.count != display.remarks.count {
      people.update(id, default: Person()) { $0.remarked = Array(display.remarks.keys) }
    }
  }

  /// Replaces a person's devices, of which requests need notifiers and addresses.
  ///
  /// - Complexity: O(log people + devices).
  public mutating func setDevices(_ devices: [Device], of id: Identifier) {
    let isPlain = devices.allSatisfy { $0.notifier == nil && $0.address == DeviceAddress() }
    if isPlain, self.devices(of: id).isEmpty { return }
    people.update(id, default: Person()) { $0.devices = isPlain ? [] : devices }
  }

  /// A person's devices; none where not one has a notifier or an address.
  public func devices(of id: Identifier) -> [Device] {
    people.withValue(of: id) { $0.devices } ?? []
  }

  private mutating func setRemark(
    _ remark: String?, for other: Identifier, by user: Identifier
  ) {
    let isEmpty = remarks.update(other, default: IdentifierMap()) { remarks in
      remarks[user] = remark
      return remarks.isEmpty
    }
    if isEmpty { remarks.remove(other) }
  }

  /// All that a person has set.
  ///
  /// - Complexity: O(log people + remarks of the person).
  public func user(_ id: Identifier) -> RecipientDisplay {
    var display = RecipientDisplay()
    guard let person = people[id] else { return display }
    let preferences = distinctPreferences[Int(person.appearance.preferencesIndex)]
    display.name = person.name
    display.style = preferences.style
    display.language = preferences.language
    display.template = preferences.template
    display.offlineMessages = person.appearance.offlineMessages
    for other in person.remarked { display.remarks[other] = remarks[other]?[id] }
    return display
  }

  /// Whether anything is known of a person.
  public func contains(_ id: Identifier) -> Bool { people.contains(id) }

  /// Removes what a person has set, and the person's nicknames.
  package mutating func removeUser(_ id: Identifier) {
    if contains(id) { setUser(id, RecipientDisplay()) }
    setDevices([], of: id)
    for conversation in nicknamed[id] ?? [] { setNickname(nil, of: id, in: conversation) }
  }

  /// Removes what others call a person.
  ///
  /// - Complexity: O(remarks of those who call the person something).
  package mutating func removeRemarks(for id: Identifier) {
    for user in remarks[id]?.ids ?? [] {
      people.update(user, default: Person()) { $0.remarked.removeAll { $0 == id } }
    }
    remarks.remove(id)
  }

  // MARK: Conversations

  /// Sets a member's nickname in a group; nil for none.
  ///
  /// - Complexity: O(log people + nicknames of the member) for the first nickname in a group and
  ///   for its removal.
  public mutating func setNickname(
    _ nickname: String?, of user: Identifier, in conversation: Identifier
  ) {
    let before = self.nickname(of: user, in: conversation)
    if before == nil, nickname == nil { return }
    let isEmpty = nicknames.update(conversation, default: IdentifierMap()) { nicknames in
      nicknames[user] = nickname
      return nicknames.isEmpty
    }
    if isEmpty { nicknames.remove(conversation) }
    if (before == nil) == (nickname == nil) { return }
    let isLast = nicknamed.update(user, default: []) { conversations in
      if nickname == nil {
        conversations.removeAll { $0 == conversation }
      } else {
        conversations.append(conversation)
      }
      return conversations.isEmpty
    }
    if isLast { nicknamed.remove(user) }
  }

  /// Whether some member has a nickname in any conversation.
  package var hasNicknames: Bool { !nicknames.isEmpty }

  /// Whether some member has a nickname in a conversation.
  package func hasNicknames(in conversation: Identifier) -> Bool {
    nicknames.contains(conversation)
  }

  /// A member's nickname in a group.
  public func nickname(of user: Identifier, in conversation: Identifier) -> String? {
    nicknames[conversation]?[user]
  }

  /// Sets the kind and name of a conversation, and which group a thread belongs to.
  public mutating func setConversation(
    _ id: Identifier, kind: ConversationKind, name: String? = nil, parent: Identifier? = nil
  ) {
    let conversation = Conversation(kind: kind, name: name, parent: parent)
    if conversation != Conversation() {
      conversations[id] = conversation
    } else if conversations.contains(id) {
      conversations.remove(id)
    }
  }

  /// Removes a conversation with its name and nicknames.
  ///
  /// - Complexity: O(nicknames in the conversation).
  package mutating func removeConversation(_ id: Identifier) {
    for user in nicknames[id]?.ids ?? [] { setNickname(nil, of: user, in: id) }
    conversations.remove(id)
  }

  /// How a conversation is called; nil for nothing of its own.
  public func name(of conversation: Identifier) -> String? { conversations[conversation]?.name }

  /// What a conversation is; one that was not set is a group.
  func conversation(_ id: Identifier) -> Conversation { conversations[id] ?? Conversation() }

  // MARK: For rendering

  /// The remarks for a user, by those who set them.
  func remarks(of user: Identifier) -> IdentifierMap<String> { remarks[user] ?? IdentifierMap() }

  /// A person's preferences and badge.
  @inline(__always)
  func appearance(of id: Identifier) -> Appearance {
    people.withValue(of: id) { $0.appearance } ?? Appearance()
  }

  /// How many devices are known of a person.
  @inline(__always)
  func deviceCount(of id: Identifier) -> Int { people.withValue(of: id) { $0.devices.count } ?? 0 }

  /// What `body` gives of a person; nil for one of whom nothing is known.
  @inline(__always)
  func withPerson<Result>(
    _ id: Identifier, _ body: (borrowing Person) -> Result
  ) -> Result? { people.withValue(of: id, body) }

  /// A user's nickname in a group or a thread; in a thread without a nickname of its own as in
  /// its group. nil for nothing.
  func groupName(of user: Identifier, in id: Identifier) -> String? {
    if let own = nickname(of: user, in: id).saying { return own }
    let conversation = conversation(id)
    guard conversation.kind == .thread, let parent = conversation.parent else { return nil }
    return nickname(of: user, in: parent).saying
  }

  /// A person's push nickname; the id of one who has none, or an empty one.
  func pushName(of user: Identifier) -> String { people[user]?.name.saying ?? user.text }

  private mutating func index(of preferences: DisplayPreferences) -> UInt32 {
    if let index = preferenceIndices[preferences] { return index }
    let index = UInt32(distinctPreferences.count)
    distinctPreferences.append(preferences)
    preferenceIndices[preferences] = index
    return index
  }
}
