internal import PushModel

/// Finds records that the rules do not allow; files would refuse them.
struct RecordJudge: RecordLookup {
  private(set) var rules = AppSettings().rules
  /// A bit for each level that the rules know.
  private var levels: UInt8 = 0
  /// Those that are no groups.
  private var conversations: [Identifier: ConversationSettings] = [:]
  private var parents: Set<Identifier> = []
  private var groupMembers: Set<[Identifier]> = []
  private var threadMembers: [(user: Identifier, thread: Identifier)] = []
  private var found: [String] = []
  /// So many are named.
  static var limit: Int { 20 }

  mutating func look(at app: AppSettings) {
    rules = app.rules
    levels = NotificationLevel.ofVendors.filter { $0.exists(under: rules) }
      .reduce(0) { $0 | 1 << $1.rawValue }
  }

  /// Whether a conversation's members may need more than a look at what they have set.
  func hasRelations(_ conversation: Identifier) -> Bool {
    conversations[conversation] != nil || parents.contains(conversation)
  }

  /// What is wrong, when all records were looked at.
  var findings: [String] {
    let rules = CrossRecordRules(self)
    var found = found
    for (id, settings) in conversations.sorted(by: { $0.key.text < $1.key.text }) {
      // A parent that is missing is a number that leads nowhere.
      switch rules.problem(of: id, settings) {
      case .parentNotGroup(_, let parent, let kind), .parentWithoutThreads(_, let parent, let kind):
        found.append("thread \"\(id)\" has the parent \"\(parent)\", which is a \(kind.rawValue)")
      default: break
      }
    }
    for (user, thread) in threadMembers {
      guard let parent = conversations[thread]?.parent else {
        found.append("\"\(user)\" has settings in thread \"\(thread)\", which has no parent")
        continue
      }
      guard
        rules.parentProblem(of: user, inThread: thread, below: parent) != nil
      else { continue }
      found.append("\"\(user)\" has settings in thread \"\(thread)\" but is not in \"\(parent)\"")
    }
    return Array(found.prefix(Self.limit))
  }

  func conversation(_ id: Identifier) -> ConversationSettings? { conversations[id] }

  func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    groupMembers.contains([user, conversation])
  }

  private mutating func report(_ text: String) {
    if found.count < Self.limit { found.append(text) }
  }

  private mutating func check(_ level: NotificationLevel, _ whose: @autoclosure () -> String) {
    if !level.exists(under: rules) {
      report("\(whose()) has level \(level.name), which \(rules.rawValue) does not know")
    }
  }

  private mutating func check(_ fields: VendorFields, _ whose: @autoclosure () -> String) {
    if let owner = RuleSet.owner(of: fields.subtracting(rules.fields)) {
      report("\(whose()) has settings of \(owner.rawValue)")
    }
  }

  mutating func look(at id: Identifier, _ user: UserSettings) {
    check(user.level, "user \"\(id)\"")
    check(user.vendorFields, "user \"\(id)\"")
    let devices = user.devices ?? []
    if Set(devices.map(\.id)).count < devices.count {
      report("user \"\(id)\" has two devices of one id")
    }
  }

  mutating func look(at id: Identifier, _ settings: ConversationSettings) {
    if settings.kind != .group { conversations[id] = settings }
    if let parent = settings.parent { parents.insert(parent) }
    let kind = settings.kind
    if !kind.exists(under: rules) {
      report("\"\(id)\" is a \(kind.rawValue), which \(rules.rawValue) does not know")
    }
    let mayLackParent = rules.fields.contains(.threadWithoutParent)
    if kind == .thread ? !mayLackParent && settings.parent == nil : settings.parent != nil {
      report("\"\(id)\" is a \(kind.rawValue) with\(kind == .thread ? "out" : "") a parent")
    }
    check(settings.level, "\"\(id)\"")
    let hasLevel =
      kind == .ultraGroup
      || rules.fields.contains(.groupLevel) && rules.threadParents.contains(kind)
    if !hasLevel && settings.level.isSet || kind != .ultraGroup && !settings.channels.isEmpty {
      let what =
        rules.fields.contains(.groupLevel) ? "a default level" : "an ultra group's defaults"
      report("\"\(id)\" is a \(kind.rawValue) with \(what)")
    }
  }

  /// Whether a member of a conversation without relations needs no more than a look at what is set:
  /// nearly all have at most a level.
  @inline(__always)
  func isPlain(_ member: MemberSettings) -> Bool {
    levels >> member.level.rawValue & 1 != 0 && member.mutedUntil == .zero
      && member.channels.isEmpty && !member.hasOpenFields
  }

  mutating func look(
    at user: Identifier, _ conversation: Identifier, _ member: MemberSettings
  ) {
    let kind = conversations[conversation]?.kind ?? .group
    if parents.contains(conversation) { groupMembers.insert([user, conversation]) }
    if kind == .thread { threadMembers.append((user: user, thread: conversation)) }
    check(member.level, "\"\(user)\" in \"\(conversation)\"")
    check(member.vendorFields.subtracting(.channels), "\"\(user)\" in \"\(conversation)\"")
    if CrossRecordRules<Self>.sinceProblem(of: user, in: conversation, kind, member) != nil {
      report("\"\(user)\" in thread \"\(conversation)\" has a since")
    }
    if CrossRecordRules<Self>.channelProblem(of: user, in: conversation, kind, member) != nil {
      report("\"\(user)\" in \"\(conversation)\" has channels outside an ultra group")
    }
    switch CrossRecordRules<Self>.threadProblem(of: user, in: conversation, kind, member) {
    case .followOutsideThread:
      report("\"\(user)\" follows \"\(conversation)\", which is not a thread")
    case .rolesInThread: report("\"\(user)\" has roles in thread \"\(conversation)\"")
    default: break
    }
  }
}
