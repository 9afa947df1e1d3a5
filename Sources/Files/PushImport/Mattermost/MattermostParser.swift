internal import PushModel

/// Reads lines of an export. Each thread has one.
struct MattermostParser {
  private let world: MattermostWorld
  private let findsChannels: Bool
  private var lines = MattermostLines()
  private var text = MattermostText()
  /// Of the user who is read.
  private var channels: [(id: MattermostLines.Text, props: MattermostMemberProps)] = []

  private init(_ world: MattermostWorld, findsChannels: Bool) {
    self.world = world
    self.findsChannels = findsChannels
  }

  /// The records of a piece.
  ///
  /// - Parameter findsChannels: whether the channels of users are looked up. No channel is added
  ///   meanwhile.
  static func parse(
    _ piece: InputPiece, _ reader: JSONReader, _ world: MattermostWorld, findsChannels: Bool
  ) -> Result<MattermostLines, ImportProblem> {
    var parser = MattermostParser(world, findsChannels: findsChannels)
    do throws(ImportProblem) {
      try unsafe piece.forEachLine { (line, number) throws(ImportProblem) in
        var node: JSONNode?
        do throws(RecordProblem) {
          let object = try unsafe reader.parseObject(line)
          node = object
          try parser.read(object, number)
        } catch {
          let person = node.flatMap { Self.person($0) }.map { "the person \"\($0)\": " } ?? ""
          throw ImportProblem(piece.file, line: number, person + error.text)
        }
      }
    } catch {
      return .failure(error)
    }
    return .success(parser.lines)
  }

  /// The person whom a line names, if it does.
  private static func person(_ line: JSONNode) -> String? {
    for (_, value) in line.fields where value.isObject {
      if let name = (value["username"] ?? value["user"])?.string, !name.isEmpty { return name }
    }
    return nil
  }

  private mutating func read(_ line: JSONNode, _ number: Int) throws(RecordProblem) {
    guard let type = line["type"] else { throw .missing("type") }
    let name = try type.text("type")
    func record(_ name: StaticString) throws(RecordProblem) -> JSONNode {
      guard let value = line[name] else { throw .missing("\(name)") }
      return try value.object("\(name)")
    }
    let found: MattermostLines.Record
    switch name {
    case "user":
      try addUser(try record("user"))
      found = .user(lines.users.count - 1)
    case "channel": found = try channel(try record("channel"))
    case "direct_channel": found = .direct(try participants(try record("direct_channel")))
    case "post":
      try addPost(try record("post"), number, isDirect: false)
      return
    case "direct_post":
      try addPost(try record("direct_post"), number, isDirect: true)
      return
    case "bot":
      let bot = try record("bot")
      guard let name = bot["username"] else { throw .missing("username") }
      found = .bot(try name.id("username"))
    case "version", "team", "role", "scheme", "emoji": return
    default: found = .unknown
    }
    lines.records.append((found, number))
  }

  // MARK: Settings

  private func channel(_ node: JSONNode) throws(RecordProblem) -> MattermostLines.Record {
    var (team, name, isArchived): (String?, String?, Bool) = (nil, nil, false)
    for (key, value) in node.fields {
      switch key {
      case "team": team = try value.id("team")
      case "name": name = try value.id("name")
      case "deleted_at": isArchived = try value.whole("deleted_at") > 0
      default: break
      }
    }
    guard let team else { throw .missing("team") }
    guard let name else { throw .missing("name") }
    return .channel("\(team)/\(name)", isArchived: isArchived)
  }

  private mutating func addUser(_ node: JSONNode) throws(RecordProblem) {
    var (name, firstName, isDeactivated) = ("", "", false)
    var props = MattermostUserProps()
    channels.removeAll(keepingCapacity: true)
    for (key, value) in node.fields {
      switch key {
      case "username": name = try value.id("username")
      case "first_name": firstName = try value.text("first_name")
      case "delete_at": isDeactivated = try value.whole("delete_at") > 0
      case "notify_props":
        props = try MattermostUserProps(try value.object("notify_props"))
      case "teams":
        for team in try value.array("teams") { try addChannels(team) }
      default: break
      }
    }
    if name.isEmpty { throw .missing("username") }
    addUser(name, firstName, isDeactivated: isDeactivated, props)
  }

