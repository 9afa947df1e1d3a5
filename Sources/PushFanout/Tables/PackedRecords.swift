internal import PushRules

/// What a user has set but for quiet hours, in 32 bits: the level, a level for each kind of
/// conversation, and flags.
struct PackedUser: BitwiseCopyable, Equatable {
  private(set) var bits: UInt32 = 0

  /// Whether the user has settings of its own, or was only named.
  var isDeclared: Bool {
    get { has(31) }
    set { set(31, newValue) }
  }
  /// Whether an app duration was set; when it ends is kept beside.
  var hasMute: Bool {
    get { has(30) }
    set { set(30, newValue) }
  }
  var localHandledByApp: Bool {
    get { has(29) }
    set { set(29, newValue) }
  }
  var localInformationMissing: Bool {
    get { has(28) }
    set { set(28, newValue) }
  }
  var pushWhenDesktopOnline: Bool {
    get { has(27) }
    set { set(27, newValue) }
  }

  /// The app level's raw value (E-20).
  var level: UInt8 { UInt8(bits & 7) }
  /// The raw value of the level for a kind of conversation, by its place.
  @inline(__always)
  func level(kind: Int) -> UInt8 { UInt8(bits >> UInt32(3 + 3 * kind) & 7) }

  init() {}

  init(_ user: UserSettings) {
    bits = UInt32(user.level.rawValue)
    for kind in ConversationKind.allCases {
      bits |= UInt32(user.levels[kind].rawValue) << UInt32(3 + 3 * kind.ordinal)
    }
    isDeclared = true
    hasMute = user.mutedUntil > .zero
    localHandledByApp = user.localHandledByApp
    localInformationMissing = user.localInformationMissing
    pushWhenDesktopOnline = user.pushWhenDesktopOnline
  }

  private func has(_ bit: UInt32) -> Bool { bits >> bit & 1 != 0 }
  private mutating func set(_ bit: UInt32, _ value: Bool) {
    bits = bits & ~(1 << bit) | (value ? 1 << bit : 0)
  }
}

/// A membership in one byte: the member's own level, and what is kept beside.
struct PackedMember: BitwiseCopyable, Equatable {
  var bits: UInt8 = 0

  /// The level's raw value.
  var level: UInt8 { bits & 0x0F }
  var hasMute: Bool { bits & 0x10 != 0 }
  var hasSince: Bool { bits & 0x20 != 0 }
  var hasChannels: Bool { bits & 0x40 != 0 }
  /// Whether anything is kept beside.
  var hasOverrides: Bool { bits & 0x70 != 0 }

  init(bits: UInt8) { self.bits = bits }

  init(_ member: MemberSettings) {
    bits = member.level.rawValue
    if member.mutedUntil > .zero { bits |= 0x10 }
    if member.since > .zero { bits |= 0x20 }
    if !member.channels.isEmpty { bits |= 0x40 }
  }
}

/// A conversation, and where its members stand: sorted by user, one behind the other.
struct ConversationRow: BitwiseCopyable {
  var start: UInt32 = 0
  var count: UInt32 = 0
  /// How many places there are from `start` on.
  var capacity: UInt32 = 0
  /// The place of a thread's group plus one; 0 for none.
  var parent: UInt32 = 0
  /// Which set of channel defaults; 0 is the empty one.
  var channels: UInt32 = 0
  /// Counts every change of who is a member, and of the conversation's own settings.
  var revision: UInt32 = 0
  /// Counts the changes of members who have something kept beside.
  var overrideRevision: UInt32 = 0
  var kind = UInt8(ConversationKind.group.ordinal)
  var level: UInt8 = 0
  /// Whether any member ever had something kept beside.
  var hasOverrides = false
  /// No byte of a row is left as it was found, as rows are written to files.
  private var unused: UInt8 = 0

  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

/// One of a user's devices. The records of a user follow each other.
struct DeviceRecord: BitwiseCopyable {
  /// The place of the device's id.
  var id: UInt32
  /// The place of the notifier's name plus one; 0 for none.
  var notifier: UInt32
  /// Milliseconds; -1 for none.
  var backgroundSince: Int64
  var kind: UInt8
  var state: UInt8
  var hasToken: Bool
  var isLast: Bool
  /// As in ``ConversationRow``.
  private var unused: UInt32 = 0

  init(
    id: UInt32, notifier: UInt32, backgroundSince: Int64, kind: UInt8, state: UInt8,
    hasToken: Bool, isLast: Bool
  ) {
    self.id = id
    self.notifier = notifier
    self.backgroundSince = backgroundSince
    self.kind = kind
    self.state = state
    self.hasToken = hasToken
    self.isLast = isLast
  }
}

extension Device.State {
  /// A number for each state.
  var ordinal: UInt8 {
    switch self {
    case .foreground: 0
    case .background: 1
    case .offline: 2
    case .loggedOut: 3
    case .kicked: 4
    }
  }
  static let byOrdinal: [Device.State] = [.foreground, .background, .offline, .loggedOut, .kicked]
}

extension Device.Kind {
  var ordinal: UInt8 {
    switch self {
    case .mobile: 0
    case .desktop: 1
    case .web: 2
    }
  }
  static let byOrdinal: [Device.Kind] = [.mobile, .desktop, .web]
}
