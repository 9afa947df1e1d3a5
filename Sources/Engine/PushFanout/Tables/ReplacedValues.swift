internal import PushModel
internal import QuietTime

/// What changes left in the tables since these were made: changed values stay, as other settings may
/// have them too.
struct ReplacedValues {
  /// Slots that no member has: conversations outgrew them, or will grow into them.
  var slots = 0
  /// Records of ``Tables/overrides`` that are not read any more.
  var overrides = 0
  /// How often a user, a member, or what has names came to have another value.
  var schedules = 0
  var userPolicies = 0
  var memberPolicies = 0
  var names = 0

  /// Those of ``slots`` that were left for joins.
  private var spareSlots = 0
  /// How many values there were when the tables were made.
  private var made = (schedules: 0, userPolicies: 0, memberPolicies: 0, names: 0)
  /// How many changes there were when this was last asked.
  private var checked = 0
  /// About how many bytes nothing uses, at most, when this was last asked.
  private(set) var unusedBytes = 0

  init() {}

  /// - Complexity: O(conversations).
  init(madeNow tables: Tables) {
    made = (
      tables.scheduleTable.count, tables.policies.users.count, tables.policies.members.count,
      tables.names.count
    )
    slots = tables.memberUsers.count
    for index in 0..<tables.conversations.count {
      slots -= Int(tables.conversations[index].count)
    }
    spareSlots = slots
  }

  /// Of tables that were read from a snapshot: counts what no setting has.
  ///
  /// - Complexity: O(users + conversations).
  init(opened tables: Tables) {
    self.init(madeNow: tables)
    spareSlots = 0
    made.schedules = tables.usedSchedules.count(where: \.self)
    made.userPolicies = tables.usedPolicies.count(where: \.self)
    made.names = tables.countUnused()
    schedules = tables.scheduleTable.count - made.schedules
    names = tables.names.count - made.names
    userPolicies = tables.policies.users.count - made.userPolicies
    unusedBytes = unusedBytes(of: tables)
  }

  private var count: Int {
    overrides + schedules + userPolicies + memberPolicies + names + abs(slots - spareSlots)
  }

  /// No more values than were added since, and no more than were replaced.
  private func unusedBytes(of tables: Tables) -> Int {
    let lists = tables.nameLists
    let names = self.names > 0 ? tables.names.count - made.names : 0
    return max(slots - spareSlots, 0) * 9 + overrides * MemoryLayout<OverrideRecord>.stride
      + min(schedules, tables.scheduleTable.count - made.schedules) * ScheduleTable.bytesPerEntry
      + min(userPolicies, tables.policies.users.count - made.userPolicies)
      * InternedList<UserPolicy>.bytesPerValue
      + min(memberPolicies, tables.policies.members.count - made.memberPolicies)
      * InternedList<MemberPolicy>.bytesPerValue
      + names * (tables.names.byteCounts.table + tables.names.byteCounts.characters)
      / max(tables.names.count, 1)
      + lists.unread.names * 4 + lists.unread.holders * MemoryLayout<NameLists.Holder>.stride
      + tables.devices.unusedCount * MemoryLayout<DeviceRecord>.stride
      + tables.memberMutes.bytesBeyondRecords + tables.memberSinces.bytesBeyondRecords
      + tables.memberPolicies.bytesBeyondRecords
  }

  /// Whether so much is unused that making the tables again is worthwhile. It is asked of few of the
  /// changes.
  ///
  /// - Parameter spare: so many bytes are never much.
  mutating func isMuch(of tables: Tables, spare: Int) -> Bool {
    if count - checked < 64 { return false }
    checked = count
    unusedBytes = unusedBytes(of: tables)
    if unusedBytes > max(tables.byteCount / 24, spare) { return true }
    // What has no number is decided one by one.
    let states = tables.stateTables(.group).ruleSet.openStates
    return states?.isFull ?? false
      && count * 64 > tables.userCount + tables.memberUsers.count
  }
}

extension PagedMap {
  /// Built anew, what it holds takes a record each.
  fileprivate var bytesBeyondRecords: Int {
    byteCount - count * MemoryLayout<OverrideRecord>.stride
  }
}

extension Tables {
  /// By index, whether the settings of ``scheduleTable`` are a user's.
  var usedSchedules: [Bool] {
    var used = [Bool](repeating: false, count: scheduleTable.count)
    schedules.forEachChunkElement(0..<schedules.count) { used[Int($1)] = true }
    return used
  }

  /// Counts what no user has of devices and lists, of tables that were read from a snapshot.
  ///
  /// - Returns: how many of ``names`` are of devices or in lists.
  fileprivate func countUnused() -> Int {
    var used = [Bool](repeating: false, count: names.count)
    devices.countUnused { device in
      used[Int(device.id)] = true
      if device.notifier > 0 { used[Int(device.notifier) - 1] = true }
    }
    ownRare().nameLists.countUnread { used[Int($0)] = true }
    return used.count(where: \.self)
  }

  /// By number, whether a user has the policy.
  var usedPolicies: [Bool] {
    var used = [Bool](repeating: false, count: policies.users.count)
    packedUsers.forEachChunkElement(0..<packedUsers.count) { _, user in
      if let policy = user.policy { used[Int(policy)] = true }
    }
    return used
  }
}
