internal import GRDB
internal import PushModel

/// The rows of member_settings in the order of members, by conversation and user. Their table is in
/// the order of users: looked up there, each member would be on another page.
struct MemberSettingRows {
  /// The first row of each conversation by its number, and the end of the last one.
  private var starts: [UInt32] = [0]
  private var users: [UInt32] = []
  /// The level, and whether there is a mute.
  private var bits: [UInt8] = []
  /// The ends of mutes, in the order of rows.
  private var mutes: [(place: UInt64, until: Instant)] = []
  private var rowCount = 0
  /// How many rows were returned by ``next(_:_:)``.
  private var usedCount = 0
  private var row = 0
  private var mute = 0

  /// How many rows ``next(_:_:)`` has not returned.
  var strayCount: Int { rowCount - usedCount }

  private static func place(_ conversation: UInt32, _ user: UInt32) -> UInt64 {
    UInt64(conversation) << 32 | UInt64(user)
  }

  private static let muteBit: UInt8 = 0x80

  /// Reads all rows.
  init(_ queries: SettingsQueries) throws {
    // A row of another number is nobody's.
    let numbers = 1...(try Self.lastConversation(queries))
    var conversations: [UInt32] = []
    var (users, bits): ([UInt32], [UInt8]) = ([], [])
    var counts: [UInt32] = []
    var rows = try RepeatedStatement(
      queries.db,
      """
      SELECT user, conversation, level, muted_until FROM member_settings
        ORDER BY user, conversation
      """)
    while let row = try rows.next() {
      rowCount += 1
      let user = UInt32(exactly: try queries.number(row, 0, "member_settings.user"))
      let conversation = UInt32(
        exactly: try queries.number(row, 1, "member_settings.conversation"))
      let level = try queries.level(row, 2, "member_settings.level")
      let until = try queries.instant(row, 3, "member_settings.muted_until")
      guard let user, let conversation, numbers.contains(conversation) else { continue }
      if counts.isEmpty { counts = [UInt32](repeating: 0, count: Int(numbers.upperBound) + 1) }
      counts[Int(conversation)] += 1
      conversations.append(conversation)
      users.append(user)
      bits.append(level.rawValue | (until > .zero ? Self.muteBit : 0))
      if until > .zero { mutes.append((Self.place(conversation, user), until)) }
    }
    mutes.sort { $0.place < $1.place }
    sort(conversations, users, bits, counts)
  }

  /// The number of the last conversation. Numbers are given in turn, so memory for as many is as much
  /// as for the conversations, unless the store is damaged.
  private static func lastConversation(_ queries: SettingsQueries) throws -> UInt32 {
    var find = try RepeatedStatement(
      queries.db, "SELECT coalesce(max(number), 1), count(*) FROM conversations")
    let last =
      try find.first { row in
        let (last, count) = (row.number(0) ?? 0, row.number(1) ?? 0)
        return last <= 2 * count + 1024 ? UInt32(exactly: last) : nil
      } ?? nil
    return try queries.known(last.flatMap { $0 > 0 ? $0 : nil }, "conversations.number")
  }

  /// Sorts by conversation; the users of each are in order already.
  private mutating func sort(
    _ conversations: [UInt32], _ users: [UInt32], _ bits: [UInt8], _ counts: [UInt32]
  ) {
    starts.reserveCapacity(counts.count + 1)
    for count in counts { starts.append((starts.last ?? 0) + count) }
    var next = starts
    self.users = [UInt32](repeating: 0, count: users.count)
    self.bits = [UInt8](repeating: 0, count: users.count)
    for (row, conversation) in conversations.enumerated() {
      let place = Int(next[Int(conversation)])
      next[Int(conversation)] += 1
      self.users[place] = users[row]
      self.bits[place] = bits[row]
    }
  }

  /// What is set for a member; called with members in their order.
  @inline(__always)
  mutating func next(_ user: Int64, _ conversation: Int64) throws -> MemberSettings {
    guard let number = Int(exactly: conversation), number >= 0, number + 1 < starts.count else {
      return MemberSettings()
    }
    let end = Int(starts[number + 1])
    row = max(row, Int(starts[number]))
    while row < end, Int64(users[row]) < user { row += 1 }
    guard row < end, Int64(users[row]) == user else { return MemberSettings() }
    defer { row += 1 }
    usedCount += 1
    let level = NotificationLevel(rawValue: bits[row] & ~Self.muteBit) ?? .unset
    guard bits[row] & Self.muteBit != 0 else { return MemberSettings(level: level) }
    let place = Self.place(UInt32(number), users[row])
    while mutes[mute].place < place { mute += 1 }
    return MemberSettings(level: level, mutedUntil: mutes[mute].until)
  }
}
