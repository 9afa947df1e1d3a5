internal import Foundation
internal import GRDB
internal import PushFanout
internal import PushModel
internal import QuietTime

/// Something that is wrong with a store.
public struct StoreProblem: Hashable, Sendable, CustomStringConvertible {
  /// What a problem is about.
  public enum Kind: String, Sendable {
    /// SQLite's own structures.
    case database
    /// A number that leads nowhere, or a number that is missing.
    case numbers
    /// The change feed has gaps, or entries that cannot be read.
    case feed
    /// A row that cannot be read.
    case row
    /// A record that the store's rules do not allow; it has no effect, or an export leaves it out.
    case rules
    /// The snapshot is damaged, or differs from the tables. It can be removed: the next
    /// opening builds the engine from the database.
    case snapshot
    /// Users whose time zone this machine does not have. The store is whole: another machine, or other
    /// time-zone data, decides for them.
    case zones
  }

  /// What the problem is about.
  public let kind: Kind
  /// One line that names the record or the column, and what is wrong with it.
  public let description: String
}

extension StoreReader {
  /// Looks for everything that may be wrong: SQLite's integrity check, numbers that lead nowhere, a
  /// feed with gaps, rows that cannot be read, records that contradict the rules, and a snapshot
  /// that differs from what is stored. Then for users whose time zone this machine does not have.
  ///
  /// - Returns: what is wrong; nothing for a store that is whole.
  /// - Complexity: O(size of the file log).
  public func check() throws -> [StoreProblem] {
    do {
      // Before the tables are read: a writer may replace it by one that has more.
      let opener = StoreOpener(reader: self, threads: nil)
      let snapshot = Result { try opener.mapped() }
      return try read { queries in
        var check = StoreCheck(queries: queries, store: store)
        try check.run()
        if check.problems.isEmpty { try check.compare(try snapshot.get(), opener) }
        try check.checkZones()
        return check.problems
      }
    } catch StoreError.damaged(_, let reason) {
      return [StoreProblem(kind: .database, description: reason)]
    }
  }
}

extension StoreReader {
  /// Looks for damage, and for a snapshot that is of no use, without reading every record: compares
  /// all pages with their checksums, the ends of the feed with what was removed of it, and the
  /// snapshot's checksums and identity; and for users whose time zone this machine does not have.
  /// ``check()`` looks for more.
  ///
  /// - Returns: what is wrong; nothing when nothing was found.
  /// - Complexity: O(size of the file), as fast as it is read.
  public func checkFast() throws -> [StoreProblem] {
    do {
      let opener = StoreOpener(reader: self, threads: nil)
      let snapshot = Result { try opener.mapped() }
      return try read { queries in
        var check = StoreCheck(queries: queries, store: store)
        try check.runFast()
        if check.problems.isEmpty { try check.judge(try snapshot.get(), opener) }
        try check.checkZones()
        return check.problems
      }
    } catch StoreError.damaged(_, let reason) {
      return [StoreProblem(kind: .database, description: reason)]
    }
  }
}

/// A check under way.
private struct StoreCheck {
  let queries: SettingsQueries
  let store: OpenStore
  var problems: [StoreProblem] = []

  mutating func run() throws {
    let found = try String.fetchAll(queries.db, sql: "PRAGMA integrity_check(20)")
    for line in found where line != "ok" { report(.database, line) }
    if problems.isEmpty, hasEmptyLog(), let page = try PageChecksums.firstWrongPage(queries.db) {
      report(.database, "the checksum of page \(page) is wrong")
    }
    if try endsInsideAPage() { report(.database, "the file ends in the middle of a page") }
    // What SQLite cannot read is not asked any further.
    guard problems.isEmpty else { return }
    try checkNumbers()
    try checkFeed()
    try checkRows()
  }

