/// What Easemob's documents leave open, each with the reading that is used unless said otherwise.
public struct EasemobOptions: Hashable, Sendable {
  public enum ZeroZeroMeans: String, CaseIterable, Sendable { case off, allDay }
  public enum IntervalEnd: String, CaseIterable, Sendable { case exclusive, inclusiveMinute }
  public enum ForceScope: String, CaseIterable, Sendable { case dndOnly, dndAndLevel }
  public enum FlagConflict: String, CaseIterable, Sendable { case silentWins, forceWins }
  public enum IDCase: String, CaseIterable, Sendable { case insensitive, exact }
  public enum SingleChatMention: String, CaseIterable, Sendable { case listed, treatAsAll }
  public enum ThreadScope: String, CaseIterable, Sendable {
    case inheritParent, parentOnly, ownOnly
  }

  /// What 0:0-0:0 means (E-32).
  public var zeroZeroMeans = ZeroZeroMeans.off
  /// Whether the end minute is inside the window (E-34).
  public var intervalEnd = IntervalEnd.exclusive
  /// Whether a forced message beats the level too (E-42).
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
  /// Whether a mention beats do-not-disturb (E-48).
  public var mentionBypassesDND = false
  /// What level mention means in a private chat (E-49).
  public var singleChatMentionOnly = SingleChatMention.listed
  /// Whether command messages are pushed (E-62).
  public var pushTransparent = false
  /// Whose settings count in a thread (E-63).
  public var threadScope = ThreadScope.inheritParent
  /// How old a message may be and still be pushed, in seconds (E-69).
  public var expireSeconds: Int64 = 86_400

  public init() {}
}

/// What RongCloud's documents leave open, each with the reading that is used unless said otherwise.
public struct RongCloudOptions: Hashable, Sendable {
  public enum SingleMentionLevels: String, CaseIterable, Sendable { case none, all }
  public enum QuietZero: String, CaseIterable, Sendable { case fallThrough, all }
  public enum UltraConversationLevel: String, CaseIterable, Sendable {
    case wholeGroup, emptyChannelOnly
  }
  public enum Boundary: String, CaseIterable, Sendable { case halfOpen, closed, open }
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

  public init() {}
}
