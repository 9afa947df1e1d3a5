import Foundation
import GRDB
import PushContent
import PushFanout
import PushModel
import PushStore
import Testing

/// Goal: how pushes look is kept as the vendors' operations set it, and changes nothing of who gets
/// one.
@Suite struct DisplayOperationTests {
  private static let now = Instant(milliseconds: 1_764_000_000_000)

  private func changes(
    _ store: SettingsStore, _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
  ) throws -> [Change] {
    let before = try store.reader.endOfFeed()
    try store.write(at: Self.now, body)
    return try store.changes(after: before).map(\.change)
  }

  @Test func whatIsSetIsThereAfterReopening() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      var expected = RecipientDisplay()
      expected.name = "Ann \0 \"老王\""
      expected.style = .messageSummary
      expected.language = LanguageTag("zh-Hans")
      expected.template = "tpl_1"
      expected.offlineMessages = 7
      expected.remarks = ["u2": "Bob\0", "ü\0": ""]
      let wanted = expected
      let made = try changes(store) { write in
        try write.updatePushDisplayName(wanted.name, of: "u1")
        try write.updatePushDisplayStyle(.messageSummary, of: "u1")
        try write.setPreferredNotificationLanguage(wanted.language, of: "u1")
        try write.setPushTemplate("tpl_1", of: "u1")
        try write.setOfflineMessages(7, of: "u1")
        for (other, remark) in wanted.remarks {
          try write.setRemark(remark, for: other, by: "u1")
        }
      }
      #expect(made == Array(repeating: .display, count: 7))
      // Made by the first of them, for the engine too.
      #expect(store.fanout.user("u1") == UserSettings())
      // Written again nothing changes, and nothing is recorded.
      let again = try changes(store) { write in
        try write.updatePushDisplayName(wanted.name, of: "u1")
        try write.setRemark("Bob\0", for: "u2", by: "u1")
        try write.setPushTemplate(nil, of: "never named")
      }
      #expect(again == [])
      #expect(store.fanout.user("never named") == nil)
      try store.close()