  mutating func runFast() throws {
    if try endsInsideAPage() { report(.database, "the file ends in the middle of a page") }
    if let page = try PageChecksums.firstWrongPage(queries.db) {
      // While there is a log, a page of the file may be half written and stand in the log: then
      // only reading tells.
      let isWrong =
        try hasEmptyLog()
        || String.fetchAll(queries.db, sql: "PRAGMA integrity_check(1)") != ["ok"]
      if isWrong { report(.database, "the checksum of page \(page) is wrong") }
    }
    guard problems.isEmpty else { return }
    let limit = try queries.feedLimit().cursor.sequence
    let first = try Int64.fetchOne(queries.db, sql: "SELECT min(sequence) FROM feed")
    if first.map({ $0 != limit + 1 }) ?? (limit != 0) {
      report(.feed, "the feed begins with \(first ?? 0), and was removed up to \(limit)")
    }
    _ = try queries.app()
    _ = try queries.identity()
  }

  /// Whether the snapshot can be brought up to date.
  mutating func judge(
    _ snapshot: Result<Fanout, StoreOpener.Unusable>, _ opener: StoreOpener
  ) throws {
    do { _ = try opener.follow(try snapshot.get(), queries) } catch let error
      as StoreOpener.Unusable
    {
      if error.isFault { report(.snapshot, error.reason) }
    }
  }

  /// Compares the snapshot, brought up to date, with an engine of the tables.
  mutating func compare(
    _ snapshot: Result<Fanout, StoreOpener.Unusable>, _ opener: StoreOpener
  ) throws {
    do {
      let fanout = try opener.follow(try snapshot.get(), queries).fanout
      let difference = fanout.difference(from: try queries.fanout(threads: opener.threads))
      if let difference { report(.snapshot, "it differs from the tables in \(difference)") }
    } catch let error as StoreOpener.Unusable where error.isFault {
      report(.snapshot, error.reason)
    } catch is StoreOpener.Unusable {}
  }

  /// Finds the users whose time zone this machine does not have, in a store that is whole otherwise.
  mutating func checkZones() throws {
    guard problems.isEmpty else { return }
    func isUnknown(_ zone: String) throws(ZoneDataError) -> Bool {
      do throws(ZoneDataError) { _ = try ZoneTable(named: zone) } catch .unknownName { return true }
      return false
    }
    do {
      let app = try queries.app().timeZone
      if try isUnknown(app) {
        report(.zones, "the app's time zone is \"\(app)\": \(UnknownZoneUsers.remedy)")
      }
      let named = try String?.fetchAll(
        queries.db, sql: "SELECT time_zone FROM users UNION SELECT quiet_zone FROM users")
      let unknown = try named.compactMap(\.self).filter(isUnknown)
      let list = unknown.map { _ in "?" }.joined(separator: ", ")
      let rows = try Row.fetchCursor(
        queries.db,
        sql: """
          SELECT id, CASE WHEN time_zone IN (\(list)) THEN time_zone ELSE quiet_zone END FROM users
          WHERE time_zone IN (\(list)) OR quiet_zone IN (\(list)) ORDER BY number
          """,
        arguments: StatementArguments(unknown + unknown + unknown))
      var users = UnknownZoneUsers()
      while let row = try rows.next() {
        let zone: String = try queries.get(row, 1, "users.time_zone")
        users.add(.init(try queries.id(row, 0, "users.id"), timeZone: zone))
      }
      if users.count > 0 { report(.zones, "\(users)") }
    } catch let error as ZoneDataError {
      report(.zones, "\(error)")
    }
  }

  /// Whether the file was cut off inside its last page, which SQLite reads as zeros.
  private func endsInsideAPage() throws -> Bool {
    let size = try StoreFile.sizes(queries.db, store.inode, store.file)
    let page = try Int.fetchOne(queries.db, sql: "PRAGMA page_size") ?? 4096
    return size.map { $0.found % max(1, page) != 0 } ?? false
  }

  /// Whether every page is in the file. While there is a log, pages are in that, and a writer may
  /// be moving them into the file.
  private func hasEmptyLog() -> Bool {
    StoreName.size(store.file + "-wal") == 0
  }

