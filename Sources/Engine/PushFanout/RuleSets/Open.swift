internal import PushModel

/// What a membership, or a record in a thread, has by open rules, with the level.
struct MemberTraits: BitwiseCopyable, Hashable, Sendable {
  var level = NotificationLevel.unset
  var isImportant = false
  /// Nil if not written.
  var isFollowing: Bool?

  /// Whether the record, of a thread, lifts the conversation's mute (O-41).
  var liftsMute: Bool { level.isSet || isFollowing == true }
}

/// What a decision by open rules depends on of a member at an instant, except quiet hours and what
/// only a few messages have.
struct OpenMemberClass: BitwiseCopyable, Hashable {
  /// How the user's devices can be reached (O-31).
  enum Reach: UInt32 {
    case device, noToken, kicked, loggedOut, online
  }

  /// The class that a message has in a conversation, for a member (O-1).
  enum Base: UInt32 {
    case none, plain, thread, `private`
  }

  /// Which mute of the conversation runs.
  enum Mute: UInt32 {
    case none, conversation, thread
  }

  /// Bits 0-8 hold the level, 9-11 its scope, 12-13 ``Base``, 14-16 ``Reach``, 17-18 ``Mute``, then
  /// one bit each whether the user's mute runs, the member is important and the user allows force,
  /// and 22-30 what passes mutes.
  private(set) var bits: UInt32

  private static let scopes: [Scope] = [
    .thread, .conversation, .user, .conversationDefault, .appDefault, .default,
  ]
  private static let muteBits: UInt32 = 3 << 17
  private static let userMuteBit: UInt32 = 1 << 19
  private static let importantBit: UInt32 = 1 << 20
  private static let forceBit: UInt32 = 1 << 21

  /// A member without mutes, whose user has a device.
  init(level: MessageClasses, scope: Scope, base: Base, isImportant: Bool, allowsForce: Bool) {
    bits = UInt32(level.rawValue) | UInt32(Self.scopes.firstIndex(of: scope) ?? 0) << 9
    bits |= base.rawValue << 12
    bits |= (isImportant ? Self.importantBit : 0) | (allowsForce ? Self.forceBit : 0)
  }

  /// Anyone online: nothing else matters.
  static var online: OpenMemberClass { OpenMemberClass(bits: Reach.online.rawValue << 14) }

  private init(bits: UInt32) { self.bits = bits }

  /// Nil for bits that no class has.
  init?(stored bits: UInt32) {
    self.init(bits: bits)
    guard bits >> 31 == 0, Int(bits >> 9 & 7) < Self.scopes.count,
      Reach(rawValue: bits >> 14 & 7) != nil, Mute(rawValue: bits >> 17 & 3) != nil
    else { return nil }
  }

  /// The member at an instant.
  ///
  /// - Parameter allowed: what passes the user's mutes.
  func with(
    _ reach: Reach, _ mute: Mute, isUserMuted: Bool, allowed: MessageClasses
  ) -> OpenMemberClass {
    if reach == .online { return .online }
    var value = self
    let isUserMuted = isUserMuted && !isImportant  // O-41
    value.bits |= reach.rawValue << 14 | mute.rawValue << 17 | (isUserMuted ? Self.userMuteBit : 0)
    if isUserMuted || mute != .none { value.bits |= UInt32(allowed.rawValue) << 22 }
    return value
  }

  /// A member of a thread's parent, in the thread (O-1, O-3, O-41).
  ///
  /// - Parameters:
  ///   - own: of the record in the thread; nil for none.
  ///   - keepsPlain: whether the message is plain for those who do not follow the thread.
  func inThread(_ own: MemberTraits?, keepsPlain: Bool) -> OpenMemberClass {
    if reach == .online { return self }
    var value = self
    if base != .private {
      let isFollowing = own.map { $0.isFollowing ?? true } ?? false
      value.set(isFollowing ? .thread : keepsPlain ? .plain : Base.none)
    }
    guard let own else { return value }
    if own.level.isSet { value.bits = value.bits & ~0xFFF | UInt32(own.level.mask.rawValue) }
    if own.liftsMute, mute == .conversation { value.bits &= ~Self.muteBits }
    if own.isImportant { value.bits = value.bits & ~Self.userMuteBit | Self.importantBit }
    return value
  }

  private mutating func set(_ base: Base) { bits = bits & ~(3 << 12) | base.rawValue << 12 }

  private var level: MessageClasses { MessageClasses(rawValue: UInt16(bits & 0x1FF)) }
  private var scope: Scope { Self.scopes[Int(bits >> 9 & 7)] }
  private var base: Base { Base(rawValue: bits >> 12 & 3) ?? .none }
  private var baseClass: MessageClasses {
    switch base {
    case .plain: .plain
    case .thread: .thread
    case .private: .private
    case .none: []
    }
  }
  var reach: Reach { Reach(rawValue: bits >> 14 & 7) ?? .device }
  private var mute: Mute { Mute(rawValue: bits >> 17 & 3) ?? .none }
  private var isUserMuted: Bool { bits & Self.userMuteBit != 0 }
  private var isImportant: Bool { bits & Self.importantBit != 0 }
  private var allowsForce: Bool { bits & Self.forceBit != 0 }
  private var allowed: MessageClasses { MessageClasses(rawValue: UInt16(bits >> 22 & 0x1FF)) }

