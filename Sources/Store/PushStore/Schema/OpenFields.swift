internal import Foundation
internal import PushModel
internal import PushSupport

// What open rules have beside the other columns, as the text of one: a JSON object with sorted keys,
// the names of settings.ndjson, and classes as lists. What is not set is left out, and the column is
// NULL where nothing is. It is read by the writes of the model, which check it.

/// The text of a column that holds JSON.
private enum ColumnText {
  private static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  static func of(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

extension Sequence<Identifier> {
  /// nil for none.
  fileprivate var texts: [String]? {
    let texts = map(\.text)
    return texts.isEmpty ? nil : texts
  }
}

/// A window of ``QuietWindows``: `app.quiet` is a list of them.
private struct StoredWindow: Codable {
  var days: [String]?
  var start, end: String
  var allow: [String]?

  init(_ window: QuietWindows.Window) {
    days = window.days == QuietWindows.Window.everyDay ? nil : window.namesOfDays
    start = ClockTime.text(minuteOfDay: window.startMinute)
    end = ClockTime.text(minuteOfDay: window.endMinute)
    allow = window.allow.isEmpty ? nil : window.allow.names
  }

  static func list(_ quietHours: QuietHours?) -> [StoredWindow]? {
    guard case .windows(let windows) = quietHours else { return nil }
    return windows.windows.map { StoredWindow($0) }
  }

  static func quietHours(_ list: [StoredWindow]) throws -> QuietHours {
    .windows(
      try QuietWindows(
        list.map { window in
          try QuietWindows.Window(
            days: window.days.map { try QuietWindows.Window.days($0) }
              ?? QuietWindows.Window.everyDay,
            start: window.start, end: window.end, allow: MessageClasses(names: window.allow ?? []))
        }))
  }
}

/// `users.open_fields`.
private struct StoredUserFields: Codable {
  var quiet: [StoredWindow]?
  var mutedAllow: [String]?
  var allowForce: Bool?
  var keywords, importantSenders, blockedSenders: [String]?

  init(_ user: borrowing UserSettings) {
    quiet = StoredWindow.list(user.quietHours)
    mutedAllow = user.mutedAllow.isEmpty ? nil : user.mutedAllow.names
    allowForce = user.allowForce ? nil : false
    keywords = user.keywords.isEmpty ? nil : user.keywords
    importantSenders = user.importantSenders.texts
    blockedSenders = user.blockedSenders.texts
  }

  func apply(to user: inout UserSettings) throws {
    if let quiet { user.quietHours = try StoredWindow.quietHours(quiet) }
    user.mutedAllow = try MessageClasses(names: mutedAllow ?? [])
    user.allowForce = allowForce ?? true
    try user.setKeywords(keywords ?? [])
    try user.setSenders(
      important: (importantSenders ?? []).map { Identifier($0) },
      blocked: (blockedSenders ?? []).map { Identifier($0) })
  }
}

/// `member_settings.open_fields`.
struct StoredMemberFields: Codable {
  private let important, follow: Bool?
  private let roles: [String]?

  /// The text of the column; nil where nothing is set.
  static func text(of member: borrowing MemberSettings) throws -> String? {
    guard member.hasOpenFields else { return nil }
    return try ColumnText.of(StoredMemberFields(member))
  }

  private init(_ member: borrowing MemberSettings) {
    important = member.isImportant ? true : nil
    follow = member.isFollowing
    roles = member.roles.texts
  }

  func apply(to member: inout MemberSettings) throws {
    member.isImportant = important ?? false
    member.isFollowing = follow
    try member.setRoles((roles ?? []).map { Identifier($0) })
  }
}

extension MemberSettings {
  /// Whether something is set that `member_settings.open_fields` holds.
  @inline(__always)
  var hasOpenFields: Bool { isImportant || isFollowing != nil || !roles.isEmpty }
}

extension UserSettings {
  /// What `users.open_fields` holds.
  static let openFields: VendorFields = [
    .quietWindows, .mutedAllow, .allowForce, .keywords, .importantSenders, .blockedSenders,
  ]

  /// The text of `users.open_fields`; nil where nothing is set.
  func openFieldsText() throws -> String? {
    vendorFields.isDisjoint(with: Self.openFields)
      ? nil : try ColumnText.of(StoredUserFields(self))
  }
}

extension AppSettings {
  /// The text of `app.quiet`; nil where nothing is set.
  func quietText() throws -> String? { try StoredWindow.list(quietHours).map(ColumnText.of) }
}

extension SettingsQueries {
  /// - Throws: ``StoreError/damaged(_:reason:)`` for what no write has made.
  private func decode<Stored: Decodable, Value>(
    _ text: String, _ column: String, _ body: (Stored) throws -> Value
  ) throws -> Value {
    do {
      return try body(JSONDecoder().decode(Stored.self, from: Data(text.utf8)))
    } catch {
      throw StoreError.damaged(path, reason: "\(column) has an invalid value")
    }
  }

  /// The windows of `app.quiet`.
  func windows(_ text: String) throws -> QuietHours {
    try decode(text, "app.quiet") { try StoredWindow.quietHours($0) }
  }

  /// Reads `users.open_fields`.
  func read(_ text: String, into user: inout UserSettings) throws {
    var read = user
    try decode(text, "users.open_fields") { (fields: StoredUserFields) in
      try fields.apply(to: &read)
    }
    user = read
  }

  /// Reads `member_settings.open_fields`.
  func memberFields(_ text: String) throws -> MemberSettings {
    try decode(text, "member_settings.open_fields") { (fields: StoredMemberFields) in
      var member = MemberSettings()
      try fields.apply(to: &member)
      return member
    }
  }

  /// The users who have another among their important or blocked senders.
  ///
  /// - Complexity: O(users), and those with fields of open rules are read.
  func users(listing sender: Identifier) throws -> [(id: Identifier, settings: UserSettings)] {
    var found: [(id: Identifier, settings: UserSettings)] = []
    var holders = try RepeatedStatement(
      db, "SELECT id FROM users WHERE open_fields LIKE '%Senders\":%'")
    var ids: [Identifier] = []
    try holders.forEach { ids.append(try id($0, 0, "users.id")) }
    for id in ids {
      guard let user = try user(id),
        user.importantSenders.contains(sender) || user.blockedSenders.contains(sender)
      else { continue }
      found.append((id, user))
    }
    return found
  }
}