  private mutating func report(_ kind: StoreProblem.Kind, _ text: String) {
    problems.append(StoreProblem(kind: kind, description: text))
  }

  /// Reports how many rows a query finds.
  private mutating func count(
    _ kind: StoreProblem.Kind, _ from: String, _ text: String
  ) throws {
    let count = try Int.fetchOne(queries.db, sql: "SELECT count(*) FROM \(from)") ?? 0
    if count > 0 { report(kind, "\(text): \(count)") }
  }

  private mutating func checkNumbers() throws {
    for table in ["users", "conversations"] {
      let row = try Row.fetchOne(
        queries.db, sql: "SELECT count(*), coalesce(max(number), 0) FROM \(table)")
      if let row, row[0] as Int != row[1] as Int {
        report(.numbers, "\(table).number has gaps: \(row[0] as Int) of \(row[1] as Int) are there")
      }
    }
    let references = [
      ("devices", "user", "users"), ("members", "user", "users"),
      ("members", "conversation", "conversations"), ("channels", "conversation", "conversations"),
      ("member_settings", "user", "users"), ("member_channels", "user", "users"),
    ]
    for (table, column, target) in references {
      try count(
        .numbers, "\(table) WHERE \(column) NOT IN (SELECT number FROM \(target))",
        "\(table).\(column) leads nowhere")
    }
    for (column, count) in try queries.strayDisplays() where count > 0 {
      report(.numbers, "\(column) leads nowhere: \(count)")
    }
    for table in ["member_settings", "member_channels"] {
      try count(
        .numbers,
        """
        \(table) s WHERE NOT EXISTS
          (SELECT 1 FROM members m WHERE m.user = s.user AND m.conversation = s.conversation)
        """, "\(table) of a user who is not a member")
    }
    try count(
      .numbers, "conversations WHERE parent NOT IN (SELECT id FROM conversations)",
      "conversations.parent leads nowhere")
    let identities = try Int.fetchOne(queries.db, sql: "SELECT count(*) FROM store") ?? 0
    if identities != 1 { report(.database, "the store has no identity") }
  }

  private mutating func checkFeed() throws {
    let row = try Row.fetchOne(
      queries.db,
      sql: "SELECT count(*), coalesce(min(sequence), 1), coalesce(max(sequence), 0) FROM feed")
    if let row {
      let (count, first, last): (Int, Int, Int) = (row[0], row[1], row[2])
      // The first ones may have been removed, never all.
      let limit = try queries.feedLimit().cursor.sequence
      if count == 0 ? limit != 0 : first != Int(limit) + 1 || last - first + 1 != count {
        report(
          .feed,
          "the feed has gaps: \(count) entries are numbered \(first) to \(last), and it begins behind "
            + "\(limit)")
      }
    }
    let entries = try Row.fetchCursor(
      queries.db,
      sql: "SELECT \(SettingsQueries.feedColumns) FROM feed")
    while let row = try entries.next() {
      do { _ = try queries.change(row) } catch StoreError.damaged(_, let reason) {
        return report(.feed, reason)
      }
    }
  }

  private mutating func checkRows() throws {
    var judge = RecordJudge()
    do {
      try queries.forEachRecord { judge.look(at: $0) }
    } catch StoreError.damaged(_, let reason) {
      report(.row, reason)
    }
    for text in judge.findings { report(.rules, text) }
    do {
      for text in try queries.displaysBeyondLimits(RecordJudge.limit) { report(.rules, text) }
    } catch StoreError.damaged(_, let reason) {
      report(.row, reason)
    }
  }
}

/// Finds records that the rules do not allow; files would refuse them.
private struct RecordJudge: RecordLookup {
  private var rules = AppSettings().rules
  private var conversations: [Identifier: ConversationSettings] = [:]
  private var parents: Set<Identifier> = []
  private var groupMembers: Set<[Identifier]> = []
  private var threadMembers: [(user: Identifier, thread: Identifier)] = []
  private var found: [String] = []
  /// So many are named.
  static var limit: Int { 20 }

