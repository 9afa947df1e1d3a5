internal import Foundation
internal import GRDB
internal import PushRules

/// Many records at once into the tables, each with prepared statements and numbers that are known.
///
/// A record replaces that of the same key, as in files. Numbers are given in the order of the
/// settings, so that users keep their order.
struct BulkImport {
  private let rows: Rows
  private let settings: FanoutSettings
  /// Called now and then with the share of the records that is written.
  private let progress: (Double) -> Void
  /// For each user by its index, the number.
  private var users: [Int64] = []
  private var done = 0

  /// An id's number, and whether the id was there before.
  private typealias Number = (value: Int64, isNew: Bool)

  init(_ rows: Rows, _ settings: FanoutSettings, _ progress: @escaping (Double) -> Void) {
    self.rows = rows
    self.settings = settings
    self.progress = progress
  }

  mutating func run() throws {
    try writeUsers()
    try writeConversations()
  }

  private func statement(_ sql: String) throws -> Statement {
    try rows.db.cachedStatement(sql: sql)
  }

  /// Whether there is nothing in a table that records would replace.
  private func isEmpty(_ table: String) throws -> Bool {
    try Bool.fetchOne(rows.db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(table))") ?? true
  }

  /// How the numbers of ids are found.
  private struct Numbers {
    let find: Statement
    /// The next number of a new id.
    var next: Int64
    let wasEmpty: Bool

    init(_ db: Database, _ table: String) throws {
      find = try db.cachedStatement(sql: "SELECT number FROM \(table) WHERE id = ?")
      next = try Int64.fetchOne(db, sql: "SELECT max(number) FROM \(table)").map { $0 + 1 } ?? 1
      wasEmpty = next == 1
    }

    mutating func number(_ id: Data) throws -> Number {
      if !wasEmpty, let number = try Int64.fetchOne(find, arguments: [id]) {
        return (number, false)
      }
      defer { next += 1 }
      return (next, true)
    }
  }

  private mutating func advance() {
    done += 1
    guard done & 0x3FFF == 0 else { return }
    // Users and conversations; how many members there are is not known before.
    let all = settings.userCount + settings.conversationIDs.count
    progress(min(1, Double(done) / Double(max(1, all))) / 2)
  }

  // MARK: Users

