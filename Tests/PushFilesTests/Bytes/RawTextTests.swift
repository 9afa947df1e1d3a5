import PushContent
import PushModel
import Testing

@testable import PushFiles

/// Goal: a value that is passed on is passed on as it was written, wherever it stands.
@Suite struct RawTextTests {
  private func value(_ line: String, _ token: Int) -> String {
    var line = line
    return line.withUTF8 {
      unsafe String(
        decoding: RawText.value(in: UnsafeRawBufferPointer($0), token: token), as: UTF8.self)
    }
  }

  /// Tokens are counted as the parser counts them: names and values, brackets at their beginning.
  @Test func everyValueIsFound() {
    let line = #" { "a" : 1.50 , "b":[true ,{"c" : null}, "x , y"],"d\"{":"\\" , "e":{ } } "#
    let lines = line.replacing(" ", with: "\r\n ").replacing("x\r\n ,\r\n y", with: "x , y")
    let expected = [
      #"{"a":1.50,"b":[true,{"c":null},"x , y"],"d\"{":"\\","e":{}}"#, #""a""#, "1.50", #""b""#,
      #"[true,{"c":null},"x , y"]"#, "true", #"{"c":null}"#, #""c""#, "null", #""x , y""#,
      #""d\"{""#, #""\\""#, #""e""#, "{}",
    ]
    #expect(expected.indices.map { value(line, $0) } == expected)
    #expect(expected.indices.map { value(lines, $0) } == expected)
    #expect(value(line, expected.count) == "")
  }

  @Test(arguments: [
    #""text""#, "1", "-0.0", "1e400", "18446744073709551615", "true", "false", "[]", "{}", "[[[]]]",
    #"{"a":{"b":[1,2,{"c":"}"}]}}"#, #""\u0041\"\\\/""#, #"["]","[",","]"#, #""👨‍👩‍👧""#,
  ])
  func whatAMessagePassesOnIsAsItWasWritten(_ value: String) throws {
    try withFolder { folder in
      let path = try folder.write(
        [
          #"{"id":"m","conversation":"g","at":1,"ext":{"x":[{"y":1}],"em_apns_ext":{"#
            + #""em_push_sound":"s","extern":  \#(value)  ,"z":0}},"text":"t"}"#
        ], as: "m.ndjson")
      let reader = try MessageReader(path: path, rules: .easemob)
      let next = try reader.nextWithContent()
      #expect(next?.content.apns.extra?.description == value)
      #expect(next?.content.text == "t")
    }
  }
}
