internal import PushModel
internal import PushSupport

/// Makes the world of an export's lines, in their order.
///
/// SAFETY: while threads look up the channels of users, only users are added; while they make
/// messages of posts, only posts (``ParallelReading``).
final class MattermostWorld: @unchecked Sendable {
  private let world: ImportedWorld
  let settings: MattermostSettings
  private var bots: Set<String> = []
  private var archived: Set<UInt32> = []
  private var sequence: UInt64 = 0
  var file = ""

  init(_ world: ImportedWorld, _ settings: MattermostSettings) {
    self.world = world
    self.settings = settings
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
      case .user(let index): add(lines.users[index], of: lines, line)
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

  /// Appends what a person's record says behind the id.
  func append(_ record: ImportedUser, to text: inout [UInt8]) {
    world.append(record, to: &text)
  }

  /// Where a channel is, by the lines that were added.
  func channel(_ id: Span<UInt8>) -> MattermostMembership.Channel {
    guard let channel = world.conversationNumber(id) else { return .unknown }
    return archived.contains(channel) ? .archived : .found(channel)
  }

  private func add(_ user: MattermostUser, of lines: MattermostLines, _ line: Int) {
    let number = world.user(user.name)
    settings.setPerson(number, user.push, isDeactivated: user.isDeactivated)
    world.setUser(number, lines.texts[user.record.range], user.keywords)
    for (kind, times) in lines.counts[user.counts] { count(kind, times, line, number) }
    for membership in lines.memberships[user.memberships] {
      var place = membership.channel
      if case .named(let id) = place { place = channel(lines.texts.span.extracting(id.range)) }
      switch place {
      case .found(let channel):
        count(.unknownValue, membership.unknownValues, line, number)
        world.setMember(number, of: channel, membership.record)
      case .unknown: count(.unknownRoom, line, number)
      case .archived, .named: break
      }
    }
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
      count(.unknownValue, props.unknownValues, line, user)
      world.setMember(
        user, of: channel,
        settings.rules.member(
          props, of: settings.people[Int(user)].props, isLargeDirect: size >= 3))
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
    try world.messages.add(posts.messages, of: posts.texts, from: &sequence)
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