  mutating func look(at record: SettingsRecord) {
    switch record {
    case .app(let app): rules = app.rules
    case .user(let id, let user): look(id, user)
    case .conversation(let id, let settings): look(id, settings)
    case .member(let user, let conversation, let member, _): look(user, conversation, member)
    }
  }

  /// What is wrong, when all records were looked at.
  var findings: [String] {
    let rules = CrossRecordRules(self)
    var found = found
    for (id, settings) in conversations.sorted(by: { $0.key.text < $1.key.text }) {
      // A parent that is missing is a number that leads nowhere.
      if case .parentNotGroup(_, let parent, let kind) = rules.problem(of: id, settings) {
        found.append("thread \"\(id)\" has the parent \"\(parent)\", which is a \(kind.rawValue)")
      }
    }
    for (user, thread) in threadMembers {
      guard let parent = conversations[thread]?.parent,
        rules.parentProblem(of: user, inThread: thread, below: parent) != nil
      else { continue }
      found.append("\"\(user)\" has settings in thread \"\(thread)\" but is not in \"\(parent)\"")
    }
    return Array(found.prefix(Self.limit))
  }

  func conversation(_ id: Identifier) -> ConversationSettings? { conversations[id] }

  func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    groupMembers.contains([user, conversation])
  }

  private mutating func report(_ text: String) {
    if found.count < Self.limit { found.append(text) }
  }

  private mutating func check(_ level: NotificationLevel, _ whose: @autoclosure () -> String) {
    if !level.exists(under: rules) {
      report("\(whose()) has level \(level.name), which \(rules.rawValue) does not know")
    }
  }

  private mutating func check(_ fields: VendorFields, _ whose: @autoclosure () -> String) {
    if let owner = RuleSet.owner(of: fields.subtracting(rules.fields)) {
      report("\(whose()) has settings of \(owner.rawValue)")
    }
  }

  private mutating func look(_ id: Identifier, _ user: UserSettings) {
    check(user.level, "user \"\(id)\"")
    check(user.vendorFields, "user \"\(id)\"")
    let devices = user.devices ?? []
    if Set(devices.map(\.id)).count < devices.count {
      report("user \"\(id)\" has two devices of one id")
    }
  }

  private mutating func look(_ id: Identifier, _ settings: ConversationSettings) {
    conversations[id] = settings
    if let parent = settings.parent { parents.insert(parent) }
    let kind = settings.kind
    if !kind.exists(under: rules) {
      report("\"\(id)\" is a \(kind.rawValue), which \(rules.rawValue) does not know")
    }
    if (kind == .thread) != (settings.parent != nil) {
      report("\"\(id)\" is a \(kind.rawValue) with\(kind == .thread ? "out" : "") a parent")
    }
    if kind != .ultraGroup, settings.level.isSet || !settings.channels.isEmpty {
      report("\"\(id)\" is a \(kind.rawValue) with an ultra group's defaults")
    }
  }

  private mutating func look(
    _ user: Identifier, _ conversation: Identifier, _ member: MemberSettings
  ) {
    let kind = conversations[conversation]?.kind ?? .group
    if parents.contains(conversation) { groupMembers.insert([user, conversation]) }
    if kind == .thread { threadMembers.append((user: user, thread: conversation)) }
    check(member.level, "\"\(user)\" in \"\(conversation)\"")
    check(member.vendorFields.intersection(.memberMute), "\"\(user)\" in \"\(conversation)\"")
    if CrossRecordRules<Self>.sinceProblem(of: user, in: conversation, kind, member) != nil {
      report("\"\(user)\" in thread \"\(conversation)\" has a since")
    }
    if CrossRecordRules<Self>.channelProblem(of: user, in: conversation, kind, member) != nil {
      report("\"\(user)\" in \"\(conversation)\" has channels outside an ultra group")
    }
  }
}
