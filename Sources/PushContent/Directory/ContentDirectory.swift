public import PushModel

/// Everything that the text of a push depends on, beside templates and the message itself: users'
/// display settings, what they call each other, and what conversations are.
///
/// A copy shares what is not changed: a change of one that is shared copies a thousandth of it.
///
/// - Memory: 60 to 80 bytes a person beyond the characters of ids, names and remarks, and 8 KiB.
/// - Complexity: every call is O(1), beside the characters; a change of a copy O(1 + people /
///   1024).
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

  struct Conversation: Hashable {
    var kind = ConversationKind.group
    var name: String?
    /// A thread's group.
    var parent: Identifier?
  }

  /// How many bits of a person's index are the shard's number.
  private static let shardBits: UInt32 = 10
  private static let shardCount = 1 << Int(shardBits)
  private static let localLimit = 1 << (32 - Int(shardBits))

  /// By the low bits of ids' hashes; nil for one without ids. Empty at first.
  private var shards: [DirectoryShard?] = []
  private let seed = processSeed()
  /// The first is that of users who have set nothing.
  private(set) var distinctPreferences: [DisplayPreferences] = [DisplayPreferences()]
  private var preferenceIndices: [DisplayPreferences: UInt32] = [DisplayPreferences(): 0]

  /// An empty directory: no user has settings, and every conversation is a group.
  public init() {}

  /// The number of users with settings.
  public var count: Int { shards.reduce(0) { $0 + ($1?.people.count ?? 0) } }

  // MARK: Shards

  private func number(_ id: Identifier) -> Int {
    var text = id.text
    let hash = text.withUTF8 { unsafe seededHash(UnsafeRawBufferPointer($0), seed) }
    return Int(hash & UInt32(Self.shardCount - 1))
  }

  private func shard(_ id: Identifier) -> DirectoryShard? {
    shards.isEmpty ? nil : shards[number(id)]
  }

  /// A shard that may be changed.
  private mutating func ownShard(_ number: Int) -> DirectoryShard {
    if shards.isEmpty { shards = Array(repeating: nil, count: Self.shardCount) }
    if shards[number] == nil {
      shards[number] = DirectoryShard()
    } else if !isKnownUniquelyReferenced(&shards[number]) {
      shards[number] = shards[number].map { DirectoryShard(copy: $0) }
    }
    guard let shard = shards[number] else { preconditionFailure("a shard was made") }
    return shard
  }

  /// Changes a shard, which is not kept: it would be copied by the next change.
  private mutating func change(_ number: Int, _ body: (DirectoryShard) -> Void) {
    body(ownShard(number))
  }

  private mutating func change(_ id: Identifier, _ body: (DirectoryShard) -> Void) {
    body(ownShard(number(id)))
  }

  // MARK: Users

  /// Replaces all that a person has set.
  public mutating func setUser(_ id: Identifier, _ display: RecipientDisplay) {
    let number = number(id)
    let person = Person(
      preferencesIndex: index(of: display.preferences), offlineMessages: display.offlineMessages)
    var local: UInt32 = 0
    var before: [Identifier] = []
    change(number) { shard in
      local = shard.ids.index(of: id) ?? shard.ids.insert(id)
      if Int(local) == shard.people.count {
        precondition(Int(local) < Self.localLimit, "at most 2^22 users of one shard")
        shard.people.append(person)
        shard.names.append(display.name)
        return
      }
      shard.people[Int(local)] = person
      if shard.names[Int(local)].exact != display.name.exact {
        shard.names[Int(local)] = display.name
      }
      before = shard.remarked[local] ?? []
    }
    let index = local << Self.shardBits | UInt32(number)
    for other in before { change(other) { $0.remarks[other]?[index] = nil } }
    for (other, remark) in display.remarks {
      change(other) { $0.remarks[other, default: [:]][index] = remark }
    }
    if !before.isEmpty || !display.remarks.isEmpty {
      let others = display.remarks.isEmpty ? nil : Array(display.remarks.keys)
      change(number) { $0.remarked[local] = others }
    }
  }

  /// All that a person has set.
  public func user(_ id: Identifier) -> RecipientDisplay {
    var display = RecipientDisplay()
    guard let shard = shard(id), let local = shard.ids.index(of: id) else { return display }
    let person = shard.people[Int(local)]
    let preferences = distinctPreferences[Int(person.preferencesIndex)]
    display.name = shard.names[Int(local)]
    display.style = preferences.style
    display.language = preferences.language
    display.template = preferences.template
    display.offlineMessages = person.offlineMessages
    let index = local << Self.shardBits | UInt32(number(id))
    for other in shard.remarked[local] ?? [] {
      display.remarks[other] = self.shard(other)?.remarks[other]?[index]
    }
    return display
  }

  /// Whether anything is known of a person.
  public func contains(_ id: Identifier) -> Bool { shard(id)?.ids.index(of: id) != nil }

  /// Removes what a person has set, and the person's nicknames.
  package mutating func removeUser(_ id: Identifier) {
    if contains(id) { setUser(id, RecipientDisplay()) }
    for conversation in shard(id)?.nicknames[id]?.keys.map({ $0 }) ?? [] {
      setNickname(nil, of: id, in: conversation)
    }
  }

  /// Removes what others call a person.
  package mutating func removeRemarks(for id: Identifier) {
    guard let setters = shard(id)?.remarks[id] else { return }
    change(id) { $0.remarks[id] = nil }
    for index in setters.keys {
      change(Int(index & UInt32(Self.shardCount - 1))) {
        $0.remarked[index >> Self.shardBits]?.removeAll { $0 == id }
      }
    }
  }

  // MARK: Conversations

  /// Sets a member's nickname in a group; nil for none.
  public mutating func setNickname(
    _ nickname: String?, of user: Identifier, in conversation: Identifier
  ) {
    let before = self.nickname(of: user, in: conversation)
    if before == nil, nickname == nil { return }
    change(user) { shard in
      shard.nicknames[user, default: [:]][conversation] = nickname
      if shard.nicknames[user]?.isEmpty == true { shard.nicknames[user] = nil }
    }
    let added = (nickname == nil ? 0 : 1) - (before == nil ? 0 : 1)
    if added != 0 {
      change(conversation) { $0.nicknameCounts[conversation, default: 0] += added }
    }
  }

  /// Whether some member has a nickname in a conversation.
  package func hasNicknames(in conversation: Identifier) -> Bool {
    shard(conversation)?.nicknameCounts[conversation] ?? 0 > 0
  }

  /// A member's nickname in a group.
  public func nickname(of user: Identifier, in conversation: Identifier) -> String? {
    shard(user)?.nicknames[user]?[conversation]
  }

  /// Sets the kind and name of a conversation, and which group a thread belongs to.
  public mutating func setConversation(
    _ id: Identifier, kind: ConversationKind, name: String? = nil, parent: Identifier? = nil
  ) {
    change(id) { $0.conversations[id] = Conversation(kind: kind, name: name, parent: parent) }
  }

  /// Removes a conversation with its name and nicknames.
  ///
  /// - Complexity: O(1) without nicknames, otherwise O(users with nicknames).
  package mutating func removeConversation(_ id: Identifier) {
    if hasNicknames(in: id) {
      let users = shards.flatMap { shard in
        (shard?.nicknames ?? [:]).filter { $0.value[id] != nil }.keys
      }
      for user in users { setNickname(nil, of: user, in: id) }
    }
    if shard(id)?.conversations[id] != nil { change(id) { $0.conversations[id] = nil } }
  }

  /// How a conversation is called; nil for nothing of its own.
  public func name(of conversation: Identifier) -> String? {
    shard(conversation)?.conversations[conversation]?.name
  }

  /// What a conversation is; one that was not set is a group.
  func conversation(_ id: Identifier) -> Conversation {
    shard(id)?.conversations[id] ?? Conversation()
  }

  // MARK: For rendering

  /// The remarks for a user, by the indices of those who set them.
  func remarks(of user: Identifier) -> [UInt32: String] { shard(user)?.remarks[user] ?? [:] }

  /// A person's index, preferences and badge; nil for one who has set nothing.
  @inline(__always)
  func person(_ id: Identifier) -> (index: UInt32, person: Person)? {
    guard !shards.isEmpty else { return nil }
    let number = number(id)
    guard let shard = shards[number], let local = shard.ids.index(of: id) else { return nil }
    return (local << Self.shardBits | UInt32(number), shard.people[Int(local)])
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
    let shard = shard(user)
    return shard?.ids.index(of: user).flatMap { shard?.names[Int($0)] }.saying ?? user.text
  }

  private mutating func index(of preferences: DisplayPreferences) -> UInt32 {
    if let index = preferenceIndices[preferences] { return index }
    let index = UInt32(distinctPreferences.count)
    distinctPreferences.append(preferences)
    preferenceIndices[preferences] = index
    return index
  }
}
