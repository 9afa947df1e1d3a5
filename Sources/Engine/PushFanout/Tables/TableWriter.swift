package import PushModel
internal import QuietTime

/// Changes tables and log, for the one writer.
@safe final class TableWriter {
  @safe @exclusivity(unchecked) private(set) var tables: Tables
  var log = SettingsLog()
  let store: PageStore
  /// Whether rules changed, so that all keys must be recomputed.
  var needsKeys = false
  /// Whether the app's settings may follow.
  var isBuilding = false
  /// What changes may have left since the tables were made.
  var replaced = ReplacedValues()
  /// How much may be unused in any case; only tests lower it.
  var spareBytes = 1 << 20
  /// The maximum of 32-bit indices; only tests lower it.
  var limit = Int(UInt32.max) - 1
  /// The maximum of distinct quiet hours; only tests lower it.
  var scheduleLimit = MemberKey.scheduleCapacity

  init(app: AppSettings, unknownZones: UnknownZones = .fail) throws(FanoutError) {
    tables = Tables(app: app, unknownZones: unknownZones)
    store = PageStore()
    do throws(ZoneDataError) {
      try tables.scheduleTable.setApp(app)
    } catch {
      throw FanoutError(error)
    }
  }

  /// - Parameter store: the one that allocated the tables' pages.
  init(_ tables: Tables, _ store: PageStore) {
    self.tables = tables
    self.store = store
  }

  /// - Parameter replaced: that of the last version.
  func rollBack(to last: Tables, _ log: SettingsLog, _ replaced: ReplacedValues) {
    for (ids, before) in zip(tables.idTables, last.idTables) { ids.rollBack(to: before) }
    tables = Tables(copying: last)
    self.log = log
    self.replaced = replaced
    needsKeys = false
    store.rollBack()
  }

  // MARK: App and users

  func setApp(_ app: AppSettings) throws(FanoutError) {
    do throws(ZoneDataError) {
      try tables.scheduleTable.setApp(app)
    } catch {
      throw FanoutError(error)
    }
    tables.app = app
    try checkRules()
    if !app.rules.fields.contains(.seenAt) { try forgetPresence() }
    tables.rules = RuleTables.shared(app)
    tables.calendar = QuietCalendar(tables.rules)
    tables.appRevision &+= 1
    needsKeys = true
    log.removeAll(store)
  }

  func intern(user id: Identifier) throws(FanoutError) -> UInt32 {
    if let index = tables.userIDs.index(of: id) { return index }
    if id.isEmpty { throw .emptyID }
    guard tables.userIDs.count < limit else { throw .tooMany("users") }
    let index = tables.userIDs.insert(id, store)
    appendUsers(to: tables.userIDs.count)
    return index
  }

  func appendUsers(to count: Int) {
    tables.packedUsers.grow(to: count, repeating: PackedUser(), store)
    tables.schedules.grow(to: count, repeating: 0, store)
    tables.devices.grow(to: count, store)
  }

  func setUser(_ user: UInt32, _ settings: UserSettings) throws(FanoutError) {
    try setUserExceptDevices(user, settings)
    try setDevices(settings.devices, of: user)
    if settings.hasOpenFields || !tables.nameLists.isEmpty { try setNames(settings, of: user) }
    try checkRules()
  }

  func setUserExceptDevices(_ user: UInt32, _ settings: UserSettings) throws(FanoutError) {
    let scheduleIndex = try schedule(QuietSettings(settings))
    let packed = try packed(settings)
    let before = (packed: tables.packedUsers[Int(user)], schedule: tables.schedules[Int(user)])
    if before.packed != packed {
      tables.packedUsers.set(Int(user), packed, store)
      if before.packed.policy != nil { replaced.userPolicies += 1 }
    }
    if before.schedule != scheduleIndex {
      tables.schedules.set(Int(user), scheduleIndex, store)
      if before.schedule != 0 { replaced.schedules += 1 }
    }
    if packed.hasMute {
      tables.userMutes.set(UInt64(user), settings.mutedUntil.milliseconds, store)
    } else if before.packed.hasMute {
      tables.userMutes.remove(UInt64(user), store)
    }
  }

