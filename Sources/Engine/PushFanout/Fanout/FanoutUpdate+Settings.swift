package import PushModel

/// The levels that decide whether a member has one for a conversation.
package struct MemberLevels {
  /// That of the membership.
  package let own: NotificationLevel
  /// Those of the user, for all conversations and for those of the kind.
  package let ofUser: NotificationLevel
  package let ofKind: NotificationLevel
}

extension Tables {
  /// The level of a user.
  func level(of user: PackedUser) -> NotificationLevel {
    user.policy.map { policies.users[$0].level } ?? NotificationLevel(vendorCode: user.level)
      ?? .unset
  }
}

/// Changes of very many records. Timelines and kept conversations do not follow them one by one, but
/// read everything again.
extension FanoutUpdate {
  /// Changes the users that `change` says it has changed; their devices stay.
  ///
  /// - Parameter change: is given the settings without devices.
  /// - Complexity: O(users) now; O(memberships) when the update is published.
  package mutating func updateUsers(
    _ change: (UserIndex, inout UserSettings) -> Bool
  ) throws(FanoutError) {
    noteBulk()
    writer.needsKeys = true
    for user in 0..<UInt32(writer.tables.userCount) {
      var settings = writer.tables.userExceptDevices(user)
      if change(UserIndex(user), &settings) { try writer.setUserExceptDevices(user, settings) }
    }
  }

  /// Sets the level of memberships of a conversation, which is no thread.
  ///
  /// - Parameters:
  ///   - conversation: its index.
  ///   - isWanted: says of which.
  /// - Returns: how many of them had another level.
  /// - Complexity: O(members).
  package mutating func setLevel(
    _ level: NotificationLevel, of conversation: UInt32,
    where isWanted: (UserIndex, MemberLevels) -> Bool
  ) throws(FanoutError) -> Int {
    noteBulk()
    let count = try writer.setLevel(level, of: conversation, where: isWanted)
    try writer.checkRules()
    return count
  }
}

extension TableWriter {
  fileprivate func setLevel(
    _ level: NotificationLevel, of conversation: UInt32,
    where isWanted: (UserIndex, MemberLevels) -> Bool
  ) throws(FanoutError) -> Int {
    let row = tables.conversations[Int(conversation)]
    let kind = ConversationKind(ordinal: Int(row.kind))
    let (users, memberUsers) = (tables.packedUsers, tables.memberUsers)
    var count = 0
    for slot in row.range {
      let user = memberUsers[slot]
      var member = PackedMember(bits: tables.packedMembers[slot])
      let packed = users[Int(user)]
      let levels = MemberLevels(
        own: tables.member(tables.record(at: slot, conversation, row)).level,
        ofUser: tables.level(of: packed),
        ofKind: NotificationLevel(vendorCode: packed.level(kind: kind.ordinal)) ?? .unset)
      guard isWanted(UserIndex(user), levels), levels.own != level else { continue }
      count += 1
      if !member.hasPolicy, NotificationLevel(vendorCode: member.level) != nil, level.isOfVendor {
        member.level = level.vendorCode
        tables.packedMembers.set(slot, member.bits, store)
      } else if var settings = tables.member(user, of: conversation) {
        settings.level = level
        _ = try setMember(user, of: conversation, settings)
      }
    }
    guard count > 0, tables.hasKeys else { return count }
    let changed = tables.conversations[Int(conversation)]
    StoredKeys(tables).write(
      0..<Int(row.count), of: changed, kind, tables.rules.tables(kind), mask: PackedMember.levelMask
    ) { rank, key in
      let slot = Int(row.start) + rank
      if tables.memberKeys[slot] != key { tables.memberKeys.set(slot, key, store) }
    }
    return count
  }
}
