import PushFanout
import PushFiles
import PushModel
import PushReplay
import TestSupport
import Testing

/// Goal: a replay and a comparison of files are one call each, which does what its parts do.
@Suite struct FileReplayTests {
  /// A night at the end of which what was held is pushed; a bad line, and presence between.
  private let folder: ScratchFolder
  private let files: ReplayFiles

  init() throws {
    folder = ScratchFolder()
    let lines = [
      ReplayEventsTests.message("m1", 1_717_372_800_000), "no message",
      ReplayEventsTests.message("m2", 1_717_372_801_000),
      ReplayEventsTests.message("m3", 1_717_372_803_000),
    ]
    try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), as: "m.ndjson")
    let rows = "ts,conversation,user,online\n1717372800500,g,u1,1\n"
    try folder.write(Array(rows.utf8), as: "p.csv")
    files = ReplayFiles(messages: [folder.path("m.ndjson")], presence: [folder.path("p.csv")])
  }

  private var settings: FanoutSettings {
    get throws {
      var settings = FanoutSettings()
      for user in ["u1", "u2"] as [Identifier] { settings.setMember(user, of: "g") }
      var user = UserSettings()
      user.quietHours = .interval(
        try QuietInterval(startHour: 22, startMinute: 0, endHour: 18, endMinute: 0))
      settings.setUser("u2", user)
      return settings
    }
  }

  @Test func aReplayIsItsParts() throws {
    let expected = try { () throws -> ReplayResult in
      let fanout = try Fanout(settings, threads: 2)
      let events = try ReplayEvents(files, rules: fanout.app.rules, skipped: { _ in })
      var options = ReplayOptions()
      options.holds = true
      let replayer = try Replayer(fanout, options)
      while let event = try events.next() { try replayer.add(event) }
      var result = replayer.finish()
      result.skippedLines = events.skippedCount
      return result
    }()
    for speed in [nil, 5.0] {
      var problems: [FileProblem] = []
      var rows: [UInt8] = []
      var waits = 0
      var options = ReplayOptions()
      options.speed = speed
      let start = ContinuousClock.now
      let result = try Replayer.replay(
        files, on: Fanout(settings, threads: 2), options, skipped: { problems.append($0) },
        heldRows: Replayer.HeldRows(HeldText(path: "held.csv")) { rows += $0 }
      ) { _, _, isWaiting in waits += isWaiting ? 1 : 0 }
      #expect(result == expected)
      #expect((result.messages, result.skippedLines, result.presenceRows) == (3, 1, 1))
      #expect(problems.map(\.line) == [2])
      // Three seconds pass in at least 600 ms.
      if speed == nil {
        #expect(waits == 0)
      } else {
        #expect(ContinuousClock.now - start >= .milliseconds(600))
      }
      #expect(
        String(decoding: rows, as: UTF8.self) == """
          message,user,reason,scope,at,pushAt
          m1,u2,quietHours,app,1717372800000,1717437600000
          m2,u2,quietHours,app,1717372801000,1717437600000
          m3,u2,quietHours,app,1717372803000,1717437600000

          """)
    }
  }

  private struct Full: Error {}

  @Test func whatStopsAReplay() throws {
    let problem = #expect(throws: FileProblem.self) {
      try Replayer.replay(files, on: Fanout(settings, threads: 1))
    }
    #expect(problem?.line == 2)
    #expect(throws: Full.self) {
      try Replayer.replay(
        files, on: Fanout(settings, threads: 1), skipped: { _ in },
        heldRows: Replayer.HeldRows(HeldText(path: "held")) { if !$0.isEmpty { throw Full() } })
    }
  }

  @Test func aComparisonIsItsParts() throws {
    try folder.write(
      Array((ReplayEventsTests.message("m1", 5) + "\n").utf8), as: "m.ndjson")
    let changes = [WhatIf("everyone.level=none")]
    let a = try Fanout(settings, threads: 1)
    let b = try Fanout(settings, threads: 1)
    for change in changes { try change.apply(to: b) }
    let comparer = try Comparer(a, b, labels: ([], changes.map(\.text)))
    let pairs = try ReplayEventPairs(files, rules: (.easemob, .easemob))
    while let event = try pairs.next() { try comparer.add(event.a, event.b) }
    var count = 0
    let found = try Comparer.compare(files, a: [], b: changes) {
      count += 1
      return try Fanout(settings, threads: 1)
    }
    var parts = comparer.finish()
    (parts.a.reach, parts.b.reach) = ([], [ChangeReach(users: 2)])
    #expect(found == parts)
    #expect(count == 1 && found.changed > 0)
  }

  @Test func aComparisonReadsAFileAsOftenAsItIsNamed() {
    let messages = ReplayFiles(messages: ["-"])
    let world = SettingsPaths(settings: ["-"])
    #expect(throws: Never.self) { try Comparer.checkCanBeRead(SettingsPaths(), messages, []) }
    #expect(throws: Never.self) {
      try Comparer.checkCanBeRead(world, ReplayFiles(messages: ["m.csv"]), [WhatIf("a.ndjson")])
    }
    for (world, changes) in [(world, []), (SettingsPaths(), [WhatIf("-")])] {
      #expect(throws: FileProblem(file: "-", line: nil, problem: .cannotBeReadAgain)) {
        try Comparer.checkCanBeRead(world, messages, changes)
      }
    }
  }
}
