import PushFanout
import PushFiles
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: rows of CSV files replace in a store what a row can say, as they do beside a settings.ndjson,
/// and nothing else.
@Suite struct RowImportTests {
  private static let easemob = [
    #"{"kind":"app","rules":"easemob"}"#,
    #"{"kind":"user","id":"u1","level":"none","timeZone":"Asia/Tokyo","mutedUntil":7,"#
      + #""devices":[{"id":"p","state":"kicked","token":false}],"#
      + #""display":{"name":"Ann"},"remarks":{"u2":"Bob"}}"#,
    #"{"kind":"user","id":"u2","devices":[]}"#,
    #"{"kind":"conversation","id":"g","name":"Friends"}"#,
    #"{"kind":"member","conversation":"g","user":"u1","level":"none","nickname":"A"}"#,
    #"{"kind":"member","conversation":"g","user":"u2","mutedUntil":9,"nickname":"B"}"#,
  ]
  private static let rongcloud = [
    #"{"kind":"app","rules":"rongcloud"}"#,
    #"{"kind":"user","id":"u1","levels":{"group":"none"},"pushWhenDesktopOnline":true,"#
      + #""localNotification":{"informationMissing":true,"handledByApp":true},"#
      + #""quietHours":{"start":"22:00:00","spanMinutes":60},"devices":[{"id":"p"}]}"#,
    #"{"kind":"conversation","id":"g","type":"ultraGroup"}"#,
    #"{"kind":"member","conversation":"g","user":"u1","channels":{"a":"none","b":"all"}}"#,
    #"{"kind":"member","conversation":"g","user":"u2","channels":{"a":"none"}}"#,
  ]
  private static let easemobFiles = [
    "users.csv": ["id,level,mutedUntil,timeZone", "u1,mention,8,", "u3,all,,"],
    "members.csv": ["conversation,user,level,since", "g,u1,mention,5", "g,u3,none,"],
  ]
  private static let rongcloudFiles = [
    "users.csv": [
      "id,quietStart,quietSpanMinutes,timeZone", "u1,21:00:00,30,Asia/Tokyo", "u3,,,",
    ],
    "members.csv": ["conversation,user,level,since", "g,u1,mention,5", "g,u3,none,"],
  ]

