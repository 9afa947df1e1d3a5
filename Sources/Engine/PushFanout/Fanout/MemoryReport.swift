internal import QuietTime

/// The memory that the engine's tables take, in bytes.
///
/// Counts one version. Older versions that are retained share most of it.
public struct MemoryReport: Sendable, Equatable {
  /// Users' packed settings, schedules and device lists, the log of their changes, and the index of
  /// their conversations, which is built when the first settings of a user change.
  public let users: Int
  /// Mutes and devices, which few users have.
  public let userExtras: Int
  /// The rows of conversations.
  public let conversations: Int
  /// Members, their levels, and what follows from these and their users' settings.
  public let memberships: Int
  /// Overrides: mutes, starts of membership and channel levels.
  public let membershipExtras: Int
  /// The tables of user and conversation ids, with the characters of those of up to 15 bytes.
  public let ids: Int
  /// The characters of longer ids.
  public let idCharacters: Int
  /// Distinct quiet hours, and distinct levels, roles and channels, without the characters of these.
  public let values: Int
  /// What of all parts nothing uses any more, about and at most: an update makes the tables again
  /// when it is more than a twenty-fourth of them.
  public let unused: Int
  /// What is kept between messages of conversations that messages went to, at most; bounded by
  /// ``Fanout/cacheByteLimit``.
  public let states: Int
  /// The snapshot file that the engine was opened from. Mapped pages are included in the counts
  /// above too, but belong to the page cache, which the system reclaims at need; an update copies
  /// the pages that it changes into the process's own memory.
  public let mapped: Int
  /// The number of users.
  public let userCount: Int
  /// The number of conversations.
  public let conversationCount: Int
  /// The number of memberships.
  public let membershipCount: Int

  /// The sum of all parts, without ``mapped``.
  public var total: Int {
    users + userExtras + conversations + memberships + membershipExtras + ids + idCharacters
      + values + states
  }
}

extension Fanout {
  /// The memory that the tables take.
  ///
  /// - Complexity: O(conversations).
  public func memoryReport() -> MemoryReport {
    let version = current
    let tables = version.tables
    var membershipCount = 0
    for index in 0..<tables.conversations.count {
      membershipCount += Int(tables.conversations[index].count)
    }
    var sizes = TableSizes()
    tables.forEachTable(&sizes)
    return MemoryReport(
      users: sizes[.users] + version.memberships.byteCount + version.log.byteCount,
      userExtras: sizes[.userExtras], conversations: sizes[.conversations],
      memberships: sizes[.memberships], membershipExtras: sizes[.membershipExtras],
      ids: sizes[.ids], idCharacters: sizes.idCharacters, values: tables.valueBytes,
      unused: version.unusedBytes, states: cache.byteCount,
      mapped: tables.userIDs.mapping?.byteCount ?? 0,
      userCount: tables.userCount, conversationCount: tables.conversations.count,
      membershipCount: membershipCount)
  }
}

extension Tables {
  /// The bytes of tables and values.
  var byteCount: Int {
    var sizes = TableSizes()
    forEachTable(&sizes)
    return sizes.total + valueBytes
  }

  fileprivate var valueBytes: Int {
    scheduleTable.count * ScheduleTable.bytesPerEntry
      + policies.users.count * InternedList<UserPolicy>.bytesPerValue
      + policies.members.count * InternedList<MemberPolicy>.bytesPerValue
  }
}

/// The bytes of tables, by what they are of.
private struct TableSizes: TableVisitor {
  private var sizes: [SnapshotPart.Subject: Int] = [:]
  private(set) var idCharacters = 0

  var total: Int { sizes.values.reduce(idCharacters, +) }

  subscript(subject: SnapshotPart.Subject) -> Int { sizes[subject] ?? 0 }

  mutating func visit(_ ids: IDTable, _ parts: IDParts) -> IDTable {
    let (table, characters) = ids.byteCounts
    let subject = parts.entries.subject
    sizes[subject, default: 0] += table
    if subject == .ids {
      idCharacters += characters
    } else {
      sizes[subject, default: 0] += characters
    }
    return ids
  }

  mutating func visit(_ map: PagedMap, _ part: SnapshotPart) -> PagedMap {
    sizes[part.subject, default: 0] += map.byteCount
    return map
  }

  mutating func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) -> PagedTable<Element> {
    sizes[part.subject, default: 0] += table.byteCount
    return table
  }
}
