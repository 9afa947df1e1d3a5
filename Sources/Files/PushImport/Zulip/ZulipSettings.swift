internal import PushModel

/// What decides in Zulip when a person gets a push (I-31).
struct ZulipSettings: BitwiseCopyable {
  var isOn = true
  var pushesAll = false
  var pushesWildcards = true
  var pushesFollowed = true
  var pushesFollowedWildcards = true

  /// The level that pushes all messages or only those that concern the person.
  func level(all: Bool, wildcards: Bool) -> MessageClasses {
    var level: MessageClasses = isOn ? .named.union(.private) : []
    if isOn, wildcards { level.insert(.mentionsEveryone) }
    if all { level.formUnion(MessageClasses.named.union([.plain, .thread, .mentionsEveryone])) }
    return level
  }

  /// The level where a channel says so much.
  func level(_ channel: ZulipChannelSettings) -> MessageClasses {
    let level = level(
      all: channel.pushesAll(self), wildcards: channel.pushesWildcards(self))
    return pushesFollowed ? level.union(.thread) : level
  }

  /// What passes a mute: what concerns the person.
  var mutedAllow: MessageClasses { isOn ? MessageClasses.named.union(.private) : [] }
}

/// What a person has set for a channel, where it is not as for all channels.
struct ZulipChannelSettings: BitwiseCopyable {
  var pushes: Bool?
  var wildcards: Bool?
  var isMuted = false

  var isSet: Bool { pushes != nil || wildcards != nil }

  func pushesAll(_ user: ZulipSettings) -> Bool { pushes ?? user.pushesAll }
  func pushesWildcards(_ user: ZulipSettings) -> Bool { wildcards ?? user.pushesWildcards }
}

/// What a person has set for a topic, `visibility_policy` (I-34).
enum ZulipPolicy: Int64 {
  case muted = 1
  case unmuted = 2
  case followed = 3

  /// The record of the topic's thread.
  func record(_ user: ZulipSettings, _ channel: ZulipChannelSettings) -> ImportedMember {
    let (all, wildcards) = (channel.pushesAll(user), channel.pushesWildcards(user))
    switch self {
    case .muted: return ImportedMember(mutedUntil: ImportedMember.always, follows: false)
    case .unmuted:
      return ImportedMember(level: user.level(all: all, wildcards: wildcards), follows: false)
    case .followed:
      return ImportedMember(
        level: user.level(
          all: user.pushesFollowed || all && !channel.isMuted,
          wildcards: wildcards && !channel.isMuted || user.pushesFollowedWildcards),
        follows: true)
    }
  }

  /// Whether a mention with the topic reaches the person (I-35).
  static func pushesTopicMention(
    _ policy: ZulipPolicy?, _ user: ZulipSettings, _ channel: ZulipChannelSettings
  ) -> Bool {
    if policy == .followed, user.pushesFollowedWildcards { return true }
    let isMuted = policy == .muted || channel.isMuted && policy != .unmuted
    return channel.pushesWildcards(user) && !isMuted
  }
}