  /// The index of a schedule, added if new.
  func schedule(_ settings: QuietSettings) throws(FanoutError) -> UInt32 {
    let index: UInt32
    do throws(ZoneDataError) {
      index = try tables.scheduleTable.insert(settings)
    } catch {
      throw FanoutError(error)
    }
    if tables.scheduleTable.count <= scheduleLimit { return index }
    guard !isBuilding, replaced.schedules > 0 else { throw .tooManyQuietHours }
    // The new one has no user yet.
    compact()
    return try schedule(settings)
  }

  /// - Complexity: O(users); O(1) without unknown zones.
  func findUnknownZones() {
    tables.unknownZoneUsers = []
    guard tables.scheduleTable.hasUnknownZones else { return }
    for user in 0..<UInt32(tables.userCount) where tables.unknownZone(of: user) != nil {
      tables.unknownZoneUsers.append(user)
    }
  }

  func findUnknownZones(of users: Set<UInt32>) {
    guard tables.scheduleTable.hasUnknownZones else { return }
    let before = tables.unknownZoneUsers
    let kept = before.filter { !users.contains($0) }
    let found = kept + users.filter { tables.unknownZone(of: $0) != nil }
    if found != before { tables.unknownZoneUsers = found.sorted() }
  }

  /// - Parameter devices: nil for `Device.default`.
  func setDevices(_ devices: [Device]?, of user: UInt32) throws(FanoutError) {
    if tables.hasOwnDevices(user) { replaced.names += 1 }
    let set = try devices.map(records)
    if tables.devices.toldUsers == 0 || tables.devices.lists.toldPresence(of: user) == .asSet {
      return try write(set, of: user)
    }
    try setTold(user, over: set)
  }

  /// - Parameter records: nil for `Device.default`.
  func write(_ records: [DeviceRecord]?, of user: UInt32) throws(FanoutError) {
    guard let records else { return tables.devices.reset(user, store) }
    let isSet = tables.devices.set(
      records, of: user, userCount: tables.userCount, limit: limit, store)
    if !isSet { throw .tooMany("devices") }
  }

  func records(_ devices: [Device]) throws(FanoutError) -> [DeviceRecord] {
    var records: [DeviceRecord] = []
    records.reserveCapacity(devices.count)
    for (offset, device) in devices.enumerated() {
      guard tables.names.count + 1 < limit else { throw .tooMany("device ids") }
      let id = tables.names.insert(device.id, store)
      let notifier = device.notifier.map { tables.names.insert($0, store) + 1 }
      records.append(
        DeviceRecord(
          id: id, notifier: notifier ?? 0,
          seen: try seen(device), kind: device.kind.ordinal, state: device.state.ordinal,
          hasToken: device.hasToken, isLast: offset == devices.count - 1))
    }
    return records
  }

  // MARK: Conversations

  /// The index of a conversation, added if new, as an empty group.
  func intern(conversation id: Identifier) throws(FanoutError) -> UInt32 {
    if let index = tables.conversationIDs.index(of: id) { return index }
    if id.isEmpty { throw .emptyID }
    guard tables.conversationIDs.count < limit else { throw .tooMany("conversations") }
    let index = tables.conversationIDs.insert(id, store)
    tables.conversations.append(ConversationRow(), store)
    return index
  }

  /// Replaces the settings but keeps the members.
  func setConversation(
    _ conversation: UInt32, _ settings: ConversationSettings
  ) throws(FanoutError) {
    var row = tables.conversations[Int(conversation)]
    let before = (row.kind, row.level)
    row.kind = UInt8(settings.kind.ordinal)
    row.level = settings.level.rawValue
    if !settings.level.isOfVendor { noteOpen() }
    try checkRules()
    row.parent =
      try settings.parent.map { (id) throws(FanoutError) in
        try intern(conversation: id) + 1
      } ?? 0
    row.channels =
      settings.channels.isEmpty ? 0 : tables.ownRare().policies.insert(settings.channels)
    row.revision &+= 1
    tables.conversations.set(Int(conversation), row, store)
    if (row.kind, row.level) != before { row.range.forEach { setKey($0, row) } }
  }

