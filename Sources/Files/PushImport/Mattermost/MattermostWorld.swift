internal import PushModel
internal import PushSupport

/// Makes the world of an export's lines, in their order.
///
/// SAFETY: while threads make messages of posts, which only read it, nothing else is added
/// (``MattermostReading``).
final class MattermostWorld: @unchecked Sendable {
  private let world: ImportedWorld
  private let settings: MattermostSettings
  private let isZone: (String) -> Bool
  private var bots: Set<String> = []
  private var archived: Set<UInt32> = []
  private var sequence: UInt64 = 0
  var file = ""

  init(
    _ world: ImportedWorld, _ settings: MattermostSettings, zones: @escaping (String) -> Bool
  ) {
    self.world = world
    self.settings = settings
    isZone = zones
  }

  /// The id of a direct channel, and how many people are in it (I-20).
  static func directID(_ names: [String]) -> (id: String, count: Int) {
    let sorted = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return ("@" + sorted.joined(separator: ","), sorted.count)
  }

  func add(_ lines: MattermostLines) throws(ImportProblem) {
    var posts: MattermostPosts?
    for (record, line) in lines.records {
      if case .post(let index) = record {
        if posts == nil { posts = MattermostPosts(world, settings) }
        posts?.add(index, of: lines, line: line)
        continue
      }
      if let made = posts?.output { try add(made) }
      posts = nil
      switch record {
      case .user(let user): add(user, line)
      case .channel(let id, let isArchived):
        let channel = world.conversation(id, .group)
        if isArchived {
          archived.insert(channel)
          count(.archivedChannel, line)
        }
      case .bot(let name):
        bots.insert(name)
        count(.bot, line)
      case .direct(let members): addDirect(members, line)
      case .post: break
      case .unknown: count(.unknownRecord, line)
      }
    }
    if let made = posts?.output { try add(made) }
  }

  private func count(_ kind: UnsaidKind, _ line: Int, _ person: UInt32? = nil) {
    world.report.count(kind, person: person, "\(file):\(line)")
  }

  private func count(_ kind: UnsaidKind, _ number: Int, _ line: Int, _ person: UInt32?) {
    for _ in 0..<number { count(kind, line, person) }
  }

  // MARK: Settings

  private func add(_ user: MattermostUser, _ line: Int) {
    let number = world.user(user.name)
    let overlay = settings.overlays.users[user.name]
    let props = user.props.overlaid(with: overlay?.props ?? MattermostUserProps())
    settings.setPerson(number, props.push, isDeactivated: user.isDeactivated)
    var record = ImportedUser()
    record.level = settings.rules.level(props.push)
    let keywords = MattermostRules.keywords(
      props, name: user.name, firstName: overlay?.firstName ?? user.firstName)
    record.keywords = keywords.kept
    record.mutedUntil = overlay?.mutedUntil ?? 0
    if let zone = overlay?.timeZone {
      if isZone(zone) { record.timeZone = zone } else { count(.unknownValue, line, number) }
    }
    world.setUser(number, record)
    count(.unknownValue, props.unknownValues, line, number)
    if user.isDeactivated { return count(.deactivatedUser, line, number) }
    count(.keywordNeverMatches, keywords.neverMatches, line, number)
    count(.keywordInexact, keywords.inexact, line, number)
    count(.keywordDropped, keywords.dropped, line, number)
    if let status = props.status { count(.pushStatus(status), line, number) }
    if overlay == nil { count(.notInExport, line, number) }
    for (id, own) in user.channels {
      guard let channel = world.conversationNumber(id.utf8Span.span) else {
        count(.unknownRoom, line, number)
        continue
      }
      if archived.contains(channel) { continue }
      let props = settings.overlays.members[[id, user.name]].map { own.overlaid(with: $0) } ?? own
      add(number, to: channel, props, isLargeDirect: false, line)
    }
  }

  private func add(
    _ user: UInt32, to channel: UInt32, _ props: MattermostMemberProps, isLargeDirect: Bool,
    _ line: Int
  ) {
    let person = settings.people[Int(user)]
    count(.unknownValue, props.unknownValues, line, user)
    world.setMember(
      user, of: channel,
      settings.rules.member(props, of: person.props, isLargeDirect: isLargeDirect))
  }

  private func addDirect(_ members: [(name: String, props: MattermostMemberProps)], _ line: Int) {
    let (id, size) = Self.directID(members.map(\.name))
    let channel = world.conversation(id, .private)
    for (name, props) in members {
      guard let user = world.userNumber(name) else {
        if !bots.contains(name) { count(.unknownRecipient, line) }
        continue
      }
      if settings.people[Int(user)].isDeactivated { continue }
      add(user, to: channel, props, isLargeDirect: size >= 3, line)
    }
  }

  // MARK: Posts

  /// Makes messages of a piece in which there is nothing but posts.
  func posts(of lines: MattermostLines) -> MattermostPosts.Output {
    var posts = MattermostPosts(world, settings)
    for (record, line) in lines.records {
      if case .post(let index) = record { posts.add(index, of: lines, line: line) }
    }
    return posts.output
  }

  func add(_ posts: MattermostPosts.Output) throws(ImportProblem) {
    for (kind, line, person) in posts.counts { count(kind, line, person) }
    for (channel, line, followers) in posts.threads {
      let thread = world.thread(channel, line)
      let record = ImportedMember(follows: settings.rules.isCollapsed ? true : nil)
      for user in posts.followers[followers] { world.addMember(user, ofThread: thread, record) }
    }
    for (at, range) in posts.messages {
      sequence += 1
      try world.messages.add(RunSorter.Key(first: at, second: sequence), posts.texts[range])
    }
  }
}

/// What posts are read with.
final class MattermostSettings {
  let rules: MattermostRules
  let mentionLimit: Int
  let overlays: MattermostOverlays
  fileprivate var people: [Person] = []

  /// What later lines ask of a person.
  fileprivate struct Person: BitwiseCopyable {
    let props: MattermostPushProps
    let isDeactivated: Bool
  }

  init(_ options: MattermostOptions) throws(ImportProblem) {
    rules = MattermostRules(isCollapsed: options.collapsesThreads)
    mentionLimit = options.mentionLimit
    overlays = try MattermostOverlays(options)
  }

  /// People are numbered from 0 in the order in which they come.
  fileprivate func setPerson(
    _ number: UInt32, _ props: MattermostPushProps, isDeactivated: Bool
  ) {
    let person = Person(props: props, isDeactivated: isDeactivated)
    if Int(number) < people.count { people[Int(number)] = person } else { people.append(person) }
  }

  func hasCommentsAny(_ user: UInt32) -> Bool { people[Int(user)].props.comments == .any }
}
