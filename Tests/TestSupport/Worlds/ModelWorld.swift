package import PushFanout
package import PushModel

/// Settings as a test keeps them beside an engine: plain records, from which ``FanoutSettings`` are
/// built anew with the same order of users.
package struct ModelWorld {
  package struct Place: Hashable {
    package var user: Identifier
    package var conversation: Identifier
  }

  package var app: AppSettings
  /// In the order in which ids first appeared.
  package private(set) var users: [Identifier] = []
  private var known: Set<Identifier> = []
  package private(set) var declared: [Identifier: UserSettings] = [:]
  package private(set) var conversations: [Identifier: ConversationSettings] = [:]
  package private(set) var members: [Place: MemberSettings] = [:]

  package init(_ world: RandomWorld) {
    app = world.app
    for step in world.steps {
      switch step {
      case .app(let app): self.app = app
      case .user(let id, let user): setUser(id, user)
      case .conversation(let id, let conversation): setConversation(id, conversation)
      case .member(let user, let conversation, let member, _):
        setMember(user, of: conversation, member)
      }
    }
  }

  private mutating func name(_ user: Identifier) {
    if known.insert(user).inserted { users.append(user) }
  }

  package mutating func setUser(_ id: Identifier, _ user: UserSettings) {
    name(id)
    declared[id] = user
  }

  package mutating func setConversation(_ id: Identifier, _ conversation: ConversationSettings) {
    conversations[id] = conversation
  }

  package mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings
  ) {
    name(user)
    if conversations[conversation] == nil { conversations[conversation] = ConversationSettings() }
    members[Place(user: user, conversation: conversation)] = member
  }

  package mutating func removeMember(_ place: Place) { members[place] = nil }

  /// Memberships in an order that is the same in every run.
  package var places: [Place] {
    members.keys.sorted {
      ($0.conversation.text, $0.user.text) < ($1.conversation.text, $1.user.text)
    }
  }

  package var settings: FanoutSettings {
    var settings = FanoutSettings(app: app)
    for user in users {
      if let own = declared[user] {
        settings.setUser(user, own)
      } else {
        // Only a membership names somebody without declaring anything.
        settings.setMember(user, of: "names")
      }
    }
    for (id, conversation) in conversations { settings.setConversation(id, conversation) }
    for user in users {
      for id in conversations.keys {
        if let member = members[Place(user: user, conversation: id)] {
          settings.setMember(user, of: id, member)
        }
      }
    }
    return settings
  }

  /// Where the records an engine gives back are others than these; nil when they are the same.
  package func disagreement(with fanout: Fanout) -> String? {
    if fanout.app != app { return "app" }
    if fanout.userCount != users.count { return "\(fanout.userCount) users, not \(users.count)" }
    if let user = users.first(where: { fanout.user($0) != declared[$0] ?? UserSettings() }) {
      return "user \(user)"
    }
    if let id = conversations.keys.first(where: { fanout.conversation($0) != conversations[$0] }) {
      return "conversation \(id)"
    }
    for user in users {
      for id in conversations.keys {
        let place = Place(user: user, conversation: id)
        if fanout.member(user, of: id) != members[place] { return "member \(user) of \(id)" }
      }
    }
    return nil
  }
}

/// One change of settings, for a model and for an engine.
package enum RandomChange {
  case user(Identifier, UserSettings)
  case userUpdate(Identifier, UserSettings)
  case member(ModelWorld.Place, MemberSettings)
  case memberUpdate(ModelWorld.Place, MemberSettings)
  case removal(ModelWorld.Place)
  case conversation(Identifier, ConversationSettings)
  case app(AppSettings)

  package func apply(to model: inout ModelWorld) {
    switch self {
    case .user(let id, let user), .userUpdate(let id, let user): model.setUser(id, user)
    case .member(let place, let member), .memberUpdate(let place, let member):
      model.setMember(place.user, of: place.conversation, member)
    case .removal(let place): model.removeMember(place)
    case .conversation(let id, let conversation): model.setConversation(id, conversation)
    case .app(let app): model.app = app
    }
  }

  package func apply(to update: inout FanoutUpdate) throws(FanoutError) {
    switch self {
    case .user(let id, let user): try update.setUser(id, user)
    case .userUpdate(let id, let user): try update.updateUser(id) { $0 = user }
    case .member(let place, let member):
      try update.setMember(place.user, of: place.conversation, member)
    case .memberUpdate(let place, let member):
      try update.updateMember(place.user, of: place.conversation) { $0 = member }
    case .removal(let place): try update.removeMember(place.user, of: place.conversation)
    case .conversation(let id, let conversation): try update.setConversation(id, conversation)
    case .app(let app): try update.setApp(app)
    }
  }
}

extension RandomWorld {
  /// A change that a model can take, drawn from what worlds are made of.
  package mutating func change(of model: ModelWorld, changesApp: Bool) -> RandomChange {
    let newUser = Identifier("new-\(random.next() % 1000)")
    let user = random.chance(20) ? newUser : random.pick(model.users)
    let place = random.pick(model.places)
    let kinds = model.conversations.keys.sorted { $0.text < $1.text }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20: return .user(user, userSettings())
    case 20..<40: return .userUpdate(random.pick(model.users), userSettings())
    case 40..<60:
      let to = ModelWorld.Place(user: user, conversation: random.pick(kinds))
      return .member(to, memberSettings(model, to))
    case 60..<78: return .memberUpdate(place, memberSettings(model, place))
    case 78..<90: return .removal(place)
    case 90..<97 where !changesApp, 90..<96:
      let id = random.pick(kinds.filter { model.conversations[$0]?.kind != .thread })
      guard var conversation = model.conversations[id] else { break }
      if conversation.kind == .ultraGroup {
        conversation.level = level()
        conversation.channels = random.chance(50) ? ["a": level()] : [:]
      } else if conversation.kind != .group {
        conversation.kind = random.pick([.private, .room])
      }
      return .conversation(id, conversation)
    default: break
    }
    guard changesApp else { return .member(place, MemberSettings()) }
    var app = Self.app(rules, &random)
    swap(&app, &self.app)
    varyApp()
    swap(&app, &self.app)
    return .app(app)
  }

  private mutating func memberSettings(
    _ model: ModelWorld, _ place: ModelWorld.Place
  ) -> MemberSettings {
    var member = MemberSettings(level: level())
    let kind = model.conversations[place.conversation]?.kind
    if rules == .easemob, random.chance(40) { member.mutedUntil = variedInstant() }
    if kind != .thread, random.chance(20) { member.since = variedInstant() }
    if kind == .ultraGroup, random.chance(50) { member.channels = ["a": level()] }
    return member
  }
}