  func setParent(of conversation: UInt32, _ parent: Identifier) throws(FanoutError) {
    let parent = try intern(conversation: parent)
    var row = tables.conversations[Int(conversation)]
    row.parent = parent + 1
    tables.conversations.set(Int(conversation), row, store)
  }

  // MARK: Members

  /// - Returns: whether the user was already a member.
  /// - Complexity: O(log members); O(members) for a new one.
  func setMember(
    _ user: UInt32, of conversation: UInt32, _ member: MemberSettings
  ) throws(FanoutError) -> Bool {
    var row = tables.conversations[Int(conversation)]
    let policy = policy(of: member)
    try checkRules()
    let packed = PackedMember(member, policy).changed
    if packed.hasOverrides {
      setOverrides(Tables.key(conversation, user), member, packed.hasPolicy ? policy : nil)
      row.hasOverrides = true
    }
    let rank = tables.insertionRank(of: user, in: row)
    let slot = Int(row.start) + rank
    if rank < Int(row.count), tables.memberUsers[slot] == user {
      let before = PackedMember(bits: tables.packedMembers[slot])
      if before != packed { tables.packedMembers.set(slot, packed.bits, store) }
      removeOverrides(before, Tables.key(conversation, user), but: packed)
      if packed.hasOverrides { tables.conversations.set(Int(conversation), row, store) }
      setKey(slot, row)
      return true
    }
    try insert(user, packed, at: rank, &row)
    row.revision &+= 1
    tables.conversations.set(Int(conversation), row, store)
    return false
  }

  private func setOverrides(_ key: UInt64, _ member: MemberSettings, _ policy: UInt32?) {
    if member.mutedUntil > .zero {
      tables.memberMutes.set(key, member.mutedUntil.milliseconds, store)
    }
    if member.since > .zero { tables.memberSinces.set(key, member.since.milliseconds, store) }
    if let policy { tables.memberPolicies.set(key, Int64(policy), store) }
  }

  /// - Parameter kept: those of kinds that it has were replaced.
  private func removeOverrides(_ before: PackedMember, _ key: UInt64, but kept: PackedMember) {
    if before.hasPolicy { replaced.memberPolicies += 1 }
    guard before.isChanged else {
      // As built, they are not read any more.
      if before.hasOverrides { replaced.overrides += 1 }
      return
    }
    if before.hasMute, !kept.hasMute { tables.memberMutes.remove(key, store) }
    if before.hasSince, !kept.hasSince { tables.memberSinces.remove(key, store) }
    if before.hasPolicy, !kept.hasPolicy { tables.memberPolicies.remove(key, store) }
  }

  private func insert(
    _ user: UInt32, _ packed: PackedMember, at rank: Int, _ row: inout ConversationRow
  ) throws(FanoutError) {
    if row.count == row.capacity { try makeRoom(&row) }
    let start = Int(row.start)
    var slot = start + Int(row.count)
    while slot > start + rank {
      tables.memberUsers.set(slot, tables.memberUsers[slot - 1], store)
      tables.packedMembers.set(slot, tables.packedMembers[slot - 1], store)
      if tables.hasKeys { tables.memberKeys.set(slot, tables.memberKeys[slot - 1], store) }
      slot -= 1
    }
    tables.memberUsers.set(slot, user, store)
    tables.packedMembers.set(slot, packed.bits, store)
    setKey(slot, row)
    row.count += 1
    replaced.slots -= 1
  }