  private func export(_ reader: StoreReader, _ folder: ScratchFolder) throws -> [String] {
    let output = try OutputFile(path: folder.path("export.ndjson"))
    var writer = SettingsWriter(output)
    try reader.forEachRecord(content: { writer = SettingsWriter(output, content: $0) }) {
      try writer.write($0)
    }
    try output.finish()
    return String(decoding: try folder.bytes("export.ndjson"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  /// The world, and then the rows, into a store; or both at once.
  @Test(arguments: [RuleSet.easemob, .rongcloud], [false, true])
  func rowsLeaveWhatTheyCannotSay(rules: RuleSet, isOpen: Bool) throws {
    let folder = ScratchFolder()
    let lines = rules == .easemob ? Self.easemob : Self.rongcloud
    let files = rules == .easemob ? Self.easemobFiles : Self.rongcloudFiles
    for (name, lines) in [("world.ndjson", lines)] + files.map({ ($0.key, $0.value) }) {
      try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), as: name)
    }
    let paths = SettingsPaths(
      settings: [folder.path("world.ndjson")], users: [folder.path("users.csv")],
      members: [folder.path("members.csv")])
    var world = paths
    (world.users, world.members) = ([], [])
    var rows = paths
    rows.settings = []

    func load(_ paths: SettingsPaths, _ app: AppSettings, into path: String) throws {
      var settings = FanoutSettings(app: app)
      let files = try SettingsLoader.load(
        paths, into: &settings, LoadOptions(readsContent: true, marksRows: true))
      if isOpen {
        let store = try SettingsStore(path, .create, threads: 1)
        try store.importSettings(
          settings, content: files.content, partial: files.rows, at: .zero,
          replacingApp: files.saysApp)
        let (user, stored) = (store.fanout.user("u1"), try store.reader.user("u1"))
        #expect(user == stored)
        let member = store.fanout.member("u1", of: "g")
        let values = try store.reader.settings()
        #expect(values.index(of: "u1").flatMap { values.member($0, of: "g") } == member)
        #expect(try store.reader.check() == [])
        try store.close()
      } else {
        try StoreImport(path).run(
          settings, content: files.content, partial: files.rows, at: .zero,
          replacingApp: files.saysApp)
      }
    }
    try load(paths, AppSettings(), into: folder.path("once"))
    try load(world, AppSettings(), into: folder.path("twice"))
    try load(rows, AppSettings(rules: rules), into: folder.path("twice"))
    let found = try ["once", "twice"].map { name in
      let reader = try StoreReader(folder.path(name))
      defer { try? reader.close() }
      return try export(reader, folder)
    }
    #expect(found[1] == found[0])
    let user = found[1].filter { $0.hasPrefix(#"{"kind":"user","id":"u1""#) }
    let member = found[1].filter {
      $0.hasPrefix(#"{"kind":"member","conversation":"g","user":"u1""#)
    }
    #expect(
      user + member
        == (rules == .easemob
          ? [
            #"{"kind":"user","id":"u1","level":"mention","mutedUntil":8,"#
              + #""devices":[{"id":"p","state":"kicked","token":false}],"#
              + #""display":{"name":"Ann"},"remarks":{"u2":"Bob"}}"#,
            #"{"kind":"member","conversation":"g","user":"u1","level":"mention","since":5,"#
              + #""nickname":"A"}"#,
          ]
          : [
            #"{"kind":"user","id":"u1","levels":{"group":"none"},"#
              + #""quietHours":{"start":"21:00:00","spanMinutes":30},"timeZone":"Asia/Tokyo","#
              + #""pushWhenDesktopOnline":true,"#
              + #""localNotification":{"informationMissing":true,"handledByApp":true},"#
              + #""devices":[{"id":"p"}]}"#,
            #"{"kind":"member","conversation":"g","user":"u1","level":"mention","since":5,"#
              + #""channels":{"a":"none","b":"all"}}"#,
          ]))
  }

  /// Files into a store.
  private static func load(_ paths: SettingsPaths, _ app: AppSettings, into path: String) throws {
    var settings = FanoutSettings(app: app)
    let files = try SettingsLoader.load(
      paths, into: &settings, LoadOptions(readsContent: true, marksRows: true))
    try StoreImport(path).run(
      settings, content: files.content, partial: files.rows, at: .zero,
      replacingApp: files.saysApp)
  }

  private typealias Cells = [String: String]
  private static let window: Set<String> = ["quietStart", "quietEnd", "quietSpanMinutes"]

  /// What is stored, and what a file says, by column.
  private static func cells(_ rules: RuleSet, isUsers: Bool) -> (old: Cells, new: Cells) {
    switch (rules, isUsers) {
    case (.easemob, true):
      (
        [
          "level": "none", "quietStart": "22:00", "quietEnd": "7:00", "timeZone": "Asia/Tokyo",
          "mutedUntil": "7",
        ],
        [
          "level": "mention", "quietStart": "21:00", "quietEnd": "6:00", "timeZone": "Asia/Seoul",
          "mutedUntil": "8",
        ]
      )
    case (.rongcloud, true):
      (
        [
          "quietStart": "22:00:00", "quietSpanMinutes": "60", "quietLevel": "mention",
          "quietTimeZone": "Asia/Tokyo", "timeZone": "Asia/Kolkata",
        ],
        [
          "quietStart": "21:00:00", "quietSpanMinutes": "30", "quietLevel": "none",
          "quietTimeZone": "Europe/Berlin", "timeZone": "Asia/Seoul",
        ]
      )
    case (.open, true):
      (
        ["level": "none", "timeZone": "Asia/Tokyo", "mutedUntil": "7"],
        ["level": "mentions", "timeZone": "Asia/Seoul", "mutedUntil": "8"]
      )
    case (.easemob, false):
      (
        ["level": "none", "mutedUntil": "7", "since": "3"],
        ["level": "mention", "mutedUntil": "8", "since": "5"]
      )
    case (.rongcloud, false):
      (["level": "none", "since": "3"], ["level": "mention", "since": "5"])
    case (.open, false):
      (
        ["level": "none", "mutedUntil": "7", "since": "3"],
        ["level": "direct", "mutedUntil": "8", "since": "5"]
      )
    }
  }

  /// A column that is not there changes nothing, and a cell that is empty removes: with every pair
  /// of columns, cells with and without a text, a store has what it has of one file with all columns.
  @Test(arguments: RuleSet.allCases, [true, false])
  func onlyTheColumnsOfAFileChange(rules: RuleSet, isUsers: Bool) throws {
    let folder = ScratchFolder()
    let (old, new) = Self.cells(rules, isUsers: isUsers)
    let ids = isUsers ? ["id": "u1"] : ["conversation": "g", "user": "u1"]
    try folder.write(Array(#"{"kind":"app","rules":"\#(rules.rawValue)"}"#.utf8), as: "app.ndjson")
    /// What a store has after files with rows of these cells.
    func stored(_ files: [Cells], _ name: String) throws -> [String] {
      let path = folder.path(name)
      for (number, cells) in files.enumerated() {
        let columns = cells.sorted { $0.key < $1.key } + ids.sorted { $0.key < $1.key }
        let lines = [columns.map(\.key), columns.map(\.value)].map { $0.joined(separator: ",") }
        try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), as: "rows.csv")
        let rows = [folder.path("rows.csv")]
        try Self.load(
          SettingsPaths(
            settings: number == 0 ? [folder.path("app.ndjson")] : [], users: isUsers ? rows : [],
            members: isUsers ? [] : rows), AppSettings(rules: rules), into: path)
      }
      let reader = try StoreReader(path)
      defer { try? reader.close() }
      return try export(reader, folder)
    }
    var (tried, refused) = (0, 0)
    let columns = new.keys.sorted()
    for (first, second) in columns.flatMap({ first in columns.map { (first, $0) } })
    where first <= second {
      for emptied in [[], [first], [second], [first, second]] {
        var row: Cells = [:]
        for column in [first, second] {
          row[column] = emptied.contains(column) ? "" : new[column]
        }
        var merged = old
        if row.keys.contains(where: Self.window.contains) {
          for column in Self.window where merged[column] != nil { merged[column] = "" }
        }
        merged.merge(row) { $1 }
        if Self.window.allSatisfy({ merged[$0, default: ""].isEmpty }) {
          for column in ["quietLevel", "quietTimeZone"] where merged[column] != nil {
            merged[column] = ""
          }
        }
        let name = "\(tried) \(first) \(second) \(emptied.count)"
        tried += 1
        do {
          let found = try stored([old, row], name)
          #expect(try found == stored([merged], name + " whole"), "\(row)")
        } catch is FileProblem {
          refused += 1  // half a window
        }
      }
    }
    #expect(tried > 10 && refused < tried / 2, "\(refused) of \(tried)")
  }

  /// What open rules have has no columns, and stays also where rows have every column.
  @Test func fieldsWithoutColumnsStay() throws {
    let folder = ScratchFolder()
    let lines = [
      #"{"kind":"app","rules":"open","timeZone":"UTC","options":{"threadPlain":"followers","#
        + #""expireSeconds":86400,"presenceSeconds":90}}"#,
      #"{"kind":"user","id":"u1","level":"none","quiet":[],"keywords":["a b"]}"#,
      #"{"kind":"conversation","id":"g","type":"group"}"#,
      #"{"kind":"member","conversation":"g","user":"u1","mutedUntil":3,"important":true,"#
        + #""roles":["r"]}"#,
    ]
    for (name, lines) in [
      ("world.ndjson", lines), ("users.csv", ["id,level,timeZone,mutedUntil", "u1,direct,,7"]),
      ("members.csv", ["conversation,user,level,mutedUntil,since", "g,u1,mentions,,5"]),
    ] { try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), as: name) }
    let path = folder.path("s")
    try Self.load(SettingsPaths(settings: [folder.path("world.ndjson")]), AppSettings(), into: path)
    try Self.load(
      SettingsPaths(users: [folder.path("users.csv")], members: [folder.path("members.csv")]),
      AppSettings(rules: .open), into: path)
    let reader = try StoreReader(path)
    let found = try export(reader, folder)
    try reader.close()
    #expect(
      found == [
        lines[0],
        #"{"kind":"user","id":"u1","level":"direct","quiet":[],"mutedUntil":7,"keywords":["a b"]}"#,
        lines[2],
        #"{"kind":"member","conversation":"g","user":"u1","level":"mentions","since":5,"#
          + #""important":true,"roles":["r"]}"#,
      ])
  }

