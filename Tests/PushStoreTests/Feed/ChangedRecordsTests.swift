import PushContent
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: a write on the condition that its records have not changed since is made if, and only if, no
/// other one has changed them; writers who repeat what is refused lose nothing.
@Suite struct ChangedRecordsTests {
  private typealias Body = @Sendable (inout StoreWrite) throws -> Void

  /// Whether `own` is refused after `other`.
  private func isRefused(
    _ store: SettingsStore, after other: @escaping Body, _ own: @escaping Body
  ) throws -> Bool {
    let before = try store.reader.endOfFeed().sequence
    try store.write(at: .zero, other)
    do {
      try store.write(at: .zero) { write in
        try own(&write)
        try write.checkUnchanged(since: before)
      }
      return false
    } catch StoreError.changedSince(before, by: let other?) {
      #expect(other > before)
      return true
    }
  }

  private static func level(_ user: Identifier) -> Body {
    { write in try write.updateUser(user, .userLevel) { $0.level = .mention } }
  }
  private static func mute(_ user: Identifier) -> Body {
    { write in
      try write.updateUser(user, .userMute) { $0.mutedUntil = Instant(milliseconds: 9) }
    }
  }
  private static func devices(_ user: Identifier) -> Body {
    { write in
      try write.updateUser(user, .devices) { $0.devices = [Device(id: "d", kind: .mobile)] }
    }
  }
  private static func user(_ id: Identifier) -> Body {
    { write in try write.setUser(id, UserSettings()) }
  }
  private static func member(_ user: Identifier) -> Body {
    { write in try write.updateMember(user, of: "group", .memberLevel) { $0.level = .all } }
  }
  private static let group: Body = { write in
    try write.setConversation("group", ConversationSettings(kind: .group))
  }
  private static let app: Body = { write in try write.setApp(AppSettings(rules: .easemob)) }
  private static let all: Body = { write in
    var settings = FanoutSettings(app: AppSettings(rules: .easemob))
    settings.setUser("new", UserSettings())
    try write.add(settings, content: nil, replacingApp: false)
  }
  private static let removal: Body = { write in try write.removeUser("u") }
  private static let groupRemoval: Body = { write in try write.removeConversation("group") }
  private static func newMember(_ conversation: Identifier) -> Body {
    { write in
      try write.setConversation(conversation, ConversationSettings(kind: .group))
      try write.setMember("u", of: conversation)
    }
  }
  private static func both(_ first: @escaping Body, _ second: @escaping Body) -> Body {
    { write in
      try first(&write)
      try second(&write)
    }
  }

  private static let cases: [(name: String, other: Body, own: Body, isRefused: Bool)] = [
    ("one field after another", level("u"), mute("u"), true),
    ("another user", level("u"), level("v"), false),
    ("presence", devices("u"), level("u"), false),
    ("presence after a field", level("u"), devices("u"), false),
    ("presence twice", devices("u"), devices("u"), true),
    ("the record has the devices", devices("u"), user("u"), true),
    ("devices after the record", user("u"), devices("u"), true),
    ("a membership is none of the user's", member("u"), level("u"), false),
    ("the same membership", member("u"), member("u"), true),
    ("another membership", member("u"), member("v"), false),
    ("the conversation is none of its members", group, member("u"), false),
    ("the conversation", group, group, true),
    ("the app", app, app, true),
    ("the app is no user", app, level("u"), false),
    ("an import", all, level("u"), true),
    ("an import after a change", level("u"), all, true),
    ("nothing is written", level("u"), { _ in }, false),
    ("two records", level("v"), both(level("u"), level("v")), true),
    ("a member after the user's removal", removal, newMember("other"), true),
    ("a removal after a membership", member("u"), removal, true),
    ("another one's removal", removal, user("v"), false),
    ("a member after the group's removal", groupRemoval, newMember("group"), true),
    ("a member of another group", groupRemoval, newMember("other"), false),
    ("the group's removal after a member's change", member("u"), groupRemoval, true),
  ]

  @Test func whatIsOfTheSameRecord() throws {
    let found = try Self.cases.map { each in
      try withStore { path in
        let store = try OperationWorld(path, .easemob).store
        defer { try? store.close() }
        return try isRefused(store, after: each.other, each.own) ? each.name : ""
      }
    }
    #expect(found == Self.cases.map { $0.isRefused ? $0.name : "" })
  }

  @Test func aNumberThatIsNotKnown() throws {
    try withStore { path in
      let store = try OperationWorld(path, .easemob).store
      let last = try store.reader.endOfFeed().sequence
      func write(since sequence: Int64) throws {
        try store.write(at: .zero) { write in
          try write.setUser("u", UserSettings())
          try write.checkUnchanged(since: sequence)
        }
      }
      #expect(throws: StoreError.changedSince(last + 1, by: nil)) { try write(since: last + 1) }
      #expect(throws: StoreError.changedSince(-1, by: nil)) { try write(since: -1) }
      try write(since: last)
      try store.write(at: .zero) { try $0.updateUser("v", .userLevel) { $0.level = .all } }
      try store.compact(FeedRetention(entries: 1), at: .zero)
      #expect(throws: StoreError.changedSince(last, by: nil)) { try write(since: last) }
      try store.close()
    }
  }

  /// Eight writers count; who is refused reads again. Nobody's step is lost.
  @Test func nobodyOverwrites() async throws {
    try await withStore { path in
      let store = try OperationWorld(path, .easemob).store
      let steps: Int64 = 50
      let refused = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 {
          group.addTask {
            var (done, refused) = (0, 0)
            while done < steps {
              let found = try store.reader.record(of: "u", in: "group")
              guard case .member(_, _, var member, _) = found.record else { return -1 }
              member.mutedUntil = Instant(milliseconds: member.mutedUntil.milliseconds + 1)
              do {
                try await store.write(at: .zero) { [member] write in
                  try write.setMember("u", of: "group", member)
                  try write.checkUnchanged(since: found.sequence)
                }
                done += 1
              } catch StoreError.changedSince { refused += 1 }
            }
            return refused
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(refused > 0)
      guard case .member(_, _, let member, _) = try store.reader.record(of: "u", in: "group").record
      else { return #expect(Bool(false)) }
      #expect(member.mutedUntil == Instant(milliseconds: 8 * steps))
      try await store.close()
    }
  }
}
