import Foundation
import PushFanout
import PushFiles
import PushModel
import PushReference
import QuietTime
import TestSupport
import Testing

/// Goal: the reference decides by open rules as every case says, files that the rules refuse are
/// refused, and settings are read as they were written.
///
/// `README.md` says what the files of cases are. `Tests/Oracle` has an evaluator in Python that was
/// written from the rules alone, and answers them all.
@Suite struct OpenRulesTests {
  static let files = ["open-vectors.ndjson", "open-cases.ndjson"]

  @Test func thereAreAllCases() throws {
    let counts = try Self.files.map { try ConformanceVector.all($0).count }
    #expect(counts[0] == 60 && counts[1] >= 500, "\(counts)")
  }

  @Test(arguments: files)
  func theReferenceAgrees(file: String) throws {
    let problems = try ConformanceVector.all(file).flatMap {
      try $0.problems { ReferenceEvaluator($0) }
    }
    #expect(problems == [])
  }

  @Test(arguments: files)
  func explanationsEndInTheAnswer(file: String) throws {
    for vector in try ConformanceVector.all(file) {
      var reference = ReferenceEvaluator(vector.settings)
      let users = (0..<UInt32(vector.settings.userCount)).map {
        vector.settings.id(of: UserIndex($0))
      }
      let explained = users.map { reference.explain(vector.message, for: $0) }
      #expect(explained.compactMap(\.decision?.outcome.key) == [vector.expected], "\(vector.id)")
      #expect(
        explained.map { $0.steps.count { $0.decides } }
          == Array(repeating: 1, count: users.count), "\(vector.id)")
    }
  }

  // MARK: What is refused

  @Test func recordsAreRefused() throws {
    var wrong: [String] = []
    for line in try JSONCase.all("open-refused.ndjson") {
      if let message = line.object["message"] {
        let settings = try SettingsLoader.load(SettingsPaths(line.records()))
        let text = [UInt8](try JSONSerialization.data(withJSONObject: message))
        let read = Result { try MessageReader(text, rules: settings.app.rules).next() }
        if case .success = read { wrong.append("\(line.note): taken") }
        continue
      }
      let hasMore = (line.object["settings"] as? [Any] ?? []).count > 1
      let before = Result { try SettingsLoader.load(SettingsPaths(line.records(dropLast: true))) }
      if hasMore, case .failure(let error) = before {
        wrong.append("\(line.note): before: \(error)")
      }
      let whole = Result { try SettingsLoader.load(SettingsPaths(line.records())) }
      if case .success = whole { wrong.append("\(line.note): taken") }
    }
    #expect(wrong == [])
  }

  // MARK: The engine

  @Test(arguments: files)
  func theEngineAgrees(file: String) throws {
    let problems = try ConformanceVector.all(file).flatMap {
      try $0.problems { try Fanout($0, threads: 1) }
    }
    #expect(problems == [])
  }

  /// The app's record may come first or last, with fields that only open rules have before it.
  @Test(arguments: [0, 3]) func theAppComesAnywhere(line: Int) throws {
    var lines = [
      #"{"kind":"user","id":"u1","level":["keyword"],"keywords":["deploy"]}"#,
      #"{"kind":"conversation","id":"t","type":"thread","parent":"g"}"#,
      #"{"kind":"member","conversation":"g","user":"u1"}"#,
    ]
    lines.insert(#"{"kind":"app","rules":"open"}"#, at: line)
    let fanout = try SettingsLoader.loadFanout(
      SettingsPaths(Array(lines.joined(separator: "\n").utf8)))
    var message = Message(id: "m", conversation: "t", at: .zero)
    message.text = "We DEPLOY now"
    #expect(fanout.decide(message).counts[Outcome(.push, .allowed, .user)] == 1)
  }

  /// A later record replaces all of an earlier one, also where it has nothing in its place.
  @Test func aLaterRecordHasNoKeywordsOfTheFirst() throws {
    let lines = [
      #"{"kind":"app","rules":"open","level":["keyword","sender"]}"#,
      #"{"kind":"user","id":"u1","keywords":["deploy"],"importantSenders":["s"]}"#,
      #"{"kind":"user","id":"u1"}"#, #"{"kind":"member","conversation":"g","user":"u1"}"#,
    ]
    let fanout = try SettingsLoader.loadFanout(
      SettingsPaths(Array(lines.joined(separator: "\n").utf8)))
    var message = Message(id: "m", conversation: "g", at: .zero, sender: "s")
    message.text = "deploy"
    #expect(fanout.decide(message).counts.pushCount == 0)
    #expect(fanout.user("u1") == UserSettings())
  }

  /// Settings that only open rules have are refused under others.
  @Test func otherRulesAreRefused() throws {
    var user = UserSettings()
    user.allowForce = false
    var settings = FanoutSettings(app: AppSettings(rules: .rongcloud))
    settings.setUser("u", user)
    #expect(throws: FanoutError.otherRules(.rongcloud)) { try Fanout(settings) }
    settings.app.rules = .open
    let fanout = try Fanout(settings)
    #expect(throws: FanoutError.otherRules(.easemob)) {
      try fanout.update { (update) throws(FanoutError) in try update.setApp(AppSettings()) }
    }
    #expect(fanout.app.rules == .open)
  }

  // MARK: Heartbeats

  /// Which of a user's devices are connected after lines of presence, or which line is refused.
  @Test func heartbeats() throws {
    var wrong: [String] = []
    for line in try JSONCase.all("open-presence.ndjson") {
      let fanout = try SettingsLoader.loadFanout(SettingsPaths(line.records()))
      let beats = try JSONSerialization.ndjson(line.object["presence"])
      var refused: Int?
      let reader = try HeartbeatReader(beats, name: "presence.ndjson")
      do {
        while let beat = try reader.next() {
          if let (_, error) = fanout.setPresence([beat]).first { throw error }
        }
      } catch {
        refused = reader.lineNumber
      }
      if refused != line.object["refused"] as? Int {
        wrong.append("\(line.note): refused \(refused ?? 0)")
      }
      guard let connected = line.object["connected"] as? [String] else { continue }
      let user = Identifier(try line.text("user"))
      let at = Instant(milliseconds: try #require(line.object["at"] as? Int64))
      let outcome = fanout.currentVersion.decision(
        Message(id: "m", conversation: "c1", at: at), for: user)?.outcome
      if (outcome?.reason == .online) != !connected.isEmpty {
        wrong.append("\(line.note): \(outcome?.key ?? "none")")
      }
    }
    #expect(wrong == [])
  }

  // MARK: The next change

  @Test func nextChanges() throws {
    var wrong: [String] = []
    for line in try JSONCase.all("open-changes.ndjson") {
      let settings = try SettingsLoader.load(SettingsPaths(line.records()))
      var reference = ReferenceEvaluator(settings)
      let user = Identifier(try line.text("user"))
      let conversation = Identifier(try line.text("conversation"))
      let at = Instant(milliseconds: try #require(line.object["at"] as? Int64))
      let names = line.object["classes"] as? [String]
      let classes = try names.map { try MessageClasses(names: $0) }
      let ids = [conversation] + [settings.conversation(conversation)?.parent].compactMap(\.self)
      let records = ids.compactMap { id in
        settings.index(of: user).flatMap { settings.member($0, of: id) }
      }
      let solver = try NextChangeSolver(
        app: settings.app, user: settings.user(user), records: records)
      let found = solver.nextChange(after: at) {
        reference.openDecision(ofClasses: classes, for: user, in: conversation, at: $0)
      }
      let expected = line.object["next"] as? Int64
      let fanout = try Fanout(settings, threads: 1)
      // Whoever is no member is an error, not a user whose answer never changes.
      let answer = try? fanout.currentVersion.plainAnswer(
        for: user, in: conversation, classes: classes, after: at)
      if found != answer?.changesAt {
        wrong.append("\(line.note): engine \(String(describing: answer))")
      }
      if found?.milliseconds != expected {
        wrong.append(
          "\(line.note): \(String(describing: found?.milliseconds)), not \(expected ?? -1)")
      }
    }
    #expect(wrong == [])
  }

  /// A mention adds `me` to the class of a plain message, and takes `plain` away (O-1): the answer
  /// is that of a message that mentions the user.
  @Test(arguments: RuleSet.allCases) func aMentionsNextChange(rules: RuleSet) throws {
    var seen: Set<String> = []
    for seed in TestSupport.seeds(Array(1...12)) {
      let world = RandomWorld(rules, seed: seed, userCount: 12, messageCount: 0)
      var settings = world.settings()
      // As if one offline device had a token (O-43).
      for user in world.users { settings.updateUser(user) { $0.devices = nil } }
      let version = try Fanout(settings, threads: 1).currentVersion
      var reference = ReferenceEvaluator(settings)
      for conversation in settings.conversationIDs {
        for user in world.users {
          let at = Instant(milliseconds: RandomWorld.noon)
          guard
            let answer = try? version.plainAnswer(
              for: user, in: conversation, mention: true, after: at)
          else { continue }
          for (instant, found) in [(at, answer.before), (answer.changesAt, answer.after)] {
            guard let instant else { continue }
            var message = Message(id: "m", conversation: conversation, at: instant)
            message.mentions = [user]
            let expected = reference.decide(message, for: user)?.outcome
            #expect(
              found?.outcome == expected, "seed \(seed), \(rules), \(conversation), \(user)")
            if rules == .open {
              let asked = reference.openDecision(
                ofClasses: nil, mention: true, for: user, in: conversation, at: instant)
              #expect(asked == expected, "seed \(seed), \(conversation), \(user)")
            }
            seen.insert(
              "\(settings.conversation(conversation)?.kind.rawValue ?? "") "
                + "\(expected?.action.name ?? "")")
          }
        }
      }
    }
    let kinds = rules == .rongcloud ? ["private", "group"] : ["private", "thread", "group"]
    #expect(kinds.filter { !seen.contains("\($0) push") || !seen.contains("\($0) none") } == [])
  }

  // MARK: Reading and writing

  @Test(arguments: seeds(Array(1...40)))
  func whatIsWrittenIsRead(seed: UInt64) throws {
    let world = RandomWorld(.open, seed: seed, userCount: 12, messageCount: 0)
    let settings = world.settings()
    var kinds: [Identifier: ConversationKind] = [:]
    var bytes = SettingsEncoder.app(world.app)
    for step in world.steps {
      switch step {
      case .app: break
      case .user(let id, let user): bytes += SettingsEncoder.user(id, user, .open)
      case .conversation(let id, let conversation):
        kinds[id] = conversation.kind
        bytes += SettingsEncoder.conversation(id, conversation, .open)
      case .member(let user, let id, let member, _):
        bytes += SettingsEncoder.member(user, of: id, kinds[id] ?? .group, member, .open)
      }
    }
    let read = try SettingsLoader.load(SettingsPaths(bytes))
    #expect(read.app == settings.app, "seed \(seed)")
    for user in world.users {
      #expect(read.user(user) == settings.user(user), "seed \(seed), \(user)")
    }
    for id in settings.conversationIDs {
      #expect(read.conversation(id) == settings.conversation(id), "seed \(seed), \(id)")
      let members = [settings, read].map { world in
        world.members(of: id).map { ["\(world.id(of: $0))", "\(world.member($0, of: id)!)"] }
          .sorted { $0[0] < $1[0] }
      }
      #expect(members[0] == members[1], "seed \(seed), \(id)")
    }
  }

  /// An instant of every kind that a world of each seed has is decided, and reasons of each kind
  /// occur.
  @Test func worldsShowEveryReason() throws {
    var reasons: Set<Reason> = []
    var scopes: Set<Scope> = []
    for seed in seeds(Array(1...40)) {
      let world = RandomWorld(.open, seed: seed)
      var reference = ReferenceEvaluator(world.settings())
      for message in world.messages {
        reference.decide(message) {
          reasons.insert($1.outcome.reason)
          if let scope = $1.outcome.scope { scopes.insert(scope) }
        }
      }
    }
    #expect(
      reasons == [
        .allowed, .forced, .chatRoom, .silentMessage, .expired, .online, .quietHours, .muted,
        .levelNone, .kicked, .loggedOut, .noToken, .senderBlocked, .notFollowing, .levelExcludes,
      ])
    #expect(scopes == Set(RuleSet.open.scopes))
  }
}

/// A line of a file of cases.
struct JSONCase {
  let object: [String: Any]
  var note: String { object["note"] as? String ?? "?" }

  static func all(_ file: String) throws -> [JSONCase] {
    let url = Repository.root.appending(path: "Tests/ConformanceTests/\(file)")
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map { line in
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      return JSONCase(object: try #require(value as? [String: Any]))
    }
  }

  func text(_ name: String) throws -> String { try #require(object[name] as? String) }

  /// The settings, as the bytes of a file.
  func records(dropLast: Bool = false) throws -> [UInt8] {
    let records = object["settings"] as? [Any] ?? []
    return try JSONSerialization.ndjson(dropLast ? Array(records.dropLast()) : records)
  }
}

extension JSONSerialization {
  /// The values of an array, one a line.
  fileprivate static func ndjson(_ values: Any?) throws -> [UInt8] {
    let lines = try (values as? [Any] ?? []).map {
      try data(withJSONObject: $0, options: .fragmentsAllowed)
    }
    return [UInt8](Data(lines.joined(separator: Data("\n".utf8))))
  }
}
