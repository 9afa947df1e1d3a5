import Testing

@testable import PushModel

/// Goal: `fields` has every stored property of settings, so that destructuring it misses none.
@Suite struct SettingsFieldTests {
  @Test func everyStoredPropertyIsAField() {
    #expect(Self.labels(UserSettings().fields) == Self.labels(UserSettings()))
    let names = ["setChannels": "channels", "setRoles": "roles"]
    let stored = Self.labels(MemberSettings()).map { names[$0] ?? $0 }
    #expect(Self.labels(MemberSettings().fields) == stored)
  }

  private static func labels(_ value: Any) -> [String] {
    Mirror(reflecting: value).children.map { $0.label ?? "" }
  }
}
