internal import PushModel

/// When Mattermost pushes; `inherit` is a member's default, the person's own level.
enum MattermostLevel: UInt8, Sendable { case all, mention, none, inherit }

/// What of a person's `notify_props` decides levels; what is not known or not said is nil.
struct MattermostPushProps: BitwiseCopyable {
  enum Comments: UInt8 { case any, root, never }

  var mobile: MattermostLevel?
  var threads: MattermostLevel?
  /// Whether `@channel` concerns the person.
  var channel: Bool?
  var comments: Comments?
}

/// What a person has set, `notify_props`.
struct MattermostUserProps: Sendable {
  var push = MattermostPushProps()
  var keys: String?
  var firstName: Bool?
  var status: String?
  /// How many values are not known (I-4).
  var unknownValues = 0

  init() {}

  /// - Parameter isOverlay: whether these are of the server's API, where two names differ.
  init(_ node: JSONNode, isOverlay: Bool = false) throws(RecordProblem) {
    for (key, value) in node.fields {
      switch key {
      case "mobile" where !isOverlay, "push" where isOverlay:
        push.mobile = level(try value.text("mobile"))
      case "push_threads": push.threads = level(try value.text("push_threads"))
      case "channel": push.channel = flag(try value.text("channel"))
      case "first_name": firstName = flag(try value.text("first_name"))
      case "mention_keys": keys = try value.text("mention_keys")
      case "comments":
        switch try value.text("comments") {
        case "any": push.comments = .any
        case "root": push.comments = .root
        case "never": push.comments = .never
        case "": break
        default: unknownValues += 1
        }
      case "mobile_push_status" where !isOverlay, "push_status" where isOverlay:
        let text = try value.text("push_status")
        if ["online", "away", "offline"].contains(text) { status = text } else { note(text) }
      default: break
      }
    }
  }

  private mutating func level(_ text: String) -> MattermostLevel? {
    switch text {
    case "all": return .all
    case "mention": return .mention
    case "none": return MattermostLevel.none
    default:
      note(text)
      return nil
    }
  }

  private mutating func flag(_ text: String) -> Bool? {
    if text != "true", text != "false" { note(text) }
    return text == "true" ? true : text == "false" ? false : nil
  }

  private mutating func note(_ text: String) { if !text.isEmpty { unknownValues += 1 } }

  /// The same with what an overlay says (I-23: it replaces keys, not the whole).
  func overlaid(with overlay: MattermostUserProps) -> MattermostUserProps {
    var props = self
    props.push.mobile = overlay.push.mobile ?? push.mobile
    props.push.threads = overlay.push.threads ?? push.threads
    props.push.channel = overlay.push.channel ?? push.channel
    props.push.comments = overlay.push.comments ?? push.comments
    props.keys = overlay.keys ?? keys
    props.firstName = overlay.firstName ?? firstName
    props.status = overlay.status ?? status
    props.unknownValues += overlay.unknownValues
    return props
  }
}

/// What a member has set for a channel, `notify_props`.
struct MattermostMemberProps: Sendable {
  enum Ignoring: UInt8 { case on, off, byDefault }

  var mobile: MattermostLevel?
  /// Whether `mark_unread` is mention: the channel is muted.
  var isMuted: Bool?
  /// Whether `@channel` is ignored; by default in a muted channel.
  var ignores: Ignoring?
  var threads: MattermostLevel?
  var unknownValues = 0

  init() {}

  init(_ node: JSONNode, isOverlay: Bool = false) throws(RecordProblem) {
    for (key, value) in node.fields {
      switch key {
      case "mobile" where !isOverlay, "push" where isOverlay:
        mobile = level(try value.text("mobile"))
      case "push_threads": threads = level(try value.text("push_threads"))
      case "mark_unread":
        let text = try value.text("mark_unread")
        isMuted = text == "mention" ? true : text == "all" ? false : nil
        if isMuted == nil, !text.isEmpty { unknownValues += 1 }
      case "ignore_channel_mentions":
        let text = try value.text("ignore_channel_mentions")
        ignores = text == "on" ? .on : text == "off" ? .off : text == "default" ? .byDefault : nil
        if ignores == nil, !text.isEmpty { unknownValues += 1 }
      default: break
      }
    }
  }

