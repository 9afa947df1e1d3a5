/// The settings of the app (one tenant of the vendor): whose rules, and how they are read.
public struct AppSettings: Hashable, Sendable {
  /// What several devices mean for a push (E-65).
  public enum DevicePolicy: String, CaseIterable, Sendable {
    /// No push while any device is connected.
    case allOffline
    /// A push to the offline ones, whatever the others do.
    case anyOffline
  }

  /// Whose rules decide.
  public var rules: RuleSet
  /// The zone of windows whose user has none (E-36, R-24). An IANA name.
  public var timeZone: String
  /// Easemob's (E-65).
  public var devicePolicy: DevicePolicy
  /// Easemob's: without the advanced push features, levels, quiet hours and durations do not exist
  /// (E-9).
  public var advancedPush: Bool
  /// RongCloud's App Key level; under open rules the app's default (O-3).
  public var level: NotificationLevel
  /// Open rules' quiet windows of users who have set none of their own (O-11).
  public var quietHours: QuietHours? {
    @inlinable get { rare.box?.fields.quietHours }
    @inlinable set { rare.fields.quietHours = newValue }
  }
  /// RongCloud's: whether the app shows local notifications at all.
  public var messageNotification: Bool
  /// How Easemob's rules are read where its documents are unclear.
  public var easemob: EasemobOptions
  /// How RongCloud's rules are read where its documents are unclear.
  public var rongcloud: RongCloudOptions
  /// The options of open rules.
  public var open: OpenOptions {
    @inlinable get { rare.box?.fields.open ?? OpenOptions() }
    @inlinable set { rare.fields.open = newValue }
  }
  @usableFromInline var rare = RareFields<OpenAppFields>()

  /// Settings of an app; by default Easemob's, in UTC, with the default readings.
  public init(
    rules: RuleSet = .easemob, timeZone: String = "UTC", devicePolicy: DevicePolicy = .allOffline,
    advancedPush: Bool = true, level: NotificationLevel = .unset, quietHours: QuietHours? = nil,
    messageNotification: Bool = true, easemob: EasemobOptions = EasemobOptions(),
    rongcloud: RongCloudOptions = RongCloudOptions(), open: OpenOptions = OpenOptions()
  ) {
    self.rules = rules
    self.timeZone = timeZone
    self.devicePolicy = devicePolicy
    self.advancedPush = advancedPush
    self.level = level
    rare.fields.quietHours = quietHours
    self.messageNotification = messageNotification
    self.easemob = easemob
    self.rongcloud = rongcloud
    rare.fields.open = open
  }
}

/// What a user has set for the whole app.
public struct UserSettings: Hashable, Sendable {
  /// Easemob's app level (E-20); open rules' user level (O-3).
  public var level = NotificationLevel.unset
  /// When the user wants no pushes; nil for never, and under open rules for the app's (O-11).
  public var quietHours: QuietHours?
  /// The zone of the user's window, nil for the app's (E-36, R-24). An IANA name.
  public var timeZone: String?
  /// Do not disturb before this instant; zero for none. Easemob's app duration (E-6, E-35), open
  /// rules' mute (O-10).
  public var mutedUntil = Instant.zero
  /// RongCloud's levels by kind of conversation.
  public var levels = KindLevels()
  /// RongCloud's.
  public var pushWhenDesktopOnline = false
  /// RongCloud's: the user's app cannot show who wrote, so it shows nothing.
  public var localInformationMissing = false
  /// RongCloud's: the user's app handles local notifications itself.
  public var localHandledByApp = false
  /// What passes every mute of the user (O-13). Open rules', like all that follow but the devices.
  public var mutedAllow: MessageClasses {
    @inlinable get { rare.box?.fields.mutedAllow ?? [] }
    @inlinable set { rare.fields.mutedAllow = newValue }
  }
  /// Whether a message with `force` passes mutes and quiet windows (O-40).
  public var allowForce: Bool {
    @inlinable get { rare.box?.fields.allowForce ?? true }
    @inlinable set { rare.fields.allowForce = newValue }
  }
  /// Words and phrases that make a message `keyword` (O-14).
  public var keywords: [String] {
    @inlinable get { rare.box?.fields.keywords ?? [] }
    @inlinable set { rare.fields.keywords = newValue }
  }
  /// Whose messages are `sender` (O-1).
  public var importantSenders: [Identifier] {
    @inlinable get { rare.box?.fields.importantSenders ?? [] }
    @inlinable set { rare.fields.importantSenders = newValue }
  }
  /// Whose messages never push.
  public var blockedSenders: [Identifier] {
    @inlinable get { rare.box?.fields.blockedSenders ?? [] }
    @inlinable set { rare.fields.blockedSenders = newValue }
  }
  @usableFromInline var rare = RareFields<OpenUserFields>()
  /// The user's devices in the order they were listed; nil when none are listed.
  public var devices: [Device]?

  /// Settings of a user who has set nothing.
  public init() {}

  /// Whether a field is set that only open rules have.
  @inlinable package var hasOpenFields: Bool { rare.box != nil }

  /// The devices that the rules consider: those listed, or ``Device/default``.
  public var effectiveDevices: [Device] { devices ?? [.default] }
}

/// A level for each kind of conversation, one of ``NotificationLevel/ofVendors``; unset at first.
///
/// - Memory: 8 bytes.
public struct KindLevels: Hashable, Sendable {
  /// A byte for each kind, by the ordinal of the kind.
  private var bytes: UInt64 = 0

  /// Levels that are all unset.
  public init() {}

