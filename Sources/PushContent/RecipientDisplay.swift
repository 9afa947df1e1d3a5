public import PushModel

/// How much of a message a person's notifications show (`updatePushDisplayStyle`).
public enum DisplayStyle: String, CaseIterable, Sendable {
  /// That there is a message, and nothing of it: 您有一条新消息, 请点击查看.
  case simpleBanner
  /// Who wrote, and what.
  case messageSummary
}

/// What a person has set for the presentation of pushes to them, and of their own messages.
///
/// Two are the same only when everything was written in the same way: `zh-Hans` and `zh_hans` are
/// two, and so are "é" and "e\u{301}".
public struct RecipientDisplay: Sendable {
  /// The largest badge, in settings, messages and stores.
  public static let badgeLimit = UInt32(Int32.max)

  /// The person's push nickname, which others see (`updatePushDisplayName`).
  public var name: String?
  /// nil: ``DisplayStyle/simpleBanner`` under Easemob, ``DisplayStyle/messageSummary`` under
  /// RongCloud, which hides contents only when asked to (`setPushContentShowStatus`).
  public var style: DisplayStyle?
  /// In which translations are shown (`setPreferredNotificationLanguage`).
  public var language: LanguageTag?
  /// The name of the template that the person has chosen (`setPushTemplate`).
  public var template: String?
  /// How many messages wait for the person, the one that is pushed among them: the badge, of at
  /// most ``badgeLimit``.
  public var offlineMessages: UInt32 = 1
  /// What the person calls others, by their ids.
  public var remarks: [Identifier: String] = [:]

  /// The display of a person who has set nothing.
  public init() {}
}

extension RecipientDisplay: Hashable {
  public static func == (left: RecipientDisplay, right: RecipientDisplay) -> Bool {
    left.preferences == right.preferences && left.offlineMessages == right.offlineMessages
      && left.name.exact == right.name.exact
      && left.remarks.mapValues { Identifier($0) } == right.remarks.mapValues { Identifier($0) }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(preferences)
    hasher.combine(offlineMessages)
    hasher.combine(name.exact)
    hasher.combine(remarks.mapValues { Identifier($0) })
  }

  var preferences: ContentDirectory.DisplayPreferences {
    ContentDirectory.DisplayPreferences(style: style, language: language, template: template)
  }
}