  private mutating func level(_ text: String) -> MattermostLevel? {
    switch text {
    case "all": return .all
    case "mention": return .mention
    case "none": return MattermostLevel.none
    case "default": return .inherit
    default:
      if !text.isEmpty { unknownValues += 1 }
      return nil
    }
  }

  func overlaid(with overlay: MattermostMemberProps) -> MattermostMemberProps {
    var props = self
    props.mobile = overlay.mobile ?? mobile
    props.isMuted = overlay.isMuted ?? isMuted
    props.ignores = overlay.ignores ?? ignores
    props.threads = overlay.threads ?? threads
    props.unknownValues += overlay.unknownValues
    return props
  }
}

/// What settings of Mattermost are in open rules.
struct MattermostRules {
  /// Whether threads are collapsed, a setting of the server (I-21).
  let isCollapsed: Bool

  /// A person's level (I-22).
  func level(_ user: MattermostPushProps) -> MessageClasses {
    switch user.mobile ?? .mention {
    case .none: return []
    case .all: return .all
    case .mention, .inherit:
      return mentionLevel(
        user, everyone: true, private: true,
        collapsedThread: user.threads.map { $0 == .all } ?? true)
    }
  }

  /// A member's record (I-23).
  ///
  /// - Parameter isLargeDirect: whether the conversation is direct, of three people or more.
  func member(
    _ member: MattermostMemberProps, of user: MattermostPushProps, isLargeDirect: Bool
  ) -> ImportedMember {
    let isMuted = member.isMuted ?? false
    let ignores = member.ignores == .on || member.ignores != .off && isMuted
    var record = ImportedMember()
    if isMuted { record.mutedUntil = ImportedMember.always }
    switch member.mobile {
    case .all?: record.level = .all
    case MattermostLevel.none?: record.level = []
    case .mention?:
      record.level = mentionLevel(
        user, everyone: !ignores, private: !isLargeDirect, collapsedThread: member.threads == .all)
    case .inherit?, nil:
      if ignores, (user.mobile ?? .mention) == .mention {
        record.level = level(user).subtracting(.mentionsEveryone)
      }
    }
    return record
  }

  /// The classes of the level mention.
  private func mentionLevel(
    _ user: MattermostPushProps, everyone: Bool, private isPrivate: Bool, collapsedThread: Bool
  ) -> MessageClasses {
    var level = MessageClasses.named.subtracting(.reply)
    if isPrivate { level.insert(.private) }
    if everyone, user.channel == true { level.insert(.mentionsEveryone) }
    if isCollapsed {
      level.insert(.reply)
      if collapsedThread { level.insert(.thread) }
    } else {
      // Without a value Mattermost takes neither, as for never.
      if user.comments == .any || user.comments == .root { level.insert(.reply) }
      if user.comments == .any { level.insert(.thread) }
    }
    return level
  }

  /// The keywords of a person, and how many were left out or kept for each reason (I-24, I-8).
  static func keywords(
    _ props: MattermostUserProps, name: String, firstName: String
  ) -> (kept: [String], neverMatches: Int, inexact: Int, dropped: Int) {
    var words = (props.keys ?? "").split(separator: ",").map { Self.trimmed($0) }
    words.removeAll { $0.isEmpty || $0.lowercased() == "@\(name)" }
    let ownCount = words.count
    if props.firstName == true, !firstName.isEmpty { words.append(firstName) }
    var result: (kept: [String], neverMatches: Int, inexact: Int, dropped: Int) = ([], 0, 0, 0)
    for (index, word) in words.enumerated() {
      guard word.unicodeScalars.allSatisfy({ MattermostText.isOfWord($0) }) else {
        result.neverMatches += 1
        continue
      }
      guard result.kept.count < OpenLimits.keywords, word.utf8.count <= OpenLimits.keywordBytes,
        !TextTokens(word).tokens.isEmpty
      else {
        result.dropped += 1
        continue
      }
      if index >= ownCount || word.utf8.contains(where: { ":.-@".utf8.contains($0) }) {
        result.inexact += 1
      }
      result.kept.append(word)
    }
    return result
  }

  private static func trimmed(_ text: Substring) -> String {
    let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
    var scalars = text.unicodeScalars[...]
    while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
    while let last = scalars.last, isBlank(last) { scalars.removeLast() }
    return String(scalars)
  }
}