  /// All classes of a message (O-1).
  func classes(_ named: NamedClasses) -> MessageClasses {
    if base == .plain, named.takesPlain { return named.classes }
    return named.classes.union(baseClass)
  }

  /// Open rules' procedure from line 3 on (open-rules.md §5).
  func outcome(_ named: NamedClasses, _ quiet: OpenQuiet?, force: Bool) -> Outcome {
    outcome(ofAll: classes(named), quiet, force: force)
  }

  /// The same for all classes of a message.
  func outcome(ofAll classes: MessageClasses, _ quiet: OpenQuiet?, force: Bool) -> Outcome {
    // 3
    if reach == .online { return Outcome(.suppress, .online) }
    // 4
    if classes.isEmpty { return Outcome(.suppress, .notFollowing) }
    // 5
    if classes.isDisjoint(with: level) {
      return Outcome(.suppress, level.isEmpty ? .levelNone : .levelExcludes, scope)
    }
    // 6
    var forced = false
    if let stop = gate(classes, quiet) {
      guard force, allowsForce else { return stop }  // O-40
      forced = true
    }
    // 7
    switch reach {
    case .noToken: return Outcome(.suppress, .noToken)
    case .kicked: return Outcome(.suppress, .kicked)
    case .loggedOut: return Outcome(.suppress, .loggedOut)
    case .device, .online: break
    }
    // 8
    return Outcome(.push, forced ? .forced : .allowed, scope)
  }

  /// The first gate after which nothing of the message remains (O-13).
  private func gate(_ classes: MessageClasses, _ quiet: OpenQuiet?) -> Outcome? {
    var left = classes.intersection(level)
    if mute != .none {
      left.formIntersection(allowed)
      if left.isEmpty {
        return Outcome(.suppress, .muted, mute == .thread ? .thread : .conversation)
      }
    }
    if isUserMuted {
      left.formIntersection(allowed)
      if left.isEmpty { return Outcome(.suppress, .muted, .user) }
    }
    if let quiet, !isImportant {
      left.formIntersection(quiet.allowed)
      if left.isEmpty { return Outcome(.suppress, .quietHours, quiet.scope) }
    }
    return nil
  }
}

/// The windows that a user is inside, by what they let through and whose they are.
struct OpenQuiet: BitwiseCopyable, Hashable {
  /// Bits 0-8 hold what is let through, bit 9 whether the windows are the app's.
  let bits: UInt16

  static let count = 1 << 10

  init(_ level: NotificationLevel, areApps: Bool) {
    bits = level.mask.rawValue | (areApps ? 1 << 9 : 0)
  }

  var allowed: MessageClasses { MessageClasses(rawValue: bits & 0x1FF) }
  var scope: Scope { bits >> 9 == 0 ? .user : .appDefault }
}

/// What a message to a whole conversation contributes to outcomes.
struct OpenMessageClass {
  /// 0 ..< 6. Where everyone is mentioned, no message is plain.
  let index: Int

  static let count = 6
  static let all = (0..<count).map { OpenMessageClass(index: $0) }

  init(index: Int) { self.index = index }

  /// - Parameter takesPlain: see ``takesPlain``.
  init(_ message: borrowing Message, takesPlain: Bool) {
    let everyone = message.mentionsAll ?? false
    index = (message.force ?? false ? 1 : 0) | (everyone ? 2 : takesPlain ? 4 : 0)
  }

  var force: Bool { index & 1 != 0 }
  /// Whether nobody has the message as a plain one: in a thread of a group (O-1).
  var takesPlain: Bool { index & 4 != 0 }
  var named: NamedClasses {
    takesPlain ? .takesPlain : NamedClasses(index & 2 != 0 ? .mentionsEveryone : [])
  }
}

/// What a message says of a user: its classes but those of the conversation, and the rest below.
struct NamedClasses: BitwiseCopyable {
  let bits: UInt16

  static let takesPlain = NamedClasses(bits: 1 << 13)
  static let hasRecord = NamedClasses(bits: 1 << 14)
  static let blocksSender = NamedClasses(bits: 1 << 15)

  init(bits: UInt16) { self.bits = bits }

  init(_ classes: MessageClasses) { bits = classes.rawValue }

  var classes: MessageClasses { MessageClasses(rawValue: bits & 0x1FF) }
  /// Whether the message is not plain (O-1).
  var takesPlain: Bool {
    bits & Self.takesPlain.bits != 0
      || !classes.isDisjoint(with: [.mentionsMe, .role, .mentionsEveryone])
  }
  /// Whether the user has a record in the message's thread (O-10).
  var hasRecord: Bool { bits & Self.hasRecord.bits != 0 }
  var blocksSender: Bool { bits & Self.blocksSender.bits != 0 }
  var isEmpty: Bool { bits == 0 }

  func union(_ other: NamedClasses) -> NamedClasses { NamedClasses(bits: bits | other.bits) }
}
