/// How much memory the engine's tables take, in bytes.
///
/// Of one version; older versions that somebody holds share most of it.
public struct MemoryReport: Sendable, Equatable {
  /// What each user has set, which schedule and which devices; the classes for the userClasses.
  public let users: Int
  /// What few users have: mutes and lists of devices.
  public let userExtras: Int
  /// Conversations: where their members stand.
  public let conversations: Int
  /// Who is a member, and the member's own level.
  public let memberships: Int
  /// What few members have: mutes, beginnings, levels of channels.
  public let membershipExtras: Int
  /// Ids of users and conversations without their characters, and the characters.
  public let ids: Int
  public let idCharacters: Int
  /// The states of conversations that were decided lately.
  public let states: Int
  /// The file of the snapshot that the engine was opened from. What is used in place is in the counts
  /// above as well, but is memory of the system's cache that it takes back when it needs to; updates
  /// make it memory of the process page by page.
  public let mapped: Int
  public let userCount: Int
  public let conversationCount: Int
  public let membershipCount: Int

  public var total: Int {
    users + userExtras + conversations + memberships + membershipExtras + ids + idCharacters
      + states
  }
}

extension Fanout {
  /// How much memory the tables take.
  ///
  /// - Complexity: O(conversations).
  public func memoryReport() -> MemoryReport {
    let version = current
    let tables = version.tables
    var membershipCount = 0
    for index in 0..<tables.conversations.count {
      membershipCount += Int(tables.conversations[index].count)
    }
    let (userIDs, conversationIDs) = (tables.userIDs.byteCounts, tables.conversationIDs.byteCounts)
    let names = tables.deviceNames.byteCounts
    return MemoryReport(
      users: tables.packedUsers.byteCount + tables.schedules.byteCount
        + tables.deviceLists.byteCount
        + version.userClasses.byteCount,
      userExtras: tables.userMutes.byteCount + tables.devices.byteCount + names.table
        + names.characters,
      conversations: tables.conversations.byteCount,
      memberships: tables.memberUsers.byteCount + tables.packedMembers.byteCount,
      membershipExtras: tables.memberMutes.byteCount + tables.memberSinces.byteCount
        + tables.memberChannels.byteCount,
      ids: userIDs.table + conversationIDs.table,
      idCharacters: userIDs.characters + conversationIDs.characters, states: stateBytes,
      mapped: tables.userIDs.mapping?.byteCount ?? 0,
      userCount: tables.userCount, conversationCount: tables.conversations.count,
      membershipCount: membershipCount)
  }
}
