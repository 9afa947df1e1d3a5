import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService
import TestSupport
import Testing

/// Goal: what the service hands out for a message is of one version, whatever changes meanwhile, and
/// the same in values and in bytes.
@Suite struct DecidingTests {
  @Test func recipientsHaveTheirDevicesAndPayloads() throws {
    let service = try Sample.service()
    let decision = service.decide(Sample.message(), MessageContent(text: "Hello"))
    let found = decision.pushes.map { "\($0.id) \($0.devices.map(\.id)) \($0.action.name)" }
    #expect(found == ["u1 [phone] push", "u3 [default] push"])
    #expect(decision.counts.pushCount == 2)
    #expect(decision.counts[.notMentioned] == 1)
    #expect(decision.codes.count == 4)
    #expect(decision.codes.map { $0 & 1 } == [1, 0, 1, 0])
    let rendered = service.renderer.stream(
      decision.message, decision.content, for: ["u1", "u3"])
    #expect(
      decision.pushes.map { Array($0.payload().payload) } == rendered.map { Array($0.payload) })
  }

  /// More messages than a batch has: decided one by one before, and as they are read.
  @Test(arguments: [1, 3]) func resultsAreWrittenAsMessagesAreDecided(threads: Int) throws {
    var builder = FanoutBuilder()
    try builder.setMember("u1", of: "g")
    try builder.setMember("u2", of: "g", MemberSettings(level: .blocked))
    let fanout = try builder.build(threads: threads)
    let messages = (0..<700).map { number in
      Message(id: Identifier("m\(number)"), conversation: "g", at: Sample.noon)
    }
    let results = messages.map { fanout.decide($0) }
    for format in DecisionFormat.allCases where !format.isFolder {
      let (decided, read) = (OutputBytes(), OutputBytes())
      let writer = try FanoutWriter(decided, format: format, threads: threads)
      try writer.write(messages, results: results)
      try writer.finish()
      let reader = try FanoutWriter(read, format: format, threads: threads)
      var rest = messages[...]
      try reader.write(by: fanout) { rest.popFirst() }
      try reader.finish()
      #expect(decided.bytes == read.bytes && writer.totals == reader.totals, "\(format)")
      #expect(!read.bytes.isEmpty && writer.messageCount == 700)
    }
  }

  /// What waits to be written is bounded by members, not only by messages.
  @Test func messagesToLargeConversationsAreNotReadAhead() throws {
    var builder = FanoutBuilder()
    for number in 0..<300_000 { try builder.setMember(Identifier("\(number)"), of: "g") }
    let writer = try FanoutWriter(OutputBytes(), format: .csv, threads: 2)
    var read = 0
    var readWhenWritten: [Int] = []
    try writer.write(by: builder.build(threads: 2), progress: { readWhenWritten.append(read) }) {
      if read == 3 { return nil }
      read += 1
      return Message(id: "m", conversation: "g", at: Sample.noon)
    }
    #expect(readWhenWritten.prefix(2) == [1, 2])
  }

  /// Without a pinned version the devices would be those after the change.
  @Test func changesDoNotTouchADecision() throws {
    let service = try Sample.service()
    let decision = service.decide(Sample.message())
    var settings = FanoutSettings(app: service.app)
    var user = UserSettings()
    user.devices = [Device(id: "other", notifier: "apns")]
    settings.setUser("u1", user)
    settings.setMember("u9", of: "g1", MemberSettings())
    try service.change(SettingsBatch(settings), at: Sample.noon)
    #expect(decision.version == 1)
    #expect(decision.pushes.flatMap(\.devices).map(\.id) == ["phone", "default"])
    let later = service.decide(Sample.message())
    #expect(later.version == 2)
    #expect(later.pushes.flatMap(\.devices).map(\.id) == ["other", "default", "default"])
    #expect(later.pushes.flatMap(\.devices).map(\.notifier) == ["apns", nil, nil])
  }

  @Test func manyAreDecidedAsOneByOne() throws {
    let world = RandomWorld(.rongcloud, seed: 9, userCount: 40)
    let service = try FanoutService(Fanout(world.settings(), threads: 3))
    let all = service.decide(world.messages.map { ($0, MessageContent()) })
    let single = world.messages.map { service.decide($0) }
    #expect(all.map(\.codes) == single.map(\.codes))
    #expect(all.map { $0.pushes.map(\.id) } == single.map { Array($0.result.pushes.ids) })
  }

  @Test func rowsInBytes() throws {
    let service = try Sample.service()
    let messages = Array(Sample.messages.utf8)
    #expect(
      try service.decide(ndjson: messages, showsDevices: true).text == """
        {"message":"m1","user":"u1","action":"push","reason":"allowed","scope":"default","devices":["phone"]}
        {"message":"m1","user":"u3","action":"push","reason":"allowed","scope":"default","devices":["default"]}
        {"message":"m1","user":"u4","action":"none","reason":"notMentioned","scope":"conversation"}
        {"message":"m2","user":"u1","action":"none","reason":"quietHours","scope":"app"}
        {"message":"m2","user":"u3","action":"push","reason":"allowed","scope":"default","devices":["default"]}
        {"message":"m2","user":"u4","action":"push","reason":"allowed","scope":"conversation","devices":["default"]}

        """)
    #expect(
      try service.decide(ndjson: messages, as: .pushlist).text == """
        {"message":"m1","push":["u1","u3"]}
        {"message":"m2","push":["u3","u4"]}
        {"message":"m3","push":[]}

        """)
    #expect(
      try service.decide(ndjson: messages, as: .summary).text == """
        {"messages":3,"decisions":6,"counts":{"none/notMentioned/conversation":1,\
        "none/quietHours/app":1,"push/allowed/conversation":1,"push/allowed/default":3},\
        "unknownConversations":1}

        """)
    #expect(throws: ServiceError.notInBytes("npy")) {
      try service.decide(ndjson: messages, as: .npy)
    }
  }

  @Test func questionsInValues() throws {
    let service = try Sample.service()
    let next = try service.engine.currentVersion.plainAnswer(
      for: "u1", in: "g1", after: Sample.noon)
    #expect(next.before?.outcome.key == "push/allowed/default")
    #expect(next.changesAt == Instant(rfc3339: "2024-06-03T22:00:00+08:00"))
    #expect(next.after?.outcome.key == "none/quietHours/app")
    #expect(
      ServiceJSON.plainAnswer(next).text == """
        {"after":{"action":"none","reason":"quietHours","scope":"app"},"at":1717423200000,\
        "before":{"action":"push","devices":["phone"],"reason":"allowed","scope":"default"},\
        "time":"2024-06-03T14:00:00Z"}
        """)
    #expect(throws: FanoutError.unknownConversation("g2")) {
      try service.engine.currentVersion.plainAnswer(for: "nobody", in: "g2", after: Sample.noon)
    }
    #expect(throws: FanoutError.unknownUser("nobody")) {
      try service.engine.currentVersion.plainAnswer(for: "nobody", in: "g1", after: Sample.noon)
    }
    let members = service.members(of: "g1")
    #expect(members.ids == ["u1", "u2", "u3", "u4"])
    #expect(
      ServiceJSON.members(members).text == #"{"members":["u1","u2","u3","u4"],"version":1}"#)
    #expect(service.members(of: "nowhere").ids == [])
  }

  /// Whoever sends bytes is a stranger: whatever they are, the answer is an error or a result.
  @Test func brokenBytesAreRefusedAndNothingTraps() throws {
    let service = try Sample.service()
    var refused = 0
    for seed in TestSupport.seeds(Array(1...150)) {
      var random = SeededGenerator(seed: seed)
      func broken(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0...Int.random(in: 0...3, using: &random) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
          case 1: bytes.removeSubrange(place..<min(bytes.count, place + 9))
          default: bytes.insert(contentsOf: "-9e99".utf8, at: place)
          }
        }
        return bytes
      }
      for work in [
        { _ = try service.decide(ndjson: broken(Sample.messages)) },
        { _ = try service.render(ndjson: broken(Sample.messages)) },
        { _ = try service.explain(ndjson: broken(Sample.messages), for: "u1", content: true) },
        { try service.change(ndjson: broken(Sample.settings), at: Sample.noon) },
        { _ = try FanoutService(ndjson: broken(Sample.settings), threads: 1) },
      ] as [() throws -> Void] {
        do { try work() } catch is FileProblem { refused += 1 } catch let error as ServiceError {
          // A change may say other rules than the engine's only with an app, and that is whole.
          Issue.record("seed \(seed): \(error)")
        }
      }
    }
    #expect(refused > 100)
  }
}