  /// The level of a kind.
  public subscript(kind: ConversationKind) -> NotificationLevel {
    get { NotificationLevel(rawValue: UInt16(bytes >> kind.shift & 0xFF)) ?? .unset }
    set {
      precondition(newValue.isOfVendor, "levels by kind are RongCloud's")
      bytes = bytes & ~(0xFF << kind.shift) | UInt64(newValue.rawValue) << kind.shift
    }
  }
}

extension ConversationKind {
  /// A number for each kind, 0 ..< 8.
  package var ordinal: Int {
    switch self {
    case .private: 0
    case .group: 1
    case .thread: 2
    case .discussion: 3
    case .customerService: 4
    case .system: 5
    case .ultraGroup: 6
    case .room: 7
    }
  }

  /// The kind of a number.
  package init(ordinal: Int) {
    self =
      switch ordinal {
      case 0: .private
      case 1: .group
      case 2: .thread
      case 3: .discussion
      case 4: .customerService
      case 5: .system
      case 6: .ultraGroup
      case 7: .room
      default: preconditionFailure("no kind of conversation has the number \(ordinal)")
      }
  }

  fileprivate var shift: UInt64 { UInt64(ordinal) * 8 }
}

/// What is set for a conversation as a whole, by its owner.
public struct ConversationSettings: Hashable, Sendable {
  /// What the conversation is.
  public var kind: ConversationKind
  /// A thread's group (E-63), under open rules also a private conversation (O-4).
  public var parent: Identifier?
  /// An ultra group's default; under open rules that of a group or a private conversation
  /// (O-3).
  public var level: NotificationLevel
  /// The defaults of an ultra group's channels.
  public var channels: [Identifier: NotificationLevel]

  /// Settings of a conversation; by default a group without defaults.
  public init(
    kind: ConversationKind = .group, parent: Identifier? = nil, level: NotificationLevel = .unset,
    channels: [Identifier: NotificationLevel] = [:]
  ) {
    self.kind = kind
    self.parent = parent
    self.level = level
    self.channels = channels
  }
}

/// A membership, and what that member has set for that conversation.
public struct MemberSettings: Hashable, Sendable {
  /// The member's level for the conversation (E-20, R-11) or, under open rules, the thread (O-3).
  public var level: NotificationLevel
  /// A mute of the conversation, or of the thread; zero for none (E-22, O-10).
  public var mutedUntil: Instant
  /// Whether the user's mute and quiet windows are skipped (O-41). Open rules', like
  /// ``isFollowing`` and ``roles``.
  public var isImportant: Bool {
    @inlinable get { rare.box?.fields.isImportant ?? false }
    @inlinable set { rare.fields.isImportant = newValue }
  }
  /// Whether the user follows the thread; nil when it is not written, which means yes (O-1, O-41).
  public var isFollowing: Bool? {
    @inlinable get { rare.box?.fields.isFollowing }
    @inlinable set { rare.fields.isFollowing = newValue }
  }
  /// A recipient of messages from this instant on; zero for always.
  public var since: Instant
  /// RongCloud's levels for an ultra group's channels.
  public var channels: [Identifier: NotificationLevel] {
    @inlinable get { rare.box?.fields.channels ?? [:] }
    @inlinable set { rare.fields.channels = newValue }
  }
  /// The member's roles in the conversation (O-1).
  public var roles: [Identifier] {
    @inlinable get { rare.box?.fields.roles ?? [] }
    @inlinable set { rare.fields.roles = newValue }
  }
  @usableFromInline var rare = RareFields<RareMemberFields>()
  /// Whether it has channels, or what only open rules have but for the level.
  @inlinable package var hasRareFields: Bool { rare.box != nil }

  /// A membership; by default one without settings.
  public init(
    level: NotificationLevel = .unset, mutedUntil: Instant = .zero, since: Instant = .zero,
    channels: [Identifier: NotificationLevel] = [:]
  ) {
    self.level = level
    self.mutedUntil = mutedUntil
    self.since = since
    if !channels.isEmpty { self.channels = channels }
  }
}

/// The limits of open rules (O-10 to O-20).
public enum OpenLimits {
  /// Windows of the week in one list.
  public static let quietWindows = 16
  /// Keywords of a user.
  public static let keywords = 50
  /// Bytes of a keyword, as written.
  public static let keywordBytes = 64
  /// Important senders of a user, and blocked ones.
  public static let senders = 500
  /// Roles of a membership.
  public static let roles = 16
  /// Bytes of a role.
  public static let roleBytes = 64
  /// Users whom a message mentions.
  public static let mentions = 10_000
  /// Roles that a message mentions.
  public static let mentionedRoles = 8
}

// MARK: Fields that few have

/// What only open rules have of an app.
@usableFromInline
struct OpenAppFields: DefaultedFields {
  @usableFromInline var quietHours: QuietHours?
  @usableFromInline var open = OpenOptions()

  @inlinable init() {}
}

/// What only open rules have of a user.
@usableFromInline
struct OpenUserFields: DefaultedFields {
  @usableFromInline var mutedAllow: MessageClasses = []
  @usableFromInline var allowForce = true
  @usableFromInline var keywords: [String] = []
  @usableFromInline var importantSenders: [Identifier] = []
  @usableFromInline var blockedSenders: [Identifier] = []

  @inlinable init() {}
}

/// What RongCloud's ultra groups and open rules have of a member.
@usableFromInline
struct RareMemberFields: DefaultedFields {
  @usableFromInline var channels: [Identifier: NotificationLevel] = [:]
  @usableFromInline var roles: [Identifier] = []
  @usableFromInline var isImportant = false
  @usableFromInline var isFollowing: Bool?

  @inlinable init() {}
}
