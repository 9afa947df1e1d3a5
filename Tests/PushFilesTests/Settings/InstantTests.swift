import PushFiles
import PushModel
import Testing

/// Goal: an instant is read from each of its forms to the millisecond, from NDJSON and CSV alike.
/// What is no instant is in SettingsValueTests.
@Suite struct InstantTests {
  private static let forms: [(text: String, milliseconds: Int64)] = [
    ("1970-01-01T00:00:00Z", 0), ("2024-06-03T08:00:00Z", 1_717_401_600_000),
    ("2024-06-03T08:00:00+08:00", 1_717_372_800_000),
    ("2024-06-03T08:00:00-03:30", 1_717_414_200_000),
    ("2024-06-03T08:00:00-00:00", 1_717_401_600_000), ("2024-06-03t08:00:00z", 1_717_401_600_000),
    ("2024-06-03T08:00:00.5Z", 1_717_401_600_500), ("2024-06-03T08:00:00.05Z", 1_717_401_600_050),
    ("2024-06-03T08:00:00.123Z", 1_717_401_600_123),
    ("2024-06-03T08:00:00.1239999Z", 1_717_401_600_123),
    ("2024-06-03T08:00:00.000999999999999999999999Z", 1_717_401_600_000),
    ("2024-02-29T23:59:59.999Z", 1_709_251_199_999), ("2000-02-29T00:00:00Z", 951_782_400_000),
    ("2100-03-01T00:00:00Z", 4_107_542_400_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ("1969-12-31T23:00:00-01:00", 0), ("1970-01-01T05:45:00+05:45", 0),
  ]

  @Test func rfc3339TextsAreReadToTheMillisecond() throws {
    let lines = Self.forms.map {
      #"{"kind":"user","id":"u\#($0.text)","mutedUntil":"\#($0.text)"}"#
    }
    let rows = ["id,mutedUntil"] + Self.forms.map { "u\($0.text),\($0.text)" }
    let found = try withFolder { folder in
      try [
        SettingsPaths(settings: [folder.write(lines, as: "w.ndjson")]),
        SettingsPaths(users: [folder.write(rows, as: "users.csv")]),
      ].map { try folder.world($0).users.map(\.settings.mutedUntil.milliseconds) }
    }
    #expect(found == [Self.forms.map(\.milliseconds), Self.forms.map(\.milliseconds)])
  }

  @Test func integersAreUnixMilliseconds() throws {
    let texts = ["0", "1", "1717401600000", "9007199254740991"]
    let lines = texts.map { #"{"kind":"user","id":"u\#($0)","mutedUntil":\#($0)}"# }
    let rows = ["id,mutedUntil"] + texts.map { "u\($0),\($0)" }
    let found = try withFolder { folder in
      try [
        SettingsPaths(settings: [folder.write(lines, as: "w.ndjson")]),
        SettingsPaths(users: [folder.write(rows, as: "users.csv")]),
      ].map { try folder.world($0).users.map(\.settings.mutedUntil.milliseconds) }
    }
    let expected: [Int64] = [0, 1, 1_717_401_600_000, 9_007_199_254_740_991]
    #expect(found == [expected, expected])
  }

  @Test func cellsThatAreNoInstantAreRefused() throws {
    let help =
      "is not an instant; give Unix milliseconds, 0 to 9007199254740991, "
      + "or an RFC 3339 time with an offset or Z"
    let texts = [
      "-1", "1.0", "1e3", "+5", "0x10", "9007199254740992", "99999999999999999999", " 5", "now",
      "2024-06-03", "2024-06-03T08:00:00",
    ]
    let found = try withFolder { folder in
      try texts.map { text in
        let users = try folder.write(["id,mutedUntil", "u1,\(text)"], as: "users.csv")
        return folder.problem(SettingsPaths(users: [users]))
      }
    }
    #expect(found == texts.map { #"users.csv:2: "mutedUntil": \#($0) \#(help)"# })
  }
}
