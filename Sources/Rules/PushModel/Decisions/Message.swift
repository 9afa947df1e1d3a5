/// What a message is, for the question whether it pushes.
public enum MessageBody: String, CaseIterable, Sendable {
  /// Any ordinary message, also a picture or a file.
  case text
  /// Easemob's command (transparent) message (E-62); a built-in type of RongCloud's.
  case command
  /// RongCloud's status message, which never pushes.
  case status
  /// RongCloud's custom type, which pushes only with push content.
  case custom
}

/// Which devices may get the push of a message: `em_push_filter` (E-50). An empty list
/// filters nothing.
public struct DeviceFilter: Hashable, Sendable {
  /// The only devices that may get it, by id.
  public var acceptDeviceIDs: [Identifier] = []
  /// The devices that do not get it, by id.
  public var ignoreDeviceIDs: [Identifier] = []
  /// The only devices that may get it, by the name of their push certificate.
  public var acceptNotifierNames: [Identifier] = []
  /// The devices that do not get it, by the name of their push certificate.
  public var ignoreNotifierNames: [Identifier] = []

  /// A filter that every device passes.
  public init() {}
}

/// The fields of a message's `ext` object that the rules read.
public struct EasemobExtension: Hashable, Sendable {
  /// A value of `em_at_list` (E-46).
  public enum AtList: Hashable, Sendable {
    /// There is none, or it is null.
    case absent
    /// One string.
    case text(Identifier)
    /// The strings of an array; what is not a string is left out.
    case ids([Identifier])
    /// Any other value: no mentions.
    case unreadable
  }

  /// `em_at_list`: who is mentioned (E-46).
  public var atList = AtList.absent
  /// The one inside `em_apns_ext` (E-48).
  public var legacyAtList = AtList.absent
  /// `em_force_notification`, by the truth of E-45.
  public var force = false
  /// `em_ignore_notification`, by the truth of E-45.
  public var ignore = false
  /// `em_push_filter` (E-50).
  public var filter = DeviceFilter()

  /// An `ext` without any of the fields.
  public init() {}

  /// Whether a string in `ext` is true: "1", "true" or "YES" in any case, not trimmed (E-45).
  public static func isTrue(_ text: String) -> Bool {
    ["1", "true", "yes"].contains { Identifier($0) == Identifier(text).lowercased() }
  }
}

/// A message, and the instant at which its fan-out is decided.
///
/// A field is nil when it is absent: a typed field hides its counterpart in ``ext`` also
/// when it is false or empty.
///
/// - Source: formats.md, "messages.ndjson".
public struct Message: Hashable, Sendable {
  // What all messages have comes first, for those who read many.

  /// The message's id.
  public var id: Identifier
  /// The id of the conversation that it was sent to.
  public var conversation: Identifier
  /// The instant of the decision.
  public var at: Instant
  /// Who wrote it, and is no recipient; nil for a system message.
  public var sender: Identifier?
  /// The ids of the mentioned users, compared by E-47 under Easemob.
  public var mentions: [Identifier]?
  /// The channel of an ultra group; empty for none. RongCloud's.
  public var channel: Identifier = ""
  /// The text of the push; a custom type without one is not pushed. RongCloud's.
  public var pushContent = ""
  private var rare = RareFields<RareMessageFields>()
  /// When it was sent, nil for ``at`` (E-69, O-22). Not RongCloud's.
  public var sentAt: Instant?
  /// Whether everyone in the conversation is mentioned.
  public var mentionsAll: Bool?
  /// `em_ignore_notification` or `disablePush` (E-40, R-42).
  public var silent: Bool?
  /// What kind of message it is.
  public var body = MessageBody.text
  /// Do-not-disturb is not checked (E-41, O-40). Not RongCloud's.
  public var force: Bool?
  /// Deliver-online-only (E-61). Easemob's.
  public var onlineOnly = false
  /// nil: true when there are mentions. RongCloud's.
  public var isMentioned: Bool?
  /// Whether it is stored; one that is not has no local notification. RongCloud's.
  public var persisted = true
  /// From the offline backlog. RongCloud's.
  public var backlog = false

  /// A text message without mentions, with all other fields at their defaults.
  public init(id: Identifier, conversation: Identifier, at: Instant, sender: Identifier? = nil) {
    self.id = id
    self.conversation = conversation
    self.at = at
    self.sender = sender
  }
}

// MARK: Fields of few messages

extension Message {
  /// Which devices may get the push (E-50). Easemob's.
  public var filter: DeviceFilter? {
    get { rare.box?.fields.filter }
    set { rare.fields.filter = newValue }
  }

  /// What its `ext` object contains. Easemob's.
  public var ext: EasemobExtension {
    get { rare.box?.fields.ext ?? EasemobExtension() }
    set { rare.fields.ext = newValue }
  }

  /// The roles that are mentioned (O-1). Open rules', like the two that follow.
  public var mentionsRoles: [Identifier]? {
    get { rare.box?.fields.mentionsRoles }
    set { rare.fields.mentionsRoles = newValue }
  }

  /// The author of the message that this one answers (O-20).
  public var replyToUser: Identifier? {
    get { rare.box?.fields.replyToUser }
    set { rare.fields.replyToUser = newValue }
  }

  /// What it says, which may have a keyword (O-14, O-20).
  public var text: String? {
    get { rare.box?.fields.text }
    set { rare.fields.text = newValue }
  }

  /// Whether there is any of these fields.
  package var hasRareFields: Bool { rare.box != nil }

  private struct RareMessageFields: DefaultedFields {
    var filter: DeviceFilter?
    var ext = EasemobExtension()
    var mentionsRoles: [Identifier]?
    var replyToUser: Identifier?
    var text: String?
  }
}