  private mutating func addChannels(_ node: JSONNode) throws(RecordProblem) {
    guard let name = try node.object("teams")["name"] else { throw .missing("teams.name") }
    let team = try unsafe name.idBytes("teams.name")
    guard let found = node["channels"] else { return }
    for channel in try found.array("channels") {
      guard let name = try channel.object("channels")["name"] else {
        throw .missing("channels.name")
      }
      var props = MattermostMemberProps()
      if let value = channel["notify_props"] {
        props = try MattermostMemberProps(try value.object("notify_props"))
      }
      let id = try unsafe name.idBytes("channels.name")
      channels.append((unsafe lines.add(team, id), props))
    }
  }

  private mutating func addUser(
    _ name: String, _ firstName: String, isDeactivated: Bool, _ own: MattermostUserProps
  ) {
    let settings = world.settings
    let overlay = settings.overlays.users[name]
    let props = overlay.map { own.overlaid(with: $0.props) } ?? own
    let keywords = MattermostRules.keywords(
      props, name: name, firstName: overlay?.firstName ?? firstName)
    var record = ImportedUser()
    record.level = settings.rules.level(props.push)
    record.keywords = keywords.kept
    record.mutedUntil = overlay?.mutedUntil ?? 0
    var unknownValues = props.unknownValues
    if let zone = overlay?.timeZone {
      if ImportRun.isZone(zone) { record.timeZone = zone } else { unknownValues += 1 }
    }
    let (counted, first) = (lines.counts.count, lines.memberships.count)
    count(.unknownValue, unknownValues)
    if isDeactivated {
      count(.deactivatedUser, 1)
    } else {
      count(.keywordNeverMatches, keywords.neverMatches)
      count(.keywordInexact, keywords.inexact)
      count(.keywordDropped, keywords.dropped)
      if let status = props.status { count(.pushStatus(status), 1) }
      if overlay == nil { count(.notInExport, 1) }
      for (id, own) in channels { addMembership(id, own, name, props.push) }
    }
    let start = lines.texts.count
    world.append(record, to: &lines.texts)
    lines.users.append(
      MattermostUser(
        name: name, isDeactivated: isDeactivated, push: props.push, keywords: keywords.kept,
        record: lines.text(from: start), counts: counted..<lines.counts.count,
        memberships: first..<lines.memberships.count))
  }

  private mutating func count(_ kind: UnsaidKind, _ count: Int) {
    if count > 0 { lines.counts.append((kind, count)) }
  }

  private mutating func addMembership(
    _ id: MattermostLines.Text, _ own: MattermostMemberProps, _ user: String,
    _ push: MattermostPushProps
  ) {
    let settings = world.settings
    var props = own
    if !settings.overlays.members.isEmpty {
      let channel = String(decoding: lines.texts[id.range], as: UTF8.self)
      if let overlay = settings.overlays.members[[channel, user]] {
        props = own.overlaid(with: overlay)
      }
    }
    lines.memberships.append(
      MattermostMembership(
        channel: findsChannels ? world.channel(lines.texts.span.extracting(id.range)) : .named(id),
        record: settings.rules.member(props, of: push, isLargeDirect: false),
        unknownValues: props.unknownValues))
  }

  /// Older versions name the members alone.
  private func participants(
    _ node: JSONNode
  ) throws(RecordProblem) -> [(name: String, props: MattermostMemberProps)] {
    var found: [(name: String, props: MattermostMemberProps)] = []
    if let participants = node["participants"] {
      for value in try participants.array("participants") {
        guard let name = try value.object("participants")["username"] else {
          throw .missing("participants.username")
        }
        var props = MattermostMemberProps()
        if let value = value["notify_props"] {
          props = try MattermostMemberProps(try value.object("notify_props"))
        }
        found.append((try name.id("username"), props))
      }
    } else if let members = node["members"] {
      for value in try members.array("members") {
        found.append((try value.id("members"), MattermostMemberProps()))
      }
    }
    if found.isEmpty { throw .missing("participants") }
    return found
  }

