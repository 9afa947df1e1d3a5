internal import PushModel
internal import QuietTime

/// Settings of a user that only open rules have, beside quiet hours and lists, with the level.
struct UserPolicy: Hashable, Sendable {
  var level = NotificationLevel.unset
  /// What passes the user's mutes (O-10).
  var mutedAllow: MessageClasses = []
  var allowForce = true
}

/// Settings of a member of which few are distinct.
struct MemberPolicy: Hashable, Sendable {
  var traits = MemberTraits()
  var roles: [Identifier] = []
  var channels: [Identifier: NotificationLevel] = [:]
}

extension MemberPolicy {
  func apply(to member: inout MemberSettings) {
    member.level = traits.level
    member.isImportant = traits.isImportant
    member.isFollowing = traits.isFollowing
    member.roles = roles
    member.channels = channels
  }
}

/// The policies of users, members and conversations, by number.
///
/// The first of users and of members have the levels of vendors, by their codes.
struct Policies: Sendable {
  private(set) var users = InternedList(UserPolicy())
  /// Those of conversations have channels only.
  private(set) var members = InternedList(MemberPolicy())
  /// Those of ``members``, without references.
  private(set) var traits = [MemberTraits()]
  /// The numbers of members' policies with a role.
  private var numbersByRole: [Identifier: [UInt32]] = [:]

  /// Whether settings have fields that only open rules have. Never false again, as values stay.
  var hasOpen = false

  /// Those of empty tables.
  static let initial = Policies()

  private init() {
    for level in NotificationLevel.ofVendors {
      _ = insert(UserPolicy(level: level))
      _ = insert(MemberPolicy(traits: .init(level: level)))
    }
  }

  mutating func insert(_ policy: UserPolicy) -> UInt32 { users.insert(policy) }

  mutating func insert(_ policy: MemberPolicy) -> UInt32 {
    let index = members.insert(policy)
    if index == traits.count {
      traits.append(policy.traits)
      for role in policy.roles { numbersByRole[role, default: []].append(index) }
    }
    return index
  }

  /// The number of the policy of settings; nil if they have no more than a vendor's level.
  mutating func insert(_ user: borrowing UserSettings) -> UInt32? {
    if user.level.isOfVendor, user.mutedAllow.isEmpty, user.allowForce { return nil }
    hasOpen = true
    return insert(
      UserPolicy(level: user.level, mutedAllow: user.mutedAllow, allowForce: user.allowForce))
  }

  mutating func insert(_ member: borrowing MemberSettings) -> UInt32? {
    let (level, isImportant, isFollowing) = (member.level, member.isImportant, member.isFollowing)
    let (channels, roles) = (member.channels, member.roles)
    let hasOpen = !level.isOfVendor || isImportant || isFollowing != nil || !roles.isEmpty
    if !hasOpen && channels.isEmpty { return nil }
    if hasOpen { self.hasOpen = true }
    return insert(
      MemberPolicy(
        traits: MemberTraits(
          level: level, isImportant: isImportant, isFollowing: isFollowing),
        roles: roles, channels: channels))
  }

  mutating func insert(_ channels: [Identifier: NotificationLevel]) -> UInt32 {
    insert(MemberPolicy(channels: channels))
  }

  func channels(_ index: UInt32) -> [Identifier: NotificationLevel] { members[index].channels }

  /// The numbers of members' policies with one of these roles.
  func members(withRoles roles: [Identifier]) -> Set<UInt32> {
    Set(roles.lazy.flatMap { numbersByRole[$0] ?? [] })
  }
}

extension MemberRecord {
  /// The index in ``Policies/members``.
  var policyIndex: UInt32 { packed.hasPolicy ? policy : UInt32(packed.level) }
}

extension Tables {
  @inline(__always)
  func settings(_ packed: PackedUser, _ quiet: QuietSettings, mutedUntil: Int64) -> UserSettings {
    var user = packed.settings(quiet, mutedUntil: mutedUntil)
    if let index = packed.policy {
      let policy = policies.users[index]
      user.level = policy.level
      user.mutedAllow = policy.mutedAllow
      user.allowForce = policy.allowForce
    }
    return user
  }

  func member(_ record: MemberRecord) -> MemberSettings {
    let packed = record.packed
    let level = packed.hasPolicy ? nil : NotificationLevel(vendorCode: packed.level)
    var member = MemberSettings(
      level: level ?? .unset, mutedUntil: Instant(milliseconds: record.mutedUntil),
      since: Instant(milliseconds: record.since))
    if level == nil { policies.members[record.policyIndex].apply(to: &member) }
    return member
  }
}
