internal import PushModel
internal import PushSupport
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

  /// Whether settings have fields that only open rules have. Never false again.
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
    if index == traits.count { note(policy) }
    return index
  }

  /// Notes what the next of ``members`` has.
  private mutating func note(_ policy: MemberPolicy) {
    for role in policy.roles { numbersByRole[role, default: []].append(UInt32(traits.count)) }
    traits.append(policy.traits)
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

  /// Takes back the numbers of policies that nobody has.
  ///
  /// - Returns: by number, the later one. Members' numbers that a ``PackedMember`` has stay.
  mutating func keep(users: [Bool], members: [Bool]) -> (users: [UInt32], members: [UInt32]) {
    let numbers = (
      users: self.users.keep(users, and: NotificationLevel.ofVendors.count),
      members: self.members.keep(members, and: Int(PackedMember.levelMask) + 1)
    )
    (traits, numbersByRole) = ([], [:])
    self.members.values.forEach { note($0) }
    return numbers
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

// MARK: As bytes

extension Policies {
  /// Writes the policies, or reads them into ``initial``.
  mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    try coder.code(&hasOpen)
    var count = users.count
    try coder.code(count: &count, atLeast: 5)
    for index in 0..<count {
      var policy = index < users.count ? users.values[index] : UserPolicy()
      try policy.code(&coder)
      guard insert(policy) == index else { throw Malformed("wrong user's policy") }
    }
    count = members.count
    try coder.code(count: &count, atLeast: 12)
    for index in 0..<count {
      var policy = index < members.count ? members.values[index] : MemberPolicy()
      try policy.code(&coder)
      guard insert(policy) == index else { throw Malformed("wrong member's policy") }
    }
  }
}

extension UserPolicy {
  fileprivate mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    try coder.code(&level)
    var classes = mutedAllow.rawValue
    try coder.code(&classes)
    mutedAllow = MessageClasses(rawValue: classes)
    guard MessageClasses.all.isSuperset(of: mutedAllow) else { throw Malformed("invalid classes") }
    try coder.code(&allowForce)
  }
}

extension MemberPolicy {
  fileprivate mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    try coder.code(&traits.level)
    try coder.code(&traits.isImportant)
    var follows = traits.isFollowing.map { $0 ? 1 : 0 } ?? 2
    try coder.code(&follows, below: 3)
    traits.isFollowing = follows == 2 ? nil : follows == 1
    try coder.code(&roles, atLeast: 4, Identifier("")) { (role, coder) throws(Malformed) in
      try coder.code(&role)
    }
    var levels = channels.sorted { $0.key.text < $1.key.text }.map { ($0.key, $0.value) }
    try coder.code(&levels, atLeast: 6, (Identifier(""), .unset)) {
      (level, coder) throws(Malformed) in
      try coder.code(&level.0)
      try coder.code(&level.1)
    }
    channels = Dictionary(levels) { first, _ in first }
    guard channels.count == levels.count else { throw Malformed("duplicate channel") }
  }
}

extension ByteCoder {
  mutating func code(_ level: inout NotificationLevel) throws(Malformed) {
    var number = level.rawValue
    try code(&number)
    guard let found = NotificationLevel(rawValue: number) else { throw Malformed("invalid level") }
    level = found
  }

  fileprivate mutating func code(_ id: inout Identifier) throws(Malformed) {
    var text = id.text
    try code(&text)
    id = Identifier(text)
  }
}

/// Values with a number each, of which few are distinct. The first is the one of settings that say
/// nothing.
struct InternedList<Value: Hashable & Sendable>: Sendable {
  private(set) var values: [Value]
  private var indices: [Value: UInt32]

  init(_ first: Value) {
    values = [first]
    indices = [first: 0]
  }

  var count: Int { values.count }

  /// About how many bytes one takes, without what it refers to.
  static var bytesPerValue: Int { 3 * MemoryLayout<Value>.stride + 8 }

  subscript(index: UInt32) -> Value { values[Int(index)] }

  /// The number of a value, added if new.
  mutating func insert(_ value: Value) -> UInt32 {
    if let index = indices[value] { return index }
    let index = UInt32(values.count)
    values.append(value)
    indices[value] = index
    return index
  }

  /// Takes back the numbers of values that are not used, but for the first ones.
  ///
  /// - Returns: by number, the later one of each that is kept; 0 for the others.
  mutating func keep(_ used: [Bool], and first: Int) -> [UInt32] {
    let before = values
    (values, indices) = ([], [:])
    return before.enumerated().map { old, value in
      old < first || used[old] ? insert(value) : 0
    }
  }
}
