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

  /// How many values there were when the tables were made.
  /// Those of ``slots`` that were left for joins.
  private var spareSlots = 0
  private var made = (schedules: 0, userPolicies: 0, memberPolicies: 0, names: 0)
  private var checked = 0

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
    made.names = tables.usedNameCount
    schedules = tables.scheduleTable.count - made.schedules
    names = tables.names.count - made.names
    userPolicies = tables.policies.users.count - made.userPolicies
    tables.devices.countUnused()
    tables.ownRare().nameLists.countUnread()
  }

  private var count: Int {
    overrides + schedules + userPolicies + memberPolicies + names + abs(slots - spareSlots)
  }

  /// Whether there were many changes since this was last asked.
  mutating func isDue() -> Bool {
    if count - checked < 1024 { return false }
    checked = count
    return true
  }

  /// About how many bytes nothing uses, at most: no more values than were added since, and no more than
  /// were replaced.
  func unusedBytes(of tables: Tables) -> Int {
    let lists = tables.nameLists
    let names = self.names > 0 ? tables.names.count - made.names : 0
    let maps = [tables.memberMutes, tables.memberSinces, tables.memberPolicies]
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
      // Built anew, what they hold takes a record.
      + maps.reduce(0) { $0 + $1.byteCount - $1.count * MemoryLayout<OverrideRecord>.stride }
  }

  /// Whether so much is unused that making the tables again is worthwhile.
  ///
  /// - Parameter spare: so many bytes are never much.
  func isMuch(of tables: Tables, spare: Int) -> Bool {
    if unusedBytes(of: tables) > max(tables.byteCount / 24, spare) { return true }
    // What has no number is decided one by one.
    let states = unsafe tables.stateTables(.group).openStates
    return states?.isFull ?? false
      && count * 64 > tables.userCount + tables.memberUsers.count
  }
}

extension TableWriter {
  /// Compacts the tables if much of them is unused.
  ///
  /// - Returns: whether it did; what is kept of conversations is then of no use.
  func compactIfWorthwhile(threads: Int) -> Bool {
    guard replaced.isDue(), replaced.isMuch(of: tables, spare: spareBytes) else { return false }
    compact(threads: threads)
    return true
  }

  /// Makes the tables again of what is used. The indices of users, conversations and members stay.
  ///
  /// Readers of older versions keep their pages, as after any update.
  ///
  /// - Complexity: O(users + memberships).
  func compact(threads: Int) {
    compactNames()
    compactSchedules()
    compactPolicies()
    compactMembers()
    tables.rules = RuleTables.shared(tables.app)
    tables.calendar = QuietCalendar(tables.rules)
    tables.appRevision &+= 1
    log.removeAll(store)
    replaced = ReplacedValues(madeNow: tables)
    fillKeys(threads: threads)
  }

  private func compactSchedules() {
    let schedules = tables.schedules
    let indices = tables.scheduleTable.keep(tables.usedSchedules)
    for user in 0..<schedules.count {
      let index = indices[Int(schedules[user])]
      if index != schedules[user] { tables.schedules.set(user, index, store) }
    }
  }

  private func compactPolicies() {
    var members = [Bool](repeating: false, count: tables.policies.members.count)
    let packedUsers = tables.packedUsers
    forEachMemberPolicy { policy in
      members[Int(policy)] = true
      return policy
    }
    let numbers = tables.ownRare().policies.keep(users: tables.usedPolicies, members: members)
    for user in 0..<packedUsers.count {
      guard let policy = packedUsers[user].policy, numbers.users[Int(policy)] != policy else {
        continue
      }
      tables.packedUsers.set(
        user, packedUsers[user].withPolicy(numbers.users[Int(policy)]), store)
    }
    forEachMemberPolicy { numbers.members[Int($0)] }
  }

  /// Replaces the numbers of policies that members and conversations have.
  private func forEachMemberPolicy(_ number: (UInt32) -> UInt32) {
    for index in 0..<tables.conversations.count {
      var row = tables.conversations[index]
      let channels = number(row.channels)
      guard channels != row.channels else { continue }
      row.channels = channels
      tables.conversations.set(index, row, store)
    }
    let overrides = tables.overrides
    for index in 0..<overrides.count where overrides[index].isPolicy {
      let record = overrides[index]
      let policy = number(UInt32(truncatingIfNeeded: record.value))
      guard Int64(policy) != record.value else { continue }
      tables.overrides.set(index, OverrideRecord(.policy, of: record.user, Int64(policy)), store)
    }
    let slots = tables.memberPolicies.slots
    for index in 0..<slots.count where slots[index].key != 0 {
      let policy = number(UInt32(truncatingIfNeeded: slots[index].value))
      tables.memberPolicies.set(slots[index].key - 1, Int64(policy), store)
    }
  }

