import PushFanout
import PushFiles
import PushModel
import Testing

/// Goal: each field of the list is written, read by both loaders, by the fast ways of rows and by the
/// slow one, and merged as its columns say.
@Suite struct FieldTests {
  /// A record for each field that the rules have, with that field alone set.
  private struct Samples<Record: RecordFields>: FieldVisitor {
    let plain: Record
    let rules: RuleSet
    var records: [(field: RecordField<Record>, record: Record)] = []

    init(_ plain: Record, _ rules: RuleSet) {
      self.plain = plain
      self.rules = rules
      Record.visitFields(&self)
    }

    mutating func visit(_ field: RecordField<Record>) {
      guard rules.fields.isSuperset(of: field.owner) else { return }
      var record = plain
      switch field.value {
      case .level(let path): record[keyPath: path] = .blocked
      case .kindLevels(let path): record[keyPath: path][.group] = .mentionAll
      case .channelLevels(let path): record[keyPath: path] = ["c": .all]
      case .quietHours(let path), .quietWindows(let path):
        record[keyPath: path] = rules.quietForm.flatMap {
          try? QuietHours(daily: (22, 0), to: (7, 30), form: $0)
        }
      case .zone(let path): record[keyPath: path] = "Asia/Tokyo"
      case .ownZone(let path): record[keyPath: path] = "Asia/Tokyo"
      case .instant(let path): record[keyPath: path] = Instant(milliseconds: 1_711_843_200_001)
      case .flag(let path, _): record[keyPath: path].toggle()
      case .answer(let path): record[keyPath: path] = false
      case .localNotification(let missing, _): record[keyPath: missing] = true
      case .classes(let path): record[keyPath: path] = [.mentionsMe, .reply]
      case .texts(let path, _): record[keyPath: path] = ["deploy"]
      case .ids(let path, _): record[keyPath: path] = ["a", "b"]
      case .devicePolicy(let path): record[keyPath: path] = .anyOffline
      case .devices(let path): record[keyPath: path] = [Device(id: "d", kind: .web)]
      }
      records.append((field, record))
    }
  }

