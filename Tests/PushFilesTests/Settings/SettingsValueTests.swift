import PushFiles
import PushModel
import Testing

/// Goal: a value of the wrong type or out of its range is refused with its field's name and the
/// range, word for word; the value at the edge is taken.
@Suite struct SettingsValueTests {
  typealias Case = SettingsProblemTests.Case

  private let instantHelp =
    "is not an instant; give Unix milliseconds, 0 to 9007199254740991, "
    + "or an RFC 3339 time with an offset or Z"

  private static let malformedToken =
    #"1: "devices": a token or fid is not 1 to 4096 characters of visible ASCII"#

  /// A user's record with one more field.
  private func user(_ field: String) -> [String] { [#"{"kind":"user","id":"u1",\#(field)}"#] }

  /// An app of RongCloud's and a user's record with one more field.
  private func rongCloudUser(_ field: String) -> [String] {
    [#"{"kind":"app","rules":"rongcloud"}"#] + user(field)
  }

  @Test func valuesHaveTheRightType() throws {
    let cases: [Case] = [
      ([#"{"kind":"user","id":1}"#], #"1: "id" must be a string"#),
      ([#"{"kind":"user","id":["u1"]}"#], #"1: "id" must be a string"#),
      (user(#""timeZone":8"#), #"1: "timeZone" must be a string"#),
      (user(#""quietHours":"22:00""#), #"1: "quietHours" must be an object"#),
      (
        user(#""quietHours":{"start":22,"end":"8:00"}"#), #"1: "quietHours.start" must be a string"#
      ),
      (user(#""quietHours":{"start":"22:00","end":8}"#), #"1: "quietHours.end" must be a string"#),
      (user(#""devices":{}"#), #"1: "devices" must be an array of objects"#),
      (user(#""devices":["p1"]"#), #"1: "devices" must be an array of objects"#),
      (user(#""devices":[null]"#), #"1: "devices" must be an array of objects"#),
      (
        user(#""devices":[{"id":"p1","token":1}]"#),
        #"1: "devices.token" must be true, false or a string"#
      ),
      (
        user(#""devices":[{"id":"p1","platform":"hms"}]"#),
        #"1: "devices.platform" cannot be "hms"; it is one of apns, fcm"#
      ),
      (user(#""devices":[{"id":"p1","token":"a secret"}]"#), Self.malformedToken),
      (user(#""devices":[{"id":"p1","fid":""}]"#), Self.malformedToken),
      (user(#""level":true"#), #"1: "level" must be a level"#),
      (user(#""level":1.5"#), #"1: "level" must be a level"#),
      (
        user(#""mutedUntil":true"#),
        #"1: "mutedUntil" must be an instant, a whole number or an RFC 3339 string"#
      ),
      (rongCloudUser(#""levels":"all""#), #"2: "levels" must be an object"#),
      (
        rongCloudUser(#""pushWhenDesktopOnline":"true""#),
        #"2: "pushWhenDesktopOnline" must be true or false"#
      ),
      (rongCloudUser(#""localNotification":true"#), #"2: "localNotification" must be an object"#),
      (
        rongCloudUser(#""quietHours":{"start":"22:00:00","spanMinutes":"60"}"#),
        #"2: "quietHours.spanMinutes" must be a whole number"#
      ),
      (
        rongCloudUser(#""quietHours":{"start":"22:00:00","spanMinutes":60.5}"#),
        #"2: "quietHours.spanMinutes" must be a whole number"#
      ),
      ([#"{"kind":"app","options":[]}"#], #"1: "options" must be an object"#),
      (
        [#"{"kind":"app","options":{"expireSeconds":1.5}}"#],
        #"1: "options.expireSeconds" must be a whole number"#
      ),
      (
        [#"{"kind":"app","options":{"pushTransparent":0}}"#],
        #"1: "options.pushTransparent" must be true or false"#
      ),
      ([#"{"kind":"app","advancedPush":"no"}"#], #"1: "advancedPush" must be true or false"#),
    ]
    try SettingsProblemTests.expect(cases)
  }

  @Test func levelsAreKnown() throws {
    let names = "default, all, mention, none"
    let numbers = "the levels are -1, 0, 1, 2, 4 and 5"
    let spellings = ["all", "At", "at", "mentiononly", "None", "Default", ""]
    let cases: [Case] =
      [
        (user(#""level":3"#), #"1: "level": 3 is not a level; \#(numbers)"#),
        (
          rongCloudUser(#""levels":{"group":3}"#),
          #"2: "levels.group": 3 is not a level; \#(numbers)"#
        ),
        (
          rongCloudUser(#""levels":{"group":-2}"#),
          #"2: "levels.group": -2 is not a level; \#(numbers)"#
        ),
        (rongCloudUser(#""levels":{"thread":"all"}"#), #"2: unknown field "levels.thread""#),
        (
          [#"{"kind":"member","conversation":"g1","user":"u1","level":"loud"}"#],
          #"1: "level" cannot be "loud"; it is one of \#(names)"#
        ),
      ]
      + spellings.filter { $0 != "all" }.map {
        // Capitals aside they may be levels.
        let nearest = ["None": "did you mean none? It", "Default": "did you mean default? It"]
        return (
          user(#""level":"\#($0)""#),
          #"1: "level" cannot be "\#($0)"; \#(nearest[$0] ?? "it") is one of \#(names)"#
        )
      }
    try SettingsProblemTests.expect(cases)
  }

  @Test func easemobsQuietHoursHaveTheirForm() throws {
    let half = #"1: "quietHours": quiet hours need both a start and an end, or both empty for none"#
    let form = "is not a time of the form H:M, like 22:00"
    let rows: [(start: String, end: String, problem: String)] = [
      ("24:00", "08:00", #"1: "quietHours": hour 24 is not in 0...23"#),
      ("8:00", "99:00", #"1: "quietHours": hour 99 is not in 0...23"#),
      ("22:60", "08:00", #"1: "quietHours": minute 60 is not in 0...59"#),
      ("22:00", "8:99", #"1: "quietHours": minute 99 is not in 0...59"#),
      ("22:00", "", half), ("", "08:00", half),
      ("22", "08:00", #"1: "quietHours": "22" \#(form)"#),
      ("22:00:00", "08:00", #"1: "quietHours": "22:00:00" \#(form)"#),
      ("022:00", "08:00", #"1: "quietHours": "022:00" \#(form)"#),
      ("22:", "08:00", #"1: "quietHours": "22:" \#(form)"#),
      (":00", "08:00", #"1: "quietHours": ":00" \#(form)"#),
      (" 8:00", "9:00", #"1: "quietHours": " 8:00" \#(form)"#),
      ("-1:00", "9:00", #"1: "quietHours": "-1:00" \#(form)"#),
      ("２２:00", "9:00", #"1: "quietHours": "２２:00" \#(form)"#),
      ("8:0", "23:59", "loaded"), ("", "", "loaded"), ("00:00", "0:0", "loaded"),
    ]
    let cases = rows.map {
      (user(#""quietHours":{"start":"\#($0.start)","end":"\#($0.end)"}"#), $0.problem)
    }
    try SettingsProblemTests.expect(cases)
  }

  @Test func rongCloudsQuietHoursHaveTheirForm() throws {
    let form = "is not a time of the form HH:MM:SS, like 22:00:00"
    let levels = #"use "none", "mention" or "default""#
    let rows: [(start: String, span: String, level: String, problem: String)] = [
      ("24:00:00", "60", "none", #"2: "quietHours": hour 24 is not in 0...23"#),
      ("23:60:00", "60", "none", #"2: "quietHours": minute 60 is not in 0...59"#),
      ("23:00:60", "60", "none", #"2: "quietHours": second 60 is not in 0...59"#),
      ("22:00", "60", "none", #"2: "quietHours": "22:00" \#(form)"#),
      ("8:00:00", "60", "none", #"2: "quietHours": "8:00:00" \#(form)"#),
      ("", "60", "none", #"2: "quietHours": "" \#(form)"#),
      ("22:00:00", "1440", "none", #"2: "quietHours.spanMinutes": 1440 is not in 0...1439"#),
      ("22:00:00", "-1", "none", #"2: "quietHours.spanMinutes": -1 is not in 0...1439"#),
      (
        "22:00:00", "60", "all",
        #"2: "quietHours": quiet hours cannot have level "all"; \#(levels)"#
      ),
      (
        "22:00:00", "60", "mentionAll",
        #"2: "quietHours": quiet hours cannot have level "mentionAll"; \#(levels)"#
      ),
      ("22:00:00", "1439", "mention", "loaded"), ("22:00:00", "0", "default", "loaded"),
    ]
    let cases = rows.map { row in
      let window = #"{"start":"\#(row.start)","spanMinutes":\#(row.span),"level":"\#(row.level)"}"#
      return (rongCloudUser(#""quietHours":\#(window)"#), row.problem)
    }
    try SettingsProblemTests.expect(cases)
  }

  @Test func numbersAndInstantsHaveARange() throws {
    let texts = [
      "1764000000000", "", "2024-06-03", "2024-06-03T08:00:00", "2024-06-03 08:00:00Z",
      "2024-06-31T08:00:00Z", "2023-02-29T08:00:00Z", "2024-06-03T24:00:00Z",
      "2024-06-03T08:00:60Z", "2024-06-03T08:00:00+0800", "2024-06-03T08:00:00.Z",
      "1969-12-31T23:59:59Z", "2024-06-03T08:00:00Z ", "2024-06-03T08:00:00+24:00",
    ]
    let cases: [Case] =
      ["-1", "9007199254740992"].map {
        (user(#""mutedUntil":\#($0)"#), #"1: "mutedUntil": \#($0) \#(instantHelp)"#)
      }
      + ["0.5", "1e-3", "1e400", "9007199254740993.0e3", "12345678901234567890123"].map {
        (
          user(#""mutedUntil":\#($0)"#),
          #"1: "mutedUntil" must be an instant, a whole number or an RFC 3339 string"#
        )
      }
      + texts.map {
        (user(#""mutedUntil":"\#($0)""#), #"1: "mutedUntil": "\#($0)" \#(instantHelp)"#)
      }
      + [
        (user(#""mutedUntil":9007199254740991"#), "loaded"),
        (user(#""mutedUntil":0"#), "loaded"),
        // What is whole is a whole number, however it is written.
        (user(#""mutedUntil":1.0"#), "loaded"), (user(#""mutedUntil":1.717e12"#), "loaded"),
        (user(#""mutedUntil":-0.0"#), "loaded"),
        (
          user(#""mutedUntil":9007199254740992.0"#),
          #"1: "mutedUntil": 9007199254740992 \#(instantHelp)"#
        ),
        (rongCloudUser(#""quietHours":{"start":"22:00:00","spanMinutes":6e1}"#), "loaded"),
        (rongCloudUser(#""levels":{"group":5.0}"#), "loaded"),
        ([#"{"kind":"app","options":{"expireSeconds":60.0}}"#], "loaded"),
        (
          [#"{"kind":"member","conversation":"g1","user":"u1","since":-1}"#],
          #"1: "since": -1 \#(instantHelp)"#
        ),
        (
          user(#""devices":[{"id":"p1","backgroundSince":"now"}]"#),
          #"1: "devices.backgroundSince": "now" \#(instantHelp)"#
        ),
        (
          [#"{"kind":"app","options":{"expireSeconds":-1}}"#],
          #"1: "options.expireSeconds": -1 is not in 0...9007199254740991"#
        ),
        (
          [#"{"kind":"app","rules":"rongcloud","options":{"backgroundGraceSeconds":-60}}"#],
          #"1: "options.backgroundGraceSeconds": -60 is not in 0...9007199254740991"#
        ),
      ]
    try SettingsProblemTests.expect(cases)
  }

  @Test func timeZonesAreOfTheDatabase() throws {
    let no = [
      "Mars/Base", "GMT+8", "PST", "UTC+0800", "asia/shanghai", "Asia/Shanghai ", "+08:00", "",
    ]
    let yes = ["UTC", "Asia/Shanghai", "Asia/Kolkata", "America/Argentina/Ushuaia", "Etc/GMT+8"]
    let cases =
      no.map {
        (
          user(#""timeZone":"\#($0)""#),
          #"1: "timeZone": "\#($0)" is not a time zone of the IANA database"#
        )
      } + yes.map { (user(#""timeZone":"\#($0)""#), "loaded") }
      + [
        (
          rongCloudUser(#""quietHours":{"start":"22:00:00","spanMinutes":9,"timeZone":"X"}"#),
          #"2: "quietHours.timeZone": "X" is not a time zone of the IANA database"#
        ),
        (
          [#"{"kind":"app","timeZone":"X"}"#],
          #"1: "timeZone": "X" is not a time zone of the IANA database"#
        ),
      ]
    try SettingsProblemTests.expect(cases)
  }
}
