internal import PushModel
internal import QuietTime

/// What a member's class depends on of a conversation (O-1, O-3).
struct OpenPlace {
  private let isThread: Bool
  /// For a member without a record in the thread.
  private let base: OpenMemberClass.Base
  private let level: MessageClasses
  private let scope: Scope

  /// - Parameter members: the conversation, or a thread's parent.
  init(_ kind: ConversationKind, _ members: borrowing ConversationRow, _ app: borrowing AppSettings)
  {
    isThread = kind == .thread
    if ConversationKind(ordinal: Int(members.kind)) == .private {
      base = .private
    } else {
      base = !isThread || app.open.threadPlain == .everyone ? .plain : .none  // O-21
    }
    let own = members.notificationLevel
    if own.isSet {
      (level, scope) = (own.mask, .conversationDefault)
    } else {
      (level, scope) = app.level.isSet ? (app.level.mask, .appDefault) : (.all, .default)
    }
  }

  /// - Parameter own: of the record in the thread; nil for none.
  func memberClass(
    _ user: UserPolicy, _ member: MemberPolicy.Traits, own: MemberPolicy.Traits? = nil
  ) -> OpenMemberClass {
    var base = base
    if isThread, base != .private, let own, own.isFollowing ?? true { base = .thread }
    let level: (MessageClasses, Scope)
    if let own, own.level.isSet {
      level = (own.level.mask, .thread)
    } else if member.level.isSet {
      level = (member.level.mask, .conversation)
    } else {
      level = user.level.isSet ? (user.level.mask, .user) : (self.level, scope)
    }
    return OpenMemberClass(
      level: level.0, scope: level.1, base: base,
      isImportant: member.isImportant || own?.isImportant ?? false, allowsForce: user.allowForce)
  }
}

extension MemberPolicy.Traits {
  /// Whether the record, of a thread, lifts the conversation's mute (O-41).
  var liftsMute: Bool { level.isSet || isFollowing == true }
}

extension Tables {
  func policy(of user: UInt32) -> UserPolicy {
    let packed = packedUsers[Int(user)]
    return policies.users[packed.policy ?? UInt32(packed.level)]
  }

  /// The windows that a user is inside; nil for none.
  func openQuiet(of user: UInt32, at now: Int64) -> OpenQuiet? {
    // One call, as each copies the table with its references.
    scheduleTable.quiet(schedules[Int(user)], at: now / 1000).map {
      OpenQuiet($0.level, areApps: $0.areApps)
    }
  }
}

/// Computes stored keys by open rules.
///
/// A class, as ``StoredKeys`` by other rules have one word for it.
final class OpenKeys: Sendable {
  private let users: [UserPolicy]
  private let traits: [MemberPolicy.Traits]
  private let app: AppSettings

  @inline(never)
  init(_ tables: borrowing Tables) {
    users = tables.policies.users.values
    traits = tables.policies.traits
    app = tables.app
  }

  func place(_ kind: ConversationKind, _ members: borrowing ConversationRow) -> OpenPlace {
    OpenPlace(kind, members, app)
  }

  @inline(__always)
  func base(
    _ user: PackedUser, _ member: PackedMember, _ place: OpenPlace, _ states: OpenStates
  ) -> UInt16 {
    let policy = users[Int(user.policy ?? UInt32(user.level))]
    return states.base(place.memberClass(policy, traits[Int(member.level)]))
  }
}
