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
    "users.csv": ["id,level,mutedUntil", "u1,mention,8", "u3,all,"],
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
      let (settings, content, saysApp, _, rows) = try SettingsLoader.load(paths, addedTo: app)
      if isOpen {
        let store = try SettingsStore(path, .create, threads: 1)
        try store.importSettings(
          settings, content: content, partial: rows, at: .zero, replacingApp: saysApp)
        let (user, stored) = (store.fanout.user("u1"), try store.reader.user("u1"))
        #expect(user == stored)
        let member = store.fanout.member("u1", of: "g")
        let values = try store.reader.settings()
        #expect(values.index(of: "u1").flatMap { values.member($0, of: "g") } == member)
        #expect(try store.reader.check() == [])
        try store.close()
      } else {
        try StoreImport(path).run(
          settings, content: content, partial: rows, at: .zero, replacingApp: saysApp)
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
      let (settings, content, saysApp, _, rows) = try SettingsLoader.load(
        paths, addedTo: AppSettings())
      try StoreImport(folder.path("s")).run(
        settings, content: content, partial: rows, at: .zero, replacingApp: saysApp)
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
        #"{"kind":"member","conversation":"g","user":"u2","nickname":"B"}"#,
      ])
  }
}
