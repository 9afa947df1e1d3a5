internal import CPushSQLite
internal import GRDB
internal import PushModel

/// The rows of member_settings in the order of members, by conversation and user. Their table is in
/// the order of users: looked up there, each member would be on another page.
struct MemberSettingRows {
  /// The first row of each conversation by its number, and the end of the last one.
  private var starts: [UInt32] = [0]
  private var users: [UInt32] = []
  /// The level, and whether there are a mute and fields of open rules.
  private var bits: [UInt16] = []
  /// The ends of mutes, in the order of rows.
  private var mutes: [(place: UInt64, until: Instant)] = []
  /// What else is set, in the order of rows.
  private var others: [(place: UInt64, fields: MemberSettings)] = []
  private var rowCount = 0
  /// How many rows were returned by ``next(_:_:)``.
  private var usedCount = 0
  private var row = 0
  private var mute = 0
  private var other = 0
  private let unset = MemberSettings()

  /// How many rows ``next(_:_:)`` has not returned.
  var strayCount: Int { rowCount - usedCount }

  private static func place(_ conversation: UInt32, _ user: UInt32) -> UInt64 {
    UInt64(conversation) << 32 | UInt64(user)
  }

  private static let muteBit: UInt16 = 0x8000
  private static let otherBit: UInt16 = 0x4000

  /// Reads all rows.
  ///
  /// - Parameter sum: is called with the sum of each.
  /// - Complexity: O(rows). Memory: 6 bytes for each, 16 more for one with a mute; twice as much
  ///   while they are read. One with fields of open rules has some 60 more.
  init(_ queries: SettingsQueries, sum: ((RowSum) -> Void)? = nil) throws {
    // A row of another number is nobody's.
    let numbers = 1...(try Self.lastConversation(queries))
    var counts = [UInt32](repeating: 0, count: Int(numbers.upperBound) + 1)
    let count = try Int.fetchOne(queries.db, sql: "SELECT count(*) FROM member_settings") ?? 0
    // In the order of users: which conversations, and where each user's end.
    var conversations: [UInt32] = []
    var unsorted: [UInt16] = []
    var runs: [(user: UInt32, end: UInt32)] = []
    conversations.reserveCapacity(count)
    unsorted.reserveCapacity(count)
    var rows = try RepeatedStatement(
      queries.db,
      """
      SELECT user, conversation, level, muted_until, open_fields FROM member_settings
        ORDER BY user, conversation
      """)
    while let row = try rows.next() {
      rowCount += 1
      if let sum { sum(Self.sum(row)) }
      let user = UInt32(exactly: try queries.number(row, 0, "member_settings.user"))
      let conversation = UInt32(
        exactly: try queries.number(row, 1, "member_settings.conversation"))
      let level = try queries.level(row, 2, "member_settings.level")
      let until = try queries.instant(row, 3, "member_settings.muted_until")
      guard let user, let conversation, numbers.contains(conversation) else { continue }
      if runs.last?.user != user { runs.append((user, 0)) }
      conversations.append(conversation)
      let fields = try queries.findText(row, 4, "member_settings.open_fields")
      unsorted.append(
        level.rawValue | (until > .zero ? Self.muteBit : 0) | (fields == nil ? 0 : Self.otherBit))
      runs[runs.count - 1].end = UInt32(conversations.count)
      counts[Int(conversation)] += 1
      if until > .zero { mutes.append((Self.place(conversation, user), until)) }
      if let fields {
        others.append((Self.place(conversation, user), try queries.memberFields(fields)))
      }
    }
    mutes.sort { $0.place < $1.place }
    others.sort { $0.place < $1.place }
    starts.reserveCapacity(counts.count + 1)
    for count in counts { starts.append((starts.last ?? 0) + count) }
    sort(conversations, unsorted, runs)
  }

  /// Sorts by conversation; the users of each are in order already.
  private mutating func sort(
    _ conversations: [UInt32], _ unsorted: [UInt16], _ runs: [(user: UInt32, end: UInt32)]
  ) {
    var next = starts
    users = [UInt32](repeating: 0, count: conversations.count)
    bits = [UInt16](repeating: 0, count: conversations.count)
    var row = 0
    for run in runs {
      while row < Int(run.end) {
        let conversation = Int(conversations[row])
        let place = Int(next[conversation])
        next[conversation] += 1
        users[place] = run.user
        bits[place] = unsorted[row]
        row += 1
      }
    }
  }

  private static func sum(_ row: StatementColumns) -> RowSum {
    var sum = RowSum()
    for column: Int32 in 0..<4 { sum.add(column: row.number(column) ?? 0) }
    sum.add(column: row.text(4))
    return sum
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

  /// What is set for a member; called with members in their order.
  @inline(__always)
  mutating func next(_ user: Int64, _ conversation: Int64) -> MemberSettings {
    // A new one would make a dictionary.
    var member = unset
    guard let number = Int(exactly: conversation), number >= 0, number + 1 < starts.count else {
      return member
    }
    let end = Int(starts[number + 1])
    row = max(row, Int(starts[number]))
    while row < end, Int64(users[row]) < user { row += 1 }
    guard row < end, Int64(users[row]) == user else { return member }
    defer { row += 1 }
    usedCount += 1
    let place = Self.place(UInt32(number), users[row])
    if bits[row] & Self.otherBit != 0 {
      while others[other].place < place { other += 1 }
      member = others[other].fields
    }
    member.level =
      NotificationLevel(rawValue: bits[row] & ~(Self.muteBit | Self.otherBit)) ?? .unset
    guard bits[row] & Self.muteBit != 0 else { return member }
    while mutes[mute].place < place { mute += 1 }
    member.mutedUntil = mutes[mute].until
    return member
  }
}

/// FNV-1a over the types and the bytes of the columns of a row.
struct RowSum {
  private(set) var state: UInt64 = 0xCBF2_9CE4_8422_2325

  @inline(__always)
  mutating func add(_ number: UInt64) { state = (state ^ number) &* 0x0000_0100_0000_01B3 }

  /// Adds a column with a number.
  @inline(__always)
  mutating func add(column number: Int64) {
    add(UInt64(SQLITE_INTEGER))
    let number = UInt64(bitPattern: number)
    for shift: UInt64 in stride(from: 0, to: 64, by: 16) { add(number >> shift & 0xFFFF) }
  }
  /// Adds a column with a text, or NULL.
  mutating func add(column text: String?) {
    add(UInt64(text == nil ? SQLITE_NULL : SQLITE_TEXT))
    guard let text else { return }
    add(UInt64(text.utf8.count))
    for byte in text.utf8 { add(UInt64(byte)) }
  }
}
