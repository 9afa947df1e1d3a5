import Testing

@testable import PushModel

/// Goal: `fields` has every stored property of settings, so that destructuring it misses none, and
/// where they are stored cannot be told from outside.
@Suite struct SettingsFieldTests {
  @Test func everyStoredPropertyIsAField() {
    #expect(
      Self.labels(UserSettings().fields) == Self.labels(UserSettings(), rare: OpenUserFields()))
    #expect(
      Self.labels(MemberSettings().fields)
        == Self.labels(MemberSettings(), rare: RareMemberFields()))
  }

  /// - Parameter rare: the fields in the property of that name.
  private static func labels(_ value: Any, rare: Any? = nil) -> [String] {
    Mirror(reflecting: value).children.flatMap { child in
      if child.label == "rare", let rare { return labels(rare) }
      return [child.label ?? ""]
    }.sorted()
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
