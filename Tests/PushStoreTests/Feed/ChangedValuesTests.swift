import Foundation
import GRDB
import PushContent
import PushFanout
import PushModel
import Testing
import TestSupport

@testable import PushStore

/// Goal: the feed says what every change was from and what to, so that "who muted this, when" has an
/// answer; a store from before it did goes on; and nothing of an erased person stays in it.
@Suite struct ChangedValuesTests {
  private static let day = Instant(milliseconds: 1_764_072_000_000)

  /// The entries that a write adds, as `settings events` prints their ends.
  private static func entries(
    _ store: SettingsStore, _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
  ) throws -> [String] {
    let end = try store.reader.endOfFeed()
    try store.write(at: day, from: "p1", body)
    return try store.changes(after: end).map {
      "\($0.change.rawValue): \($0.old ?? "none") -> \($0.new ?? "none")"
    }
  }

  @Test func operationsOfEasemob() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      func expect(
        _ lines: [String], at location: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
      ) throws {
        let found = try Self.entries(store, body)
        #expect(found == lines, sourceLocation: location)
      }

      let night = try QuietInterval(startHour: 22, startMinute: 0, endHour: 7, endMinute: 0)
      try expect([
        "userLevel: default -> none", "userMute: none -> 2025-11-25T13:00:00Z",
        "quietHours: none -> 22:00-07:00",
      ]) {
        try $0.setSilentMode(
          try SilentModeWrite(
            level: .blocked, duration: MuteDuration(minutes: 60), interval: .set(night)), of: "ann")
      }
      try expect(["quietHours: 22:00-07:00 -> 22:00-07:00, time zone Asia/Shanghai"]) {
        try $0.setTimeZone("Asia/Shanghai", of: "ann")
      }
      try expect(["member: none -> nothing set"]) { try $0.setMember("ann", of: "g") }
      try expect(["memberLevel: default -> mention"]) {
        try $0.updateMember("ann", of: "g", .memberLevel) { $0.level = .mention }
      }
      try expect(["memberMute: none -> 2025-11-25T12:30:00Z"]) {
        _ = try $0.setSilentMode(
          try SilentModeWrite(duration: MuteDuration(minutes: 30)), of: "ann", in: "g")
      }
      try expect(["display: none -> name Ann"]) { try $0.updatePushDisplayName("Ann", of: "ann") }
      try expect(["display: none -> remark bob Bobby"]) {
        try $0.setRemark("Bobby", for: "bob", by: "ann")
      }
      try expect(["devices: none -> p1: mobile, offline, token of apns"]) {
        try $0.bindToken(ofDevice: "p1", notifier: "apns", of: "ann")
      }
      // Only the device that is another.
      try expect(["devices: none -> p2: web, offline, token"]) {
        try $0.bindToken(ofDevice: "p2", kind: .web, of: "ann")
      }
      try expect([
        "devices: p1: mobile, offline, token of apns -> p1: mobile, kicked, token of apns"
      ]) { try $0.kick(device: "p1", of: "ann") }
      try expect(["app: device policy allOffline -> device policy anyOffline"]) {
        try $0.setDevicePolicy(.anyOffline)
      }
      try expect(["template: none -> hello: Hi / {$msg}"]) {
        try $0.setTemplate(PushTemplate(name: "hello", title: "Hi", content: "{$msg}"))
      }
      try expect(["template: hello: Hi / {$msg} -> none"]) { try $0.removeTemplate("hello") }
      try expect([
        "memberRemoved: level mention, muted until 2025-11-25T12:30:00Z -> none"
      ]) { try $0.removeMember("ann", of: "g") }
      try expect(["advancedPush: on -> off"]) { try $0.setAdvancedPush(false) }
      try expect([
        "userRemoved: time zone Asia/Shanghai, device p1: mobile, kicked, token of apns, "
          + "device p2: web, offline, token, name Ann, remark bob Bobby -> none"
      ]) { try $0.removeUser("ann") }
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  @Test func operationsOfRongCloud() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      func expect(
        _ lines: [String], at location: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
      ) throws {
        let found = try Self.entries(store, body)
        #expect(found == lines, sourceLocation: location)
      }

