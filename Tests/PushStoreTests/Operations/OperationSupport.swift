import Foundation
import PushFanout
import PushReference
import PushModel
import PushStore
import TestSupport
import Testing

/// A small world in a store. `u` and `v` are members of everything, `x` of nothing.
struct OperationWorld {
  static let noon = Instant(milliseconds: 1_764_072_000_000)

  let store: SettingsStore
  let rules: RuleSet
  let conversations: [Identifier]
  static let users: [Identifier] = ["u", "v", "x"]

  init(_ path: String, _ rules: RuleSet) throws {
    store = try SettingsStore(path, .create, threads: 1)
    self.rules = rules
    var made: [Identifier] = []
    for kind in ConversationKind.allCases where kind.exists(under: rules) {
      made.append(Identifier(kind.rawValue))
    }
    conversations = made
    try store.write(at: .zero) { write in
      try write.setApp(AppSettings(rules: rules))
      for kind in ConversationKind.allCases where kind.exists(under: rules) {
        let id = Identifier(kind.rawValue)
        let isThread = kind == .thread
        try write.setConversation(
          id, ConversationSettings(kind: kind, parent: isThread ? "group" : nil))
        if isThread { continue }
        for user: Identifier in ["u", "v"] { try write.setMember(user, of: id) }
      }
    }
  }

  /// The last entry of the feed.
  func end() throws -> FeedCursor { try store.reader.endOfFeed() }

  /// What a write leaves in the feed. Also checks that the engine decides on its outcome as the
  /// reference does, on the records as they are read back.
  @discardableResult
  func changes(
    at now: Instant = noon, from device: Identifier? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
  ) throws -> [Change] {
    let before = try end()
    try store.write(at: now, from: device, body)
    expectReferenceAgrees(at: now, sourceLocation)
    let events = try store.changes(after: before)
    #expect(
      events.allSatisfy { $0.at == now && $0.device == device }, sourceLocation: sourceLocation)
    return events.map(\.change)
  }

  /// That a write leaves these changes in the feed.
  ///
  /// Tests call this instead of writing a closure within `#expect`: Swift 6.3.1 may give a closure in
  /// the macro the name of another one in the same function, and call the wrong one.
  func expect(
    _ wanted: [Change], at now: Instant = noon, from device: Identifier? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
  ) throws {
    let found = try changes(at: now, from: device, sourceLocation: sourceLocation, body)
    #expect(found == wanted, sourceLocation: sourceLocation)
  }

  /// That a read, or whatever it is, is refused with an error.
  func expectError<Refusal: Error & Equatable>(
    _ error: Refusal, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    #expect(throws: error, sourceLocation: sourceLocation, performing: body)
  }

  /// That a write is refused with an error, and leaves everything as it was.
  func refuses<Refusal: Error & Equatable>(
    _ error: Refusal, at now: Instant = noon, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable (inout StoreWrite) throws -> Void
  ) throws {
    let before = (settings(), try end())
    #expect(throws: error, sourceLocation: sourceLocation) { try store.write(at: now, body) }
    // A caller that goes on after the error has changed nothing either.
    try store.write(at: now) { write in
      do { try body(&write) } catch {}
    }
    #expect(records(settings()) == records(before.0), sourceLocation: sourceLocation)
    #expect(try end() == before.1, sourceLocation: sourceLocation)
  }

  /// The records as plain values.
  func settings() -> FanoutSettings {
    var settings = FanoutSettings(app: store.fanout.app)
    for id in conversations {
      if let conversation = store.fanout.conversation(id) {
        settings.setConversation(id, conversation)
      }
      for user in Self.users {
        if let member = store.fanout.member(user, of: id) {
          settings.setMember(user, of: id, member)
        }
      }
    }
    for user in Self.users {
      if let own = store.fanout.user(user) { settings.setUser(user, own) }
    }
    return settings
  }

  private func records(_ settings: FanoutSettings) -> [String] {
    ["\(settings.app)"] + Self.users.map { "\(settings.user($0))" }
      + conversations.flatMap { id in
        ["\(String(describing: settings.conversation(id)))"]
          + Self.users.map { user in
            "\(String(describing: settings.index(of: user).flatMap { settings.member($0, of: id) }))"
          }
      }
  }

  private func expectReferenceAgrees(at now: Instant, _ sourceLocation: SourceLocation) {
    var reference = ReferenceEvaluator(settings())
    for id in conversations {
      for offset: Int64 in [0, 3_600_000, 13 * 3_600_000] {
        var message = Message(
          id: "m", conversation: id, at: Instant(milliseconds: now.milliseconds + offset))
        for mentions: [Identifier] in [[], ["u"]] {
          message.mentions = mentions
          message.channel = "c"
          for user in Self.users {
            let (wanted, found) = (
              reference.decide(message, for: user), store.fanout.decision(message, for: user)
            )
            #expect(wanted == found, "\(user) in \(id)", sourceLocation: sourceLocation)
          }
        }
      }
    }
  }

  /// The outcome of a plain message to `u`: action, reason and scope.
  func outcome(
    in conversation: Identifier, at now: Instant = noon, channel: Identifier = "",
    mentioning: [Identifier] = []
  ) -> String {
    var message = Message(id: "m", conversation: conversation, at: now)
    message.channel = channel
    message.mentions = mentioning
    guard let outcome = store.fanout.decision(message, for: "u")?.outcome else { return "-" }
    return [outcome.action.name, outcome.reason.name, outcome.scope?.name].compactMap { $0 }
      .joined(separator: "/")
  }
}

func withWorld(_ rules: RuleSet, _ body: (OperationWorld) throws -> Void) throws {
  try withStore { path in
    let world = try OperationWorld(path, rules)
    try body(world)
    try world.store.close()
  }
}

extension Instant {
  func after(minutes: Int64) -> Instant {
    Instant(milliseconds: milliseconds + minutes * 60_000)
  }
}
