import PushContent
import PushFanout
import PushModel
import PushStore
import TestSupport
import Testing

@Suite struct RemovingOperationTests {
  /// All records of a store by what they are of, as an export has them.
  private func records(_ store: SettingsStore) throws -> [String] {
    var found: [String] = []
    try store.reader.forEachRecord { record in
      switch record {
      case .app: break
      case .user(let id, _): found.append("user \(id)")
      case .conversation(let id, _): found.append("conversation \(id)")
      case .member(let user, let id, _, _): found.append("\(user) in \(id)")
      }
    }
    return found
  }

  @Test func aRemovedUserIsGoneWithAllMemberships() throws {
    try withWorld(.easemob) { world in
      let store = world.store
      try world.changes { write in
        try write.setSilentMode(SilentModeWrite(level: .blocked), of: "u")
        try write.setSilentMode(SilentModeWrite(level: .mention), of: "u", in: "thread")
        try write.bindToken(ofDevice: "p", of: "u")
        try write.updatePushDisplayName("Uma", of: "u")
        try write.setRemark("Nina", for: "v", by: "u")
      }
      try world.expect([.userRemoved]) { try $0.removeUser("u") }
      #expect(store.fanout.user("u") == UserSettings())
      #expect(store.fanout.member("u", of: "group") == nil)
      #expect(try store.pushDisplay(of: "u") == RecipientDisplay())
      #expect(try records(store).filter { $0.contains("u ") || $0.hasSuffix(" u") } == [])
      try world.refuses(StoreError.unknownUser("u")) { try $0.removeUser("u") }
      try world.refuses(StoreError.unknownUser("never")) { try $0.removeUser("never") }
      #expect(try store.reader.check() == [])
      // It begins anew, in its old place.
      try world.expect([.member]) { try $0.setMember("u", of: "group") }
      #expect(store.fanout.member("u", of: "group") == MemberSettings())
      #expect(try records(store).contains("u in group"))
    }
  }

