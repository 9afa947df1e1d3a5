internal import PushModel
internal import QuietTime

/// A user's settings except quiet hours, in 32 bits: the level, a level per kind of conversation,
/// and flags.
struct PackedUser: BitwiseCopyable, Equatable {
  private(set) var bits: UInt32 = 0

  /// Whether the user has settings, rather than only an id.
  var isDeclared: Bool {
    get { has(31) }
    set { set(31, newValue) }
  }
  /// Whether an app duration was set; its end is in ``Tables/userMutes``.
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
  var level: UInt8 { level(at: 0) }
  /// The raw value of the level for a kind of conversation, by the kind's ordinal.
  @inline(__always)
  func level(kind: Int) -> UInt8 { level(at: Self.levelShift(kind: kind)) }
  /// The level at a position: 0, or ``levelShift(kind:)``.
  @inline(__always)
  func level(at shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits >> shift & 7) }
  static func levelShift(kind: Int) -> UInt32 { UInt32(3 + 3 * kind) }
  /// 0 if each level is one: of three bits, 6 and 7 are not.
  @inline(__always)
  var invalidLevels: UInt32 { bits >> 2 & bits >> 1 & 0o111_111_111 }

  init() {}

  init(_ user: UserSettings) {
    // The schedule table keeps quiet hours and zone, the device records devices.
    let (
      level, _, _, mutedUntil, levels, pushWhenDesktopOnline, localInformationMissing,
      localHandledByApp, _
    ) = user.fields
    bits = UInt32(level.rawValue)
    for kind in ConversationKind.allCases {
      bits |= UInt32(levels[kind].rawValue) << Self.levelShift(kind: kind.ordinal)
    }
    isDeclared = true
    hasMute = mutedUntil > .zero
    self.localHandledByApp = localHandledByApp
    self.localInformationMissing = localInformationMissing
    self.pushWhenDesktopOnline = pushWhenDesktopOnline
  }

  /// The settings of a user without devices, with the quiet settings and the end of the app
  /// duration.
  func settings(_ quiet: QuietSettings, mutedUntil: Int64) -> UserSettings {
    var settings = UserSettings()
    settings.level = NotificationLevel(rawValue: level) ?? .unset
    for kind in ConversationKind.allCases {
      settings.levels[kind] = NotificationLevel(rawValue: level(kind: kind.ordinal)) ?? .unset
    }
    settings.quietHours = quiet.quietHours
    settings.timeZone = quiet.timeZone
    settings.mutedUntil = Instant(milliseconds: mutedUntil)
    settings.pushWhenDesktopOnline = pushWhenDesktopOnline
    settings.localInformationMissing = localInformationMissing
    settings.localHandledByApp = localHandledByApp
    return settings
  }

  private func has(_ bit: UInt32) -> Bool { bits >> bit & 1 != 0 }
  private mutating func set(_ bit: UInt32, _ value: Bool) {
    bits = bits & ~(1 << bit) | (value ? 1 << bit : 0)
  }
}

/// A membership in one byte: the member's level, and which overrides are stored.
struct PackedMember: BitwiseCopyable, Equatable {
  var bits: UInt8 = 0

  /// The bits of the level.
  static let levelMask: UInt8 = 0x0F

  /// The level's raw value.
  var level: UInt8 {
    get { level(Self.levelMask) }
    set { bits = bits & ~Self.levelMask | newValue }
  }
  /// The level, or 0 if the mask says that it does not apply.
  @inline(__always)
  func level(_ mask: UInt8) -> UInt8 { bits & mask }
  /// 0 if the level is one: of four bits, 6 and more are not.
  @inline(__always)
  var invalidLevel: UInt8 { bits & 0x08 | bits >> 2 & bits >> 1 & 1 }
  /// Whether the member has any of some bits, such as ``beyondSince``.
  @inline(__always)
  func hasAny(_ mask: UInt8) -> Bool { bits & mask != 0 }
  var hasMute: Bool { bits & 0x10 != 0 }
  var hasSince: Bool { bits & 0x20 != 0 }
  var hasChannels: Bool { bits & 0x40 != 0 }
  /// Whether the member has overrides: a mute, a start of membership or channel levels.
  var hasOverrides: Bool { bits & 0x70 != 0 }
  /// Whether they were set after the tables were built, and so are in the maps of ``Tables`` rather
  /// than among ``Tables/overrides``.
  var isChanged: Bool { bits & 0x80 != 0 }
  /// The bits of members with overrides that are not only a start of membership, or that were
  /// changed.
  static let beyondSince: UInt8 = 0xD0
  static let sinceBit: UInt8 = 0x20

