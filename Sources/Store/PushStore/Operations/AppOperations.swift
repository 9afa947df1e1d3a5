internal import GRDB
public import PushModel

/// How many records had settings of the advanced features.
public struct AdvancedSettings: Hashable, Sendable {
  /// Users with a level, quiet hours or a duration.
  public let users: Int
  /// Memberships with a level or a duration, those of threads too.
  public let members: Int
}

/// Settings of the app, which the vendors' consoles and kits have.
///
/// When nothing changes, nothing is written. A change stands in the feed as ``Change/app``, but for
/// ``Change/advancedPush``.
extension StoreWrite {
  /// Switches Easemob's advanced push features on or off for the app, and deletes all levels, quiet
  /// hours and durations of users and members, as the vendor does when they are switched off: on
  /// again, they begin without. Time zones stay.
  ///
  /// The feed gets one entry, ``Change/advancedPush``, after which followers read everything again.
  /// An import of the app's record does not delete anything (E-9).
  ///
  /// - Returns: how many records had such settings, which are deleted; nil when the switch was so
  ///   before.
  /// - Throws: ``StoreError/otherRules(_:)``.
  /// - Complexity: O(users + memberships).
  @discardableResult
  public mutating func setAdvancedPush(_ isOn: Bool) throws -> AdvancedSettings? {
    try queries.require(.easemob)
    var app = try queries.app()
    guard app.advancedPush != isOn else { return nil }
    let deleted = try queries.advancedSettings()
    let before = app
    app.advancedPush = isOn
    try queries.write(app)
    try queries.deleteAdvancedSettings()
    steps += [.record(.app(app)), .advancedSettingsDeleted]
    try record(.advancedPush, values: ChangedValues(before.words, app.words, isWhole: false))
    return deleted
  }

  /// Sets what several devices mean for a push (E-65), which is in Easemob's console.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public mutating func setDevicePolicy(_ policy: AppSettings.DevicePolicy) throws {
    try queries.require(.easemob)
    try changeApp { $0.devicePolicy = policy }
  }

  /// Sets whether the app shows local notifications at all: `false` is RongCloud's
  /// `RCKitConfigCenter.message.disableMessageNotificaiton`, which is spelled so, with `YES`.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public mutating func setMessageNotification(_ isOn: Bool) throws {
    try queries.require(.rongcloud)
    try changeApp { $0.messageNotification = isOn }
  }

  /// Sets whether a user's phone gets pushes while only a web or desktop client is connected
  /// `RCPushProfile.setPushReceiveStatus` of RongCloud's client SDK. A user never declared is
  /// made.
  ///
  /// It stands in the feed as ``Change/pushWhenDesktopOnline``, and is announced.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public mutating func setPushWhenDesktopOnline(_ isOn: Bool, of user: Identifier) throws {
    try queries.require(.rongcloud)
    try change(user) { $0.pushWhenDesktopOnline = isOn }
  }

  private mutating func changeApp(_ body: (inout AppSettings) -> Void) throws {
    let before = try queries.app()
    var app = before
    body(&app)
    if app != before { try setApp(app) }
  }
}

extension SettingsStore {
  /// How many records ``StoreWrite/setAdvancedPush(_:)`` would delete settings of.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  /// - Complexity: O(users).
  public func advancedSettings() throws -> AdvancedSettings {
    try read { queries in
      try queries.require(.easemob)
      return try queries.advancedSettings()
    }
  }

  /// Whether a user's phone gets pushes while only a web or desktop client is connected:
  /// RongCloud's `getPushReceiveStatus`.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public func pushWhenDesktopOnline(of user: Identifier) throws -> Bool {
    try read { queries in
      try queries.require(.rongcloud)
      return try queries.user(user)?.pushWhenDesktopOnline ?? false
    }
  }
}

extension SettingsQueries {
  private static let usersWithAdvanced =
    "users WHERE level <> 0 OR quiet_start IS NOT NULL OR muted_until <> 0"

  fileprivate func advancedSettings() throws -> AdvancedSettings {
    func count(_ what: String) throws -> Int {
      try Int.fetchOne(db, sql: "SELECT count(*) FROM \(what)") ?? 0
    }
    return AdvancedSettings(
      users: try count(Self.usersWithAdvanced), members: try count("member_settings"))
  }

  fileprivate func deleteAdvancedSettings() throws {
    try db.execute(
      sql: """
        UPDATE users SET level = 0, quiet_start = NULL, quiet_end = NULL, quiet_span = NULL,
          quiet_level = NULL, quiet_zone = NULL, muted_until = 0
        WHERE level <> 0 OR quiet_start IS NOT NULL OR muted_until <> 0;
        DELETE FROM member_settings;
        """)
  }
}