      try store.write(at: .zero) { try $0.setApp(AppSettings(rules: .rongcloud)) }
      try expect(["quietHours: none -> 23:00:00+480 level mention in Asia/Tokyo"]) {
        try $0.setQuietHours(
          start: "23:00:00", spanMinutes: 480, level: .mention, timeZone: "Asia/Tokyo", of: "ann")
      }
      try expect(["typeLevel: group default -> group none"]) {
        try $0.setNotificationLevel(.blocked, of: "ann", forType: .group)
      }
      try expect(["pushWhenDesktopOnline: off -> on"]) {
        try $0.setPushWhenDesktopOnline(true, of: "ann")
      }
      try expect(["conversation: none -> type ultraGroup"]) {
        try $0.setConversation("u", ConversationSettings(kind: .ultraGroup))
      }
      try expect(["groupDefault: default -> mention"]) {
        try $0.setDefaultLevel(.mention, ofUltraGroup: "u")
      }
      try expect(["channelDefault: default -> none"]) {
        try $0.setDefaultLevel(.blocked, ofUltraGroup: "u", channel: "news")
      }
      try expect(["member: none -> nothing set"]) { try $0.setMember("ann", of: "u") }
      try expect(["channelLevel: default -> mentionAll"]) {
        try $0.setNotificationLevel(.mentionAll, of: "ann", in: "u", channel: "news")
      }
      try expect(["channelLevel: mentionAll -> default"]) {
        try $0.setNotificationLevel(.unset, of: "ann", in: "u", channel: "news")
      }
      try expect(["app: level default -> level none"]) { try $0.setAppKeyLevel(.blocked) }
      try expect([
        "conversationRemoved: type ultraGroup, level mention, channel news none -> none"
      ]) { try $0.removeConversation("u") }
      try store.close()
    }
  }

  /// A record that is replaced says what differs, also in a batch that is listed.
  @Test func wholeRecords() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      var first = FanoutSettings()
      first.updateUser("ann") { $0.level = .mention }
      first.set(.conversation("g", ConversationSettings()))
      first.set(.member("ann", of: "g", MemberSettings(level: .blocked)))
      var nicknames = ContentDirectory()
      nicknames.setNickname("Annie", of: "ann", in: "g")
      let settings = first
      var changed = first
      changed.updateUser("ann") { $0.mutedUntil = Self.day }
      changed.set(.member("ann", of: "g", MemberSettings(since: Self.day)))
      let batches = [
        (
          settings, nicknames,
          [
            "user: none -> level mention", "conversation: none -> type group",
            "member: none -> level none, nickname Annie",
          ]
        ),
        (
          changed, ContentDirectory(),
          [
            "user: none -> muted until 2025-11-25T12:00:00Z", "conversation: none -> none",
            "member: level none, nickname Annie -> level default, since 2025-11-25T12:00:00Z",
          ]
        ),
      ]
      for (settings, content, lines) in batches {
        let found = try Self.entries(store) {
          try $0.add(settings, content: content, replacingApp: false, listing: true)
        }
        #expect(found == lines)
      }
      let imported = try Self.entries(store) { try $0.add(settings, replacingApp: false) }
      #expect(imported == ["imported: none -> none"])
      // What a later write replaces is what the import wrote.
      let replaced = try Self.entries(store) {
        try $0.setUser("ann", UserSettings())
        try $0.setMember("ann", of: "g", MemberSettings(level: .all))
      }
      #expect(
        replaced == ["user: level mention -> level default", "member: level none -> level all"])
      try store.close()
    }
  }

  @Test func longValuesAreCut() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      let long = String(repeating: "é", count: 5000)
      try store.write(at: .zero) { try $0.updatePushDisplayName(long, of: "ann") }
      let event = try #require(try store.changes().last)
      #expect(event.new == "name " + String(repeating: "é", count: 995) + "…")
      try store.close()
    }
  }

  /// Values name people whom no column does.
  @Test func nothingOfAnErasedPersonStays() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let store = try SettingsStore(path, .create, threads: 1)
      let id: Identifier = "the-erased-user-4711"
      try store.write(at: .zero) { write in
        try write.updatePushDisplayName("A-Name-That-Goes", of: id)
        try write.setRemark("A-Remark-That-Goes", for: id, by: "bob")
        try write.bindToken(ofDevice: Identifier("\(id)-phone"), of: id)
      }
      let values = try store.changes().compactMap { $0.new }
      #expect(values.contains("remark the-erased-user-4711 A-Remark-That-Goes"))
      #expect(try store.erase(.user(id), at: .zero).isClean)
      for text: Identifier in [id, "A-Name-That-Goes", "A-Remark-That-Goes"] {
        #expect(try ErasureTests.filesWith(text, in: folder) == [])
      }
      #expect(try store.changes(after: store.reader.startOfFeed()).map(\.new) == [nil])
      try store.close()
    }
  }
}