  /// Files with other columns would each keep what the other replaces.
  @Test func filesOfOneImportHaveTheSameColumns() throws {
    let folder = ScratchFolder()
    for (name, lines) in [
      ("a.csv", "id,level\nu1,none\n"), ("b.csv", "id,timeZone\nu1,Asia/Tokyo\n"),
      ("c.csv", "level,id\nmention,u1\n"),
    ] { try folder.write(Array(lines.utf8), as: name) }
    #expect(
      throws: FileProblem(file: folder.path("b.csv"), line: 1, problem: .otherColumns)
    ) {
      try Self.load(
        SettingsPaths(users: [folder.path("a.csv"), folder.path("b.csv")]), AppSettings(),
        into: folder.path("s"))
    }
    try Self.load(
      SettingsPaths(users: [folder.path("a.csv"), folder.path("c.csv")]), AppSettings(),
      into: folder.path("s"))
    let reader = try StoreReader(folder.path("s"))
    #expect(try reader.user("u1")?.level == .mention)
    try reader.close()
  }

  /// A record of a settings.ndjson is whole, also where a row says more of it.
  @Test func aRecordBesideARowIsWhole() throws {
    let folder = ScratchFolder()
    let files = [
      "world.ndjson": Self.easemob,
      "more.ndjson": [
        #"{"kind":"user","id":"u1","level":"none"}"#,
        #"{"kind":"member","conversation":"g","user":"u1"}"#,
      ],
      "users.csv": ["id,level", "u1,mention"],
      "members.csv": ["conversation,user,level", "g,u1,mention", "g,u2,"],
    ]
    for (name, lines) in files {
      try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), as: name)
    }
    for paths in [
      SettingsPaths(settings: [folder.path("world.ndjson")]),
      SettingsPaths(
        settings: [folder.path("more.ndjson")], users: [folder.path("users.csv")],
        members: [folder.path("members.csv")]),
    ] {
      var settings = FanoutSettings()
      let files = try SettingsLoader.load(
        paths, into: &settings, LoadOptions(readsContent: true, marksRows: true))
      try StoreImport(folder.path("s")).run(
        settings, content: files.content, partial: files.rows, at: .zero,
        replacingApp: files.saysApp)
    }
    let reader = try StoreReader(folder.path("s"))
    let found = try export(reader, folder)
    try reader.close()
    #expect(
      found.dropFirst() == [
        #"{"kind":"user","id":"u1","level":"mention"}"#,
        #"{"kind":"user","id":"u2","devices":[]}"#,
        #"{"kind":"conversation","id":"g","type":"group","name":"Friends"}"#,
        #"{"kind":"member","conversation":"g","user":"u1","level":"mention"}"#,
        #"{"kind":"member","conversation":"g","user":"u2","mutedUntil":9,"nickname":"B"}"#,
      ])
  }
}
