import PushContent
import PushFanout
import PushModel
import PushStore
import TestSupport

/// What a follower of the change feed keeps: all records, and the cursor of the last entry that it
/// has dealt with. It reads the records that entries name, and everything when it is told to.
struct StoreReplica {
  private var app = AppSettings()
  private var users: [Identifier: UserSettings] = [:]
  private var conversations: [Identifier: ConversationSettings] = [:]
  private var members: [OperationModel.Place: MemberSettings] = [:]
  private var displays: [Identifier: RecipientDisplay] = [:]
  private var templates = TemplateCatalog()
  private(set) var cursor = FeedCursor.start
  /// How often it has read everything.
  private(set) var reloads = 0

  init(_ store: SettingsStore) throws { try reload(store) }

  mutating func reload(_ store: SettingsStore) throws {
    // The cursor first: what changes meanwhile is read twice.
    cursor = try store.reader.endOfFeed()
    reloads += 1
    (users, conversations, members) = ([:], [:], [:])
    displays = [:]
    templates = try store.reader.templates()
    var content = ContentDirectory()
    try store.reader.forEachRecord(content: { content = $0 }) { record in
      switch record {
      case .app(let app): self.app = app
      case .user(let id, let user):
        users[id] = user
        displays[id] = content.user(id)
      case .conversation(let id, let conversation): conversations[id] = conversation
      case .member(let user, let id, let member, _):
        members[.init(user: user, conversation: id)] = member
      }
    }
  }

  /// Reads some entries, and is cut off behind one of them, or within it: its cursor then stays.
  mutating func follow(_ store: SettingsStore, _ random: inout SeededGenerator) throws {
    let limit = Int.random(in: 1...7, using: &random)
    let cut = Int.random(in: 0...8, using: &random)
    do {
      for (place, event) in try store.changes(after: cursor, limit: limit).enumerated() {
        if place == cut { return try apply(event, store) }
        try take(event, store)
        if event.change.isOfAll { return }
      }
    } catch StoreError.changesDropped { try reload(store) }
  }

  mutating func catchUp(_ store: SettingsStore) throws {
    while true {
      do {
        guard let event = try store.changes(after: cursor, limit: 1).first else { return }
        try take(event, store)
      } catch StoreError.changesDropped { try reload(store) }
    }
  }

  /// Reads what an entry names, and goes on behind it.
  mutating func take(_ event: ChangeEvent, _ store: SettingsStore) throws {
    try apply(event, store)
    if !event.change.isOfAll { cursor = event.cursor }
  }

  /// Reads what an entry names.
  mutating func apply(_ event: ChangeEvent, _ store: SettingsStore) throws {
    if event.change.isOfAll { return try reload(store) }
    switch (event.change, event.user, event.conversation) {
    case (.userRemoved, let user?, _):
      users[user] = nil
      displays[user] = nil
      members = members.filter { $0.key.user != user }
    case (.conversationRemoved, _, let id?):
      conversations[id] = nil
      members = members.filter { $0.key.conversation != id }
    case (_, let user?, let id?):
      members[.init(user: user, conversation: id)] = store.fanout.member(user, of: id)
    case (_, let user?, nil):
      users[user] = try store.reader.user(user)
      displays[user] = try store.pushDisplay(of: user)
    case (.template, _, _): templates = try store.reader.templates()
    case (_, nil, let id?): conversations[id] = store.fanout.conversation(id)
    case (_, nil, nil): app = try store.reader.app()
    }
  }

  /// What differs from a store; nil for nothing. Of what is there without settings it need not
  /// know.
  func difference(from store: SettingsStore) throws -> String? {
    let (settings, content, stored) = try store.reader.settingsWithContent()
    let names = ["t1", "t2"]
    if names.map({ templates[$0] }) != names.map({ stored[$0] }) { return "templates" }
    for id in Set(users.keys).union(displays.keys)
    where displays[id] ?? RecipientDisplay() != content.user(id) { return "display of \(id)" }
    return difference(from: settings)
  }

  private func difference(from settings: FanoutSettings) -> String? {
    if app != settings.app { return "app" }
    let ids = Set(users.keys).union(
      (0..<UInt32(settings.userCount)).map {
        settings.id(of: UserIndex($0))
      })
    for id in ids where users[id] ?? UserSettings() != settings.user(id) { return "user \(id)" }
    var stored: [OperationModel.Place: MemberSettings] = [:]
    for id in settings.conversationIDs {
      if conversations[id] ?? ConversationSettings() != settings.conversation(id) {
        return "conversation \(id)"
      }
      for index in settings.members(of: id) {
        let user = settings.id(of: index)
        stored[.init(user: user, conversation: id)] = settings.member(index, of: id)
      }
    }
    if members != stored {
      let keys = Set(members.keys).union(stored.keys).filter { members[$0] != stored[$0] }
      return "members \(keys)"
    }
    return nil
  }
}

extension Change {
  /// Whether it is of everything.
  fileprivate var isOfAll: Bool { [.imported, .advancedPush, .erased].contains(self) }
}
