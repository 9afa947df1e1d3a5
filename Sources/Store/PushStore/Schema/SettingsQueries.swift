internal import Foundation
internal import GRDB
internal import PushModel

/// Reads and writes settings as rows of the store's tables, inside one transaction.
struct SettingsQueries {
  let db: Database
  /// The store's path, for errors.
  let path: String

  private func run(_ sql: String, _ values: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: values)
  }

  // MARK: Ids

  /// The number of a user; a new id gets the next one.
  func number(user id: Identifier) throws -> Int64 {
    try number(of: id, "users")
  }

  func number(conversation id: Identifier) throws -> Int64 {
    try number(of: id, "conversations")
  }

  private func number(of id: Identifier, _ table: String) throws -> Int64 {
    var find = try RepeatedStatement(
      cached: "SELECT number, is_declared = 2 FROM \(table) WHERE id = ?", db)
    try find.bind(id)
    let found = try find.first { row in
      (number: try known(row.number(0), "\(table).number"), isRemoved: row.number(1) == 1)
    }
    if let found {
      // What was removed is there again.
      if found.isRemoved {
        try run("UPDATE \(table) SET is_declared = 0 WHERE number = ?", [found.number])
      }
      return found.number
    }
    try run("INSERT INTO \(table) (id) VALUES (?)", [id.bytes])
    return db.lastInsertedRowID
  }

  // MARK: App

  func write(_ app: AppSettings) throws {
    try run(
      """
      INSERT OR REPLACE INTO app (one, rules, time_zone, device_policy, advanced_push, level,
        message_notification, quiet) VALUES (1, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        app.rules.rawValue, app.timeZone, app.devicePolicy.rawValue, app.advancedPush,
        app.level.rawValue, app.messageNotification, try app.quietText(),
      ])
    try run("DELETE FROM options", [])
    for (name, value) in app.optionTexts {
      try run("INSERT INTO options (name, value) VALUES (?, ?)", [name, value])
    }
  }

  func app() throws -> AppSettings {
    let find = """
      SELECT rules, time_zone, device_policy, advanced_push, level, message_notification, quiet
        FROM app
      """
    guard let row = try Row.fetchOne(db, sql: find) else { return AppSettings() }
    var app = AppSettings(
      rules: try known(RuleSet(rawValue: get(row, 0, "app.rules")), "app.rules"),
      timeZone: try get(row, 1, "app.time_zone"),
      devicePolicy: try known(
        AppSettings.DevicePolicy(rawValue: get(row, 2, "app.device_policy")), "app.device_policy"),
      advancedPush: try get(row, 3, "app.advanced_push"), level: try level(row, 4, "app.level"),
      quietHours: try (self.find(row, 6, "app.quiet") as String?).map(windows),
      messageNotification: try get(row, 5, "app.message_notification"))
    for row in try Row.fetchAll(db, sql: "SELECT name, value FROM options ORDER BY name") {
      let name: String = try get(row, 0, "options.name")
      let isSet = app.setOption(name, to: try get(row, 1, "options.value"))
      _ = try known(isSet ? name : nil, "options.value")
    }
    return app
  }

  // MARK: Users

  func write(_ id: Identifier, _ user: UserSettings) throws {
    try write(number: try number(user: id), user)
  }

  func write(number: Int64, _ user: UserSettings) throws {
    var update = try RepeatedStatement(cached: Self.updateUser, db)
    try update.bind(user)
    try update.bind(number)
    try update.run()
    try run("DELETE FROM devices WHERE user = ?", [number])
    var insert = try RepeatedStatement(cached: Self.insertDevice, db)
    for (position, device) in (user.devices ?? []).enumerated() {
      try insert.bind(number)
      try insert.bind(Int64(position))
      try insert.bind(device)
      try insert.run()
    }
  }

  /// The columns of a user's settings, in the order in which a statement binds and a row has them.
  private static let settings = """
    level, quiet_start, quiet_end, quiet_span, quiet_level, quiet_zone, time_zone, muted_until,
    type_levels, push_when_desktop_online, local_information_missing, local_handled_by_app,
    has_devices, open_fields
    """
  private static let settingsValues = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
  /// Takes a user's settings and the number.
  static let updateUser = """
    UPDATE users SET is_declared = 1, (\(settings)) = (\(settingsValues)) WHERE number = ?
    """
  /// Takes a user's number, id and settings.
  static let insertUser = """
    INSERT INTO users (number, id, is_declared, \(settings)) VALUES (?, ?, 1, \(settingsValues))
    """
  /// Takes the user's number, the position and the device.
  static let insertDevice = "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

  private static let userColumns = "number, id, is_declared, \(settings)"
  private static let deviceColumns = """
    user, id, kind, state, has_token, notifier, background_since, seen_at, platform, token, fid
    """

  /// Calls `body` with every user in the order of numbers; nil for one who has set nothing.
  func forEachUser(_ body: (Identifier, UserSettings?, RecordState) throws -> Void) throws {
    var devices = try RepeatedStatement(
      db, "SELECT \(Self.deviceColumns) FROM devices ORDER BY user, position")
    var device = try devices.next()
    var users = try RepeatedStatement(
      db, "SELECT \(Self.userColumns) FROM users ORDER BY number")
    var count: Int64 = 0
    while let row = try users.next() {
      let number = try number(row, 0, "users.number")
      count += 1
      // Ids are never forgotten, so a gap is a row that is lost.
      _ = try known(number == count ? number : nil, "users.number")
      var listed: [Device] = []
      while let next = device, try self.number(next, 0, "devices.user") == number {
        listed.append(try self.device(next))
        device = try devices.next()
      }
      try body(
        try id(row, 1, "users.id"), try user(row, listed), try state(row, 2, "users.is_declared"))
    }
    if device != nil { throw StoreError.damaged(path, reason: "devices.user names no user") }
  }

  func user(_ id: Identifier) throws -> UserSettings? {
    var find = try RepeatedStatement(
      cached: "SELECT \(Self.userColumns) FROM users WHERE id = ?", db)
    try find.bind(id)
    return try find.first { row in
      var devices: [Device] = []
      if try flag(row, 15, "users.has_devices") {
        var list = try RepeatedStatement(
          cached: "SELECT \(Self.deviceColumns) FROM devices WHERE user = ? ORDER BY position", db)
        try list.bind(try number(row, 0, "users.number"))
        try list.forEach { devices.append(try device($0)) }
      }
      return try user(row, devices)
    } ?? nil
  }

  private func user(_ row: StatementColumns, _ devices: [Device]) throws -> UserSettings? {
    guard try state(row, 2, "users.is_declared") == .declared else { return nil }
    var user = UserSettings()
    user.level = try level(row, 3, "users.level")
    user.quietHours = try quietHours(row)
    user.timeZone = try findText(row, 9, "users.time_zone")
    user.mutedUntil = try instant(row, 10, "users.muted_until")
    if let text = try findText(row, 11, "users.type_levels") {
      for part in text.split(separator: " ") {
        let pair = part.split(separator: "=")
        let kind = try known(
          pair.first.flatMap { ConversationKind(rawValue: String($0)) }, "users.type_levels")
        let level = level(try known(pair.count == 2 ? Int64(pair[1]) : nil, "users.type_levels"))
        user.levels[kind] = level.isOfVendor ? level : .unset
      }
    }
    user.pushWhenDesktopOnline = try flag(row, 12, "users.push_when_desktop_online")
    user.localInformationMissing = try flag(row, 13, "users.local_information_missing")
    user.localHandledByApp = try flag(row, 14, "users.local_handled_by_app")
    if try flag(row, 15, "users.has_devices") { user.devices = devices }
    if let text = try findText(row, 16, "users.open_fields") { try read(text, into: &user) }
    return user
  }

  private func quietHours(_ row: StatementColumns) throws -> QuietHours? {
    if row.isNull(4) { return nil }
    let start = Int(try number(row, 4, "users.quiet_start"))
    if !row.isNull(6) {
      let span = Int(try number(row, 6, "users.quiet_span"))
      let quiet = try? QuietSpan(
        hour: start / 3600, minute: start / 60 % 60, second: start % 60, spanMinutes: span,
        level: row.isNull(7) ? .unset : level(row, 7, "users.quiet_level"),
        timeZone: try findText(row, 8, "users.quiet_zone"))
      return .span(try known(quiet, "users.quiet_span"))
    }
    let end = row.isNull(5) ? -1 : Int(try number(row, 5, "users.quiet_end"))
    let interval = try? QuietInterval(
      startHour: start / 60, startMinute: start % 60, endHour: end / 60, endMinute: end % 60)
    return .interval(try known(interval, "users.quiet_end"))
  }

  private func device(_ row: StatementColumns) throws -> Device {
    Device(
      id: try id(row, 1, "devices.id"),
      kind: try known(
        findText(row, 2, "devices.kind").flatMap { Device.Kind(rawValue: $0) }, "devices.kind"),
      state: try known(
        findText(row, 3, "devices.state").flatMap { Device.State(rawValue: $0) }, "devices.state"),
      hasToken: try flag(row, 4, "devices.has_token"),
      notifier: try findID(row, 5, "devices.notifier"),
      backgroundSince: row.isNull(6) ? nil : try instant(row, 6, "devices.background_since"),
      seenAt: row.isNull(7) ? nil : try instant(row, 7, "devices.seen_at"),
      address: try address(row))
  }

  private func address(_ row: StatementColumns) throws -> DeviceAddress {
    if (8...10).allSatisfy({ row.isNull($0) }) { return DeviceAddress() }
    let platform = try findText(row, 8, "devices.platform").map {
      try known(PushPlatform(rawValue: $0), "devices.platform")
    }
    let (token, fid) = (try findText(row, 9, "devices.token"), try findText(row, 10, "devices.fid"))
    return try known(
      try? DeviceAddress(platform: platform, token: token, fid: fid), "devices.token or devices.fid"
    )
  }

  /// Calls `body` with the devices of each user of whom one says something that only requests need.
  func forEachAddressed(_ body: (Identifier, [Device]) throws -> Void) throws {
    var rows = try RepeatedStatement(
      db,
      """
      SELECT \(Self.deviceColumns), (SELECT id FROM users WHERE number = devices.user) FROM devices
        WHERE user IN (SELECT user FROM devices WHERE platform IS NOT NULL OR token IS NOT NULL
          OR fid IS NOT NULL OR notifier IS NOT NULL) ORDER BY user, position
      """)
    var (last, devices): (Identifier?, [Device]) = (nil, [])
    while let row = try rows.next() {
      let user = try id(row, 11, "devices.user")
      if user != last {
        if let last { try body(last, devices) }
        (last, devices) = (user, [])
      }
      devices.append(try device(row))
    }
    if let last { try body(last, devices) }
  }

  // MARK: What is read back is checked

  func known<Value>(_ value: Value?, _ column: String) throws -> Value {
    guard let value else {
      throw StoreError.damaged(path, reason: "\(column) has an invalid value")
    }
    return value
  }

  /// A value that may be NULL. A damaged row may hold anything.
  func find<Value: DatabaseValueConvertible>(
    _ row: Row, _ index: Int, _ column: String
  ) throws -> Value? {
    let stored: DatabaseValue = row[index]
    if stored.isNull { return nil }
    return try known(Value.fromDatabaseValue(stored), column)
  }

  func get<Value: DatabaseValueConvertible>(
    _ row: Row, _ index: Int, _ column: String
  ) throws -> Value {
    try known(try find(row, index, column), column)
  }

  func level(_ row: Row, _ index: Int, _ column: String) throws -> NotificationLevel {
    level(try get(row, index, column))
  }

  /// A level that is stored; an unknown number counts as unset.
  func level(_ number: Int64) -> NotificationLevel {
    UInt16(exactly: number).flatMap { NotificationLevel(rawValue: $0) } ?? .unset
  }

  func instant(_ row: Row, _ index: Int, _ column: String) throws -> Instant {
    try instant(try get(row, index, column), column)
  }

  func instant(_ milliseconds: Int64, _ column: String) throws -> Instant {
    try known(Instant(exactMilliseconds: milliseconds), column)
  }

  func findID(_ row: Row, _ index: Int, _ column: String) throws -> Identifier? {
    guard let bytes: Data = try find(row, index, column) else { return nil }
    return Identifier(try known(String(validating: bytes, as: UTF8.self), column))
  }

  func id(_ row: Row, _ index: Int, _ column: String) throws -> Identifier {
    try known(try findID(row, index, column), column)
  }
}

/// The same for the rows of statements that are run for many.
extension SettingsQueries {
  func number(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> Int64 {
    try known(row.number(index), column)
  }

  func flag(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> Bool {
    try number(row, index, column) != 0
  }

  func level(
    _ row: StatementColumns, _ index: Int32, _ column: String
  ) throws -> NotificationLevel {
    level(try number(row, index, column))
  }

  func instant(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> Instant {
    try instant(try number(row, index, column), column)
  }

  func findText(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> String? {
    row.isNull(index) ? nil : try known(row.text(index), column)
  }

  func findID(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> Identifier? {
    try findText(row, index, column).map { Identifier($0) }
  }

  func id(_ row: StatementColumns, _ index: Int32, _ column: String) throws -> Identifier {
    Identifier(try known(row.text(index), column))
  }
}

extension RepeatedStatement {
  /// The columns of a user's settings.
  mutating func bind(_ user: borrowing UserSettings) throws {
    var (start, end, span, quietLevel): (Int64?, Int64?, Int64?, Int64?)
    switch user.quietHours {
    case .interval(let interval):
      (start, end) = (Int64(interval.startMinute), Int64(interval.endMinute))
    case .span(let quiet):
      (start, span) = (Int64(quiet.startSecond), Int64(quiet.spanMinutes))
      quietLevel = Int64(quiet.level.rawValue)
    case .windows, nil: break
    }
    try bind(Int64(user.level.rawValue))
    try bind(start)
    try bind(end)
    try bind(span)
    try bind(quietLevel)
    try bind(text: user.quietHours?.timeZone)
    try bind(text: user.timeZone)
    try bind(user.mutedUntil.milliseconds)
    try bind(text: user.levels == KindLevels() ? nil : Self.text(user.levels))
    try bind(user.pushWhenDesktopOnline)
    try bind(user.localInformationMissing)
    try bind(user.localHandledByApp)
    try bind(user.devices != nil)
    try bind(text: user.openFieldsText())
  }

  private static func text(_ levels: KindLevels) -> String? {
    let parts = ConversationKind.allCases.filter { levels[$0].isSet }.map {
      "\($0.rawValue)=\(levels[$0].rawValue)"
    }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }

  /// The columns of a device behind its position.
  mutating func bind(_ device: Device) throws {
    try bind(device.id)
    try bind(text: device.kind.rawValue)
    try bind(text: device.state.rawValue)
    try bind(device.hasToken)
    try bind(device.notifier)
    try bind(device.backgroundSince?.milliseconds)
    try bind(device.seenAt?.milliseconds)
    try bind(text: device.address.platform?.rawValue)
    try bind(text: device.address.token)
    try bind(text: device.address.fid)
  }
}

extension Identifier {
  /// The characters as UTF-8.
  var bytes: Data { Data(text.utf8) }
}