  /// A snapshot is followed over a membership that ended twice, the first time with its user or its
  /// conversation.
  @Test(arguments: [true, false])
  func aSnapshotIsFollowedOverWhatWasThereAgain(isUser: Bool) throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { try $0.setMember("u", of: "g") }
      try store.writeSnapshot()
      try store.write(at: .zero) { write in
        if isUser { try write.removeUser("u") } else { try write.removeConversation("g") }
      }
      try store.write(at: .zero) { try $0.setMember("u", of: "g") }
      try store.write(at: .zero) { try $0.removeMember("u", of: "g") }
      let last = try store.reader.endOfFeed().sequence
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      #expect(again.opening == .snapshot(sequence: 1, changes: last - 1))
      #expect(again.fanout.memberCount(of: "g") == 0)
      #expect(try again.reader.check() == [])
      try again.close()
    }
  }

  @Test func aRemovedConversationTakesItsThreadsAlong() throws {
    try withWorld(.easemob) { world in
      try world.changes {
        try $0.setSilentMode(SilentModeWrite(level: .mention), of: "u", in: "thread")
      }
      try world.expect([.conversationRemoved, .conversationRemoved]) {
        try $0.removeConversation("group")
      }
      let store = world.store
      #expect(store.fanout.memberCount(of: "group") == 0)
      #expect(store.fanout.conversation("thread") == ConversationSettings())
      #expect(try store.changes().suffix(2).map(\.conversation) == ["group", "thread"])
      #expect(
        try records(store).contains { $0.hasSuffix("group") || $0.hasSuffix("thread") } == false)
      try world.refuses(StoreError.unknownConversation("group")) {
        try $0.removeConversation("group")
      }
      try world.refuses(StoreError.unknownConversation("group")) {
        try $0.setSilentMode(SilentModeWrite(level: .mention), of: "u", in: "group")
      }
      #expect(try store.reader.check() == [])
    }
  }

  /// What is removed after a snapshot, and made again, is followed at the next opening.
  @Test func removalsAreFollowedFromASnapshot() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        for user: Identifier in ["a", "b", "c"] {
          try write.setUser(user, UserSettings())
          for group: Identifier in ["g", "h"] { try write.setMember(user, of: group) }
        }
      }
      try store.writeSnapshot()
      try store.write(at: .zero) { write in
        try write.removeUser("a")
        try write.removeUser("b")
        try write.setMember("b", of: "h", MemberSettings(level: .mention))
        try write.removeConversation("g")
        try write.setMember("c", of: "g", MemberSettings(level: .all))
      }
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      #expect(again.opening == .snapshot(sequence: 9, changes: 5))
      let found = ["a", "b", "c"].flatMap { (user: Identifier) in
        ["g", "h"].map { (group: Identifier) in again.fanout.member(user, of: group)?.level }
      }
      #expect(found == [nil, nil, nil, .mention, .all, .unset])
      #expect(try again.reader.check() == [])
      try again.close()
    }
  }

  /// An import of an id that was removed makes it one that is there.
  @Test func anImportRevivesWhatWasRemoved() throws {
    try withStore { path in
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setMember("a", of: "g")
        try write.removeUser("a")
        try write.removeConversation("g")
      }
      #expect(try records(store) == [])
      var settings = FanoutSettings()
      settings.setMember("a", of: "g", MemberSettings(level: .mention))
      try store.importSettings(settings, at: .zero, replacingApp: false)
      #expect(try records(store) == ["user a", "conversation g", "a in g"])
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  @Test func switchingAdvancedPushDeletesItsSettings() throws {
    try withWorld(.easemob) { world in
      try world.changes { write in
        try write.setSilentMode(
          SilentModeWrite(
            level: .blocked,
            interval: .set(
              try QuietInterval(startHour: 22, startMinute: 0, endHour: 7, endMinute: 0))),
          of: "u")
        try write.setTimeZone("Asia/Tokyo", of: "u")
        try write.setSilentMode(SilentModeWrite(level: .mention), of: "v", in: "group")
      }
      let store = world.store
      let counts = try store.advancedSettings()
      #expect([counts.users, counts.members] == [1, 1])
      try world.expect([.advancedPush]) {
        let deleted = try $0.setAdvancedPush(false)
        #expect(deleted == counts)
      }
      #expect(store.fanout.app.advancedPush == false)
      #expect(store.fanout.user("u")?.timeZone == "Asia/Tokyo")
      #expect(store.fanout.user("u")?.quietHours == nil)
      #expect(world.outcome(in: "group") == "push/allowed/default")
      try world.expect([]) { try $0.setAdvancedPush(false) }
      // What is written meanwhile is gone when it is switched on.
      try world.expect([.userLevel]) {
        try $0.setSilentMode(SilentModeWrite(level: .blocked), of: "u")
      }
      try world.expect([.advancedPush]) { try $0.setAdvancedPush(true) }
      #expect(store.fanout.user("u")?.level == .unset)
      #expect(try store.reader.check() == [])
    }
    try withWorld(.rongcloud) { world in
      try world.refuses(StoreError.otherRules(.rongcloud)) { try $0.setAdvancedPush(false) }
      try world.refuses(StoreError.otherRules(.rongcloud)) { try $0.setDevicePolicy(.anyOffline) }
    }
  }

  @Test func settingsOfTheAppAndOfDesktopsHaveEvents() throws {
    try withWorld(.easemob) { world in
      try world.expect([.app]) { try $0.setDevicePolicy(.anyOffline) }
      try world.expect([]) { try $0.setDevicePolicy(.anyOffline) }
      #expect(world.store.fanout.app.devicePolicy == .anyOffline)
      try world.refuses(StoreError.otherRules(.easemob)) { try $0.setMessageNotification(false) }
    }
    try withWorld(.rongcloud) { world in
      try world.expect([.app]) { try $0.setMessageNotification(false) }
      #expect(world.store.fanout.app.messageNotification == false)
      try world.expect([.pushWhenDesktopOnline]) {
        try $0.setPushWhenDesktopOnline(true, of: "u")
      }
      #expect(try world.store.pushWhenDesktopOnline(of: "u"))
      try world.expect([]) { try $0.setPushWhenDesktopOnline(true, of: "u") }
      let announced = try world.store.announcements(to: "u").map(\.change)
      #expect(announced.last == .pushWhenDesktopOnline)
    }
  }
}