  // MARK: Posts

  private mutating func addPost(
    _ node: JSONNode, _ line: Int, isDirect: Bool
  ) throws(RecordProblem) {
    var post = MattermostPost()
    if isDirect {
      guard let members = node["channel_members"] else { throw .missing("channel_members") }
      var names: [String] = []
      for value in try members.array("channel_members") {
        names.append(try value.id("channel_members"))
      }
      let (id, count) = MattermostWorld.directID(names)
      post.conversation = lines.add(id.utf8)
      post.isOfTwo = count <= 2
    } else {
      guard let team = node["team"] else { throw .missing("team") }
      guard let channel = node["channel"] else { throw .missing("channel") }
      post.conversation = unsafe lines.add(
        try team.idBytes("team"), try channel.idBytes("channel"))
    }
    let replies = try node["replies"]?.array("replies")
    let index = lines.posts.count
    try read(node, &post)
    lines.posts.append(post)
    lines.records.append((.post(index), line))
    guard let replies else { return }
    for reply in replies {
      var answer = MattermostPost()
      post.replyCount += 1
      answer.reply = post.replyCount
      answer.conversation = post.conversation
      answer.isOfTwo = post.isOfTwo
      try read(try reply.object("replies"), &answer)
      lines.posts.append(answer)
      lines.records.append((.post(lines.posts.count - 1), line))
    }
    if post.replyCount > 0, let followers = node["thread_followers"] {
      let start = lines.followers.count
      for follower in try followers.array("thread_followers") {
        guard let name = try follower.object("thread_followers")["user"] else {
          throw .missing("thread_followers.user")
        }
        let bytes = try unsafe name.idBytes("thread_followers.user")
        unsafe lines.followers.append(lines.add(bytes))
      }
      post.followers = start..<lines.followers.count
    }
    lines.posts[index] = post
  }

  /// What posts and replies have.
  private mutating func read(
    _ node: JSONNode, _ post: inout MattermostPost
  ) throws(RecordProblem) {
    var (author, at): (JSONNode?, JSONNode?) = (nil, nil)
    var attachments: JSONNode?
    text.removeAll()
    for (key, value) in node.fields {
      switch key {
      case "user": author = value
      case "create_at": at = value
      case "type":
        post.isSystem = try value.text("type").hasPrefix("system_")
      case "message":
        guard let bytes = unsafe value.utf8 else {
          _ = try value.text("message")
          break
        }
        unsafe text.append(bytes)
      case "props":
        let props = try value.object("props")
        attachments = props["attachments"]
        if let flag = props["from_webhook"] { post.isWebhook = "true" ~= flag }
        if let force = unsafe props["force_notification"]?.utf8 {
          post.isForced = unsafe !force.isEmpty
        }
      default: break
      }
    }
    guard let author else { throw .missing("user") }
    guard let at else { throw .missing("create_at") }
    post.author = unsafe lines.add(try author.idBytes("user"))
    post.at = try at.instant("create_at")
    if post.isSystem { return }
    if let attachments { add(attachments) }
    addText(&post)
  }

  /// What is in attachments is free, and what is not understood is passed over as Mattermost does.
  private mutating func add(_ attachments: JSONNode) {
    for attachment in attachments.items {
      for name in ["pretext", "text"] as [StaticString] {
        if let bytes = unsafe attachment[name]?.utf8 { unsafe text.append(bytes) }
      }
      guard let fields = attachment["fields"] else { continue }
      for field in fields.items {
        if let bytes = unsafe field["value"]?.utf8 { unsafe text.append(bytes) }
      }
    }
  }

  private mutating func addText(_ post: inout MattermostPost) {
    var end = min(text.bytes.count, TextTokens.textLimit)
    if end < text.bytes.count { while text.bytes[end] & 0xC0 == 0x80 { end -= 1 } }
    post.text = lines.add(text.bytes[..<end])
    if post.isOfTwo { return }
    let start = lines.candidates.count
    text.forEachCandidate { candidate in
      lines.candidates.append((lines.add(candidate.text), candidate.dropsSigns))
    }
    post.candidates = start..<lines.candidates.count
  }
}
