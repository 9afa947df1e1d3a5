/// What a message is, for the question whether it pushes.
public enum MessageBody: String, CaseIterable, Sendable {
  case text
  /// Easemob's command (transparent) message (E-62); a built-in type of RongCloud's.
  case command
  /// RongCloud's status message, which never pushes.
  case status
  /// RongCloud's custom type, which pushes only with push content.
  case custom
}

/// Which devices may get the push of a message: `em_push_filter` (E-50). An empty list says
/// nothing.
public struct DeviceFilter: Hashable, Sendable {
  public var acceptDeviceIDs: [Identifier] = []
  public var ignoreDeviceIDs: [Identifier] = []
  public var acceptNotifierNames: [Identifier] = []
  public var ignoreNotifierNames: [Identifier] = []

  public init() {}
}

/// What a message's `ext` object says, as far as the rules read it.
public struct EasemobExtension: Hashable, Sendable {
  /// A value of `em_at_list` (E-46).
  public enum AtList: Hashable, Sendable {
    /// There is none, or it is null.
    case absent
    /// One string.
    case text(Identifier)
    /// The strings of an array; what is not a string is left out.
    case ids([Identifier])
    /// Something else, which mentions nobody.
    case unreadable
  }

  public var atList = AtList.absent
  /// The one inside `em_apns_ext` (E-48).
  public var legacyAtList = AtList.absent
  /// `em_force_notification`, by the truth of E-45.
  public var force = false
  /// `em_ignore_notification`, by the truth of E-45.
  public var ignore = false
  /// `em_push_filter` (E-50).
  public var filter = DeviceFilter()

  public init() {}

  /// Whether a string in `ext` is true: "1", "true" or "YES" in any case, not trimmed (E-45).
  public static func isTrue(_ text: String) -> Bool {
    ["1", "true", "yes"].contains { Identifier($0) == Identifier(text).lowercased() }
  }
}

/// A message, and the instant at which its fan-out is decided.
///
/// A field is nil when nothing was said of it: a typed field hides its counterpart in ``ext`` also
/// when it is false or empty.
///
/// - Source: formats.md, "messages.ndjson".
public struct Message: Hashable, Sendable {
  public var id: Identifier
  public var conversation: Identifier
  /// The instant of the decision.
  public var at: Instant
  /// Who wrote it, and is no recipient; nil for a system message.
  public var sender: Identifier?
  public var mentions: [Identifier]?
  public var mentionsAll: Bool?
  /// `em_ignore_notification` or `disablePush` (E-40, R-42).
  public var silent: Bool?
  public var body = MessageBody.text

  // Easemob's
  /// When it was sent, nil for ``at`` (E-69).
  public var sentAt: Instant?
  public var force: Bool?
  /// Deliver-online-only (E-61).
  public var onlineOnly = false
  public var filter: DeviceFilter?
  public var ext = EasemobExtension()

  // RongCloud's
  /// The channel of an ultra group; empty for none.
  public var channel: Identifier = ""
  /// nil: true when there are mentions.
  public var isMentioned: Bool?
  public var pushContent = ""
  public var persisted = true
  /// From the offline backlog.
  public var backlog = false

  public init(id: Identifier, conversation: Identifier, at: Instant, sender: Identifier? = nil) {
    self.id = id
    self.conversation = conversation
    self.at = at
    self.sender = sender
  }
}
