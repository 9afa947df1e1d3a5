import Foundation
import GRDB
import PushContent
import PushFanout
import PushModel
import PushReference
import TestSupport
import Testing

@testable import PushStore

/// Goal: a store of every version of the tables that was ever written opens, is brought up to date
/// after it was copied, and answers as before.
///
/// The files hold the same settings. Those of the first five versions have pages without checksums;
/// the first version had no index of the feed, and two lines of versions met in the fifth. Display
/// settings exist from the third version on, templates from the seventh on. A fixture is never
/// changed: a new version adds one, which `PUSH_FIXTURE=FILE swift test --filter SchemaFixtureTests`
/// writes, to be compressed by `gzip -9`.
@Suite struct SchemaFixtureTests {
  private static let names = [
    "1-first", "2-feed-by-user", "3-displays", "4-threads", "4-tokens", "5-tokens-threads",
    "6-cursors", "7-operation", "8-kinds",
  ]
  private static let written = ProcessInfo.processInfo.environment["PUSH_FIXTURE"]

  /// Unpacks a fixture.
  private func unpack(_ name: String, to path: String) throws {
    let url = try #require(
      Bundle.module.url(forResource: name, withExtension: "store.gz", subdirectory: "Fixtures"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/gzip")
    process.arguments = ["-dc", url.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try data.write(to: URL(fileURLWithPath: path))
  }

  private static let settings: FanoutSettings = {
    var settings = FanoutSettings(
      app: AppSettings(rules: .easemob, timeZone: "Asia/Shanghai", devicePolicy: .anyOffline))
    var first = UserSettings()
    first.level = .mention
    first.quietHours =
      (try? QuietInterval(startHour: 22, startMinute: 0, endHour: 7, endMinute: 30))
      .map { .interval($0) }
    first.timeZone = "Asia/Kathmandu"
    first.mutedUntil = Instant(milliseconds: 1_764_000_600_000)
    settings.setUser("ü1", first)
    var second = UserSettings()
    second.devices = [
      Device(id: "p1", notifier: "apns"),
      Device(id: "w1", kind: .web, state: .foreground, hasToken: false),
    ]
    settings.setUser("u2", second)
    settings.setUser("u3", UserSettings())
    settings.setConversation("g", ConversationSettings())
    settings.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    settings.setMember(
      "ü1", of: "g",
      MemberSettings(level: .all, mutedUntil: Instant(milliseconds: 1_764_000_900_000)))
    settings.setMember(
      "u2", of: "g", MemberSettings(since: Instant(milliseconds: 1_763_999_000_000)))
    settings.setMember("u3", of: "g")
    settings.setMember("ü1", of: "t", MemberSettings(level: .mention))
    return settings
  }()

  private func decisions(
    _ decide: (Message, Identifier) -> Decision?
  ) -> [Decision?] {
    var found: [Decision?] = []
    for conversation: Identifier in ["g", "t"] {
      for hour in 0..<30 {
        var message = Message(
          id: "m", conversation: conversation,
          at: Instant(milliseconds: 1_764_000_000_000 + Int64(hour) * 3_000_000))
        message.mentions = hour % 3 == 0 ? ["ü1"] : []
        for user: Identifier in ["ü1", "u2", "u3"] { found.append(decide(message, user)) }
      }
    }
    return found
  }

  private func expectAnswers(_ store: SettingsStore, hasDisplays: Bool, _ name: Comment) throws {
    let settings = try store.reader.settings()
    #expect(settings.app == Self.settings.app, name)
    for user: Identifier in ["ü1", "u2", "u3"] {
      #expect(settings.user(user) == Self.settings.user(user), name)
      for id: Identifier in ["g", "t"] {
        let found = settings.index(of: user).flatMap { settings.member($0, of: id) }
        let wanted = Self.settings.index(of: user).flatMap { Self.settings.member($0, of: id) }
        #expect(found == wanted, name)
      }
    }
    var reference = ReferenceEvaluator(Self.settings)
    #expect(
      decisions { store.fanout.decision($0, for: $1) }
        == decisions { reference.decide($0, for: $1) }, name)
    var display = RecipientDisplay()
    if hasDisplays {
      display.name = "Uma"
      display.style = .messageSummary
      display.language = LanguageTag("zh-Hans")
      display.template = "tpl"
      display.offlineMessages = 3
      display.remarks = ["u2": "Nina"]
    }
    #expect(try store.pushDisplay(of: "ü1") == display, name)
    let templates = try store.reader.templates()
    if templates.count > 0 { #expect(templates["tpl"] == (try Self.template), name) }
    let content = try store.reader.contentDirectory()
    #expect(content.name(of: "g") == (hasDisplays ? "Group" : nil), name)
    #expect(content.nickname(of: "u2", in: "g") == (hasDisplays ? "Nick" : nil), name)
  }

  private static var template: PushTemplate {
    get throws { try PushTemplate(name: "tpl", title: "{0}", content: "{$dynamicFrom}: {$msg}") }
  }

  /// Writes the fixture of the tables as they are now.
  @Test(.enabled(if: written != nil)) func writesAFixture() throws {
    var content = ContentDirectory()
    var display = RecipientDisplay()
    display.name = "Uma"
    display.style = .messageSummary
    display.language = LanguageTag("zh-Hans")
    display.template = "tpl"
    display.offlineMessages = 3
    display.remarks = ["u2": "Nina"]
    content.setUser("ü1", display)
    content.setConversation("g", kind: .group, name: "Group")
    content.setConversation("t", kind: .thread, parent: "g")
    content.setNickname("Nick", of: "u2", in: "g")
    let store = try SettingsStore(try #require(Self.written), .create, threads: 1)
    let at = Instant(milliseconds: 1_764_000_000_000)
    try store.importSettings(Self.settings, content: content, at: at)
    try store.write(at: at, from: "phone") { write in
      try write.setUser("gone", UserSettings())
      try write.removeUser("gone")
      try write.setTemplate(Self.template)
      try write.setUser("u3", UserSettings())
    }
    try store.setRetention(FeedRetention(age: .seconds(86_400), entries: 1000), at: at)
    try store.compact(FeedRetention(entries: 3), at: at)
    try store.close()
  }

  /// A migration without a fixture of what it leads to fails here.
  @Test func theNewestFixtureHasAllMigrations() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      try unpack(try #require(Self.names.last), to: path)
      let queue = try DatabaseQueue(
        path: PageChecksums.location(path, checks: pageForm(of: path) == .checked))
      let done = try queue.read(Schema.migrator.completedMigrations)
      try queue.close()
      #expect(done == Schema.migrator.migrations)
      let reader = try StoreReader(path)
      #expect(try reader.templates().count == 1)
      #expect(
        try reader.statistics().retention == FeedRetention(age: .seconds(86_400), entries: 1000))
      try reader.close()
    }
  }

  @Test(arguments: names)
  func everyVersionAnswersAsBefore(_ name: String) throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      try unpack(name, to: path)
      let comment = Comment(rawValue: name)
      let hasDisplays = (name.first?.wholeNumberValue ?? 0) >= 3
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      // To read it changes nothing.
      let reading = try SettingsStore(path, .read, threads: 1)
      try expectAnswers(reading, hasDisplays: hasDisplays, comment)
      let begin = try reading.reader.startOfFeed()
      let feed = try reading.changes(after: begin).map { [$0.change.rawValue, $0.user?.text] }
      _ = try reading.reader.statistics()
      #expect(try reading.reader.check() == [], comment)
      try reading.close()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, comment)

