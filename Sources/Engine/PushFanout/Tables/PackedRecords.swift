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
  /// The index in ``Policies/users``, in place of the levels by kind; nil without a policy.
  @inline(__always)
  var policy: UInt32? { level == Self.policyLevel ? bits >> 3 & (Self.policyCapacity - 1) : nil }
  /// No level.
  private static let policyLevel: UInt8 = 7
  static let policyCapacity: UInt32 = 1 << 24
  /// 0 if the policy is below a count or, without one, no level is 6 or 7.
  @inline(__always)
  func invalidLevels(below policies: UInt32) -> UInt32 {
    let invalid = bits >> 2 & bits >> 1 & 0o111_111_111
    let isBeyond: UInt32 = bits >> 3 & (Self.policyCapacity - 1) >= policies ? 1 : 0
    return bits & 7 == UInt32(Self.policyLevel) ? isBeyond : invalid
  }

  /// Whether there are no levels by kind and no flags of RongCloud.
  var hasOnlyLevel: Bool { bits & 0x3FFF_FFF8 == 0 }

  init() {}

  init(_ user: UserSettings) {
    // Other tables hold quiet hours, zone, devices, policies and names.
    bits = user.level.isOfVendor ? UInt32(user.level.vendorCode) : 0
    if user.levels != KindLevels() {
      for kind in ConversationKind.allCases {
        bits |= UInt32(user.levels[kind].rawValue) << Self.levelShift(kind: kind.ordinal)
      }
    }
    isDeclared = true
    hasMute = user.mutedUntil > .zero
    localHandledByApp = user.localHandledByApp
    localInformationMissing = user.localInformationMissing
    pushWhenDesktopOnline = user.pushWhenDesktopOnline
  }

  /// A user with a policy.
  init(_ user: UserSettings, policy: UInt32) {
    bits = UInt32(Self.policyLevel) | policy << 3
    isDeclared = true
    hasMute = user.mutedUntil > .zero
  }

  /// - Precondition: the user has a policy.
  func withPolicy(_ policy: UInt32) -> PackedUser {
    var user = self
    user.bits = bits & ~((Self.policyCapacity - 1) << 3) | policy << 3
    return user
  }

  func settings(_ quiet: QuietSettings, mutedUntil: Int64) -> UserSettings {
    var settings = UserSettings()
    settings.level = NotificationLevel(vendorCode: level) ?? .unset
    if policy == nil, bits & 0o777_777_770 != 0 {
      for kind in ConversationKind.allCases {
        settings.levels[kind] = NotificationLevel(vendorCode: level(kind: kind.ordinal)) ?? .unset
      }
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

/// A membership in one byte: the level, or another index in ``Policies/members``, and which
/// overrides exist.
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
  @inline(__always)
  func hasAny(_ mask: UInt8) -> Bool { bits & mask != 0 }
  var hasMute: Bool { bits & 0x10 != 0 }
  var hasSince: Bool { bits & 0x20 != 0 }
  /// Whether an override has the index in ``Policies/members``.
  var hasPolicy: Bool { bits & Self.policyBit != 0 }
  var hasOverrides: Bool { bits & 0x70 != 0 }
  /// Whether overrides were set after the build: the maps of ``Tables`` have these.
  var isChanged: Bool { bits & 0x80 != 0 }
  /// Any override but an unchanged start.
  static let beyondSince: UInt8 = 0xD0
  static let sinceBit: UInt8 = 0x20
  private static let policyBit: UInt8 = 0x40

  /// Whether an unchanged start is the only override.
  var hasOnlySince: Bool { bits & (Self.beyondSince | Self.sinceBit) == Self.sinceBit }

  /// The membership as set after the build.
  var changed: PackedMember { hasOverrides ? PackedMember(bits: bits | 0x80) : self }

  /// The membership as built.
  var built: PackedMember { PackedMember(bits: bits & 0x7F) }

  init(bits: UInt8) { self.bits = bits }

  /// - Parameter policy: that of the member, which ``Policies`` has; few numbers fit here.
  init(_ member: borrowing MemberSettings, _ policy: UInt32?) {
    let (level, mutedUntil, since) = (member.level, member.mutedUntil, member.since)
    guard let policy else {
      self.init(level: level, hasMute: mutedUntil > .zero, hasSince: since > .zero)
      return
    }
    let hasChannels = !member.channels.isEmpty
    let fits = !hasChannels && policy <= UInt32(Self.levelMask)
    var bits = fits ? UInt8(policy) : Self.policyBit
    if hasChannels, level.isOfVendor { bits |= level.vendorCode }
    if mutedUntil > .zero { bits |= 0x10 }
    if since > .zero { bits |= Self.sinceBit }
    self.init(bits: bits)
  }

  init(level: NotificationLevel, hasMute: Bool, hasSince: Bool) {
    bits = level.vendorCode | (hasMute ? 0x10 : 0) | (hasSince ? Self.sinceBit : 0)
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
  /// The index in ``Policies/members``.
  var channels: UInt32 = 0
  /// Counts changes of members or settings.
  var revision: UInt32 = 0
  /// The second, rounded up, from which on no membership of ``overrides`` begins; `.max` if it does
  /// not fit.
  var startsUntil: UInt32 = 0
  var kind = UInt8(ConversationKind.group.ordinal)
  /// Whether any member ever had overrides.
  var hasOverrides = false
  /// The raw value of the level.
  var level: UInt16 = 0
  /// The range in ``Tables/overrides``.
  var overrideStart: UInt32 = 0
  var overrideCount: UInt32 = 0

  var notificationLevel: NotificationLevel { NotificationLevel(rawValue: level) ?? .unset }
  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
  /// Whether a membership may begin after an instant in milliseconds, by ``Tables/overrides``.
  @inline(__always)
  func hasStart(after instant: Int64) -> Bool {
    instant < Int64(startsUntil) * 1000 || startsUntil == .max
  }
  /// Sees to it that ``hasStart(after:)`` holds up to an instant in milliseconds.
  mutating func noteStart(_ instant: Int64) {
    startsUntil = max(startsUntil, UInt32(clamping: (instant + 999) / 1000))
  }
  var overrides: Range<Int> { Int(overrideStart)..<Int(overrideStart) + Int(overrideCount) }
}

/// One of a user's devices, which are consecutive.
struct DeviceRecord: BitwiseCopyable {
  /// The index in ``Tables/names``.
  var id: UInt32
  /// The name's index plus 1; 0 for none.
  var notifier: UInt32
  /// Since when the device is in the background, or, by open rules, when it was last seen, in
  /// milliseconds; -1 for unknown.
  var seen: Int64
  var kind: UInt8
  var state: UInt8
  var hasToken: Bool
  var isLast: Bool
  /// Of a user's first record: whether the devices are as set, or what heartbeats say of them.
  private var presence: UInt32 = Presence.asSet.rawValue

  /// What the records of a user are.
  enum Presence: UInt32 {
    /// The devices as set.
    case asSet
    /// What heartbeats say of the devices, whose records as set are behind them.
    case ofListed
    /// What heartbeats say of the device of a user who lists none.
    case ofDefault
  }

  /// Of a user's first record. Snapshots have ``Presence/asSet`` only.
  var toldPresence: Presence? {
    get { Presence(rawValue: presence) }
    set { presence = (newValue ?? .asSet).rawValue }
  }

  /// In a free run's first record, the next run's start plus 1, as snapshots have no field for it.
  var nextFree: UInt32 {
    get { UInt32(seen) }
    set { seen = Int64(newValue) }
  }

  init(
    id: UInt32, notifier: UInt32, seen: Int64, kind: UInt8, state: UInt8,
    hasToken: Bool, isLast: Bool
  ) {
    self.id = id
    self.notifier = notifier
    self.seen = seen
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
    id: 0, notifier: 0, seen: -1, kind: Device.default.kind.ordinal,
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
      id: 0, notifier: 0, seen: -1, kind: Device.Kind.desktop.ordinal,
      state: state.ordinal, hasToken: false, isLast: true)
  }
}
