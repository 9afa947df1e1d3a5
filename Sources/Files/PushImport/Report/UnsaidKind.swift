/// A kind of what open rules cannot say, or an importer cannot read (§6).
package struct UnsaidKind: Hashable, Sendable {
  package let name: String
  /// What it means, and what can be done.
  package let words: String
  /// Whether it is what every export has, so that `--strict` lets it pass.
  package let isHarmless: Bool

  private init(_ name: String, _ words: String, isHarmless: Bool = false) {
    self.name = name
    self.words = words
    self.isHarmless = isHarmless
  }

  package static func == (left: UnsaidKind, right: UnsaidKind) -> Bool { left.name == right.name }
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }

  // MARK: All systems

  static let unknownValue = UnsaidKind(
    "unknownValue", "a value that this version does not know was taken as unset")
  static let unknownRecord = UnsaidKind(
    "unknownRecord", "a type of record that this version does not know was passed over")
  static let keywordDropped = UnsaidKind(
    "keywordDropped",
    "keywords over 50 a person or 64 bytes, or without a letter or digit, were dropped")
  static let sendersDropped = UnsaidKind(
    "sendersDropped", "of blocked senders over 500 a person, the first were kept")
  static let mentionsDropped = UnsaidKind(
    "mentionsDropped", "of mentions over 10,000 a message, the first were kept")
  static let unknownRoom = UnsaidKind(
    "unknownRoom", "the conversation is not in the export, so nobody gets the message")
  static let unknownRecipient = UnsaidKind(
    "unknownRecipient", "who is meant is not in the export, and gets nothing")
  static let bot = UnsaidKind("bot", "bots get no pushes", isHarmless: true)

  // MARK: Mattermost

  static let keywordNeverMatches = UnsaidKind(
    "keywordNeverMatches", "keywords with signs that Mattermost never finds were left out")
  static let keywordInexact = UnsaidKind(
    "keywordInexact", "keywords with signs, and first names, match more here than in Mattermost")
  static let tooManyForChannelMention = UnsaidKind(
    "tooManyForChannelMention",
    "@channel reaches nobody in so large a channel; --mention-limit says from how many members on")
  static let hereMention = UnsaidKind(
    "hereMention", "@here reaches who is online, which an export does not say: nobody here")
  static let unknownMention = UnsaidKind(
    "unknownMention",
    "the name is none of a member or group; --api-groups tells the members of groups")
  static let channelMentionInThread = UnsaidKind(
    "channelMentionInThread",
    "@channel in a thread also reaches here who is at all, ignores such mentions and does not follow"
  )
  static let deactivatedUser = UnsaidKind(
    "deactivatedUser", "deactivated people get no pushes", isHarmless: true)
  static let archivedChannel = UnsaidKind(
    "archivedChannel", "archived channels have no members", isHarmless: true)
  static let systemPost = UnsaidKind(
    "systemPost", "posts of the system push to nobody", isHarmless: true)
  static let forceNotification = UnsaidKind(
    "forceNotification", "a forced notification passes quiet hours and mutes here, and no level")
  static let notInExport = UnsaidKind(
    "notInExport",
    "first names, push_threads, time zones and statuses are not in the export: give --api-users "
      + "and --api-statuses")

  /// When a status stops pushes.
  static func pushStatus(_ value: String) -> UnsaidKind {
    let words =
      switch value {
      case "online": "pushes also while online, as here where no presence is given"
      case "away": "no pushes while online; replay with --presence says it for devices"
      default: "no pushes while online or away; replay with --presence says it for devices"
      }
    return UnsaidKind("pushStatus:\(value)", words)
  }

  // MARK: Zulip

  static let alertWord = UnsaidKind("alertWord", "alert words only mark messages in Zulip")
  static let quietWhileOnline = UnsaidKind(
    "quietWhileOnline", "no pushes while online; replay with --presence says it for devices")
  static let topicWildcard = UnsaidKind(
    "topicWildcard", "@topic is a mention of each person whom it reached")
  static let editedMessage = UnsaidKind(
    "editedMessage", "edited messages mention whom they mention now")
  static let inactiveUser = UnsaidKind(
    "inactiveUser", "deactivated people get no pushes", isHarmless: true)
}
