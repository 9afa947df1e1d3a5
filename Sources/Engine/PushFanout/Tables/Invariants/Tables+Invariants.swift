internal import PushModel
internal import QuietTime

extension Tables {
  /// Stops the process unless counts agree, indices are in bounds, members ascend, and flags hold.
  ///
  /// - Complexity: O(users + memberships) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ scope: InvariantScope, generation: UInt64) {
    let isBuilt = userIDs.mapping == nil
    var checking = CheckTables(scope: scope, generation: generation, isBuilt: isBuilt)
    forEachTable(&checking)
    precondition(
      packedUsers.count == userIDs.count && schedules.count == userIDs.count,
      "Tables: \(userIDs.count) user ids, \(packedUsers.count) users")
    devices.checkLists(userCount: userIDs.count)
    precondition(
      conversations.count == conversationIDs.count,
      "Tables: \(conversationIDs.count) conversation ids, \(conversations.count) conversations")
    precondition(
      packedMembers.count == memberUsers.count,
      "Tables: \(memberUsers.count) members' users, \(packedMembers.count) members")
    precondition(
      hasKeys || memberKeys.count == 0,
      "Tables: \(memberUsers.count) members' users, \(memberKeys.count) keys")
    for user in scope.indices(below: userCount) { checkUser(UInt32(user), isBuilt: isBuilt) }
    for index in scope.indices(below: conversations.count) {
      checkConversation(UInt32(index), scope, isBuilt: isBuilt)
    }
    if case .all = scope { checkSlotsAreDisjoint() }
  }

  private func checkUser(_ user: UInt32, isBuilt: Bool) {
    precondition(
      schedules[Int(user)] < scheduleTable.count, "Tables: user \(user) has no such schedule")
    devices.checkInvariants(of: user, nameCount: names.count)
    precondition(
      !isBuilt || !packedUsers[Int(user)].hasMute || userMutes[UInt64(user)] != nil,
      "Tables: user \(user) is muted until no instant")
  }

  private func checkConversation(_ index: UInt32, _ scope: InvariantScope, isBuilt: Bool) {
    let row = conversations[Int(index)]
    precondition(
      row.count <= row.capacity && Int(row.start) + Int(row.capacity) <= memberUsers.count,
      "Tables: conversation \(index) reaches beyond the members")
    precondition(
      row.parent <= conversations.count && row.channels < policies.members.count,
      "Tables: conversation \(index) has no such parent or channels")
    for rank in scope.indices(below: Int(row.count)) {
      let slot = Int(row.start) + rank
      let user = memberUsers[slot]
      precondition(user < userCount, "Tables: conversation \(index) has no such user \(user)")
      precondition(
        rank == 0 || memberUsers[slot - 1] < user,
        "Tables: members of conversation \(index) do not ascend at \(rank)")
      let packed = PackedMember(bits: packedMembers[slot])
      precondition(
        row.hasOverrides || !packed.hasOverrides,
        "Tables: conversation \(index) does not say that members have overrides")
      guard isBuilt else { continue }
      precondition(
        hasOverrides(packed, of: user, index, row),
        "Tables: overrides of member \(rank) of conversation \(index) are missing")
      precondition(
        !hasKeys || memberKeys[slot] == StoredKeys(self).key(slot, row).bits,
        "Tables: member \(rank) of conversation \(index) has another key")
    }
    checkOverrides(index, row, scope)
  }

  private func hasOverrides(
    _ packed: PackedMember, of user: UInt32, _ conversation: UInt32, _ row: ConversationRow
  ) -> Bool {
    let kinds = [packed.hasSince, packed.hasMute, packed.hasPolicy]
    let key = Self.key(conversation, user)
    if packed.isChanged {
      let isStored = [memberSinces, memberMutes, memberPolicies].map { $0[key] != nil }
      return zip(kinds, isStored).allSatisfy { !$0 || $1 }
    }
    guard packed.hasOverrides else { return true }
    var cursor = OverrideCursor(self, row, from: user)
    var isStored = [false, false, false, false]
    while cursor.record.user == user {
      isStored[Int(cursor.record.rawKind)] = true
      cursor.advance(by: 1)
    }
    return zip(kinds, isStored.dropFirst()).allSatisfy { !$0 || $1 }
  }

  private func checkOverrides(
    _ conversation: UInt32, _ row: ConversationRow, _ scope: InvariantScope
  ) {
    precondition(
      row.overrides.upperBound <= overrides.count,
      "Tables: conversation \(conversation) reaches beyond the overrides")
    for offset in scope.indices(below: Int(row.overrideCount)) where offset > 0 {
      let index = Int(row.overrideStart) + offset
      precondition(
        overrides[index - 1].key < overrides[index].key,
        "Tables: overrides of conversation \(conversation) do not ascend at \(offset)")
    }
  }

  private func checkSlotsAreDisjoint() {
    let slots = SlotSet(count: memberUsers.count)
    let records = SlotSet(count: overrides.count)
    for index in 0..<conversations.count {
      let row = conversations[index]
      precondition(
        slots.insert(Int(row.start)..<Int(row.start) + Int(row.capacity)),
        "Tables: conversation \(index) shares slots with another")
      precondition(
        records.insert(row.overrides), "Tables: conversation \(index) shares overrides with another"
      )
    }
  }
}

/// Checks each table by itself.
private struct CheckTables: TableVisitor {
  let scope: InvariantScope
  let generation: UInt64
  let isBuilt: Bool

  func visit(_ ids: IDTable, _ parts: IDParts) -> IDTable {
    ids.checkInvariants(scope, generation: generation)
    return ids
  }

  func visit(_ map: PagedMap, _ part: SnapshotPart) -> PagedMap {
    map.checkInvariants(scope, generation: generation, findsKeys: isBuilt)
    return map
  }

  func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) -> PagedTable<Element> {
    table.checkInvariants(scope, generation: generation)
    return table
  }
}
