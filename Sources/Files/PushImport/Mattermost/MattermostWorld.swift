internal import PushModel
internal import PushSupport

/// Makes the world of an export's lines, in their order.
final class MattermostWorld {
  private let world: ImportedWorld
  private let rules: MattermostRules
  private let mentionLimit: Int
  private let overlays: MattermostOverlays
  private let isZone: (String) -> Bool
  private var people: [Person] = []
  private var bots: Set<String> = []
  private var archived: Set<UInt32> = []
  private var groups: [String: [UInt32]] = [:]
  /// The thread of the post that was read last.
  private var thread: Thread?
  private var sequence: UInt64 = 0
  private var line: [UInt8] = []
  var file = ""

  /// What later lines ask of a person.
  private struct Person: BitwiseCopyable {
    let props: MattermostPushProps
    let isDeactivated: Bool
  }

  private struct Thread {
    let number: UInt32
    /// The author of the root, as written; nil if that came from a webhook.
    let author: [UInt8]?
  }

  init(
    _ world: ImportedWorld, _ options: MattermostOptions, _ overlays: MattermostOverlays,
    zones: @escaping (String) -> Bool
  ) {
    self.world = world
    rules = MattermostRules(isCollapsed: options.collapsesThreads)
    mentionLimit = options.mentionLimit
    self.overlays = overlays
    isZone = zones
  }

  /// The id of a direct channel, and how many people are in it (I-20).
  static func directID(_ names: [String]) -> (id: String, count: Int) {
    let sorted = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return ("@" + sorted.joined(separator: ","), sorted.count)
  }