  /// Whether the start of the membership is the only override, as of when the tables were built.
  var hasOnlySince: Bool { bits & (Self.beyondSince | Self.sinceBit) == Self.sinceBit }

  /// The same membership, set after the tables were built.
  var changed: PackedMember { hasOverrides ? PackedMember(bits: bits | 0x80) : self }

  init(bits: UInt8) { self.bits = bits }

  init(_ member: MemberSettings) {
    let (level, mutedUntil, since, channels) = member.fields
    self.init(level: level, hasMute: mutedUntil > .zero, hasSince: since > .zero)
    if !channels.isEmpty { bits |= 0x40 }
  }

  init(level: NotificationLevel, hasMute: Bool, hasSince: Bool) {
    bits = level.rawValue | (hasMute ? 0x10 : 0) | (hasSince ? Self.sinceBit : 0)
  }
}

/// A conversation, and the slots of its members, which are sorted by user.
struct ConversationRow: BitwiseCopyable {
  var start: UInt32 = 0
  var count: UInt32 = 0
  /// The number of slots reserved from `start` on.
  var capacity: UInt32 = 0
  /// The index of a thread's parent plus one; 0 for none.
  var parent: UInt32 = 0
  /// The index of the set of channel defaults; 0 is the empty set.
  var channels: UInt32 = 0
  /// Incremented by every change of the membership or of the conversation's settings.
  var revision: UInt32 = 0
  /// The second, rounded up, from which on no membership begins among ``overrides``; `.max` for one
  /// that the field cannot hold.
  var startsUntil: UInt32 = 0
  var kind = UInt8(ConversationKind.group.ordinal)
  var level: UInt8 = 0
  /// Whether any member ever had overrides.
  var hasOverrides = false
  /// Padding, initialized because rows are written to files.
  private var unused: UInt8 = 0
  /// The members' records in ``Tables/overrides``.
  var overrideStart: UInt32 = 0
  var overrideCount: UInt32 = 0

  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
  /// Whether a membership may begin after an instant in milliseconds, by ``Tables/overrides``.
  @inline(__always)
  func hasStart(after instant: Int64) -> Bool {
    instant < Int64(startsUntil) * 1000 || startsUntil == .max
  }
  var overrides: Range<Int> { Int(overrideStart)..<Int(overrideStart) + Int(overrideCount) }
}

/// One of a user's devices. A user's records are consecutive.
struct DeviceRecord: BitwiseCopyable {
  /// The index of the device's id.
  var id: UInt32
  /// The index of the notifier's name plus one; 0 for none.
  var notifier: UInt32
  /// Milliseconds; -1 for none.
  var backgroundSince: Int64
  var kind: UInt8
  var state: UInt8
  var hasToken: Bool
  var isLast: Bool
  /// As in ``ConversationRow``.
  private var unused: UInt32 = 0

  /// In the first record of a free run, the index of the next free run plus one. It is in the field
  /// of an instant, as snapshots have no field for it.
  var nextFree: UInt32 {
    get { UInt32(backgroundSince) }
    set { backgroundSince = Int64(newValue) }
  }

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
  /// The number that stands for the state in a record.
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

extension DeviceRecord {
  /// `Device.default`, which is not in the tables.
  static let `default` = DeviceRecord(
    id: 0, notifier: 0, backgroundSince: -1, kind: Device.default.kind.ordinal,
    state: Device.default.state.ordinal, hasToken: Device.default.hasToken, isLast: true)
}

/// A desktop without a token that a user may have beside the devices of the settings: whether the
/// user was ever named in presence, and is online.
enum UserPresence {
  /// No such device.
  case none
  case loggedOut
  case foreground

  /// The record of the device, which is never in the tables.
  var device: DeviceRecord? {
    let state: Device.State
    switch self {
    case .none: return nil
    case .loggedOut: state = .loggedOut
    case .foreground: state = .foreground
    }
    return DeviceRecord(
      id: 0, notifier: 0, backgroundSince: -1, kind: Device.Kind.desktop.ordinal,
      state: state.ordinal, hasToken: false, isLast: true)
  }
}
