import Foundation
import TestSupport
import Testing

/// Goal: what is wrong with a file from elsewhere is answered with what to type, by a program that
/// knows what was typed.
@Suite struct FileMistakeTests {
  /// The lines of a file of settings, and what is wrong with the first.
  private static let fields: [(line: String, message: String)] = [
    (
      #"{"kind":"app","timezone":"UTC"}"#, #"unknown field "timezone"; did you mean "timeZone"?"#
    ),
    (
      #"{"kind":"user","id":"u1","quiet_hours":{}}"#,
      #"unknown field "quiet_hours"; did you mean "quietHours"?"#
    ),
    (
      #"{"kind":"user","id":"u1","quietHours":{"begin":"1"}}"#,
      #"unknown field "quietHours.begin""#
    ),
    (
      #"{"kind":"user","id":"u1","devices":[{"ID":"p"}]}"#,
      #"unknown field "devices.ID"; did you mean "devices.id"?"#
    ),
    (
      #"{"kind":"app","options":{"mentionBypassDnd":true}}"#,
      #"unknown field "options.mentionBypassDnd"; did you mean "options.mentionBypassesDnd"?"#
    ),
    (
      #"{"kind":"user","id":"u1","level":"mentions"}"#,
      #""level" cannot be "mentions"; did you mean mention? It is one of default, all, mention, none"#
    ),
    (
      #"{"kind":"user","id":"u1","display":{"nmae":"x"}}"#,
      #"unknown field "display.nmae"; did you mean "display.name"?"#
    ),
  ]

  @Test func fieldsOfSettings() throws {
    try withWorkplace { place in
      for (line, message) in Self.fields {
        try place.write([line], as: "s.ndjson")
        let run = try place.run("check", "s.ndjson")
        #expect(run.lines == ["s.ndjson:1: \(message)"], "\(line)")
        #expect(run.status == 1)
      }
    }
  }