      let store = try SettingsStore(path, threads: 1)
      try expectAnswers(store, hasDisplays: hasDisplays, comment)
      let after = try store.changes(after: begin).map { [$0.change.rawValue, $0.user?.text] }
      #expect(after == feed, comment)
      #expect(try store.reader.check() == [], comment)
      #expect(try pageForm(of: path) == .checked, comment)
      let copyOfOlder = store.copyOfOlder
      // What operations need is there.
      try store.write(at: .zero) { write in
        try write.updatePushDisplayName("Uma2", of: "u2")
        try write.removeUser("u3")
      }
      try store.compact(FeedRetention(entries: 1), at: .zero)
      // Not `isClean`: the two bytes may occur in a checksum by chance.
      #expect(try store.erase(.user("u2"), at: .zero).columns == [], comment)
      #expect(try store.reader.check() == [], comment)
      try store.close()
      // That of this version needs no copy.
      #expect((copyOfOlder == nil) == (name == Self.names.last), comment)
      guard let copy = copyOfOlder else { return }
      // The copy is the store as it was, of its version.
      let kept = try SettingsStore(copy, .read, threads: 1)
      try expectAnswers(kept, hasDisplays: hasDisplays, comment)
      try kept.close()
      let queue = try DatabaseQueue(
        path: PageChecksums.location(copy, checks: pageForm(of: copy) == .checked))
      let done = try queue.read(Schema.migrator.completedMigrations)
      try queue.close()
      #expect(done.count < Schema.migrator.migrations.count, comment)
      #expect(copy == "\(path).version-\(done.count)", comment)
    }
  }

  @Test func aNewerVersionIsRefused() throws {
    try withStore { path in
      try SettingsStore(path, .create, threads: 1).close()
      let queue = try storeQueue(path)
      try queue.write {
        try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of a later version')")
      }
      try queue.close()
      for access in [SettingsStore.Access.read, .write] {
        let error = #expect(throws: StoreError.self) { try SettingsStore(path, access) }
        #expect(error.map { "\($0)" } == "\(path) was made by a later push-fanout; use that one")
      }
    }
  }
}
