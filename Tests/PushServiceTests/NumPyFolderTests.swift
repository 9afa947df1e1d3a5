import Foundation
import PushFanout
import PushFiles
import PushModel
import PushReference
import PushService
import TestSupport
import Testing

/// Goal: the arrays of a folder say what the reference decides, in random worlds, and whatever is
/// changed while messages are decided.
@Suite struct NumPyFolderTests {
  /// The reference's decisions as rows of the CSV format.
  private func rows(_ settings: FanoutSettings, _ messages: [Message]) -> [[String]] {
    var evaluator = ReferenceEvaluator(settings)
    var rows: [[String]] = []
    for message in messages {
      evaluator.decide(message) { user, decision in
        let outcome = decision.outcome
        rows.append([
          message.id.text, settings.id(of: user).text, outcome.action.name, outcome.reason.name,
          outcome.scope?.name ?? "",
        ])
      }
    }
    return rows
  }

  /// Decides lists of messages into one folder.
  ///
  /// - Parameter change: called before each list but the first.
  private func decide(
    _ lists: [[Message]], by fanout: Fanout, threads: Int, change: (Int) throws -> Void = { _ in }
  ) throws -> NumPyDecisions {
    let place = ScratchFolder()
    defer { withExtendedLifetime(place) {} }
    return try NumPyDecisions(
      write(lists, by: fanout, threads: threads, to: place, change: change))
  }

  /// - Returns: the folder.
  private func write(
    _ lists: [[Message]], by fanout: Fanout, threads: Int, to place: ScratchFolder,
    change: (Int) throws -> Void = { _ in }
  ) throws -> URL {
    let folder = try NumPyFolder(path: place.path("out"))
    let writer = try FanoutWriter(folder, threads: threads)
    for (index, messages) in lists.enumerated() {
      if index > 0 { try change(index) }
      var rest = messages[...]
      try writer.write(by: fanout) { rest.popFirst() }
    }
    try writer.finish()
    try folder.complete(fanout)
    #expect(try place.names.allSatisfy { $0.hasPrefix("out.") }, "no folder before it is complete")
    try folder.finish()
    #expect(try place.names == ["out"])
    return place.url.appending(path: "out")
  }

  @Test(arguments: [RuleSet.easemob, .rongcloud], seeds([41, 42, 43, 44, 45, 46]))
  func randomWorldsAreAsTheReferenceDecides(rules: RuleSet, seed: UInt64) throws {
    let world = RandomWorld(rules, seed: seed, style: .init(isVaried: seed % 2 == 0))
    let settings = world.settings()
    let expected = rows(settings, world.messages)
    for threads in [1, 3] {
      let found = try decide(
        [world.messages], by: Fanout(settings, threads: threads), threads: threads)
      #expect(
        firstDifference(found.rows, expected) == nil, "\(rules), seed \(seed), \(threads) threads")
    }
  }

  /// A conversation whose members change has another list from then on; others keep theirs.
  @Test(arguments: [1, 3])
  func changedMembersAreAnotherList(threads: Int) throws {
    var settings = FanoutSettings()
    for user in ["a", "b", "c"] { settings.setMember(Identifier(user), of: "g", MemberSettings()) }
    settings.setMember("a", of: "h", MemberSettings())
    let messages = ["g", "h", "g"].enumerated().map { index, conversation in
      Message(
        id: Identifier("m\(index)"), conversation: Identifier(conversation), at: Sample.noon)
    }
    let fanout = try Fanout(settings, threads: threads)
    let found = try decide([messages, messages, messages], by: fanout, threads: threads) { index in
      try fanout.update { update throws(FanoutError) in
        if index == 1 {
          try update.removeMember("b", of: "g")
        } else {
          var blocked = UserSettings()
          blocked.level = .blocked
          try update.setUser("c", blocked)
        }
      }
    }
    #expect(found.lists == [[], [0, 1, 2], [0], [0, 2]])
    #expect(found.messageLists == [1, 2, 1, 3, 2, 3, 3, 2, 3])
    #expect(
      found.rows.map { "\($0[0]) \($0[1]) \($0[3])" } == [
        "m0 a allowed", "m0 b allowed", "m0 c allowed", "m1 a allowed", "m2 a allowed",
        "m2 b allowed", "m2 c allowed",
        "m0 a allowed", "m0 c allowed", "m1 a allowed", "m2 a allowed", "m2 c allowed",
        "m0 a allowed", "m0 c levelNone", "m1 a allowed", "m2 a allowed", "m2 c levelNone",
      ])
  }

  /// What `next` throws comes through behind the messages before, and no folder is left.
  @Test(arguments: [1, 3]) func afterAnErrorNothingIsLeft(threads: Int) throws {
    struct Stop: Error {}
    let place = ScratchFolder()
    defer { withExtendedLifetime(place) {} }
    let fanout = try Fanout(RandomWorld(.easemob, seed: 3).settings(), threads: threads)
    do {
      let folder = try NumPyFolder(path: place.path("out"))
      defer { folder.abandon() }
      let writer = try FanoutWriter(folder, threads: threads)
      var count = 0
      #expect(throws: Stop.self) {
        try writer.write(by: fanout) {
          count += 1
          if count > 20_000 { throw Stop() }
          return Message(id: "m", conversation: "g1", at: Sample.noon)
        }
      }
      #expect(writer.messageCount == 20_000, "the messages before")
    }
    #expect(try place.names == [])
  }
}
