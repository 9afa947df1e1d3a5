/// The readings of Easemob's rules where its documents are unclear, each with its default.
public struct EasemobOptions: Hashable, Sendable {
  /// Whether quiet hours from 0:0 to 0:0 are off or last all day (E-32).
  public enum ZeroZeroMeans: String, CaseIterable, Sendable { case off, allDay }
  /// Whether the end minute is outside of the window or its last minute (E-34).
  public enum IntervalEnd: String, CaseIterable, Sendable { case exclusive, inclusiveMinute }
  /// Whether force skips do-not-disturb only, or the level too (E-42).
  public enum ForceScope: String, CaseIterable, Sendable { case dndOnly, dndAndLevel }
  /// Which flag counts when a message is both silent and forced (E-44).
  public enum FlagConflict: String, CaseIterable, Sendable { case silentWins, forceWins }
  /// Whether ids are compared by Unicode lower-casing or exactly (E-47).
  public enum IDCase: String, CaseIterable, Sendable { case insensitive, exact }
  /// Whether level mention in a private chat needs a mention, or lets everything through (E-49).
  public enum SingleChatMention: String, CaseIterable, Sendable { case listed, treatAsAll }
  /// Whose settings count in a thread (E-63).
  public enum ThreadScope: String, CaseIterable, Sendable {
    /// The thread's own, then those of its parent group.
    case inheritParent
    /// Those of its parent group.
    case parentOnly
    /// The thread's own.
    case ownOnly
  }

  /// What 0:0-0:0 means (E-32).
  public var zeroZeroMeans = ZeroZeroMeans.off
  /// Whether the end minute is inside the window (E-34).
  public var intervalEnd = IntervalEnd.exclusive
  /// Whether force overrides the level too (E-42).
  public var forceScope = ForceScope.dndOnly
  /// Which flag wins when a message has both (E-44).
  public var flagConflict = FlagConflict.silentWins
  /// Whether "all" inside the array mentions everyone (E-46).
  public var atListAllInArray = false
  /// Whether a string other than "all" is a user id (E-46).
  public var atListStringAsID = false
  /// How mentioned ids are compared (E-47).
  public var atListIDCase = IDCase.insensitive
  /// Whether a list inside `em_apns_ext` counts (E-48).
  public var atListLegacyAPNsExt = false
  /// Whether a mention overrides do-not-disturb (E-48).
  public var mentionBypassesDND = false
  /// What level mention means in a private chat (E-49).
  public var singleChatMentionOnly = SingleChatMention.listed
  /// Whether command messages are pushed (E-62).
  public var pushTransparent = false
  /// Whose settings count in a thread (E-63).
  public var threadScope = ThreadScope.inheritParent
  /// How old a message may be and still be pushed, in seconds (E-69).
  public var expireSeconds: Int64 = 86_400

  /// The default readings.
  public init() {}

  /// ``expireSeconds`` in milliseconds, clamped so that it cannot overflow.
  @inlinable package var expireMilliseconds: Int64 {
    Instant.milliseconds(ofSeconds: expireSeconds)
  }
}

/// The readings of RongCloud's rules where its documents are unclear, each with its default.
public struct RongCloudOptions: Hashable, Sendable {
  /// Whether mention levels in a direct chat let nothing or everything through.
  public enum SingleMentionLevels: String, CaseIterable, Sendable { case none, all }
  /// Whether level 0 inside quiet hours leaves it to the next scope or lets all through.
  public enum QuietZero: String, CaseIterable, Sendable { case fallThrough, all }
  /// Which channels of an ultra group a user's conversation level covers.
  public enum UltraConversationLevel: String, CaseIterable, Sendable {
    /// All channels.
    case wholeGroup
    /// Messages without a channel.
    case emptyChannelOnly
  }
  /// Which ends are inside the window: the start, both or neither.
  public enum Boundary: String, CaseIterable, Sendable { case halfOpen, closed, neither = "open" }
  /// Whether a span of 1,439 minutes leaves one minute open or lasts all day.
  public enum Span1439: String, CaseIterable, Sendable { case literal, allDay }

  /// What a mention level means in a direct chat.
  public var singleMentionLevels = SingleMentionLevels.none
  /// What level 0 inside quiet hours means.
  public var quietZero = QuietZero.fallThrough
  /// What a user's conversation level covers in an ultra group.
  public var ultraConversationLevel = UltraConversationLevel.wholeGroup
  /// Whether the window's ends are inside.
  public var boundary = Boundary.halfOpen
  /// What a span of 1,439 minutes means.
  public var span1439 = Span1439.literal
  /// Whether a mention skips quiet hours.
  public var mentionBypassesQuiet = false
  /// How long a device in the background stays connected, in seconds.
  public var backgroundGraceSeconds: Int64 = 120

  /// The default readings.
  public init() {}

  /// ``backgroundGraceSeconds`` in milliseconds, clamped so that it cannot overflow.
  @inlinable package var backgroundGraceMilliseconds: Int64 {
    Instant.milliseconds(ofSeconds: backgroundGraceSeconds)
  }
}

/// The options of open rules, each with its default.
public struct OpenOptions: Hashable, Sendable {
  /// Whether a message in a thread is `plain` for those who do not follow it (O-1, O-21).
  public enum ThreadPlain: String, CaseIterable, Sendable { case followers, everyone }

  /// Who a thread's messages concern that concern nobody in person (O-21).
  public var threadPlain = ThreadPlain.followers
  /// How old a message may be and still be pushed, in seconds, up to 2^31 - 1 (O-22).
  public var expireSeconds: Int64 = 86_400
  /// How long a device stays connected after it was seen, in seconds, up to 86,400; 0 for ever
  /// (O-30).
  public var presenceSeconds: Int64 = 90

  /// The defaults.
  public init() {}

  /// ``expireSeconds`` in milliseconds, clamped so that it cannot overflow.
  @inlinable package var expireMilliseconds: Int64 {
    Instant.milliseconds(ofSeconds: expireSeconds)
  }

  /// ``presenceSeconds`` in milliseconds, clamped in the same way.
  @inlinable package var presenceMilliseconds: Int64 {
    Instant.milliseconds(ofSeconds: presenceSeconds)
  }
}