  @Test func filesOfMessages() throws {
    let known = "messages have \(MistakeTests.columns)"
    let names = "Message ID;Group ID;From;Timestamp;Mentioned"
    let start = "evaluate --settings world.ndjson --format counts --messages"
    let notNDJSON = "the line is not JSON; by its name it is read as NDJSON, for CSV write csv:"
    try withWorkplace { place in
      try place.shell(
        #"""
        printf 'ID,conversation,at\n1,g1,5\n' >id.csv
        printf 'msg_id,conversation,at\n1,g1,5\n' >msg.csv
        printf 'conversation,at,sender,note\ng1,5,u1,x\n' >note.csv
        printf 'sent_at,chat,created_at,from_id,Text,type\n' >chat.csv
        printf 'sent_at,room,author\n' >room.csv
        printf 'id\tconversation\tat\n1\tg1\t5\n' >tabs.csv
        printf '\#(names)\n1;g1;u1;2024-06-03 23:30:00;u2\n' >export.csv
        printf '\#(names)\n' | tr ';' ',' >commas.csv
        """#)
      try place.expect(
        [
          (
            "\(start) id.csv", 1,
            "id.csv:1: unknown column \"ID\"; did you mean \"id\"? M\(known.dropFirst()); read it with "
              + "--columns id=ID"
          ),
          (
            "\(start) msg.csv", 1,
            "msg.csv:1: unknown column \"msg_id\"; did you mean \"id\"? M\(known.dropFirst()); read it with "
              + "--columns id=msg_id"
          ),
          (
            "\(start) chat.csv", 1,
            "chat.csv:1: unknown columns \"sent_at\", \"chat\", \"created_at\", \"from_id\", "
              + "\"Text\", \"type\"; \(known); read it with --columns sentAt=sent_at,"
              + "conversation=chat,at=created_at,sender=from_id,body=type,ignore=Text"
          ),
          (
            "\(start) room.csv", 1,
            "room.csv:1: unknown columns \"sent_at\", \"room\", \"author\"; \(known); read it with "
              + "--columns at=sent_at,conversation=room,sender=author"
          ),
          (
            "\(start) note.csv", 1,
            "note.csv:1: unknown column \"note\"; \(known); leave it out with --columns ignore=note"
          ),
          (
            "\(start) tabs.csv", 1,
            "tabs.csv:1: the header is separated by tabs, columns by commas; read it with "
              + "--delimiter tab"
          ),
          (
            "\(start) export.csv", 1,
            "export.csv:1: the header is separated by semicolons, columns by commas; \(known); read "
              + "it with --delimiter ';' --columns id='Message ID',conversation='Group ID',"
              + "sender=From,at=Timestamp,mentions=Mentioned"
          ),
          (
            "\(start) commas.csv", 1,
            "commas.csv:1: unknown columns \"Message ID\", \"Group ID\", \"From\", \"Timestamp\", "
              + "\"Mentioned\"; \(known); read it with --columns "
              + "id='Message ID',conversation='Group ID',sender=From,at=Timestamp,mentions=Mentioned"
          ),
          (
            "\(start) export.csv --delimiter ';' --columns 'at=Timestmp,conversation=Group ID'", 1,
            "export.csv:1: there is no column \"Timestmp\", which --columns names; did you mean "
              + "\"Timestamp\"? The file has \"Message ID\", \"Group ID\", \"From\", "
              + "\"Timestamp\", \"Mentioned\""
          ),
          ("\(start) - <tabs.csv", 1, "-:1: \(notNDJSON)-"),
          ("\(start) /dev/stdin <tabs.csv", 1, "/dev/stdin:1: \(notNDJSON)/dev/stdin"),
        ])
    }
  }

  // MARK: check

  /// What `check` prints of files in a folder.
  private func check(
    _ arguments: String, _ lines: [String], status: Int32 = 1, in place: Workplace
  ) throws {
    let run = try place.shell("\"$0\" check \(arguments)")
    #expect(run.lines == lines, "\(arguments): \(run.errors)")
    #expect(run.status == status, "\(arguments)")
  }

  /// `check` reads exports by the options of `evaluate`, and its advice leaves out what was given.
  @Test func exports() throws {
    let guide = "docs/bring-your-own-data.md"
    let known = "messages have \(MistakeTests.columns)"
    try withWorkplace { place in
      try place.write(
        [
          "id;conversation;at;sender;Text;Anhang", "1;g1;2024-06-03 23:30;u1;Hi;",
          "2;g1;03.06.2024 23:30;u1;;", "3;g1;06/13/2024 23:30;u1;;", "4;g1;6/3/24 23:30;u1;;",
          "5;g1;45447;u1;;", "6;g1;45446,979;u1;;",
        ], as: "e.csv")
      try place.write(
        [#""Message ID";"Group ID";"From";"Timestamp""#, "1;g1;u1;2024-06-03T00:00:00Z"],
        as: "q.csv")
      try place.shell("cp q.csv q.txt")
      let excel = "e.csv:6: warning: \"at\": 45447 is 1970-01-01; Excel's day 45447 is 2024-06-04"
      let start = "world.ndjson e.csv --delimiter ';'"
      try check(
        "world.ndjson e.csv",
        [
          "e.csv:1: the header is separated by semicolons, columns by commas; \(known); read it with "
            + "--delimiter ';' --columns 'ignore=*'"
        ], in: place)
      try check(
        start,
        [
          "e.csv:1: unknown columns \"Text\", \"Anhang\"; \(known); leave them out with --columns "
            + "'ignore=*'"
        ], in: place)
      try check(
        "\(start) --columns sender=sender",
        ["e.csv:1: unknown columns \"Text\", \"Anhang\"; leave them out with ignore=*"], in: place)
      try check(
        "\(start) --columns 'ignore=*'",
        [
          "e.csv:2: \"at\": 2024-06-03 23:30 has no offset; say its time zone, like --zone "
            + "Europe/Berlin",
          "e.csv:3: \"at\": 03.06.2024 23:30 is day first; write year first and name its --zone, or "
            + "convert: \(guide)",
          "e.csv:4: \"at\": 06/13/2024 23:30 is month first; write year first and name its --zone, or "
            + "convert: \(guide)",
          "e.csv:5: \"at\": 6/3/24 23:30 is not year first; write year first and name its --zone, or "
            + "convert: \(guide)",
          "e.csv:7: \"at\": 45446,979 is not an instant; give Unix milliseconds, 0 to "
            + "9007199254740991, or an RFC 3339 time with an offset or Z; Excel's day 45446,979 is "
            + "2024-06-03", excel,
        ], in: place)
      let zoned = try place.shell(
        "\"$0\" check \(start) --columns 'ignore=*' --zone Europe/Berlin")
      #expect(
        zoned.lines.first
          == "e.csv:3: \"at\": 03.06.2024 23:30 is day first; with --zone write year first, or "
          + "convert: \(guide)")
      #expect(zoned.lines.contains(excel))
      let separated = "the header is separated by semicolons, columns by commas"
      let named = "--columns 'id=Message ID,conversation=Group ID'"
      try check(
        "q.csv",
        [
          "q.csv:1: \(separated); \(known); read it with --delimiter ';' --columns "
            + "id='Message ID',conversation='Group ID',sender=From,at=Timestamp"
        ], in: place)
      try check(
        "q.csv \(named)", ["q.csv:1: \(separated); read it with --delimiter ';'"], in: place)
      try check(
        "q.csv --delimiter ';' \(named)",
        [
          "q.csv:1: unknown columns \"From\", \"Timestamp\"; \(known); add sender=From,at=Timestamp "
            + "to --columns"
        ], in: place)
      for name in ["q.csv", "csv:q.txt"] {
        try check(
          "world.ndjson \(name) --delimiter ';' --columns "
            + "'id=Message ID,conversation=Group ID,at=Timestamp,sender=From'", [], status: 0,
          in: place)
      }
      let usage = try place.shell("\"$0\" check world.ndjson --delimiter ';'")
      #expect(usage.status == 2 && usage.errors.contains("are for CSV; for a file of another name"))
    }
  }

  /// Members are known as such, whatever they are called and separated by.
  @Test func members() throws {
    try withWorkplace { place in
      try place.write(["conversation;user;level", "g1;u1;all"], as: "members.csv")
      try place.write(["Group ID;User;DND from", "g1;u1;"], as: "people.csv")
      try place.write(["room,user,ts", "g1,u1,5"], as: "export.csv")
      let separated = "the header is separated by semicolons, columns of members by commas"
      let convert = "convert it: docs/bring-your-own-data.md"
      let members = "members have conversation, user, level, mutedUntil, since"
      try check(
        "members.csv people.csv export.csv",
        [
          "members.csv:1: \(separated); convert it: tr ';' ',', or, if cells have commas, "
            + "docs/bring-your-own-data.md",
          "people.csv:1: \(separated); \(members); \(convert)",
          "export.csv:1: unknown columns \"room\", \"user\", \"ts\"; messages have "
            + "\(MistakeTests.columns); read it with --columns "
            + "conversation=room,sender=user,at=ts",
        ], in: place)
      let run = try place.shell("\"$0\" check members.csv")
      #expect(run.errorLines == ["1 file, 0 records, 1 problem"])
      try place.expect([
        (
          "evaluate --members export.csv --messages messages.ndjson", 1,
          "export.csv:1: unknown columns \"room\", \"ts\"; \(members); \(convert)"
        )
      ])
    }
  }

  /// What is said once of a file that is none of NDJSON or UTF-8.
  private static let files: [(bytes: [UInt8], name: String, text: String)] = {
    let over =
      "the file is JSON over several lines; one object a line is needed: jq -c . (of a list in it jq "
      + "-c '.NAME[]')"
    let made = "a setting has kind, and messages are made like this: jq -c"
    return [
      (Array("{\n\"messages\":[\n]}\n".utf8), "a.json", over),
      (
        Array("{\"user\":\"u1\",\"ts\":1,\"Group ID\":\"g1\",\"x\":0}\n{\"user\":1}\n".utf8),
        "a.jsonl",
        "neither a message nor a setting, as it has \"user\", \"ts\", \"Group ID\", \"x\"; \(made) "
          + "'{id: .NAME, conversation: .[\"Group ID\"], sender: .user, at: .ts}'"
      ),
      (
        Array("[{\"user\":\"u1\",\"ts\":\"1\"}]\n".utf8), "a.ndjson",
        "neither a message nor a setting, as it has \"user\", \"ts\"; \(made) "
          + "'{id: .NAME, conversation: .NAME, sender: .user, at: .ts}'"
      ),
      (
        Array("[\n{\"kind\":\"user\",\"id\":\"u\"},]\n".utf8), "a.json",
        "the file is one JSON array; one object a line is needed: jq -c '.[]'"
      ),
      (
        Array("[\n{\"kind\":\"user\",\"id\":\"u\"}\n".utf8), "a.json",
        "the JSON array is never closed; the file was cut off"
      ),
      (
        Array("PAR1\u{15}".utf8), "a.parquet",
        "Parquet is read by the Python package: python -m push_fanout evaluate --help"
      ),
      (
        Array("ARROW1\0\0".utf8), "a.csv",
        "Arrow files are read by the Python package: pyarrow.ipc.open_file(NAME).read_all()"
      ),
      ([0x28, 0xB5, 0x2F, 0xFD, 4, 0], "a.ndjson", "the file is packed by zstd: zstd -d"),
      ([0xFD] + Array("7zXZ\0".utf8), "a.csv", "the file is packed by xz: xz -d"),
      (Array("BZh91AY".utf8), "a.csv", "the file is packed by bzip2: bzip2 -d"),
      (
        Array("PK\u{3}\u{4}\u{14}\0".utf8), "a.csv",
        "the file is a zip archive: unzip -p; of a workbook save the sheet as CSV UTF-8"
      ),
      (
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1], "a.csv",
        "the file is a workbook: save the sheet as CSV UTF-8"
      ),
      (
        Array("SQLite format 3\0".utf8) + [16, 0], "app.store",
        "the file is a database; a store is named by --store"
      ),
      (
        [0xFF, 0xFE, 0x69, 0, 0x64, 0, 0x0A, 0], "a.csv",
        "the file is UTF-16 (byte order mark FF FE): iconv -f UTF-16 -t UTF-8"
      ),
      (
        [0xFE, 0xFF, 0, 0x7B], "a.ndjson",
        "the file is UTF-16 (byte order mark FE FF): iconv -f UTF-16 -t UTF-8"
      ),
      (
        Array("conversation,user\ng1,d".utf8) + [0xE9] + Array("e\n".utf8), "a.csv",
        "the line is not UTF-8; is it LATIN1? iconv -f LATIN1 -t UTF-8"
      ),
      (
        Array("{\"kind\":\"user\",\"id\":\"".utf8) + [0x80] + Array("\"}\n".utf8), "a.ndjson",
        "the line is not UTF-8; is it WINDOWS-1252? iconv -f WINDOWS-1252 -t UTF-8"
      ),
      (
        Array("conversation,user\ng1,".utf8) + [0xD5, 0xC5, 0xC8, 0xFD] + Array("\n".utf8), "a.csv",
        "the line is not UTF-8; is it GB18030? iconv -f GB18030 -t UTF-8"
      ),
    ]
  }()

  @Test func filesOfOtherForms() throws {
    for (bytes, name, text) in Self.files {
      try withWorkplace { place in
        try Data(bytes).write(to: place.url.appending(path: name))
        let run = try place.run("check", name)
        #expect(run.lines.count == 1 && run.lines[0].hasSuffix(": \(text)"), "\(run.lines)")
        #expect(run.status == 1)
      }
    }
    try withWorkplace { place in
      let world = "--settings world.ndjson --messages"
      try place.write([#"{"id":"m","room":"g1","ts":1}"#], as: "other.ndjson")
      try place.expect([
        (
          "evaluate \(world) other.ndjson", 1,
          "other.ndjson:1: unknown field \"room\"; did you mean \"conversation\"?"
        )
      ])
    }
  }
}
