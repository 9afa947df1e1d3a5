internal import PushModel
internal import QuietTime

/// A user's levels and flags in 32 bits.
struct PackedUser: BitwiseCopyable, Equatable {
  private(set) var bits: UInt32 = 0

  /// False if only the id is known.
  var isDeclared: Bool {
    get { has(31) }
    set { set(31, newValue) }
  }
  /// Whether ``Tables/userMutes`` has the end of an app duration.
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

  /// The raw app level (E-20).
  var level: UInt8 { level(at: 0) }
  /// The raw level for a kind.
  @inline(__always)
  func level(kind: Int) -> UInt8 { level(at: Self.levelShift(kind: kind)) }
  /// - Parameter shift: 0, or a ``levelShift(kind:)``.
  @inline(__always)
  func level(at shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits >> shift & 7) }
  static func levelShift(kind: Int) -> UInt32 { UInt32(3 + 3 * kind) }
  /// 0 if no level is 6 or 7.
  @inline(__always)
  var invalidLevels: UInt32 { bits >> 2 & bits >> 1 & 0o111_111_111 }

  init() {}

  init(_ user: UserSettings) {
    // Other tables hold quiet hours, zone and devices; open rules are refused.
    let (
      level, _, _, mutedUntil, levels, pushWhenDesktopOnline, localInformationMissing,
      localHandledByApp, _, _, _, _, _, _
    ) = user.fields
    bits = UInt32(level.vendorCode)
    for kind in ConversationKind.allCases {
      bits |= UInt32(levels[kind].rawValue) << Self.levelShift(kind: kind.ordinal)
    }
    isDeclared = true
    hasMute = mutedUntil > .zero
    self.localHandledByApp = localHandledByApp
    self.localInformationMissing = localInformationMissing
    self.pushWhenDesktopOnline = pushWhenDesktopOnline
  }

  func settings(_ quiet: QuietSettings, mutedUntil: Int64) -> UserSettings {
    var settings = UserSettings()
    settings.level = NotificationLevel(vendorCode: level) ?? .unset
    for kind in ConversationKind.allCases {
      settings.levels[kind] = NotificationLevel(vendorCode: level(kind: kind.ordinal)) ?? .unset
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

/// A membership in one byte: the level, and which overrides exist.
struct PackedMember: BitwiseCopyable, Equatable {
  var bits: UInt8 = 0

  static let levelMask: UInt8 = 0x0F

  var level: UInt8 {
    get { level(Self.levelMask) }
    set { bits = bits & ~Self.levelMask | newValue }
  }
  /// The level; a mask of 0 hides it.
  @inline(__always)
  func level(_ mask: UInt8) -> UInt8 { bits & mask }
  /// 0 if the level is one, below 6.
  @inline(__always)
  var invalidLevel: UInt8 { bits & 0x08 | bits >> 2 & bits >> 1 & 1 }
  @inline(__always)
  func hasAny(_ mask: UInt8) -> Bool { bits & mask != 0 }
  var hasMute: Bool { bits & 0x10 != 0 }
  var hasSince: Bool { bits & 0x20 != 0 }
  var hasChannels: Bool { bits & 0x40 != 0 }
  var hasOverrides: Bool { bits & 0x70 != 0 }
  /// Whether overrides were set after the build: the maps of ``Tables`` have these.
  var isChanged: Bool { bits & 0x80 != 0 }
  /// Any override but an unchanged start.
  static let beyondSince: UInt8 = 0xD0
  static let sinceBit: UInt8 = 0x20

  /// Whether an unchanged start is the only override.
  var hasOnlySince: Bool { bits & (Self.beyondSince | Self.sinceBit) == Self.sinceBit }

  /// The membership as set after the build.
  var changed: PackedMember { hasOverrides ? PackedMember(bits: bits | 0x80) : self }

  init(bits: UInt8) { self.bits = bits }

  init(_ member: MemberSettings) {
    let (level, mutedUntil, _, _, since, channels, _) = member.fields
    self.init(level: level, hasMute: mutedUntil > .zero, hasSince: since > .zero)
    if !channels.isEmpty { bits |= 0x40 }
  }

  init(level: NotificationLevel, hasMute: Bool, hasSince: Bool) {
    bits = level.vendorCode | (hasMute ? 0x10 : 0) | (hasSince ? Self.sinceBit : 0)
  }
}

extension MemberSettings {
  /// - Throws: as for a level.
  func checkChannels() throws(FanoutError) {
    for level in channels.values { try level.checkHeld() }
  }
}

/// A conversation and its members' slots, by ascending user.
struct ConversationRow: BitwiseCopyable {
  var start: UInt32 = 0
  var count: UInt32 = 0
  /// Reserved slots.
  var capacity: UInt32 = 0
  /// The parent's index plus 1; 0 for none.
  var parent: UInt32 = 0
  /// The index in ``Tables/channelSets``.
  var channels: UInt32 = 0
  /// Counts changes of members or settings.
  var revision: UInt32 = 0
  /// The second, rounded up, from which on no membership of ``overrides`` begins; `.max` if it does
  /// not fit.
  var startsUntil: UInt32 = 0
  var kind = UInt8(ConversationKind.group.ordinal)
  var level: UInt8 = 0
  /// Whether any member ever had overrides.
  var hasOverrides = false
  /// Initialized padding, as files hold rows.
  private var unused: UInt8 = 0
  /// The range in ``Tables/overrides``.
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

/// One of a user's devices, which are consecutive.
struct DeviceRecord: BitwiseCopyable {
  /// The index in ``Tables/deviceNames``.
  var id: UInt32
  /// The name's index plus 1; 0 for none.
  var notifier: UInt32
  /// Milliseconds; -1 for none.
  var backgroundSince: Int64
  var kind: UInt8
  var state: UInt8
  var hasToken: Bool
  var isLast: Bool
  /// Initialized padding.
  private var unused: UInt32 = 0

  /// In a free run's first record, the next run's start plus 1, as snapshots have no field for it.
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

/// A desktop without a token that presence adds to a user's devices.
enum UserPresence {
  /// The user was never named in presence.
  case none
  case loggedOut
  case foreground

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
