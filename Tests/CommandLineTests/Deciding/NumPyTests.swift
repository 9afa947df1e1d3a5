import Foundation
import TestSupport
import Testing

/// Goal: `--format npy` writes a folder that says the same as `--format csv` of either engine, in
/// arrays as NumPy defines them, the same bytes for any number of threads.
@Suite struct NumPyTests {
  private func decisions(_ place: Workplace, _ name: String) throws -> NumPyDecisions {
    try NumPyDecisions(place.url.appending(path: name))
  }

  /// Each file of a folder.
  private func bytes(_ place: Workplace, _ name: String) throws -> [Data] {
    try NumPyDecisions.files.map { file in
      try Data(contentsOf: place.url.appending(path: name).appending(path: file))
    }
  }

  /// - Returns: what the folder of one thread says.
  @discardableResult private func expectSame(
    _ arguments: [String], in place: Workplace, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> NumPyDecisions {
    for threads in ["1", "2", "7"] {
      let name = "out\(threads)"
      let run = try place.run(arguments + ["--format", "npy", "--threads", threads, "-o", name])
      #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
      #expect(run.output == "")
      let notes = run.errorLines.filter { !$0.contains(" to unknown conversations: ") }
      #expect(notes.count == 1, "\(run.errors)", sourceLocation: sourceLocation)
      #expect(try bytes(place, name) == bytes(place, "out1"), sourceLocation: sourceLocation)
    }
    let found = try decisions(place, "out1")
    for engine in ["packed", "reference"] {
      let run = try place.run(arguments + ["--format", "csv", "--engine", engine])
      let rows = Array(NumPyDecisions.csvRows(run.output).dropFirst())
      #expect(firstDifference(found.rows, rows) == nil, sourceLocation: sourceLocation)
    }
    #expect(place.names().filter { $0.contains(".part") } == [], sourceLocation: sourceLocation)
    return found
  }

  @Test(arguments: VendorWorld.all)
  func arraysSayWhatRowsSay(world: VendorWorld) throws {
    try withWorkplace { place in
      try world.write(to: place)
      try expectSame(VendorWorld.evaluate, in: place)
    }
  }

  /// All of the smaller slice, and of the larger one the first messages, or with `PUSH_FULL=1` all.
  @Test(.tags(.slow), .unlessFast, arguments: ["fcc-2016-03-03", "qa-2021-05-19"])
  func arraysOfRealMessagesSayWhatRowsSay(slice: String) throws {
    let isFull = ProcessInfo.processInfo.environment["PUSH_FULL"] == "1"
    let count = isFull || slice.hasPrefix("fcc-") ? 1_000_000 : 20
    let file = { (kind: String) in
      Repository.root.appending(path: "data/\(slice).\(kind).csv.gz").path
    }
    try withWorkplace { place in
      try place.shell("gzip -dc '\(file("messages"))' | head -n \(count + 1) >real.csv")
      let found = try expectSame(
        [
          "evaluate", "--users", file("users"), "--members", file("members"), "--messages",
          "real.csv",
        ], in: place)
      #expect(found.rows.count > 10_000)
      #expect(found.lists.count < found.messages.count)
    }
  }

  @Test func chosenMessagesAreNumberedAsTheyCome() throws {
    try withWorkplace { place in
      try VendorWorld.easemob.write(to: place)
      let found = try expectSame(
        VendorWorld.evaluate + ["--message", "m1", "m,4", "m10"], in: place)
      #expect(found.messages.map { $0[0] } == ["m1", "m,4", "m10", "m1"])
    }
  }

  /// A thread's recipients are its parent's members.
  @Test func theMembersOfAConversationStandOnce() throws {
    try withWorkplace { place in
      let thread = #"{"kind":"conversation","id":"t1","type":"thread","parent":"g1"}"#
      try place.write(SmallWorld.settings + [thread], as: "world.ndjson")
      let ids = ["g1", "g9", "t1", "g1"]
      try place.write(
        ids.map { #"{"id":"m","conversation":"\#($0)","sender":"u1","at":1717401600000}"# },
        as: "messages.ndjson")
      let found = try expectSame(SmallWorld.evaluate, in: place)
      #expect(found.lists == [[], [0, 1, 2]])
      #expect(found.messageLists == [1, 0, 1, 1])
      #expect(found.messages == ids.map { ["m", $0] })
      #expect(found.rows.map { $0[1] } == ["u2", "u3", "u2", "u3", "u2", "u3"])
    }
  }

  @Test func aLargeGroupAndManyMessagesStayInOrder() throws {
    try withWorkplace { place in
      try place.write(
        (0..<20_000).map {
          #"{"kind":"member","conversation":"g1","user":"u\#($0)","level":"\#(["all", "none"][$0 % 2])"}"#
        } + [#"{"kind":"member","conversation":"g2","user":"x"}"#], as: "world.ndjson")
      try place.write(
        (0..<5000).map {
          #"{"id":"m\#($0)","conversation":"g\#($0 % 2000 == 0 ? 1 : 2)","at":\#($0)}"#
        }, as: "messages.ndjson")
      let found = try expectSame(SmallWorld.evaluate, in: place)
      #expect(found.lists.map(\.count) == [0, 20_000, 1])
    }
  }

  @Test func decisionsOfNobodyAreEmptyArrays() throws {
    try withWorkplace { place in
      try place.write([SmallWorld.messages[2]], as: "messages.ndjson")
      let found = try expectSame(SmallWorld.evaluate, in: place)
      #expect(found.rows == [])
      #expect(found.lists == [[]])
      #expect(found.messages == [["m1", "g9"]])
    }
  }

  @Test func aSlashBehindTheNameIsNoPartOfIt() throws {
    try withWorkplace { place in
      let run = try place.run(SmallWorld.evaluate + ["--format", "npy", "-o", "out/"])
      #expect(run.status == 0)
      #expect(try decisions(place, "out").rows.count == 5)
      #expect(place.names() == ["messages.ndjson", "out", "world.ndjson"])
    }
  }

  @Test func badLinesAreSkipped() throws {
    try withWorkplace { place in
      try place.write(
        [SmallWorld.messages[0], "nonsense", SmallWorld.messages[1]], as: "messages.ndjson")
      let run = try place.run(
        SmallWorld.evaluate + ["--format", "npy", "--skip-invalid", "-o", "out"])
      #expect(run.status == 1)
      #expect(
        run.errorLines.dropLast() == [
          "messages.ndjson:2: the line is not JSON",
          "push-fanout: bad lines left out: 1",
        ])
      #expect(try decisions(place, "out").rows.map { $0[0] } == ["m1", "m1", "m1", "m2", "m2"])
    }
  }
}
