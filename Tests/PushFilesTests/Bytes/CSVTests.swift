import PushFiles
import PushModel
import Testing

/// Goal: CSV files are read as RFC 4180 says, and what is wrong with one is reported at the line at
/// which its row begins, however many line feeds cells hold.
@Suite struct CSVTests {
  /// Text of users.csv, and the ids in it or what is wrong.
  typealias Case = (text: String, found: String)

  private func expect(
    _ cases: [Case], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let wrong = try withFolder { folder in
      try cases.compactMap { test in
        let path = try folder.write(test.text.utf8, as: "u.csv")
        let paths = SettingsPaths(users: [path])
        var found = folder.problem(paths)
        if found == "loaded" {
          found = try folder.world(paths).users
            .map { "\($0.id)=\($0.settings.level.name)" }.joined(separator: " ")
        }
        return found == test.found ? nil : "\(test.text): \(found) instead of \(test.found)"
      }
    }
    #expect(wrong == [], sourceLocation: sourceLocation)
  }

  @Test func rowsHaveEveryFormOfTheStandard() throws {
    try expect([
      ("id,level\nu1,all\nu2,none\n", "u1=all u2=none"),
      ("id,level\r\nu1,all\r\nu2,none", "u1=all u2=none"),
      ("\u{FEFF}id,level\nu1,all", "u1=all"), ("\u{FEFF}\"id\",level\r\nu1,all", "u1=all"),
      ("level,id\nall,u1\n,u2", "u1=all u2=default"), ("id\nu1\nu2", "u1=default u2=default"),
      ("\"id\",\"level\"\n\"u1\",\"all\"", "u1=all"),
      ("id,level\n\"a,b\",all\n\"a\"\"b\",none", "a,b=all a\"b=none"),
      ("id,level\n\"a\nb\",all\n\"a\r\nb\",none\n", "a\nb=all a\r\nb=none"),
      ("id,level\n u1 ,all\n\tu2\t,all", " u1 =all \tu2\t=all"),
      ("id,level\n\n\r\nu1,all\n\n\nu2,\n\n", "u1=all u2=default"),
      ("\n\nid,level\nu1,all", "u1=all"), ("id,level\n", ""), ("id", ""),
      ("id,level\nu1,AT\nu2,DEFAULT\nu3,default", "u1=mention u2=default u3=default"),
      ("id,level\né,all\ne\u{301},none\n😀,mention", "é=all e\u{301}=none 😀=mention"),
    ])
  }

