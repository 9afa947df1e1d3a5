import PushFiles
import PushModel
import PushWorkload
import TestSupport
import Testing

/// Goal: a generated world read from its files is the same as the world as values, in every format.
@Suite struct FileContentTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let rules: RuleSet
    let format: WorkloadFormat
    let seed: UInt64
    var testDescription: String { "\(rules.rawValue) \(format.rawValue) seed \(seed)" }
  }

  static let cases: [Case] = (ByteTests.texts + [ByteTests.open]).flatMap { rules, format in
    seeds([1, 2]).map { Case(rules: rules, format: format, seed: $0) }
  }

  private func world(_ test: Case) throws -> Workload {
    try smallWorld(test.rules, seed: test.seed) { options in
      options.sizes.giants = [250]
      options.sizes.joinShare = 0.3
      options.people.listsDevices = test.seed % 2 == 0
      options.traffic.mentionShare = 0.3
      options.traffic.smallAllShare = 0.05
      options.traffic.hasText = !RuleSet.vendors.contains(test.rules)
    }
  }

  @Test(arguments: cases)
  func filesSayWhatValuesSay(test: Case) throws {
    let world = try world(test)
    let expected = world.settings()
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    let paths = try write(world, test.format, folder)
    let checker = FileChecker(Array(paths.values))
    #expect(checker.problems.map(\.description) == [])

    let found = try SettingsLoader.load(
      SettingsPaths(
        settings: [paths[.settings]].compactMap { $0 }, users: [paths[.users]].compactMap { $0 },
        members: [paths[.members]].compactMap { $0 }))
    #expect(found.app == expected.app)
    #expect(found.userCount == expected.userCount)
    let users = (0..<world.userCount).map { Workload.userID($0) }
    #expect(users.map { found.user($0) } == users.map { expected.user($0) })
    #expect(Set(found.conversationIDs) == Set(expected.conversationIDs))
    for room in expected.conversationIDs {
      #expect(found.conversation(room) == expected.conversation(room))
      let members = found.members(of: room)
      #expect(members.map { found.id(of: $0) } == expected.members(of: room).map(expected.id))
      let records = members.map { found.member($0, of: room) }
      #expect(records == expected.members(of: room).map { expected.member($0, of: room) })
    }
    #expect(try messages(paths[.messages], test.rules) == messages(world))
  }

  private func write(
    _ world: Workload, _ format: WorkloadFormat, _ folder: ScratchFolder
  ) throws -> [WorkloadText.File: String] {
    let text = WorkloadText(world, format)
    var paths: [WorkloadText.File: String] = [:]
    for file in text.files where file != .presence {
      let path = folder.path(text.name(of: file))
      let output = try OutputFile(path: path)
      try text.write(file, threads: 2) { (bytes, _) throws(OutputProblem) in
        try output.write(whole: bytes)
      }
      try output.finish()
      paths[file] = path
    }
    return paths
  }

  private func messages(_ path: String?, _ rules: RuleSet) throws -> [Message] {
    let reader = try MessageReader(path: try #require(path), rules: rules)
    var messages: [Message] = []
    while let message = try reader.next() { messages.append(message) }
    return messages
  }

  private func messages(_ world: Workload) -> [Message] {
    var messages: [Message] = []
    world.forEachMessage { messages.append(world.message($0, number: messages.count + 1)) }
    return messages
  }
}