  func add(_ lines: MattermostLines) throws(ImportProblem) {
    for (index, (record, line)) in lines.records.enumerated() {
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
      case .post(let post): try add(post, index, lines, line)
      case .unknown: count(.unknownRecord, line)
      }
    }
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
    let overlay = overlays.users[user.name]
    let props = user.props.overlaid(with: overlay?.props ?? MattermostUserProps())
    let person = Person(props: props.push, isDeactivated: user.isDeactivated)
    if Int(number) < people.count { people[Int(number)] = person } else { people.append(person) }
    var record = ImportedUser()
    record.level = rules.level(props.push)
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
      let props = overlays.members[[id, user.name]].map { own.overlaid(with: $0) } ?? own
      add(number, to: channel, props, isLargeDirect: false, line)
    }
  }

  private func add(
    _ user: UInt32, to channel: UInt32, _ props: MattermostMemberProps, isLargeDirect: Bool,
    _ line: Int
  ) {
    let person = people[Int(user)]
    count(.unknownValue, props.unknownValues, line, user)
    world.setMember(
      user, of: channel,
      rules.member(props, of: person.props, isLargeDirect: isLargeDirect))
  }

  private func addDirect(_ members: [(name: String, props: MattermostMemberProps)], _ line: Int) {
    let (id, size) = Self.directID(members.map(\.name))
    let channel = world.conversation(id, .private)
    for (name, props) in members {
      guard let user = world.userNumber(name) else {
        if !bots.contains(name) { count(.unknownRecipient, line) }
        continue
      }
      if people[Int(user)].isDeactivated { continue }
      add(user, to: channel, props, isLargeDirect: size >= 3, line)
    }
  }

  // MARK: Posts

  private func add(
    _ post: MattermostPost, _ index: Int, _ lines: MattermostLines, _ number: Int
  ) throws(ImportProblem) {
    let texts = lines.texts.span
    let author = world.userNumber(texts.extracting(post.author.range))
    guard let channel = world.conversationNumber(texts.extracting(post.conversation.range)) else {
      return count(.unknownRoom, number, author)
    }
    if post.reply == 0 {
      thread = nil
      if post.replyCount > 0 { addThread(post, index, lines, number, in: channel) }
    }
    let isInThread = post.reply > 0 && thread != nil
    if post.isSystem { count(.systemPost, number, author) }
    if post.isForced { count(.forceNotification, number, author) }
    line.removeAll(keepingCapacity: true)
    line.append("{\"id\":")
    world.append(id: Self.id(number, post.reply).span, to: &line)
    line.append(",\"conversation\":")
    world.append(conversation: isInThread ? thread!.number : channel, to: &line)
    if !post.isWebhook {
      line.append(",\"sender\":")
      world.append(id: texts.extracting(post.author.range), to: &line)
    }
    line.append(",\"at\":")
    line.appendDecimal(Int(post.at))
    if post.isSystem {
      line.append(",\"silent\":true")
    } else {
      appendMentions(post, lines, channel, author, number)
      appendText(texts.extracting(post.text.range), channel)
    }
    if post.isForced { line.append(",\"force\":true") }
    if isInThread {
      line.append(",\"replyTo\":")
      world.append(id: Self.id(number, 0).span, to: &line)
      if !rules.isCollapsed, let author = thread?.author {
        line.append(",\"replyToUser\":")
        world.append(id: author.span, to: &line)
      }
    }
    line.append("}\n")
    sequence += 1
    try world.messages.add(RunSorter.Key(first: post.at, second: sequence), line)
  }

  /// `LINE`, or `LINE.n` of a reply (I-20).
  private static func id(_ line: Int, _ reply: Int) -> [UInt8] {
    var id: [UInt8] = []
    id.appendDecimal(line)
    if reply > 0 {
      id.append(UInt8(ascii: "."))
      id.appendDecimal(reply)
    }
    return id
  }

  /// A post with replies has a thread, with records of who follows it (I-28).
  private func addThread(
    _ post: MattermostPost, _ index: Int, _ lines: MattermostLines, _ line: Int, in channel: UInt32
  ) {
    let author = lines.texts[post.author.range]
    let thread = world.thread(channel, line)
    self.thread = Thread(number: thread, author: post.isWebhook ? nil : Array(author))
    var names: [MattermostLines.Text] = []
    if rules.isCollapsed {
      names = Array(lines.followers[post.followers])
    } else {
      for (record, _) in lines.records[index...(index + post.replyCount)] {
        guard case .post(let writing) = record, !writing.isWebhook || writing.reply > 0 else {
          continue
        }
        names.append(writing.author)
      }
    }
    var seen: Set<UInt32> = []
    for name in names {
      guard let user = world.userNumber(lines.texts.span.extracting(name.range)),
        world.isMember(user, of: channel),
        rules.isCollapsed || people[Int(user)].props.comments == .any, seen.insert(user).inserted
      else { continue }
      world.addMember(
        user, ofThread: thread, ImportedMember(follows: rules.isCollapsed ? true : nil))
    }
  }

  private func appendText(_ text: Span<UInt8>, _ channel: UInt32) {
    guard !text.isEmpty, world.wantsText(channel) else { return }
    if world.isWithoutTexts {
      let string = unsafe text.withUnsafeBufferPointer {
        unsafe String(decoding: $0, as: UTF8.self)
      }
      guard let words = world.keywords(in: string, of: channel) else { return }
      line.append(",\"text\":")
      line.appendJSON(words)
    } else {
      line.append(",\"text\":")
      unsafe text.withUnsafeBytes { unsafe line.appendJSON($0) }
    }
  }

  // MARK: Mentions

  private struct Mentions {
    private(set) var users: [UInt32] = []
    private var known: Set<UInt32> = []
    var (all, here, isUnknown) = (false, false, false)

    mutating func add(_ user: UInt32) {
      if known.insert(user).inserted { users.append(user) }
    }

    /// Keeps the first.
    mutating func limit(to count: Int) { users.removeLast(users.count - count) }
  }

  private func appendMentions(
    _ post: MattermostPost, _ lines: MattermostLines, _ channel: UInt32, _ author: UInt32?,
    _ number: Int
  ) {
    if post.candidates.isEmpty { return }
    var found = Mentions()
    for (text, dropsSigns) in lines.candidates[post.candidates] {
      var name = lines.texts[text.range].dropFirst()
      var isFound = find(name, in: channel, author, &found)
      while !isFound, dropsSigns, let last = name.last, ":.-_".utf8.contains(last) {
        name.removeLast()
        isFound = find(name, in: channel, author, &found)
      }
      if !isFound { found.isUnknown = true }
    }
    if found.isUnknown { count(.unknownMention, number, author) }
    if found.here { count(.hereMention, number, author) }
    if found.all, world.memberCount(channel) >= mentionLimit {
      count(.tooManyForChannelMention, number, author)
      found.all = false
    }
    if found.all, post.reply > 0, rules.isCollapsed {
      count(.channelMentionInThread, number, author)
    }
    if found.users.count > OpenLimits.mentions {
      count(.mentionsDropped, number, author)
      found.limit(to: OpenLimits.mentions)
    }
    if !found.users.isEmpty {
      line.append(",\"mentions\":[")
      for (index, user) in found.users.enumerated() {
        if index > 0 { line.append(UInt8(ascii: ",")) }
        world.append(user: user, to: &line)
      }
      line.append("]")
    }
    if found.all { line.append(",\"mentionsAll\":true") }
  }

  /// Looks a name up that stood behind `@`.
  private func find(
    _ name: ArraySlice<UInt8>, in channel: UInt32, _ author: UInt32?, _ found: inout Mentions
  ) -> Bool {
    switch name.count {
    case 3 where name.elementsEqual("all".utf8), 7 where name.elementsEqual("channel".utf8):
      found.all = true
      return true
    case 4 where name.elementsEqual("here".utf8):
      found.here = true
      return true
    default: break
    }
    if let user = world.userNumber(name.span), world.isMember(user, of: channel) {
      found.add(user)
      return true
    }
    if overlays.groups.isEmpty { return false }
    guard let members = group(String(decoding: name, as: UTF8.self)) else { return false }
    for member in members where member != author && world.isMember(member, of: channel) {
      found.add(member)
    }
    return true
  }

  private func group(_ name: String) -> [UInt32]? {
    if let known = groups[name] { return known }
    guard let names = overlays.groups[name] else { return nil }
    var seen: Set<UInt32> = []
    let members = names.compactMap { world.userNumber($0) }.filter { seen.insert($0).inserted }
    groups[name] = members
    return members
  }
}
