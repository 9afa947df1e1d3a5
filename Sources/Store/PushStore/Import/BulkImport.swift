internal import Foundation
internal import GRDB
internal import PushContent
internal import PushModel

/// Many records at once into the tables, each with prepared statements and numbers that are known.
///
/// A record replaces that of the same key, as in files. Numbers are given in the order of the
/// settings, so that users keep their order.
struct BulkImport<Records: SettingsRecords> {
  private let queries: SettingsQueries
  private let settings: Records
  /// Where the devices are whose addresses the settings do not have; nil where they have them.
  private let content: ContentDirectory?
  /// Called now and then with the share of the records that is written.
  private let progress: (Double) -> Void
  /// For each user by its index, the number; empty where that is the index plus one, as in a new
  /// store.
  private var users: [Int64] = []
  /// The number of users and conversations, and how many are written.
  private var (count, done) = (0, 0)
  /// What members have set, to be written in the order of its table: anything else would touch the
  /// whole table for every conversation.
  private var special: [Special] = []
  /// What few of them have: levels of channels, and the fields of open rules.
  private var more: [(channels: [Identifier: NotificationLevel], openFields: String?)] = []

  init(
    _ queries: SettingsQueries, _ settings: Records, _ content: ContentDirectory?,
    _ progress: @escaping (Double) -> Void
  ) {
    self.queries = queries
    self.settings = settings
    self.content = content
    self.progress = progress
  }

  mutating func run() throws {
    count = settings.userCount + settings.conversationIDs.count
    try writeUsers()
    try writeConversations()
  }

  private func statement(_ sql: String) throws -> RepeatedStatement {
    try RepeatedStatement(queries.db, sql)
  }

  /// Whether there is nothing in a table that records would replace.
  private func isEmpty(_ table: String) throws -> Bool {
    try Bool.fetchOne(queries.db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(table))") ?? true
  }

  private mutating func advance() {
    done += 1
    guard done & 0x3FFF == 0 else { return }
    // Users and conversations; how many members there are is not known before.
    progress(min(1, Double(done) / Double(max(1, count))) / 2)
  }

  // MARK: Users

  private mutating func writeUsers() throws {
    var numbers = try Numbers(queries.db, "users")
    var name = try statement("INSERT INTO users (number, id) VALUES (?, ?)")
    var insert = try statement(SettingsQueries.insertUser)
    var update = try statement(SettingsQueries.updateUser)
    var device = try statement(SettingsQueries.insertDevice)
    let hasDevices = try !isEmpty("devices")
    var deleteDevices = try statement("DELETE FROM devices WHERE user = ?")
    if !numbers.wasEmpty { users.reserveCapacity(settings.userCount) }
    for ordinal in 0..<UInt32(settings.userCount) {
      let index = UserIndex(ordinal)
      let id = settings.id(of: index)
      let (number, isNew) = try numbers.number(id)
      if !numbers.wasEmpty { users.append(number) }
      advance()
      guard settings.isDeclared(index) else {
        if isNew {
          try name.bind(number)
          try name.bind(id)
          try name.run()
        }
        continue
      }
      let user = settings.user(index)
      if isNew {
        try insert.bind(number)
        try insert.bind(id)
        try insert.bind(user)
        try insert.run()
      } else {
        try update.bind(user)
        try update.bind(number)
        try update.run()
        if hasDevices {
          try deleteDevices.bind(number)
          try deleteDevices.run()
        }
      }
      guard let listed = user.devices else { continue }
      let addressed = content?.devices(of: id) ?? []
      for (position, one) in (addressed.isEmpty ? listed : addressed).enumerated() {
        try device.bind(number)
        try device.bind(Int64(position))
        try device.bind(one)
        try device.run()
      }
    }
  }

  // MARK: Conversations and members

  private mutating func writeConversations() throws {
    var numbers = try Numbers(queries.db, "conversations")
    var insert = try statement(
      """
      INSERT INTO conversations (number, id, is_declared, kind, parent, level)
        VALUES (?, ?, ?, ?, ?, ?)
      """)
    var channel = try statement("INSERT INTO channels VALUES (?, ?, ?)")
    var members = try NumberRows(
      queries.db, "INSERT INTO members (conversation, user, since)", columnCount: 3)
    var replacements = try NumberRows(
      queries.db, "INSERT OR REPLACE INTO members (conversation, user, since)", columnCount: 3)
    var parents: [(id: Identifier, kind: ConversationKind, parent: Identifier)] = []
    var replaced: [(id: Identifier, record: ConversationSettings)] = []
    let ids = settings.conversationIDs
    for (position, id) in ids.enumerated() {
      guard let record = settings.conversation(id) else { continue }
      let isDeclared = settings.isDeclared(id)
      let (number, isNew) = try numbers.number(id)
      if isNew {
        try insert.bind(number)
        try insert.bind(id)
        try insert.bind(isDeclared)
        try insert.bind(text: record.kind.rawValue)
        try insert.bind(record.parent)
        try insert.bind(Int64(record.level.rawValue))
        try insert.run()
        for (name, level) in record.channels {
          try channel.bind(number)
          try channel.bind(name)
          try channel.bind(Int64(level.rawValue))
          try channel.run()
        }
      } else if isDeclared {
        replaced.append((id: id, record: record))
      }
      if let parent = record.parent { parents.append((id: id, kind: record.kind, parent: parent)) }
      if isNew {
        try writeMembers(of: id, number, isNew: true, &members)
      } else {
        try writeMembers(of: id, number, isNew: false, &replacements)
      }
      if position & 0xFF == 0 { progress(0.5 + 0.4 * Double(position) / Double(ids.count)) }
    }
    try members.finish()
    try replacements.finish()
    for (id, kind, parent) in parents {
      // Nothing names it, here or in the store.
      if kind == .thread, try queries.kind(of: parent) == nil {
        throw StoreError.contradiction(
          "\(RecordContradiction.parentMissing(thread: id, parent: parent))")
      }
      // That of another conversation has a number all the same.
      _ = try queries.number(conversation: parent)
    }
    for (id, record) in replaced { try queries.write(id, record) }
    progress(0.9)
    try writeSpecial()
  }

