import Testing

@testable import PushModel

/// Goal: `fields` has every stored property of settings, so that destructuring it misses none.
@Suite struct SettingsFieldTests {
  @Test func everyStoredPropertyIsAField() {
    #expect(Self.labels(UserSettings().fields) == Self.labels(UserSettings()))
    let stored = Self.labels(MemberSettings()).map { $0 == "setChannels" ? "channels" : $0 }
    #expect(Self.labels(MemberSettings().fields) == stored)
  }

  private static func labels(_ value: Any) -> [String] {
    Mirror(reflecting: value).children.map { $0.label ?? "" }
  }
}
