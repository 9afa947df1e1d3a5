internal import PushModel
internal import QuietTime

extension CSVRow {
  func identifier(_ column: Int) -> Identifier? {
    isEmpty(column) ? nil : unsafe Identifier(utf8: utf8(column))
  }

  /// - Parameters:
  ///   - form: how it may be written beside what the format says.
  ///   - pass: which is meant by a local time that occurs twice.
  func instant(
    _ column: Int, _ field: String, _ form: CellForm? = nil, _ pass: RepeatedTime = .first
  ) throws(FileProblem.Problem) -> Instant? {
    if isEmpty(column) { return nil }
    if let number = digits(column), let instant = Instant(exactMilliseconds: number) {
      return instant
    }
    return try instantInWords(column, field, form, pass)
  }

  /// Apart from numbers, which most are.
  @inline(never)
  private func instantInWords(
    _ column: Int, _ field: String, _ form: CellForm?, _ pass: RepeatedTime
  ) throws(FileProblem.Problem) -> Instant? {
    guard let text = text(column) else { return nil }
    if let instant = Instant(text: text) { return instant }
    guard let form else { throw .notAnInstant(field, value: text) }
    let local = Instant.localMilliseconds(text)
    if local == nil, WrittenDate.order(of: text) != nil {
      throw .notYearFirst(field, value: text, hasZone: form.zone != nil)
    }
    guard let zone = form.zone else {
      throw local == nil
        ? .notAnInstant(field, value: text) : .withoutOffset(field, value: text)
    }
    guard let local else { throw .notALocalTime(field, value: text) }
    guard let first = zone.firstSecond(ofLocal: local.seconds) else {
      throw .skippedTime(field, value: text, zone: zone.name)
    }
    let seconds = pass.second(of: local, from: first, in: zone)
    guard let instant = Instant(exactMilliseconds: seconds * 1000 + local.milliseconds) else {
      throw .notAnInstant(field, value: text)
    }
    return instant
  }

  func flag(_ column: Int, _ field: String) throws(FileProblem.Problem) -> Bool? {
    switch text(column) {
    case nil: return nil
    case "1", "true": return true
    case "0", "false": return false
    case let other?:
      throw .unknownValue(field, value: other, allowed: ["1", "0", "true", "false"])
    }
  }

  func level(
    _ column: Int, _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> NotificationLevel {
    if isEmpty(column) { return .unset }
    if holds("mention", column) {
      uses.note(.mentionLevel, "the level \"mention\" of \"\(field)\"")
      return .mention
    }
    if holds("none", column) { return .blocked }
    if holds("all", column) { return .all }
    guard let text = text(column) else { return .unset }
    if let number = Int64(text), "\(number)" == text {
      let level = try TextValue.level(rongCloudNumber: number, field)
      uses.note(.levelNumbers, "the level \(number) of \"\(field)\"")
      return level
    }
    return try TextValue.level(text, field, &uses)
  }

  /// The items of a `;`-separated list, empty ones dropped; nil for an empty cell.
  ///
  /// - Parameter form: how it is written. If no comma is between cells, a comma separates items as
  ///   well, and blanks around them are dropped.
  func identifiers(_ column: Int, _ form: CellForm) -> [Identifier]? {
    if isEmpty(column) { return nil }
    if form.delimiter != UInt8(ascii: ",") { return looselySeparated(column) }
    return unsafe utf8(column).split(separator: UInt8(ascii: ";")).map {
      unsafe Identifier(utf8: UnsafeRawBufferPointer(rebasing: $0))
    }
  }

  @inline(never)
  private func looselySeparated(_ column: Int) -> [Identifier]? {
    text(column)?.split { $0 == ";" || $0 == "," }.compactMap { item in
      let end = item.lastIndex { $0 != " " } ?? item.startIndex
      let trimmed = item.drop { $0 == " " }
      return trimmed.isEmpty ? nil : Identifier(String(trimmed[...end]))
    }
  }
}

extension CSVColumns {
  /// - Parameter fields: the field of each column that was asked for, in their order; none for an
  ///   id.
  fileprivate func fields(_ fields: [RowFields]) -> RowFields {
    fields.enumerated().reduce(into: []) { found, field in
      if has(field.offset) { found.insert(field.element) }
    }
  }
}

extension RecordFields {
  /// What the fields with columns that a rule set has are called.
  static func namesInRows(_ rules: RuleSet) -> [(field: RowFields, name: String)] {
    let parts = [(RowFields.quietLevel, "quietLevel"), (.quietTimeZone, "quietTimeZone")]
    return list.inRows.flatMap { columns, name, owner in
      if columns.contains(.quietWindow) {
        return [(.quietWindow, "quiet hours")] + (rules.fields.contains(.quietSpan) ? parts : [])
      }
      return rules.fields.isSuperset(of: owner) ? [(columns, name)] : []
    }
  }
}

/// users.csv
enum UserColumns {
  static let names = [
    "id", "level", "quietStart", "quietEnd", "timeZone", "mutedUntil", "quietSpanMinutes",
    "quietLevel", "quietTimeZone",
  ]
  static let layout = CSVLayout(name: "users", columns: names, required: ["id"])