  @Test(arguments: RuleSet.allCases)
  func everyFieldIsReadAsItIsWritten(rules: RuleSet) throws {
    let apps = Samples(AppSettings(rules: rules), rules).records
    let users = Samples(UserSettings(), rules).records
    let members = Samples(MemberSettings(), rules).records
    for (field, app) in apps {
      try withFolder { folder in
        let line = String(decoding: SettingsEncoder.app(app).dropLast(), as: UTF8.self)
        let path = try folder.write([line], as: "app.ndjson")
        let read = try SettingsLoader.load(SettingsPaths(settings: [path])).app
        #expect(read == app && app != AppSettings(rules: rules), "\(field.name)")
      }
    }
    let kinds: [ConversationKind: Identifier] = [
      .group: "g", .ultraGroup: "g", .thread: "t",
    ]
    func place(_ field: RecordField<MemberSettings>) -> ConversationKind {
      "\(field.name)" == "follow" ? .thread : rules == .rongcloud ? .ultraGroup : .group
    }
    var lines = [SettingsEncoder.app(AppSettings(rules: rules))]
    let group = ConversationSettings(kind: rules == .rongcloud ? .ultraGroup : .group)
    lines.append(SettingsEncoder.conversation("g", group, rules))
    if ConversationKind.thread.exists(under: rules) {
      let thread = ConversationSettings(kind: .thread, parent: "g")
      lines.append(SettingsEncoder.conversation("t", thread, rules))
    }
    for (field, user) in users {
      lines.append(SettingsEncoder.user(Identifier("\(field.name)"), user, rules))
    }
    for (field, member) in members {
      let (user, kind) = (Identifier("\(field.name)"), place(field))
      if kind == .thread {
        lines.append(SettingsEncoder.member(user, of: "g", .group, MemberSettings(), rules))
      }
      lines.append(
        SettingsEncoder.member(user, of: kinds[kind] ?? "g", kind, member, rules))
    }
    try withFolder { folder in
      let texts = lines.map { String(decoding: $0.dropLast(), as: UTF8.self) }
      let paths = SettingsPaths(settings: [try folder.write(texts, as: "world.ndjson")])
      #expect(folder.problem(paths) == "loaded")
      let settings = try SettingsLoader.load(paths)
      #expect(users.map { settings.user(Identifier("\($0.field.name)")) } == users.map(\.record))
      #expect(
        members.map { field, _ in
          settings.index(of: Identifier("\(field.name)")).flatMap {
            settings.member($0, of: kinds[place(field)] ?? "g")
          }
        } == members.map(\.record))
      // Each record is of its field alone.
      #expect(
        users.map { UserSettings.setFields(of: $0.record) } == users.map { ["\($0.field.name)"] })
      #expect(
        members.map { MemberSettings.setFields(of: $0.record) }
          == members.map { ["\($0.field.name)"] })
    }
  }

  /// A row replaces what its columns have, and no more.
  @Test(arguments: RuleSet.allCases)
  func aRowReplacesTheFieldsOfItsColumns(rules: RuleSet) throws {
    let users = Samples(UserSettings(), rules).records
    let members = Samples(MemberSettings(), rules).records
    let all = RowFields(rawValue: .max)
    for columns in [RowFields(), .level, .mutedUntil, .timeZone, .quietWindow, .since, all] {
      for (field, record) in users {
        if field.owner == .quietWindows {  // which no row can say
          var stored = record
          stored.replace(columns, with: UserSettings())
          #expect(stored == record)
          continue
        }
        let isReplaced = !field.columns.isDisjoint(with: columns)
        var (set, unset) = (UserSettings(), record)
        set.replace(columns, with: record)
        unset.replace(columns, with: UserSettings())
        let expected = isReplaced ? [record, UserSettings()] : [UserSettings(), record]
        #expect([set, unset] == expected, "\(field.name) \(columns)")
      }
      for (field, record) in members {
        let isReplaced = !field.columns.isDisjoint(with: columns)
        var (set, unset) = (MemberSettings(), record)
        set.replace(columns, with: record)
        unset.replace(columns, with: MemberSettings())
        let expected = isReplaced ? [record, MemberSettings()] : [MemberSettings(), record]
        #expect([set, unset] == expected, "\(field.name) \(columns)")
      }
    }
  }

  /// Rows of CSV files go the fast ways, which do not ask the list of fields.
  @Test(arguments: RuleSet.allCases)
  func rowsSayWhatRecordsSay(rules: RuleSet) throws {
    let cells: [String: (column: String, cell: String)] = [
      "level": ("level", "none"), "timeZone": ("timeZone", "Asia/Tokyo"),
      "mutedUntil": ("mutedUntil", "1711843200001"), "since": ("since", "1711843200001"),
      "quietHours": rules == .easemob
        ? ("quietStart,quietEnd", "22:00,07:30")
        : ("quietStart,quietSpanMinutes,quietLevel", "22:00:00,570,none"),
    ]
    let app = String(
      decoding: SettingsEncoder.app(AppSettings(rules: rules)).dropLast(), as: UTF8.self)
    for (field, user) in Samples(UserSettings(), rules).records where !field.columns.isEmpty {
      try withFolder { folder in
        let (column, cell) = try #require(cells["\(field.name)"])
        let paths = SettingsPaths(
          settings: [try folder.write([app], as: "app.ndjson")],
          users: [try folder.write(["id,\(column)", "u,\(cell)"], as: "users.csv")])
        #expect(folder.problem(paths) == "loaded")
        #expect(try SettingsLoader.load(paths).user("u") == user, "\(field.name)")
      }
    }
    for (field, member) in Samples(MemberSettings(), rules).records where !field.columns.isEmpty {
      try withFolder { folder in
        let (column, cell) = try #require(cells["\(field.name)"])
        let rows = ["conversation,user,\(column)", "g,u,\(cell)"]
        let paths = SettingsPaths(
          settings: [try folder.write([app], as: "app.ndjson")],
          members: [try folder.write(rows, as: "members.csv")])
        #expect(folder.problem(paths) == "loaded")
        let settings = try SettingsLoader.load(paths)
        #expect(
          settings.index(of: "u").flatMap { settings.member($0, of: "g") } == member,
          "\(field.name)")
      }
    }
  }
}

extension RecordFields {
  /// The names of the fields of a record that do not have their defaults.
  fileprivate static func setFields(of record: Self) -> [String] {
    var fields = SetFields(record: record)
    visitFields(&fields)
    return fields.names
  }
}

private struct SetFields<Record>: FieldVisitor {
  let record: Record
  var names: [String] = []

  mutating func visit(_ field: RecordField<Record>) {
    if field.owner(in: record) != nil { names.append("\(field.name)") }
  }
}