  /// Doubles the slots of a small conversation; the old ones stay unused.
  private func makeRoom(_ row: inout ConversationRow) throws(FanoutError) {
    // Each join moves half of a conversation anyway.
    let count = Int(row.count)
    let capacity = count + max(4, count < 256 ? count : count / 8)
    let start = tables.memberUsers.count
    guard start + capacity <= limit else { throw .tooMany("memberships") }
    replaced.slots += capacity
    let hasKeys = tables.hasKeys
    tables.memberUsers.grow(to: start + capacity, repeating: 0, store)
    tables.packedMembers.grow(to: start + capacity, repeating: 0, store)
    if hasKeys { tables.memberKeys.grow(to: start + capacity, repeating: 0, store) }
    for offset in 0..<count {
      let slot = Int(row.start) + offset
      tables.memberUsers.set(start + offset, tables.memberUsers[slot], store)
      tables.packedMembers.set(start + offset, tables.packedMembers[slot], store)
      if hasKeys { tables.memberKeys.set(start + offset, tables.memberKeys[slot], store) }
    }
    row.start = UInt32(start)
    row.capacity = UInt32(capacity)
  }

  /// - Returns: whether the user was a member.
  /// - Complexity: O(members).
  func removeMember(_ user: UInt32, of conversation: UInt32) -> Bool {
    var row = tables.conversations[Int(conversation)]
    guard let rank = tables.rank(of: user, in: row) else { return false }
    removeOverrides(
      PackedMember(bits: tables.packedMembers[Int(row.start) + rank]),
      Tables.key(conversation, user), but: PackedMember(bits: 0))
    for slot in Int(row.start) + rank..<Int(row.start) + Int(row.count) - 1 {
      tables.memberUsers.set(slot, tables.memberUsers[slot + 1], store)
      tables.packedMembers.set(slot, tables.packedMembers[slot + 1], store)
      if tables.hasKeys { tables.memberKeys.set(slot, tables.memberKeys[slot + 1], store) }
    }
    row.count -= 1
    replaced.slots += 1
    row.revision &+= 1
    tables.conversations.set(Int(conversation), row, store)
    return true
  }
}

/// What takes records of settings: an engine that is built, or one that is changed.
package protocol FanoutWriting: ~Copyable {
  /// Replaces the app's settings.
  mutating func setApp(_ app: AppSettings) throws(FanoutError)
  /// Replaces all settings of a user.
  mutating func setUser(_ id: Identifier, _ user: UserSettings) throws(FanoutError)
  /// Replaces all settings of a conversation; its members are kept.
  mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings) throws(FanoutError)
  /// Replaces a user's whole membership in a conversation.
  mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings
  ) throws(FanoutError)
  /// Adds a user id without settings, if it is new.
  @discardableResult
  mutating func intern(user id: Identifier) throws(FanoutError) -> UserIndex
  /// Adds a conversation id as a group without members, if it is new.
  @discardableResult
  mutating func intern(conversation id: Identifier) throws(FanoutError) -> UInt32
}

extension FanoutWriting where Self: ~Copyable {
  /// Replaces the record of the same key.
  package mutating func set(_ record: SettingsRecord) throws(FanoutError) {
    switch record {
    case .app(let app): try setApp(app)
    case .user(let id, let user): try setUser(id, user)
    case .conversation(let id, let conversation): try setConversation(id, conversation)
    case .member(let user, let conversation, let member, _):
      try setMember(user, of: conversation, member)
    }
  }

  /// Replaces every record in `settings`, users in their order; the app's settings are kept.
  ///
  /// - Complexity: O(records).
  package mutating func addRecords(of settings: FanoutSettings) throws(FanoutError) {
    for number in 0..<UInt32(settings.userCount) {
      let index = UserIndex(number)
      let id = settings.id(of: index)
      if settings.isDeclared(index) {
        try setUser(id, settings.user(index))
      } else {
        try intern(user: id)
      }
    }
    for id in settings.conversationIDs {
      if settings.isDeclared(id), let record = settings.conversation(id) {
        try setConversation(id, record)
      } else {
        try intern(conversation: id)
      }
      for user in settings.members(of: id) {
        if let member = settings.member(user, of: id) {
          try setMember(settings.id(of: user), of: id, member)
        }
      }
    }
  }
}
