import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import Synchronization
import TestSupport
import Testing

/// Goal: a service behind a store renders by the settings that it decides by: those of one commit.
@Suite struct LiveRendererTests {
  private func withStore(_ body: (SettingsStore) throws -> Void) throws {
    try ScratchFolder.with { folder in
      let store = try SettingsStore(folder.appending(path: "s").path, .create, threads: 1)
      try body(store)
      try store.close()
    }
  }

  private static let message: Message = {
    var message = Message(id: "m", conversation: "g", at: Instant(milliseconds: 1_764_000_000_000))
    message.sender = "sender"
    return message
  }()

  private func words(_ service: FanoutService) -> [String] {
    let decision = service.decide(Self.message, MessageContent(text: "Hello"))
    return decision.pushes.map { String(decoding: $0.payload().payload, as: UTF8.self) }
  }

  /// Each operation is seen by the next message, without a reload.
  @Test func everyOperationIsRenderedAtOnce() throws {
    try withStore { store in
      try store.write(at: .zero) { write in
        try write.setMember("u", of: "g")
        try write.updatePushDisplayStyle(.messageSummary, of: "u")
      }
      let service = try FanoutService(StoreBackend(store))
      func expect(_ part: String, _ isThere: Bool = true, _ line: Int = #line) {
        let found = words(service)
        #expect(found.count == 1 && found[0].contains(part) == isThere, "\(found) \(line)")
      }
      expect("sender")
      try store.write(at: .zero) { try $0.updatePushDisplayName("Ann", of: "sender") }
      expect("Ann")
      try store.write(at: .zero) { try $0.setRemark("Boss", for: "sender", by: "u") }
      let template = try PushTemplate(name: "tpl", title: "T", content: "from {$dynamicFrom} only")
      try store.write(at: .zero) { write in
        try write.setTemplate(template)
        try write.setPushTemplate("tpl", of: "u")
      }
      expect("from Boss only")
      try store.write(at: .zero) { try $0.setRemark(nil, for: "sender", by: "u") }
      expect("from Ann only")
      try store.write(at: .zero) { try $0.removeUser("sender") }
      expect("from sender only")
      try store.write(at: .zero) { try $0.removeTemplate("tpl") }
      expect("only", false)
      #expect(try store.reader.templates().count == 0)
      let changes = try store.changes().suffix(3).map(\.change)
      #expect(changes == [.display, .userRemoved, .template])
      #expect(throws: StoreError.unknownTemplate("tpl")) {
        try store.write(at: .zero) { try $0.removeTemplate("tpl") }
      }
      #expect(try store.reader.check() == [])
    }
  }

  /// Random operations leave the renderer with what is read from the store.
  @Test(arguments: seeds([1, 2, 3]))
  func theRendererHasWhatIsStored(seed: UInt64) throws {
    try withStore { store in
      var random = SeededGenerator(seed: seed)
      let users = (0..<12).map { Identifier("u\($0)") }
      let groups = (0..<4).map { Identifier("g\($0)") }
      let live = try store.liveRenderer()
      for number in 0..<150 {
        let (user, other) = (random.pick(users), random.pick(users))
        let group = random.pick(groups)
        let text = random.pick([nil, "a\(number)", "b"])
        var content = ContentDirectory()
        var settings = FanoutSettings()
        settings.setConversation(group, ConversationSettings())
        settings.setMember(user, of: group)
        content.setNickname(text, of: user, in: group)
        content.setConversation(group, kind: .group, name: text)
        let (imported, names) = (settings, random.chance(70) ? content : nil)
        let kind = Int.random(in: 0..<8, using: &random)
        do {
          switch kind {
          case 7 where random.oneIn(4): try store.erase(.user(user), at: .zero)
          case 6 where random.oneIn(2): try store.write(at: .zero) { try $0.removeUser(user) }
          case 6: try store.write(at: .zero) { try $0.removeConversation(group) }
          case 5: try store.write(at: .zero) { try $0.removeMember(user, of: group) }
          case 3...4:
            try store.importSettings(imported, content: names, at: .zero, replacingApp: false)
          case 2: try store.write(at: .zero) { try $0.setRemark(text, for: other, by: user) }
          default: try store.write(at: .zero) { try $0.updatePushDisplayName(text, of: user) }
          }
        } catch is StoreError {}
        let stored = try store.reader.contentDirectory()
        let found = live.directory
        #expect(
          users.map { found.user($0) } == users.map { stored.user($0) }, "seed \(seed), \(number)")
        #expect(
          groups.map { found.name(of: $0) } == groups.map { stored.name(of: $0) },
          "seed \(seed), \(number)")
        let places = users.flatMap { user in groups.map { (user, $0) } }
        #expect(
          places.map { found.nickname(of: $0.0, in: $0.1) }
            == places.map { stored.nickname(of: $0.0, in: $0.1) }, "seed \(seed), \(number)")
      }
    }
  }

  /// Who is decided and what is said are of one commit, however many there are meanwhile.
  @Test func decisionsAndWordsAreOfOneCommit() throws {
    try withStore { store in
      let users = (0..<50).map { Identifier("u\($0)") }
      @Sendable func write(_ number: Int) throws {
        try store.write(at: .zero) { write in
          // In commits of even numbers the first half is pushed to, and the sender is called so.
          for (index, user) in users.enumerated() {
            let isPushed = (index < 25) == (number % 2 == 0)
            try write.setMember(
              user, of: "g", MemberSettings(level: isPushed ? .all : .blocked))
          }
          try write.updatePushDisplayName(number % 2 == 0 ? "even" : "odd", of: "sender")
        }
      }
      try store.write(at: .zero) { write in
        for user in users { try write.updatePushDisplayStyle(.messageSummary, of: user) }
      }
      try write(0)
      let service = try FanoutService(StoreBackend(store))
      let isDone = Atomic(false)
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) {
        for number in 1...300 { try? write(number) }
        isDone.store(true, ordering: .releasing)
      }
      var wrong: [String] = []
      var seen: Set<String> = []
      while !isDone.load(ordering: .acquiring) {
        let decision = service.decide(Self.message, MessageContent(text: "Hello"))
        let first = decision.pushes.first { _ in true }
        let name = first.map { $0.id == "u0" ? "even" : "odd" } ?? "none"
        seen.insert(name)
        for push in decision.pushes {
          let payload = String(decoding: push.payload().payload, as: UTF8.self)
          if !payload.contains(name) { wrong.append("\(push.id) \(payload)") }
        }
      }
      group.wait()
      #expect(wrong == [])
      #expect(seen.isSubset(of: ["even", "odd"]) && !seen.isEmpty)
    }
  }

  /// So it is with what is rendered into a file, for one user and explained.
  @Test func filesAndExplanationsAreOfOneCommit() throws {
    try withStore { store in
      @Sendable func write(_ number: Int) throws {
        let isEven = number % 2 == 0
        try store.write(at: .zero) { write in
          try write.setMember("u0", of: "g", MemberSettings(level: isEven ? .all : .blocked))
          try write.setMember("u1", of: "g", MemberSettings(level: isEven ? .blocked : .all))
          try write.updatePushDisplayName(isEven ? "for u0" : "for u1", of: "sender")
        }
      }
      try store.write(at: .zero) { write in
        for user: Identifier in ["u0", "u1"] {
          try write.updatePushDisplayStyle(.messageSummary, of: user)
        }
      }
      try write(0)
      let service = try FanoutService(StoreBackend(store))
      let isDone = Atomic(false)
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) {
        for number in 1...600 { try? write(number) }
        isDone.store(true, ordering: .releasing)
      }
      let (message, content) = (Self.message, MessageContent(text: "Hello"))
      let line =
        #"{"id":"m","conversation":"g","sender":"sender","at":1764000000000,"text":"Hello"}"#
      var wrong: [String] = []
      while !isDone.load(ordering: .acquiring) {
        for user: Identifier? in [nil, "u0", "u1"] {
          try service.render(message, content, onlyFor: user, into: PayloadWriter(OutputBytes())) {
            let payload = String(decoding: $0.payload, as: UTF8.self)
            if !payload.contains("for \($0.recipient)") { wrong.append(payload) }
          }
        }
        for user: Identifier in ["u0", "u1"] {
          let lines = try service.explain(ndjson: Array(line.utf8), for: user, content: true)
          let text = String(decoding: lines, as: UTF8.self)
          if text.contains("for u"), !text.contains("for \(user)") { wrong.append(text) }
        }
      }
      group.wait()
      #expect(wrong == [])
      // The lines are understood.
      let all = ["u0", "u1"].map { (user: Identifier) in
        (try? service.explain(ndjson: Array(line.utf8), for: user, content: true))
          .map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      #expect(all.contains { $0.contains("for u0") }, "\(all)")
    }
  }

  /// A copy that is changed leaves the other as it was.
  @Test func copiesOfADirectoryAreIndependent() {
    var first = ContentDirectory()
    var display = RecipientDisplay()
    for number in 0..<3000 {
      display.name = "n\(number)"
      display.remarks = [Identifier("u\(number / 2)"): "r\(number)"]
      first.setUser(Identifier("u\(number)"), display)
      first.setNickname("k\(number)", of: Identifier("u\(number)"), in: "g")
    }
    let copy = first
    for number in 0..<3000 where number % 3 == 0 {
      first.setUser(Identifier("u\(number)"), RecipientDisplay())
      first.setNickname(nil, of: Identifier("u\(number)"), in: "g")
    }
    let found = (0..<3000).map { number in
      let id = Identifier("u\(number)")
      return [copy.user(id).name, copy.nickname(of: id, in: "g"), first.user(id).name].map {
        $0 ?? "-"
      } + copy.user(id).remarks.map { "\($0.key) \($0.value)" }
    }
    let wanted = (0..<3000).map { number in
      [
        "n\(number)", "k\(number)", number % 3 == 0 ? "-" : "n\(number)",
        "u\(number / 2) r\(number)",
      ]
    }
    #expect(found == wanted)
  }
}