  private func compactMembers() {
    var (users, packed) = (PagedTable<UInt32>(), PagedTable<UInt8>())
    var overrides = PagedTable<OverrideRecord>()
    for index in 0..<tables.conversations.count {
      var row = tables.conversations[index]
      (row.hasOverrides, row.overrideCount, row.startsUntil) = (false, 0, 0)
      row.overrideStart = UInt32(overrides.count)
      let start = users.count
      tables.forEachMember(of: UInt32(index)) { user, record in
        users.append(user, store)
        packed.append(record.packed.built.bits, store)
        guard record.packed.hasOverrides else { return }
        row.hasOverrides = true
        for record in record.overrides(of: user) {
          overrides.append(record, store)
          row.overrideCount += 1
          if record.isStart { row.noteStart(record.value) }
        }
      }
      row.start = UInt32(start)
      // So that some joins do not leave all of them behind.
      row.capacity = row.count + (row.count < 256 ? 0 : row.count / 32)
      let end = start + Int(row.capacity)
      users.grow(to: end, repeating: 0, store)
      packed.grow(to: end, repeating: 0, store)
      tables.conversations.set(index, row, store)
    }
    tables.memberUsers.removeAll(store)
    tables.packedMembers.removeAll(store)
    tables.overrides.removeAll(store)
    (tables.memberUsers, tables.packedMembers, tables.overrides) = (users, packed, overrides)
    tables.memberMutes.removeAll(store)
    tables.memberSinces.removeAll(store)
    tables.memberPolicies.removeAll(store)
  }

  /// Of devices, keywords and senders, with all that keywords' tokens begin with.
  private func compactNames() {
    var names = IDTable(folds: false)
    var indices = [UInt32?](repeating: nil, count: tables.names.count)
    var tokens: Set<UInt32> = []
    let before = (names: tables.names, lists: tables.nameLists, devices: tables.devices)
    func index(of name: UInt32, isTokens: Bool = false) -> UInt32 {
      if let known = indices[Int(name)], !isTokens || tokens.contains(name) { return known }
      let id = before.names[name]
      if isTokens {
        tokens.insert(name)
        TokenText(id).prefixes.forEach { _ = names.insert($0, store) }
      }
      let index = names.insert(id, store)
      indices[Int(name)] = index
      return index
    }
    tables.devices.removeAll(store)
    var lists = tables.ownRare().nameLists
    lists.removeAll(store)
    for user in 0..<UInt32(tables.userCount) {
      if var run = before.devices.lists.run(of: user) {
        for record in run.indices {
          run[record].id = index(of: run[record].id)
          if run[record].notifier > 0 {
            run[record].notifier = index(of: run[record].notifier - 1) + 1
          }
        }
        _ = tables.devices.set(
          run, of: user, userCount: tables.userCount, limit: limit, store)
      }
      guard let list = before.lists.list(of: user) else { continue }
      let kept = NameLists.List(
        keywords: list.keywords.map {
          (written: index(of: $0.written), tokens: index(of: $0.tokens, isTokens: true))
        },
        important: list.important.map { index(of: $0) },
        blocked: list.blocked.map { index(of: $0) })
      _ = lists.set(kept, of: user, limit: limit, store)
    }
    lists.groupHolders(store)
    tables.ownRare().nameLists = lists
    tables.names.removeAll(store)
    tables.names = names
  }
}

extension Tables {
  /// By index, whether the settings of ``scheduleTable`` are a user's.
  fileprivate var usedSchedules: [Bool] {
    var used = [Bool](repeating: false, count: scheduleTable.count)
    schedules.forEachChunkElement(0..<schedules.count) { used[Int($1)] = true }
    return used
  }

  /// How many of ``names`` are of devices, keywords or senders.
  fileprivate var usedNameCount: Int {
    if names.count == 0 { return 0 }
    var used = [Bool](repeating: false, count: names.count)
    for user in 0..<UInt32(userCount) {
      devices.lists.forEach(of: user) { device in
        used[Int(device.id)] = true
        if device.notifier > 0 { used[Int(device.notifier) - 1] = true }
      }
      guard let list = nameLists.list(of: user) else { continue }
      for name in list.keywords.flatMap({ [$0.written, $0.tokens] }) + list.important
        + list.blocked
      {
        used[Int(name)] = true
      }
    }
    return used.count(where: \.self)
  }

  /// By number, whether a user has the policy.
  fileprivate var usedPolicies: [Bool] {
    var used = [Bool](repeating: false, count: policies.users.count)
    packedUsers.forEachChunkElement(0..<packedUsers.count) { _, user in
      if let policy = user.policy { used[Int(policy)] = true }
    }
    return used
  }
}
