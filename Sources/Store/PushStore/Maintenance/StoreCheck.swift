internal import Foundation
internal import GRDB
internal import PushFanout
internal import PushModel
internal import PushSupport
internal import QuietTime
internal import Synchronization

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
      return try store.use { pool in
        // Each on a thread, and as of one commit: every commit is to be whole.
        let isUnreadable = Atomic(false)
        let (numbers, records) = Parallel.both { [store] in
          try store.read(pool) { db in
            var check = StoreCheck(db, store)
            do { try check.checkStructures() } catch {
              isUnreadable.store(true, ordering: .relaxed)
              throw error
            }
            // What SQLite cannot read is not asked any further.
            isUnreadable.store(!check.problems.isEmpty, ordering: .relaxed)
            if check.problems.isEmpty { try check.checkNumbers() }
            return check.problems
          }
        } _: {
          try store.read(pool) { db in
            var check = StoreCheck(db, store)
            try check.checkRecords(try snapshot.get(), opener) {
              if isUnreadable.load(ordering: .relaxed) { throw CancellationError() }
            }
            return check.problems
          }
        }
        let found = try numbers.get()
        if isUnreadable.load(ordering: .relaxed) { return found }
        let more = try records.get()
        // Only a store that is whole otherwise is compared.
        return found + (found.isEmpty ? more : more.filter { !$0.kind.isOfComparison })
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
        var check = StoreCheck(queries.db, store)
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

extension StoreProblem.Kind {
  /// Whether it is looked for only in a store in which there is no other.
  fileprivate var isOfComparison: Bool { self == .snapshot || self == .zones }
}

/// A check under way.
private struct StoreCheck {
  let queries: SettingsQueries
  let store: OpenStore
  var problems: [StoreProblem] = []

  init(_ db: Database, _ store: OpenStore) {
    queries = SettingsQueries(db: db, path: store.path)
    self.store = store
  }

  /// Looks at the pages and at SQLite's own structures.
  mutating func checkStructures() throws {
    let found = try String.fetchAll(queries.db, sql: "PRAGMA integrity_check(20)")
    for line in found where line != "ok" { report(.database, line) }
    if problems.isEmpty, hasEmptyLog(), let page = try PageChecksums.firstWrongPage(queries.db) {
      report(.database, "the checksum of page \(page) is wrong")
    }
    if try endsInsideAPage() { report(.database, "the file ends in the middle of a page") }
  }

  /// Looks at the feed and the records, and compares the snapshot.
  ///
  /// - Parameter goOn: throws when nothing more is to be looked at.
  mutating func checkRecords(
    _ snapshot: Result<Fanout, StoreOpener.Unusable>, _ opener: StoreOpener, goOn: () throws -> Void
  ) throws {
    var building = EngineBuilding(queries.path)
    let isComparing = (try? snapshot.get()) != nil
    try checkFeed()
    try checkRows(isComparing, &building, goOn)
    if problems.isEmpty { try compare(snapshot, opener, building) }
    try checkZones()
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
  private mutating func compare(
    _ snapshot: Result<Fanout, StoreOpener.Unusable>, _ opener: StoreOpener,
    _ building: consuming EngineBuilding
  ) throws {
    do {
      let fanout = try opener.follow(try snapshot.get(), queries).fanout
      let difference = fanout.difference(from: try building.finish(threads: opener.threads))
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

  mutating func checkNumbers() throws {
    // Those that are there, as a condition on a column: numbers without gaps need not be looked for.
    var isThere: [String: String] = [:]
    for table in ["users", "conversations"] {
      let row = try Row.fetchOne(
        queries.db,
        sql: "SELECT count(*), coalesce(max(number), 0), coalesce(min(number), 1) FROM \(table)")
      guard let row else { continue }
      let (count, last, first): (Int, Int, Int) = (row[0], row[1], row[2])
      if count != last {
        report(.numbers, "\(table).number has gaps: \(count) of \(last) are there")
      }
      isThere[table] =
        count == last && first == 1
        ? "BETWEEN 1 AND \(last)" : "IN (SELECT number FROM \(table))"
    }
    let references = [
      ("devices", "user", "users"), ("members", "user", "users"),
      ("members", "conversation", "conversations"), ("channels", "conversation", "conversations"),
      ("member_settings", "user", "users"), ("member_channels", "user", "users"),
      ("displays", "user", "users"), ("remarks", "user", "users"),
      ("nicknames", "user", "users"), ("nicknames", "conversation", "conversations"),
      ("conversation_names", "conversation", "conversations"),
    ]
    for (table, column, target) in references {
      try count(
        .numbers, "\(table) WHERE \(column) NOT \(isThere[target] ?? "NULL")",
        "\(table).\(column) leads nowhere")
    }
    // In the order of members, whose pages are then read once.
    try count(
      .numbers,
      """
      (SELECT user, conversation FROM member_channels ORDER BY conversation, user LIMIT -1) s
        WHERE NOT EXISTS
          (SELECT 1 FROM members m WHERE m.user = s.user AND m.conversation = s.conversation)
      """, "member_channels of a user who is not a member")
    try count(
      .numbers,
      "conversations WHERE parent IS NOT NULL AND parent NOT IN (SELECT id FROM conversations)",
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

  private mutating func checkRows(
    _ isComparing: Bool, _ building: inout EngineBuilding, _ goOn: () throws -> Void
  ) throws {
    var judge = RecordJudge()
    do {
      let strays = try read(isComparing, &building, &judge, goOn)
      if strays > 0 {
        report(.numbers, "member_settings of a user who is not a member: \(strays)")
      }
    } catch StoreError.damaged(_, let reason) {
      report(.row, reason)
      // They are counted as members are read.
      try count(
        .numbers,
        """
        member_settings s WHERE NOT EXISTS
          (SELECT 1 FROM members m WHERE m.user = s.user AND m.conversation = s.conversation)
        """, "member_settings of a user who is not a member")
    }
    for text in judge.findings { report(.rules, text) }
    do {
      for text in try queries.displaysBeyondLimits(RecordJudge.limit) { report(.rules, text) }
    } catch StoreError.damaged(_, let reason) {
      report(.row, reason)
    }
  }

  /// Reads every record once: has it judged and, if there is a snapshot to compare with, puts it into
  /// an engine.
  ///
  /// - Returns: how many rows of member_settings belong to no member.
  private func read(
    _ isComparing: Bool, _ building: inout EngineBuilding, _ judge: inout RecordJudge,
    _ goOn: () throws -> Void
  ) throws -> Int {
    let settings = try MemberSettingRows(queries)
    let app = try queries.app()
    if isComparing { building.add(app) }
    judge.look(at: app)
    var users: [Identifier] = []
    try queries.forEachUser { id, user, state in
      if isComparing { building.add(id, user) }
      if state != .removed { judge.look(at: id, user ?? UserSettings()) }
      users.append(id)
      if users.count & 0xFFFF == 0 { try goOn() }
    }
    var conversations = NumberedValues<Identifier>()
    try queries.forEachConversation { number, id, settings, state in
      if isComparing { building.add(number, id, settings) }
      if state != .removed { judge.look(at: id, settings ?? ConversationSettings()) }
      conversations.append(number, id)
    }
    var room: (number: Int64, id: Identifier, hasRelations: Bool)?
    var count = 0
    return try queries.forEachMember(settings) { user, conversation, member in
      if room?.number != conversation {
        let id = try queries.known(conversations.find(conversation), "members.conversation")
        room = (conversation, id, judge.hasRelations(id))
      }
      let isUser = user > 0 && user <= Int64(users.count)
      let index = try queries.known(isUser ? Int(user) - 1 : nil, "members.user")
      if let room, room.hasRelations || !judge.isPlain(member) {
        judge.look(at: users[index], room.id, member)
      }
      if isComparing { building.add(user, conversation, member) }
      count += 1
      if count & 0xFFFF == 0 { try goOn() }
    }
  }
}