/// Everything that the text of a push depends on, beside templates and the message itself: users'
/// display settings, what they call each other, and what conversations are.
///
/// - Memory: 40 to 60 bytes a person beyond the characters of ids, names and remarks.
/// - Complexity: every call is O(1), beside the characters.
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

  struct Person {
    /// An index in ``distinctPreferences``.
    var preferencesIndex: UInt32 = 0
    var offlineMessages: UInt32 = 1
  }

  struct Membership: Hashable {
    let conversation: Identifier
    let user: Identifier
  }

  struct Conversation: Hashable {
    var kind = ConversationKind.group
    var name: String?
    /// A thread's group.
    var parent: Identifier?
  }

  private var ids = IdentifierTable()
  private var people: [Person] = []
  private var names: [UInt32: String] = [:]
  /// The remarks that a user has set for others, by the user's index.
  private var remarked: [UInt32: [Identifier]] = [:]
  /// The remarks for a user, by that user's id and the indices of those who set them.
  private var remarks: [Identifier: [UInt32: String]] = [:]
  private var nicknames: [Membership: String] = [:]
  /// How many nicknames there are in a conversation.
  private var nicknameCounts: [Identifier: Int] = [:]
  private var conversations: [Identifier: Conversation] = [:]
  /// The first is that of users who have set nothing.
  private(set) var distinctPreferences: [DisplayPreferences] = [DisplayPreferences()]
  private var preferenceIndices: [DisplayPreferences: UInt32] = [DisplayPreferences(): 0]

  /// An empty directory: no user has settings, and every conversation is a group.
  public init() {}

  /// The number of users with settings.
  public var count: Int { people.count }

  /// Replaces all that a person has set.
  public mutating func setUser(_ id: Identifier, _ display: RecipientDisplay) {
    let index = ids.insert(id)
    if Int(index) == people.count { people.append(Person()) }
    people[Int(index)] = Person(
      preferencesIndex: self.index(of: display.preferences),
      offlineMessages: display.offlineMessages)
    names[index] = display.name
    for other in remarked.removeValue(forKey: index) ?? [] { remarks[other]?[index] = nil }
    guard !display.remarks.isEmpty else { return }
    remarked[index] = Array(display.remarks.keys)
    for (other, remark) in display.remarks { remarks[other, default: [:]][index] = remark }
  }

  /// All that a person has set.
  public func user(_ id: Identifier) -> RecipientDisplay {
    var display = RecipientDisplay()
    guard let index = ids.index(of: id) else { return display }
    let person = people[Int(index)]
    let preferences = distinctPreferences[Int(person.preferencesIndex)]
    display.name = names[index]
    display.style = preferences.style
    display.language = preferences.language
    display.template = preferences.template
    display.offlineMessages = person.offlineMessages
    for other in remarked[index] ?? [] { display.remarks[other] = remarks[other]?[index] }
    return display
  }

  /// Whether anything is known of a person.
  public func contains(_ id: Identifier) -> Bool { ids.index(of: id) != nil }

  /// Sets a member's nickname in a group; nil for none.
  public mutating func setNickname(
    _ nickname: String?, of user: Identifier, in conversation: Identifier
  ) {
    let membership = Membership(conversation: conversation, user: user)
    let before = nicknames[membership]
    nicknames[membership] = nickname
    let change = (nickname == nil ? 0 : 1) - (before == nil ? 0 : 1)
    if change != 0 { nicknameCounts[conversation, default: 0] += change }
  }

  /// Whether some member has a nickname in a conversation.
  package func hasNicknames(in conversation: Identifier) -> Bool {
    nicknameCounts[conversation] ?? 0 > 0
  }

  /// A member's nickname in a group.
  public func nickname(of user: Identifier, in conversation: Identifier) -> String? {
    nicknames[Membership(conversation: conversation, user: user)]
  }

  /// Sets the kind and name of a conversation, and which group a thread belongs to.
  public mutating func setConversation(
    _ id: Identifier, kind: ConversationKind, name: String? = nil, parent: Identifier? = nil
  ) {
    conversations[id] = Conversation(kind: kind, name: name, parent: parent)
  }

  /// How a conversation is called; nil for nothing of its own.
  public func name(of conversation: Identifier) -> String? { conversations[conversation]?.name }

  /// What a conversation is; one that was not set is a group.
  func conversation(_ id: Identifier) -> Conversation { conversations[id] ?? Conversation() }

  // MARK: For rendering

  /// The remarks for a user, by the indices of those who set them.
  func remarks(of user: Identifier) -> [UInt32: String] { remarks[user] ?? [:] }

  /// A person's index, preferences and badge; nil for one who has set nothing.
  @inline(__always)
  func person(_ id: Identifier) -> (index: UInt32, person: Person)? {
    guard !people.isEmpty, let index = ids.index(of: id) else { return nil }
    return (index, people[Int(index)])
  }

  /// A user's nickname in a group or a thread; in a thread without a nickname of its own as in
  /// its group. nil for nothing.
  func groupName(of user: Identifier, in id: Identifier) -> String? {
    if let own = nickname(of: user, in: id).saying { return own }
    let conversation = conversation(id)
    guard conversation.kind == .thread, let parent = conversation.parent else { return nil }
    return nickname(of: user, in: parent).saying
  }

  /// A person's push nickname; the id of one who has none, or an empty one.
  func pushName(of user: Identifier) -> String {
    ids.index(of: user).flatMap { names[$0] }.saying ?? user.text
  }

  private mutating func index(of preferences: DisplayPreferences) -> UInt32 {
    if let index = preferenceIndices[preferences] { return index }
    let index = UInt32(distinctPreferences.count)
    distinctPreferences.append(preferences)
    preferenceIndices[preferences] = index
    return index
  }
}
