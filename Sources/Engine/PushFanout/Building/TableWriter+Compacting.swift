internal import PushModel
internal import QuietTime

extension TableWriter {
  /// Compacts the tables if much of them is unused.
  ///
  /// - Returns: whether it did; what is kept of conversations is then of no use.
  func compactIfWorthwhile(threads: Int) -> Bool {
    guard replaced.isMuch(of: tables, spare: spareBytes) else { return false }
    compact()
    fillKeys(threads: threads)
    return true
  }

  /// Makes the tables again of what is used. The indices of users, conversations and members stay.
  ///
  /// Readers of older versions keep their pages, as after any update. Members' keys are computed when
  /// the update ends.
  ///
  /// - Complexity: O(users + memberships).
  func compact() {
    compactNames()
    compactSchedules()
    compactPolicies()
    compactMembers()
    tables.rules = RuleTables.shared(tables.app)
    tables.calendar = QuietCalendar(tables.rules)
    tables.appRevision &+= 1
    log.removeAll(store)
    replaced = ReplacedValues(madeNow: tables)
    tables.memberKeys.removeAll(store)
    needsKeys = true
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

  /// Of devices and lists, with all that tokens begin with.
  private func compactNames() {
    var names = IDTable(folds: false)
    var indices = [UInt32?](repeating: nil, count: tables.names.count)
    var tokens: Set<UInt32> = []
    let before = (names: tables.names, lists: tables.nameLists, devices: tables.devices)
    func index(_ name: UInt32, isTokens: Bool) -> UInt32 {
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
          run[record].id = index(run[record].id, isTokens: false)
          if run[record].notifier > 0 {
            run[record].notifier = index(run[record].notifier - 1, isTokens: false) + 1
          }
        }
        _ = tables.devices.set(
          run, of: user, userCount: tables.userCount, limit: limit, store)
      }
      guard let list = before.lists.list(of: user) else { continue }
      _ = lists.set(list.withNames(index), of: user, limit: limit, store)
    }
    lists.groupHolders(store)
    tables.ownRare().nameLists = lists
    tables.names.removeAll(store)
    tables.names = names
  }
}
