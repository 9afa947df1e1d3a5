public import PushRules

/// How much of a message a person's notifications show (`updatePushDisplayStyle`).
public enum DisplayStyle: String, CaseIterable, Sendable {
  /// That there is a message, and nothing of it: 您有一条新消息, 请点击查看.
  case simpleBanner
  /// Who wrote, and what.
  case messageSummary
}

/// What a person has set for how pushes look, to them and by them.
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
  /// How many messages wait for the person, the one that is pushed among them: the badge, of at most
  /// ``badgeLimit``.
  public var offlineMessages: UInt32 = 1
  /// What the person calls others, by their ids.
  public var remarks: [Identifier: String] = [:]

  public init() {}
}

extension RecipientDisplay: Hashable {
  public static func == (left: RecipientDisplay, right: RecipientDisplay) -> Bool {
    left.look == right.look && left.offlineMessages == right.offlineMessages
      && left.name.exact == right.name.exact
      && left.remarks.mapValues { Identifier($0) } == right.remarks.mapValues { Identifier($0) }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(look)
    hasher.combine(offlineMessages)
    hasher.combine(name.exact)
    hasher.combine(remarks.mapValues { Identifier($0) })
  }

  var look: ContentDirectory.Look {
    ContentDirectory.Look(style: style, language: language, template: template)
  }
}

/// Everything that the words of a push depend on, beside templates and the message itself: people's
/// display settings, what they call each other, and what conversations are.
///
/// - Memory: 40 to 60 bytes a person beyond the characters of ids, names and remarks.
/// - Complexity: every call is O(1), beside the characters.
public struct ContentDirectory: Sendable {
  /// What decides which words a person sees, of which many people have the same.
  ///
  /// Two are the same only when they were written in the same way: what a person has set is given
  /// back as it was.
  struct Look: Hashable {
    var style: DisplayStyle?
    var language: LanguageTag?
    var template: String?

    static func == (left: Look, right: Look) -> Bool {
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
    /// A place among ``looks``.
    var look: UInt32 = 0
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
  /// Whom a person calls otherwise, by the person's place.
  private var remarked: [UInt32: [Identifier]] = [:]
  /// What people call somebody, by that one's id and the places of the people.
  private var remarks: [Identifier: [UInt32: String]] = [:]
  private var nicknames: [Membership: String] = [:]
  /// How many nicknames there are in a conversation.
  private var nicknameCounts: [Identifier: Int] = [:]
  private var conversations: [Identifier: Conversation] = [:]
  /// The first is that of whoever has set nothing.
  private(set) var looks: [Look] = [Look()]
  private var lookPlaces: [Look: UInt32] = [Look(): 0]

  public init() {}

  /// How many people have set something.
  public var count: Int { people.count }

  /// Replaces all that a person has set.
  public mutating func setUser(_ id: Identifier, _ display: RecipientDisplay) {
    let place = ids.insert(id)
    if Int(place) == people.count { people.append(Person()) }
    people[Int(place)] = Person(
      look: self.place(of: display.look), offlineMessages: display.offlineMessages)
    names[place] = display.name
    for other in remarked.removeValue(forKey: place) ?? [] { remarks[other]?[place] = nil }
    guard !display.remarks.isEmpty else { return }
    remarked[place] = Array(display.remarks.keys)
    for (other, remark) in display.remarks { remarks[other, default: [:]][place] = remark }
  }

  /// All that a person has set.
  public func user(_ id: Identifier) -> RecipientDisplay {
    var display = RecipientDisplay()
    guard let place = ids.place(of: id) else { return display }
    let person = people[Int(place)]
    let look = looks[Int(person.look)]
    display.name = names[place]
    display.style = look.style
    display.language = look.language
    display.template = look.template
    display.offlineMessages = person.offlineMessages
    for other in remarked[place] ?? [] { display.remarks[other] = remarks[other]?[place] }
    return display
  }

  /// Whether anything is known of a person.
  public func contains(_ id: Identifier) -> Bool { ids.place(of: id) != nil }

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

  /// Says what a conversation is, how it is called, and which group a thread belongs to.
  public mutating func setConversation(
    _ id: Identifier, kind: ConversationKind, name: String? = nil, parent: Identifier? = nil
  ) {
    conversations[id] = Conversation(kind: kind, name: name, parent: parent)
  }

  /// How a conversation is called; nil for nothing of its own.
  public func name(of conversation: Identifier) -> String? { conversations[conversation]?.name }

  /// What a conversation is; one of which nothing was said is a group.
  func conversation(_ id: Identifier) -> Conversation { conversations[id] ?? Conversation() }

  // MARK: For rendering

  /// What people call somebody, by their places.
  func remarks(of user: Identifier) -> [UInt32: String] { remarks[user] ?? [:] }

  /// A person's place, look and badge; nil for one who has set nothing.
  @inline(__always)
  func person(_ id: Identifier) -> (place: UInt32, person: Person)? {
    guard !people.isEmpty, let place = ids.place(of: id) else { return nil }
    return (place, people[Int(place)])
  }

  /// What somebody is called in a group or a thread; in a thread without a nickname of its own as in
  /// its group. nil for nothing.
  func groupName(of user: Identifier, in id: Identifier) -> String? {
    if let own = nickname(of: user, in: id).saying { return own }
    let conversation = conversation(id)
    guard conversation.kind == .thread, let parent = conversation.parent else { return nil }
    return nickname(of: user, in: parent).saying
  }

  /// A person's push nickname; the id of one who has none, or an empty one.
  func pushName(of user: Identifier) -> String {
    ids.place(of: user).flatMap { names[$0] }.saying ?? user.text
  }

  private mutating func place(of look: Look) -> UInt32 {
    if let place = lookPlaces[look] { return place }
    let place = UInt32(looks.count)
    looks.append(look)
    lookPlaces[look] = place
    return place
  }
}