  private mutating func writeUsers() throws {
    var numbers = try Numbers(rows.db, "users")
    let name = try statement("INSERT INTO users (number, id) VALUES (?, ?)")
    let insert = try statement(
      """
      INSERT INTO users (number, id, is_declared, level, quiet_start, quiet_end, quiet_span,
        quiet_level, quiet_zone, time_zone, muted_until, type_levels, push_when_desktop_online,
        local_information_missing, local_handled_by_app, has_devices)
        VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    let update = try statement(Rows.updateUser)
    let device = try statement(Rows.insertDevice)
    let deleteDevices = try isEmpty("devices") ? nil : statement(Rows.deleteDevices)
    users.reserveCapacity(settings.userCount)
    for place in 0..<UInt32(settings.userCount) {
      let index = UserIndex(place)
      let id = settings.id(of: index).bytes
      let (number, isNew) = try numbers.number(id)
      users.append(number)
      advance()
      guard settings.isDeclared(index) else {
        if isNew { try name.run([number, id]) }
        continue
      }
      let user = settings.user(index)
      if isNew {
        try insert.run(StatementArguments([number, id] + Rows.values(of: user)))
      } else {
        try update.run(StatementArguments(Rows.values(of: user) + [number]))
        try deleteDevices?.run([number])
      }
      try rows.writeDevices(of: user, number) { try device.run($0) }
    }
  }

  // MARK: Conversations and members

  private mutating func writeConversations() throws {
    var numbers = try Numbers(rows.db, "conversations")
    let insert = try statement(
      """
      INSERT INTO conversations (number, id, is_declared, kind, parent, level)
        VALUES (?, ?, ?, ?, ?, ?)
      """)
    let channel = try statement("INSERT INTO channels VALUES (?, ?, ?)")
    var special: [Special] = []
    var parents: [Identifier] = []
    var replaced: [(id: Identifier, record: ConversationSettings)] = []
    for (place, id) in settings.conversationIDs.enumerated() {
      guard let record = settings.conversation(id) else { continue }
      let isDeclared = settings.isDeclared(id)
      let (number, isNew) = try numbers.number(id.bytes)
      if isNew {
        try insert.run([
          number, id.bytes, isDeclared, record.kind.rawValue, record.parent?.bytes,
          record.level.rawValue,
        ])
        for (name, level) in record.channels {
          try channel.run([number, name.bytes, level.rawValue])
        }
      } else if isDeclared {
        replaced.append((id: id, record: record))
      }
      if let parent = record.parent { parents.append(parent) }
      try writeMembers(of: id, number, isNew: isNew, &special)
      if place & 0xFF == 0 {
        progress(0.5 + 0.4 * Double(place) / Double(settings.conversationIDs.count))
      }
    }
    // A parent that is not among the conversations has a number all the same, behind them.
    for parent in parents { _ = try rows.number(conversation: parent) }
    for (id, record) in replaced { try rows.write(id, record) }
    progress(0.9)
    try write(&special)
  }

  /// What a member has set, to be written in the order of its table: anything else would touch the
  /// whole table for every conversation.
  private struct Special {
    let user: Int64
    let conversation: Int64
    let isNew: Bool
    let level: NotificationLevel
    let mutedUntil: Instant
    let channels: [Identifier: NotificationLevel]
  }

  private mutating func writeMembers(
    of id: Identifier, _ conversation: Int64, isNew: Bool, _ special: inout [Special]
  ) throws {
    let insert = try statement(
      """
      INSERT \(isNew ? "" : "OR REPLACE ")INTO members (conversation, user, since) VALUES (?, ?, ?)
      """)
    for user in settings.members(of: id) {
      guard let member = settings.member(user, of: id) else { continue }
      let number = users[Int(user.rawValue)]
      try insert.run([conversation, number, member.since.milliseconds])
      let isSpecial =
        member.level.isSet || member.mutedUntil > .zero || !member.channels.isEmpty
      // A member that was there may have had settings, which are replaced.
      if isSpecial || !isNew {
        special.append(
          Special(
            user: number, conversation: conversation, isNew: isNew, level: member.level,
            mutedUntil: member.mutedUntil, channels: member.channels))
      }
    }
  }

  private func write(_ special: inout [Special]) throws {
    special.sort { ($0.user, $0.conversation) < ($1.user, $1.conversation) }
    let insert = try statement("INSERT OR REPLACE INTO member_settings VALUES (?, ?, ?, ?)")
    let clear = try statement("DELETE FROM member_settings WHERE user = ? AND conversation = ?")
    let clearChannels =
      try isEmpty("member_channels")
      ? nil : statement("DELETE FROM member_channels WHERE user = ? AND conversation = ?")
    let channel = try statement("INSERT INTO member_channels VALUES (?, ?, ?, ?)")
    for (place, one) in special.enumerated() {
      if !one.isNew { try clearChannels?.run([one.user, one.conversation]) }
      if one.level.isSet || one.mutedUntil > .zero {
        try insert.run([
          one.user, one.conversation, one.level.rawValue, one.mutedUntil.milliseconds,
        ])
      } else if !one.isNew {
        try clear.run([one.user, one.conversation])
      }
      for (name, level) in one.channels {
        try channel.run([one.user, one.conversation, name.bytes, level.rawValue])
      }
      if place & 0x3FFF == 0 { progress(0.9 + 0.1 * Double(place) / Double(special.count)) }
    }
  }
}

extension Statement {
  /// Runs with as many values as there are question marks.
  fileprivate func run(_ values: StatementArguments) throws {
    setUncheckedArguments(values)
    try execute()
  }
}