  /// What a member has set.
  private struct Special {
    let user: Int64
    let conversation: Int64
    let mutedUntil: Instant
    /// The index of what few members have, plus one; 0 for none.
    let more: UInt32
    let level: NotificationLevel
    let isNew: Bool
  }

  private mutating func writeMembers(
    of id: Identifier, _ conversation: Int64, isNew: Bool, _ rows: inout NumberRows
  ) throws {
    try settings.forEachMember(of: id) { user, member in
      let number = users.isEmpty ? Int64(user.rawValue) + 1 : users[Int(user.rawValue)]
      try rows.add(conversation, number, member.since.milliseconds)
      let hasMore = !member.channels.isEmpty || member.hasOpenFields
      let isSpecial = member.level.isSet || member.mutedUntil > .zero || hasMore
      // A member that was there may have had settings, which are replaced.
      if isSpecial || !isNew {
        if hasMore { more.append((member.channels, try StoredMemberFields.text(of: member))) }
        special.append(
          Special(
            user: number, conversation: conversation, mutedUntil: member.mutedUntil,
            more: hasMore ? UInt32(more.count) : 0, level: member.level, isNew: isNew))
      }
    }
  }

  private mutating func writeSpecial() throws {
    var rows = try NumberRows(
      queries.db,
      "INSERT OR REPLACE INTO member_settings (user, conversation, level, muted_until)",
      columnCount: 4)
    var insert = try statement(SettingsQueries.insertMemberSettings)
    var clear = try statement("DELETE FROM member_settings WHERE user = ? AND conversation = ?")
    let hasChannels = try !isEmpty("member_channels")
    var clearChannels = try statement(
      "DELETE FROM member_channels WHERE user = ? AND conversation = ?")
    var channel = try statement("INSERT INTO member_channels VALUES (?, ?, ?, ?)")
    for (position, index) in specialInOrder().enumerated() {
      let one = special[Int(index)]
      if hasChannels, !one.isNew {
        try clearChannels.bind(one.user)
        try clearChannels.bind(one.conversation)
        try clearChannels.run()
      }
      let more = one.more > 0 ? self.more[Int(one.more) - 1] : nil
      if let fields = more?.openFields {
        try insert.bind(
          one.user, one.conversation,
          MemberSettings(level: one.level, mutedUntil: one.mutedUntil), fields)
        try insert.run()
      } else if one.level.isSet || one.mutedUntil > .zero {
        try rows.add(
          one.user, one.conversation, Int64(one.level.rawValue), one.mutedUntil.milliseconds)
      } else if !one.isNew {
        try clear.bind(one.user)
        try clear.bind(one.conversation)
        try clear.run()
      }
      for (name, level) in more?.channels ?? [:] {
        try channel.bind(one.user)
        try channel.bind(one.conversation)
        try channel.bind(name)
        try channel.bind(Int64(level.rawValue))
        try channel.run()
      }
      if position & 0x3FFF == 0 { progress(0.9 + 0.1 * Double(position) / Double(special.count)) }
    }
    try rows.finish()
  }

  /// The indices of ``special`` in the order of users and conversations.
  private func specialInOrder() -> [UInt32] {
    var order = Array(0..<UInt32(special.count))
    // A new store's conversations have their numbers in the order in which they were written.
    if zip(special, special.dropFirst()).contains(where: { $0.conversation > $1.conversation }) {
      order.sort { special[Int($0)].conversation < special[Int($1)].conversation }
    }
    // By counting: there are many of a user, and they stay in the order of conversations.
    let last = special.reduce(0) { max($0, $1.user) }
    var next = [UInt32](repeating: 0, count: Int(last) + 2)
    for one in special { next[Int(one.user) + 1] += 1 }
    for user in 1..<next.count { next[user] += next[user - 1] }
    var sorted = order
    for index in order {
      let user = Int(special[Int(index)].user)
      sorted[Int(next[user])] = index
      next[user] += 1
    }
    return sorted
  }
}

/// An id's number, and whether the id was not there before.
private typealias Number = (value: Int64, isNew: Bool)

/// How the numbers of ids are found.
private struct Numbers: ~Copyable {
  private var find: RepeatedStatement
  /// The next number of a new id.
  var next: Int64
  let wasEmpty: Bool
  /// Makes an id that was removed one that is named.
  private var revive: RepeatedStatement

  init(_ db: Database, _ table: String) throws {
    let last = try Int64.fetchOne(db, sql: "SELECT max(number) FROM \(table)")
    let hasRemoved = try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE is_declared = 2)")
    // Negative where it was removed.
    let number = hasRemoved == true ? "iif(is_declared = 2, -number, number)" : "number"
    let find = try RepeatedStatement(db, "SELECT \(number) FROM \(table) WHERE id = ?")
    let revive = try RepeatedStatement(
      db, "UPDATE \(table) SET is_declared = 0 WHERE number = ?")
    self.find = find
    self.revive = revive
    next = (last ?? 0) + 1
    wasEmpty = next == 1
  }

  mutating func number(_ id: Identifier) throws -> Number {
    if !wasEmpty {
      try find.bind(id)
      if let number = try find.firstNumber() {
        if number > 0 { return (number, false) }
        try revive.bind(-number)
        try revive.run()
        return (-number, false)
      }
    }
    defer { next += 1 }
    return (next, true)
  }
}
