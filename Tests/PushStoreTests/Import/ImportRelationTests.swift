import PushFanout
import PushFiles
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: after every import and every end of a membership `store check` finds nothing, and an export
/// can be imported.
@Suite struct ImportRelationTests {
  /// `t` is a thread of `g`, where `a` and `b` are; `b` has settings in it.
  private static func easemob() -> FanoutSettings {
    var settings = FanoutSettings()
    settings.setConversation("g", ConversationSettings())
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    for user: Identifier in ["a", "b"] { settings.setMember(user, of: "g") }
    settings.setMember("b", of: "t", MemberSettings(level: .blocked))
    return settings
  }

  private static func rongcloud() -> FanoutSettings {
    var settings = FanoutSettings(app: AppSettings(rules: .rongcloud))
    settings.setConversation("c", ConversationSettings(kind: .ultraGroup))
    settings.setMember("a", of: "c", MemberSettings(channels: ["x": .mention]))
    settings.setMember("b", of: "c")
    return settings
  }

  /// What is said of an import into a store that has `world`, and whether it was all or nothing.
  private func refusal(
    _ world: FanoutSettings, _ change: (inout FanoutSettings) -> Void
  ) throws -> String {
    let folder = ScratchFolder()
    let store = try SettingsStore(folder.path("s"), .create, threads: 1)
    try store.importSettings(world, at: .zero)
    var settings = FanoutSettings(app: world.app)
    change(&settings)
    var said = "imported"
    do { try store.importSettings(settings, at: .zero, replacingApp: false) } catch {
      said = "\(error)".replacing("the records do not go with the store's: ", with: "")
    }
    let entries = try store.changes().count
    #expect(entries == (said == "imported" ? 2 : 1))
    #expect(try store.reader.check() == [])
    try store.close()
    if said != "imported" {
      #expect(throws: StoreError.self) {
        try StoreImport(folder.path("s")).run(settings, at: .zero, replacingApp: false)
      }
    }
    return said
  }

  @Test func anImportIsJudgedWithTheThreadsOfTheStore() throws {
    let world = Self.easemob()
    var found: [String] = []
    func tries(_ change: (inout FanoutSettings) -> Void) throws {
      found.append(try refusal(world, change))
    }
    try tries { $0.setMember("stranger", of: "t", MemberSettings(level: .blocked)) }
    try tries { $0.setMember("a", of: "t", MemberSettings(since: Instant(milliseconds: 5))) }
    try tries { $0.setConversation("g", ConversationSettings(kind: .private)) }
    try tries { $0.setConversation("t", ConversationSettings(kind: .thread, parent: "h")) }
    try tries {
      $0.setConversation("t", ConversationSettings(kind: .thread, parent: "h"))
      $0.setConversation("h", ConversationSettings())
    }
    try tries { $0.setConversation("u", ConversationSettings(kind: .thread, parent: "t")) }
    try tries {
      $0.setConversation("g", ConversationSettings(kind: .thread, parent: "h"))
      $0.setConversation("h", ConversationSettings())
    }
    // What goes together.
    try tries { $0.setMember("a", of: "t", MemberSettings(level: .all)) }
    try tries {
      $0.setMember("stranger", of: "g")
      $0.setMember("stranger", of: "t", MemberSettings(level: .blocked))
    }
    try tries { $0.setConversation("t", ConversationSettings(kind: .private)) }
    try tries {
      $0.setMember("b", of: "h")
      $0.setConversation("t", ConversationSettings(kind: .thread, parent: "h"))
    }
    #expect(
      found == [
        #""stranger" would have settings in thread "t" but is not in "g""#,
        #""a" would have a since in thread "t""#,
        #"thread "t" would have the parent "g", which is a private"#,
        #"thread "t" would have the parent "h", which does not exist"#,
        #""b" would have settings in thread "t" but is not in "h""#,
        #"thread "u" would have the parent "t", which is a thread"#,
        #"thread "t" would have the parent "g", which is a thread"#,
        "imported", "imported", "imported", "imported",
      ])
  }

  @Test func anImportIsJudgedWithTheChannelsOfTheStore() throws {
    let world = Self.rongcloud()
    var found: [String] = []
    func tries(_ change: (inout FanoutSettings) -> Void) throws {
      found.append(try refusal(world, change))
    }
    try tries { $0.setConversation("c", ConversationSettings()) }
    try tries { $0.setMember("a", of: "d", MemberSettings(channels: ["x": .all])) }
    try tries {
      $0.setConversation("c", ConversationSettings())
      $0.setMember("a", of: "c")
    }
    try tries { $0.setConversation("c", ConversationSettings(kind: .ultraGroup, level: .all)) }
    #expect(
      found == [
        #""a" would have channels in "c", which is a group"#,
        #""a" would have channels in "d", which is a group"#,
        "imported", "imported",
      ])
  }

  @Test func anImportIsJudgedWithTheFieldsOfOpenRules() throws {
    var world = FanoutSettings(app: AppSettings(rules: .open))
    world.setConversation("p", ConversationSettings(kind: .private))
    world.setConversation("t", ConversationSettings(kind: .thread, parent: "p"))
    for user: Identifier in ["a", "b"] { world.setMember(user, of: "p") }
    var (follower, oncall) = (MemberSettings(), MemberSettings())
    (follower.isFollowing, oncall.roles) = (false, ["oncall"])
    world.setMember("a", of: "t", follower)
    world.setMember("b", of: "g", oncall)
    var found: [String] = []
    func tries(_ change: (inout FanoutSettings) -> Void) throws {
      found.append(try refusal(world, change))
    }
    try tries { $0.setConversation("t", ConversationSettings()) }
    try tries { $0.setConversation("t", ConversationSettings(kind: .thread)) }
    try tries { $0.setConversation("g", ConversationSettings(kind: .thread, parent: "p")) }
    try tries { $0.setConversation("p", ConversationSettings(kind: .room)) }
    try tries { $0.setMember("a", of: "g", follower) }
    try tries { $0.setMember("a", of: "t", oncall) }
    // What goes together.
    try tries { $0.setConversation("p", ConversationSettings(level: .blocked)) }
    try tries {
      $0.setConversation("t", ConversationSettings())
      $0.setMember("a", of: "t", oncall)
    }
    try tries { $0.setConversation("u", ConversationSettings(kind: .thread)) }
    #expect(
      found == [
        #""a" would follow "t", which is not a thread"#,
        #""a" would have settings in thread "t", which has no parent"#,
        #""b" would have roles in thread "g", where those of its parent count"#,
        #"thread "t" would have the parent "p", a room; threads are below groups and private "#
          + "conversations",
        #""a" would follow "g", which is not a thread"#,
        #""a" would have roles in thread "t", where those of its parent count"#,
        "imported", "imported", "imported",
      ])
  }

  /// Who leaves a group leaves its threads, in the tables, in the feed and in the engine.
  @Test func whoLeavesAGroupLeavesItsThreads() throws {
    let folder = ScratchFolder()
    let store = try SettingsStore(folder.path("s"), .create, threads: 1)
    try store.importSettings(Self.easemob(), at: .zero)
    try store.write(at: .zero) { write in
      // A record that sets nothing is one too.
      try write.setMember("a", of: "t")
      try write.removeMember("b", of: "g")
      try write.removeMember("a", of: "t")
    }
    let events = try store.changes().dropFirst(2).map { [$0.user?.text, $0.conversation?.text] }
    let members = ["a", "b"].map { store.fanout.member($0, of: "t") != nil }
    let problems = try store.reader.check()
    try store.write(at: .zero) { try $0.setMember("b", of: "g") }
    let again = store.fanout.member("b", of: "t")
    #expect(events == [["b", "g"], ["b", "t"], ["a", "t"]])
    #expect(members == [false, false])
    #expect(problems == [])
    #expect(again == nil)
    try store.close()

    let reader = try StoreReader(folder.path("s"))
    let output = try OutputFile(path: folder.path("s.ndjson"))
    var writer = SettingsWriter(output)
    try reader.forEachRecord { record in
      try writer.write(record)
    }
    try output.finish()
    try reader.close()
    _ = try SettingsLoader.load(SettingsPaths(settings: [folder.path("s.ndjson")]))
  }
}