  @Test func headersAreChecked() throws {
    let columns =
      "sers have id, level, quietStart, quietEnd, timeZone, mutedUntil, quietSpanMinutes, "
      + "quietLevel, quietTimeZone"
    let near = #"did you mean "level"? U\#(columns)"#
    let noHeader = "u.csv:1: has no header; the first line of CSV names the columns"
    try expect([
      ("", noHeader), ("\n\n", noHeader), ("\u{FEFF}", noHeader),
      ("id,colour\nu1,red", #"u.csv:1: unknown column "colour"; u\#(columns)"#),
      ("id,Level\nu1,all", #"u.csv:1: unknown column "Level"; \#(near)"#),
      ("id, level\nu1,all", #"u.csv:1: unknown column " level"; \#(near)"#),
      ("id,\nu1,", #"u.csv:1: unknown column ""; u\#(columns)"#),
      ("id,level,id\nu1,all,u1", #"u.csv:1: the column "id" is repeated"#),
      ("level\nall", #"u.csv:1: the column "id" is missing"#),
      (
        "id;level\nu1;all",
        "u.csv:1: the header is separated by semicolons, columns of users by commas; convert it: tr "
          + "';' ',', or, if cells have commas, docs/bring-your-own-data.md"
      ),
    ])
  }

  @Test func brokenRowsAreRefusedAtTheirLine() throws {
    let stray =
      "a misplaced quote; quote the whole cell and double its quotes"
    try expect([
      ("id,level\nu1\n", "u.csv:2: 1 cells in a row of 2 columns"),
      ("id,level\nu1,all,x\n", "u.csv:2: 3 cells in a row of 2 columns"),
      ("id,level\nu1,all\nu2,all,", "u.csv:3: 3 cells in a row of 2 columns"),
      ("id,level\nu\"1,all", "u.csv:2: \(stray)"), ("id,level\n\"u1\"x,all", "u.csv:2: \(stray)"),
      ("id,level\n\"u1\" ,all", "u.csv:2: \(stray)"),
      ("id,level\nu1,all\nu2, \"all\"", "u.csv:3: \(stray)"),
      ("id,level\n\"u1,all\nu2,all\n", "u.csv:2: a quoted cell is never closed"),
      ("id,level\nu1,all\n\nu2,\"", "u.csv:4: a quoted cell is never closed"),
      ("id,level\nu1,all\ru2,all\n", "u.csv:2: a carriage return without a line feed ends a row"),
      ("id,level\n,all", #"u.csv:2: the field "id" is missing"#),
      (
        "id,level\nu1,loud",
        #"u.csv:2: "level" cannot be "loud"; it is one of "#
          + "default, all, mention, none"
      ),
    ])
  }

  @Test func lineNumbersCountLineFeedsInCells() throws {
    try expect([
      ("id,level\n\"a\nb\nc\",all\nu2\n", "u.csv:5: 1 cells in a row of 2 columns"),
      ("id,level\r\n\"a\r\nb\",all\r\n\r\nu2\r\n", "u.csv:5: 1 cells in a row of 2 columns"),
      (
        "id,level\n\"a\nb\",\"x\ny\"",
        #"u.csv:2: "level" cannot be "x\ny"; it is one of "#
          + "default, all, mention, none"
      ),
      (
        "\n\"id\",\n",
        "u.csv:1: unknown column \"\"; users have id, level, quietStart, quietEnd, timeZone, "
          + "mutedUntil, quietSpanMinutes, quietLevel, quietTimeZone"
      ),
    ])
  }

  @Test func cellsAreUTF8() throws {
    let found = try withFolder { folder in
      try [[0xFF], [0xC3], [0xED, 0xA0, 0x80]].map { (bytes: [UInt8]) in
        let text = Array("id,level\nu1,all\nu2".utf8) + bytes + Array(",all\nu3,all".utf8)
        return folder.problem(SettingsPaths(users: [try folder.write(text, as: "u.csv")]))
      }
    }
    #expect(
      found.map { $0.prefix { $0 != ";" } }
        == Array(repeating: "u.csv:3: the line is not UTF-8", count: 3))
  }

  @Test func checkGoesOnBehindABrokenRow() throws {
    let found = try withFolder { folder in
      let path = try folder.write(
        [
          "id,level", "u1", "u\"2,all", "\"u3\nu3\",all,x", "u4,\"a\"b,", "u5,loud", "u6,all", "u7",
          "u8,\"",
        ], as: "u.csv")
      return FileChecker([path]).problems.map { folder.short($0) }
    }
    let stray = "a misplaced quote; quote the whole cell and double its quotes"
    #expect(
      found == [
        "u.csv:2: 1 cells in a row of 2 columns", "u.csv:3: \(stray)",
        "u.csv:4: 3 cells in a row of 2 columns", "u.csv:6: \(stray)",
        #"u.csv:7: "level" cannot be "loud"; it is one of "#
          + "default, all, mention, none",
        "u.csv:9: 1 cells in a row of 2 columns", "u.csv:10: a quoted cell is never closed",
      ])
  }

  @Test func whereSomebodyIsOnlineMustBeKnown() throws {
    let found = try withFolder { folder in
      let world = try folder.write(
        [#"{"kind":"member","conversation":"g","user":"u"}"#], as: "world.ndjson")
      let changes = try folder.write(
        [
          #"{"kind":"member","conversation":"m","user":"u","at":5}"#,
          #"{"kind":"conversation","id":"c","at":6}"#,
        ], as: "changes.ndjson")
      let presence = try folder.write(
        ["ts,conversation,user,online", "1,g,x,1", "2,m,u,1", "3,c,u,1", "4,,u,1", "5,z,u,1"],
        as: "p.csv")
      return [[presence, changes, world], [presence, world], [presence]].map { paths in
        FileChecker(paths).problems.map { folder.short($0) }
      }
    }
    func unknown(_ line: Int, _ id: String) -> String {
      "p.csv:\(line): there is no conversation \"\(id)\" in the settings"
    }
    #expect(found == [[unknown(6, "z")], [unknown(3, "m"), unknown(4, "c"), unknown(6, "z")], []])
  }

  @Test func aLineFeedInABrokenRowIsCounted() throws {
    let found = try withFolder { folder in
      let path = try folder.write(["id,level", "\"a\nb\"c,all", "u2"], as: "u.csv")
      return FileChecker([path]).problems.map { folder.short($0) }
    }
    #expect(
      found == [
        "u.csv:2: a misplaced quote; quote the whole cell and double its quotes",
        "u.csv:4: 1 cells in a row of 2 columns",
      ])
  }
}
