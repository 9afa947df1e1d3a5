import Testing

@testable import PushModel

/// Goal: the list of fields has every stored property of settings, and where they are stored cannot be
/// told from outside.
@Suite struct SettingsFieldTests {
  @Test func everyStoredPropertyIsAField() {
    // Of rules and options the list says nothing. Computed properties do not say their names.
    #expect(
      Self.properties(AppSettings(), rare: OpenAppFields())
        == Self.listed(AppSettings.self) + ["easemob", "open", "rongcloud", "rules"].count)
    #expect(
      Self.properties(UserSettings(), rare: OpenUserFields()) == Self.listed(UserSettings.self))
    #expect(
      Self.properties(MemberSettings(), rare: RareMemberFields())
        == Self.listed(MemberSettings.self))
  }

  /// How many stored properties there are.
  ///
  /// - Parameter rare: what stores those that few have.
  private static func properties(_ value: Any, rare: Any) -> Int {
    Mirror(reflecting: value).children.count - 1 + Mirror(reflecting: rare).children.count
  }

  /// How many properties the list of fields has.
  private static func listed<Record: RecordFields>(_: Record.Type) -> Int {
    var paths = FieldPaths<Record>()
    Record.visitFields(&paths)
    return Set(paths.paths).count
  }

  private struct FieldPaths<Record>: FieldVisitor {
    var paths: [PartialKeyPath<Record>] = []

    mutating func visit(_ field: RecordField<Record>) {
      switch field.value {
      case .level(let path): paths.append(path)
      case .kindLevels(let path): paths.append(path)
      case .channelLevels(let path): paths.append(path)
      case .quietHours(let path), .quietWindows(let path): paths.append(path)
      case .zone(let path): paths.append(path)
      case .ownZone(let path): paths.append(path)
      case .instant(let path): paths.append(path)
      case .flag(let path, _): paths.append(path)
      case .answer(let path): paths.append(path)
      case .localNotification(let missing, let handled): paths += [missing, handled]
      case .classes(let path): paths.append(path)
      case .texts(let path, _): paths.append(path)
      case .ids(let path, _): paths.append(path)
      case .devicePolicy(let path): paths.append(path)
      case .devices(let path): paths.append(path)
      }
    }
  }

  @Test func theNamesAreThoseOfFiles() {
    #expect(
      AppSettings.list.names
        == ["timeZone", "devicePolicy", "advancedPush", "level", "quiet", "messageNotification"])
    #expect(
      UserSettings.list.names == [
        "level", "levels", "quietHours", "quiet", "timeZone", "mutedUntil",
        "pushWhenDesktopOnline", "localNotification", "mutedAllow", "allowForce", "keywords",
        "importantSenders", "blockedSenders", "devices",
      ])
    #expect(
      MemberSettings.list.names
        == ["level", "mutedUntil", "since", "channels", "important", "follow", "roles"])
  }

  @Test func rareFieldsAreValues() {
    var user = UserSettings()
    user.keywords = ["deploy"]
    var copy = user
    #expect(copy == user && copy.hashValue == user.hashValue)
    copy.keywords.append("outage")
    copy.allowForce = false
    #expect(user.keywords == ["deploy"] && user.allowForce)
    #expect(copy.keywords == ["deploy", "outage"] && copy != user)
    (copy.keywords, copy.allowForce) = ([], true)
    #expect(copy == UserSettings() && copy.hashValue == UserSettings().hashValue)
    #expect(!copy.hasOpenFields && user.hasOpenFields)
    // The same values, set apart.
    var (one, other) = (MemberSettings(), MemberSettings())
    for key in ["one", "other"] {
      one.roles = [Identifier(key)]
      other.roles = [Identifier(key)]
    }
    #expect(one == other && one.hashValue == other.hashValue && one != MemberSettings())
    one.isFollowing = false
    #expect(one != other && other.isFollowing == nil)
    var app = AppSettings(open: OpenOptions())
    app.quietHours = .windows(.none)
    #expect(app.quietHours == .windows(.none) && app != AppSettings())
  }
}
