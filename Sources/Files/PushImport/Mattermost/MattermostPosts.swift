internal import PushModel
internal import PushSupport

/// Makes messages of posts. The world is only read, so that several threads may do it at once.
struct MattermostPosts {
  /// What posts come to, to be added to the world in their order.
  struct Output: Sendable {
    /// The lines of messages, one after the other.
    var texts: [UInt8] = []
    var messages: [(first: Int64, range: Range<Int>)] = []
    var threads: [(channel: UInt32, line: Int, followers: Range<Int>)] = []
    var followers: [UInt32] = []
    var counts: [(kind: UnsaidKind, line: Int, person: UInt32?)] = []
  }

  private let world: ImportedWorld
  private let settings: MattermostSettings
  private(set) var output = Output()
  /// The author of the thread's root that was read last, as written; nil if that came from a webhook.
  private var rootAuthor: MattermostLines.Text?
  /// Of the thread that is read.
  private var seen: Set<UInt32> = []

  init(_ world: ImportedWorld, _ settings: MattermostSettings) {
    self.world = world
    self.settings = settings
  }

  private var rules: MattermostRules { settings.rules }

  /// Counts a post; its author is looked up for that alone.
  private mutating func count(
    _ kind: UnsaidKind, _ line: Int, _ post: MattermostPost, _ lines: MattermostLines
  ) {
    output.counts.append((kind, line, author(post, lines)))
  }

  private func author(_ post: MattermostPost, _ lines: MattermostLines) -> UInt32? {
    world.userNumber(lines.texts.span.extracting(post.author.range))
  }

  /// Adds a post, or a reply to the post that was added last.
  mutating func add(_ index: Int, of lines: MattermostLines, line number: Int) {
    let post = lines.posts[index]
    let texts = lines.texts.span
    guard let channel = world.conversationNumber(texts.extracting(post.conversation.range)) else {
      return count(.unknownRoom, number, post, lines)
    }
    if post.replyCount > 0 {
      rootAuthor = post.isWebhook ? nil : post.author
      addThread(index, lines, number, in: channel)
    }
    if post.isSystem { count(.systemPost, number, post, lines) }
    if post.isForced { count(.forceNotification, number, post, lines) }
    let start = output.texts.count
    output.texts.append("{\"id\":")
    world.append(number: number, post.reply, to: &output.texts)
    output.texts.append(",\"conversation\":")
    let room = texts.extracting(post.conversation.range)
    if post.reply > 0 {
      world.append(thread: number, of: room, to: &output.texts)
    } else {
      world.append(id: room, to: &output.texts)
    }
    if !post.isWebhook {
      output.texts.append(",\"sender\":")
      world.append(id: texts.extracting(post.author.range), to: &output.texts)
    }
    output.texts.append(",\"at\":")
    output.texts.appendDecimal(Int(post.at))
    if post.isSystem {
      output.texts.append(",\"silent\":true")
    } else {
      appendMentions(post, lines, channel, number)
      appendText(texts.extracting(post.text.range), channel)
    }
    if post.isForced { output.texts.append(",\"force\":true") }
    if post.reply > 0 {
      output.texts.append(",\"replyTo\":")
      world.append(number: number, to: &output.texts)
      if !rules.isCollapsed, let rootAuthor {
        output.texts.append(",\"replyToUser\":")
        world.append(id: texts.extracting(rootAuthor.range), to: &output.texts)
      }
    }
    output.texts.append("}\n")
    output.messages.append((post.at, start..<output.texts.count))
  }

  /// A post with replies has a thread, with records of who follows it (I-28).
  private mutating func addThread(
    _ index: Int, _ lines: MattermostLines, _ line: Int, in channel: UInt32
  ) {
    let post = lines.posts[index]
    let start = output.followers.count
    seen.removeAll(keepingCapacity: true)
    if rules.isCollapsed {
      for name in lines.followers[post.followers] { addFollower(name, lines, channel) }
    } else {
      for writing in lines.posts[index...(index + post.replyCount)]
      where !writing.isWebhook || writing.reply > 0 {
        addFollower(writing.author, lines, channel)
      }
    }
    output.threads.append((channel, line, start..<output.followers.count))
  }

  private mutating func addFollower(
    _ name: MattermostLines.Text, _ lines: MattermostLines, _ channel: UInt32
  ) {
    guard let user = world.userNumber(lines.texts.span.extracting(name.range)),
      world.isMember(user, of: channel), rules.isCollapsed || settings.hasCommentsAny(user),
      seen.insert(user).inserted
    else { return }
    output.followers.append(user)
  }

  private mutating func appendText(_ text: Span<UInt8>, _ channel: UInt32) {
    guard !text.isEmpty, world.wantsText(channel) else { return }
    if world.isWithoutTexts {
      let string = unsafe text.withUnsafeBufferPointer {
        unsafe String(decoding: $0, as: UTF8.self)
      }
      guard let words = world.keywords(in: string, of: channel) else { return }
      output.texts.append(",\"text\":")
      output.texts.appendJSON(words)
    } else {
      output.texts.append(",\"text\":")
      unsafe text.withUnsafeBytes { unsafe output.texts.appendJSON($0) }
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

  /// Looks the names up that may be mentions (I-26).
  private mutating func appendMentions(
    _ post: MattermostPost, _ lines: MattermostLines, _ channel: UInt32, _ number: Int
  ) {
    if post.candidates.isEmpty { return }
    var found = Mentions()
    for (text, dropsSigns) in lines.candidates[post.candidates] {
      var name = lines.texts[text.range].dropFirst()
      var isFound = find(name, in: channel, post, lines, &found)
      while !isFound, dropsSigns, let last = name.last, ":.-_".utf8.contains(last) {
        name.removeLast()
        isFound = find(name, in: channel, post, lines, &found)
      }
      if !isFound { found.isUnknown = true }
    }
    if found.isUnknown { count(.unknownMention, number, post, lines) }
    if found.here { count(.hereMention, number, post, lines) }
    if found.all, world.memberCount(channel) >= settings.mentionLimit {
      count(.tooManyForChannelMention, number, post, lines)
      found.all = false
    }
    if found.all, post.reply > 0, rules.isCollapsed {
      count(.channelMentionInThread, number, post, lines)
    }
    if found.users.count > OpenLimits.mentions {
      count(.mentionsDropped, number, post, lines)
      found.limit(to: OpenLimits.mentions)
    }
    world.append(mentions: found.users, all: found.all, to: &output.texts)
  }

  /// Looks a name up that stood behind `@`.
  private func find(
    _ name: ArraySlice<UInt8>, in channel: UInt32, _ post: MattermostPost, _ lines: MattermostLines,
    _ found: inout Mentions
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
    if settings.overlays.groups.isEmpty { return false }
    guard let members = settings.overlays.groups[String(decoding: name, as: UTF8.self)] else {
      return false
    }
    let author = author(post, lines)
    for name in members {
      guard let member = world.userNumber(name), member != author,
        world.isMember(member, of: channel)
      else { continue }
      found.add(member)
    }
    return true
  }
}