  static let id = 0

  static let allFields: RowFields = [
    .level, .timeZone, .mutedUntil, .quietWindow, .quietLevel, .quietTimeZone,
  ]

  /// The fields of a file's columns.
  static func fields(_ columns: CSVColumns) -> RowFields {
    columns.fields([
      [], .level, .quietWindow, .quietWindow, .timeZone, .mutedUntil, .quietWindow, .quietLevel,
      .quietTimeZone,
    ])
  }

  /// What a row says; its id is ``id``.
  static func user(
    _ row: CSVRow, _ uses: inout VendorFieldUse, _ checked: ParseCache
  ) throws(FileProblem.Problem) -> UserSettings {
    if row.isEmpty(id) { throw .missingField("id") }
    var user = UserSettings()
    user.level = try row.level(1, "level", &uses)
    if !row.isEmpty(1) { uses.note(.userLevel, "a user's \"level\"") }
    if !row.isEmpty(4) { user.timeZone = try unsafe checked.zone(row.utf8(4), "timeZone") }
    if let mutedUntil = try row.instant(5, "mutedUntil") {
      uses.note(.userMute, "\"mutedUntil\"")
      user.mutedUntil = mutedUntil
    }
    user.quietHours = try quietHours(row, &uses, checked)
    return user
  }

  private static func quietHours(
    _ row: CSVRow, _ uses: inout VendorFieldUse, _ checked: ParseCache
  ) throws(FileProblem.Problem) -> QuietHours? {
    let spanText = row.text(6)
    let level = try row.level(7, "quietLevel", &uses)
    let hasZone = !row.isEmpty(8)
    if !row.isEmpty(3) { uses.note(.quietInterval, "\"quietEnd\"") }
    if spanText != nil { uses.note(.quietSpan, "\"quietSpanMinutes\"") }
    if !row.isEmpty(7) { uses.note(.quietSpan, "\"quietLevel\"") }
    if hasZone { uses.note(.quietSpan, "\"quietTimeZone\"") }
    guard spanText != nil || !row.isEmpty(7) || hasZone else {
      return try unsafe checked.interval(start: row.utf8(2), end: row.utf8(3))
    }
    guard let start = row.text(2) else { throw .missingField("quietStart") }
    guard let spanText else { throw .missingField("quietSpanMinutes") }
    guard let span = Int64(spanText), !spanText.hasPrefix("+") else {
      throw .wrongType("quietSpanMinutes", expected: "a whole number")
    }
    guard (0...1439).contains(span) else {
      throw .outOfRange("quietSpanMinutes", value: spanText, range: "0...1439")
    }
    var zone: String?
    if hasZone { zone = try unsafe checked.zone(row.utf8(8), "quietTimeZone") }
    return try TextValue.span(start: start, spanMinutes: Int(span), level: level, timeZone: zone)
  }
}

/// What a record says of a membership, beside channel levels.
struct MemberRow {
  var level: NotificationLevel
  var mutedUntil = Instant.zero
  /// nil if it is not written.
  var since: Instant?

  init(level: NotificationLevel) { self.level = level }

  init(_ member: MemberSettings, _ present: PresentFields) {
    level = member.level
    mutedUntil = member.mutedUntil
    since = present.since ? member.since : nil
  }

  /// Whether columns of memberships can hold it.
  var fitsColumns: Bool { level.isOfVendor }

  var settings: MemberSettings {
    MemberSettings(level: level, mutedUntil: mutedUntil, since: since ?? .zero)
  }

  var present: PresentFields { PresentFields(since: since != nil) }
}

/// members.csv
enum MemberColumns {
  static let names = ["conversation", "user", "level", "mutedUntil", "since"]
  static let layout = CSVLayout(
    name: "members", columns: names, required: ["conversation", "user"])

  static let allFields: RowFields = [.level, .mutedUntil, .since]
  static let fieldsBeside = MemberSettings.list.besideRows

  /// The fields of a file's columns.
  static func fields(_ columns: CSVColumns) -> RowFields {
    columns.fields([[], [], .level, .mutedUntil, .since])
  }

  /// What a row says; its ids are ``conversation`` and ``user``.
  static func member(
    _ row: CSVRow, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> MemberRow {
    if row.isEmpty(conversation) { throw .missingField("conversation") }
    if row.isEmpty(user) { throw .missingField("user") }
    var member = MemberRow(level: try row.level(2, "level", &uses))
    if let mutedUntil = try row.instant(3, "mutedUntil") {
      uses.note(.memberMute, "\"mutedUntil\"")
      member.mutedUntil = mutedUntil
    }
    member.since = try row.instant(4, "since")
    return member
  }

  static let conversation = 0
  static let user = 1
}
