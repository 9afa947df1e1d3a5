internal import Algorithms
internal import CPushKernels
internal import PushModel
internal import QuietTime

/// What a member's class depends on of a conversation (O-1, O-3).
struct OpenPlace {
  private let base: OpenMemberClass.Base
  private let level: MessageClasses
  private let scope: Scope

  /// - Parameter conversation: not a thread.
  init(_ conversation: borrowing ConversationRow, appLevel: NotificationLevel) {
    base = ConversationKind(ordinal: Int(conversation.kind)) == .private ? .private : .plain
    let own = conversation.notificationLevel
    if own.isSet {
      (level, scope) = (own.mask, .conversationDefault)
    } else {
      (level, scope) = appLevel.isSet ? (appLevel.mask, .appDefault) : (.all, .default)
    }
  }

  func memberClass(_ user: UserPolicy, _ member: MemberTraits) -> OpenMemberClass {
    let level: (MessageClasses, Scope)
    if member.level.isSet {
      level = (member.level.mask, .conversation)
    } else {
      level = user.level.isSet ? (user.level.mask, .user) : (self.level, scope)
    }
    return OpenMemberClass(
      level: level.0, scope: level.1, base: base,
      isImportant: member.isImportant, allowsForce: user.allowForce)
  }
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
  private let traits: [MemberTraits]
  private let appLevel: NotificationLevel
  private let states: OpenStates

  /// A hash of what classes are made of what settings, so that programs which make others do not read
  /// keys. Never 0.
  static let mark: UInt64 = {
    let levels: [NotificationLevel] = [
      .unset, .blocked, .mention, .all, NotificationLevel(.private),
    ]
    var made: [UInt8] = []
    for kind in [ConversationKind.private, .group] {
      for (user, member) in product(levels, levels) {
        for (own, app) in product(levels, levels) {
          var row = ConversationRow()
          (row.kind, row.level) = (UInt8(kind.ordinal), own.rawValue)
          let value = OpenPlace(row, appLevel: app).memberClass(
            UserPolicy(level: user, allowForce: app == .all),
            MemberTraits(level: member, isImportant: own == .blocked))
          unsafe withUnsafeBytes(of: value.bits.littleEndian) { bytes in
            unsafe made.append(contentsOf: bytes)
          }
        }
      }
    }
    return max(unsafe pk_checksum(made, made.count), 1)
  }()

  @inline(never)
  init?(_ tables: borrowing Tables) {
    guard let states = tables.stateTables(.group).ruleSet.openStates else { return nil }
    self.states = states
    users = tables.policies.users.values
    traits = tables.policies.traits
    appLevel = tables.app.level
  }

  func place(_ conversation: borrowing ConversationRow) -> OpenPlace {
    OpenPlace(conversation, appLevel: appLevel)
  }

  @inline(__always)
  func base(_ user: PackedUser, _ member: PackedMember, _ place: OpenPlace) -> UInt16 {
    let policy = users[Int(user.policy ?? UInt32(user.level))]
    return states.base(place.memberClass(policy, traits[Int(member.level)]))
  }
}