      let opened = try SettingsStore(path, .read)
      #expect(try opened.pushDisplay(of: "u1") == expected)
      #expect(try opened.preferredNotificationLanguage(of: "u1") == expected.language)
      #expect(try opened.pushTemplate(of: "u1") == "tpl_1")
      #expect(try opened.pushDisplay(of: "nobody") == RecipientDisplay())
      #expect(try opened.reader.contentDirectory().user("u1") == expected)
      #expect(try opened.reader.check() == [])
      #expect(try opened.announcements(to: "u1") == [])
    }
  }

  @Test func whatIsTakenAwayIsGone() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: Self.now) { write in
        try write.updatePushDisplayName("Ann", of: "u1")
        try write.setRemark("Bob", for: "u2", by: "u1")
      }
      try store.write(at: Self.now) { write in
        try write.updatePushDisplayName(nil, of: "u1")
        try write.setRemark(nil, for: "u2", by: "u1")
      }
      #expect(try store.pushDisplay(of: "u1") == RecipientDisplay())
      #expect(try store.reader.contentDirectory().count == 0)
      try store.close()
    }
  }

  @Test func whatIsRefusedChangesNothing() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: Self.now) { try $0.setApp(AppSettings(rules: .rongcloud)) }
      let end = try store.changes().count
      #expect(throws: StoreError.otherRules(.rongcloud)) {
        try store.write(at: Self.now) { try $0.setPushTemplate("t", of: "u1") }
      }
      #expect(throws: StoreError.otherRules(.rongcloud)) {
        try store.write(at: Self.now) {
          try $0.setPreferredNotificationLanguage(LanguageTag("en"), of: "u1")
        }
      }
      #expect(throws: StoreError.idLength(0)) {
        try store.write(at: Self.now) { try $0.updatePushDisplayName("x", of: "") }
      }
      #expect(try store.changes().count == end)
      try store.write(at: Self.now) { write in
        try write.setApp(AppSettings(rules: .easemob))
        // setPushContentShowStatus is RongCloud's, and the same setting.
        try write.updatePushDisplayStyle(.simpleBanner, of: "u1")
      }
      #expect(throws: TemplateProblem.badName("a b")) {
        try store.write(at: Self.now) { try $0.setPushTemplate("a b", of: "u1") }
      }
      try store.close()
    }
  }

  /// What is written otherwise is another text, even if it looks the same or means the same.
  @Test func whatIsWrittenOtherwiseIsWritten() throws {
    let (composed, decomposed) = ("Jos\u{E9}", "Jose\u{301}")
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: Self.now) { write in
        try write.updatePushDisplayName(composed, of: "u1")
        try write.setRemark(composed, for: "u2", by: "u1")
        try write.setPreferredNotificationLanguage(LanguageTag("zh_hans"), of: "u1")
      }
      let made = try changes(store) { write in
        try write.updatePushDisplayName(decomposed, of: "u1")
        try write.setRemark(decomposed, for: "u2", by: "u1")
        try write.setPreferredNotificationLanguage(LanguageTag("ZH-HANS"), of: "u1")
        // Again the same: nothing changes.
        try write.updatePushDisplayName(decomposed, of: "u1")
        try write.setRemark(decomposed, for: "u2", by: "u1")
      }
      #expect(made == [.display, .display, .display])
      let display = try store.pushDisplay(of: "u1")
      #expect(
        [display.name, display.remarks["u2"], display.language?.text].map { Array(($0 ?? "").utf8) }
          == [decomposed, decomposed, "ZH-HANS"].map { Array($0.utf8) })

      // So it is with an import, into a store and among the records of one.
      var settings = FanoutSettings()
      var content = ContentDirectory()
      let languages = ["zh-hans", "ZH-HANS", "zh_hans"]
      for (number, language) in languages.enumerated() {
        settings.setUser(Identifier("u\(number)"), UserSettings())
        var display = RecipientDisplay()
        display.language = LanguageTag(language)
        content.setUser(Identifier("u\(number)"), display)
      }
      try store.importSettings(settings, content: content, at: Self.now)
      let imported = try languages.indices.map {
        try store.preferredNotificationLanguage(of: Identifier("u\($0)"))?.text
      }
      #expect(imported == languages)
      try store.close()
    }
  }

  /// A store takes no badge that its export could not give back; one that is there is found.
  @Test func badgesAreThoseOfFiles() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      let largest = RecipientDisplay.badgeLimit
      #expect(throws: SettingsWriteError.badgeOutOfRange(Int64(largest) + 1)) {
        try store.write(at: Self.now) { try $0.setOfflineMessages(largest + 1, of: "u1") }
      }
      var settings = FanoutSettings()
      settings.setUser("u1", UserSettings())
      var display = RecipientDisplay()
      display.offlineMessages = .max
      var content = ContentDirectory()
      content.setUser("u1", display)
      #expect(throws: SettingsWriteError.badgeOutOfRange(Int64(UInt32.max))) {
        try store.importSettings(settings, content: content, at: Self.now)
      }
      #expect(try store.changes().isEmpty)
      try store.write(at: Self.now) { try $0.setOfflineMessages(largest, of: "u1") }
      #expect(try store.pushDisplay(of: "u1").offlineMessages == largest)
      #expect(try store.reader.check() == [])
      try store.close()

      let queue = try storeQueue(path)
      try queue.write { try $0.execute(sql: "UPDATE displays SET offline_messages = 4294967295") }
      let reader = try StoreReader(path)
      let beyond = try reader.check().map { "\($0.kind) \($0)" }
      #expect(beyond == [#"rules user "u1": a badge of 4294967295 is not in 0...2147483647"#])
      try queue.write { try $0.execute(sql: "UPDATE displays SET offline_messages = -1") }
      let unreadable = try reader.check().map { "\($0.kind) \($0)" }
      #expect(unreadable == ["row displays.offline_messages has an invalid value"])
      try reader.close()
      try queue.close()
    }
  }

  /// An imported record replaces the whole record, also how pushes look by it.
  @Test func anImportReplacesWhatItsRecordsSay() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      var settings = FanoutSettings()
      for user: Identifier in ["u1", "u2"] {
        settings.setUser(user, UserSettings())
        settings.setMember(user, of: "g1")
      }
      settings.setConversation("g1", ConversationSettings())
      var content = ContentDirectory()
      var display = RecipientDisplay()
      display.name = "one"
      content.setUser("u1", display)
      content.setNickname("nick", of: "u2", in: "g1")
      content.setConversation("g1", kind: .group, name: "Friends")
      try store.importSettings(settings, content: content, at: Self.now)
      let first = try store.reader.contentDirectory()
      #expect(first.user("u1") == display)
      #expect(first.nickname(of: "u2", in: "g1") == "nick")
      #expect(first.name(of: "g1") == "Friends")

      // Without content it stays; with other content it is that.
      try store.importSettings(settings, at: Self.now)
      #expect(try store.pushDisplay(of: "u1") == display)
      var other = ContentDirectory()
      other.setUser("u2", display)
      try store.importSettings(settings, content: other, at: Self.now)
      let second = try store.reader.contentDirectory()
      #expect(second.user("u1") == RecipientDisplay())
      #expect(second.user("u2") == display)
      #expect(second.nickname(of: "u2", in: "g1") == nil)
      #expect(second.name(of: "g1") == nil)

      // The end of a membership ends its nickname.
      try store.importSettings(settings, content: content, at: Self.now)
      try store.write(at: Self.now) { try $0.removeMember("u2", of: "g1") }
      #expect(try store.reader.contentDirectory().nickname(of: "u2", in: "g1") == nil)
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  /// The engine and how pushes look are those of one commit, with and without a snapshot.
  @Test func anEngineComesWithHowPushesLook() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: Self.now) { write in
        try write.setMember("u1", of: "g1")
        try write.updatePushDisplayName("Ann", of: "u1")
      }
      let reader = try StoreReader(path)
      let look = { (content: ContentDirectory) in content.user("u1").name ?? "" }
      let rebuilt = try reader.fanoutWithContent()
      try store.writeSnapshot()
      try store.write(at: Self.now) { write in
        try write.setMember("u2", of: "g1")
        try write.updatePushDisplayName("Bea", of: "u1")
      }
      let followed = try reader.fanoutWithContent(threads: 1)
      let values = try reader.settingsWithContent()
      #expect(
        [look(rebuilt.content), look(followed.content), look(values.content)]
          == ["Ann", "Bea", "Bea"])
      let counts = [rebuilt, followed].map { $0.fanout.memberCount(of: "g1") }
      #expect(counts == [1, 2] && values.settings.members(of: "g1").count == 2)
      if case .snapshot = followed.opening {} else { Issue.record("\(followed.opening)") }
      try reader.close()
      try store.close()
    }
  }

  @Test func aCheckFindsWhatLeadsNowhere() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create)
      try store.write(at: Self.now) { try $0.updatePushDisplayName("Ann", of: "u1") }
      try store.close()
      let queue = try storeQueue(path)
      try queue.write { db in
        try db.execute(sql: "INSERT INTO remarks VALUES (99, x'61', x'62')")
        try db.execute(sql: "INSERT INTO conversation_names VALUES (42, x'61')")
      }
      try queue.close()
      let reader = try StoreReader(path)
      #expect(
        try reader.check().map(\.description) == [
          "remarks.user leads nowhere: 1", "conversation_names.conversation leads nowhere: 1",
        ])
      try reader.close()
    }
  }
}
