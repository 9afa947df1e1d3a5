import Foundation
import TestSupport
import Testing

/// Goal: what `evaluate` writes is the same, byte for byte, whichever engine decides and however
/// many threads there are.
@Suite struct EngineTests {
  private static let forms: [[String]] = [
    ["--format", "ndjson"], ["--devices"], ["--format", "csv"], ["--format", "counts"],
    ["--format", "pushlist"], ["--format", "summary"], ["--json"],
  ]

  /// The options of every run, the first of which the others have to equal.
  private static let runs: [[String]] =
    [["--engine", "reference"], ["--engine", "packed"]]
    + ["1", "2", "7"].map { ["--engine", "packed", "--threads", $0] }

  /// Runs a command with both engines and several numbers of threads.
  ///
  /// - Returns: the reference's run.
  @discardableResult private func compare(
    _ arguments: [String], in place: Workplace, status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Run {
    let runs = try Self.runs.map { try place.run(arguments + $0) }
    #expect(runs.map(\.status) == runs.map { _ in status }, sourceLocation: sourceLocation)
    let reference = runs[0]
    for (run, options) in zip(runs, Self.runs) where run.output != reference.output {
      let (found, expected) = zip(run.lines, reference.lines).first { $0 != $1 } ?? ("", "")
      Issue.record(
        "\(arguments + options): \(run.lines.count) lines, \(found) instead of \(expected)",
        sourceLocation: sourceLocation)
    }
    // All but the last line, which has the time in it.
    let errors = reference.errorLines.dropLast(status == 0 ? 1 : 0)
    for run in runs where run.errorLines.count == reference.errorLines.count {
      #expect(
        zip(run.errorLines, errors).allSatisfy { $0 == $1 || $1.hasSuffix("decisions/s") },
        sourceLocation: sourceLocation)
    }
    #expect(
      Set(runs.map(\.errorLines.count)) == [reference.errorLines.count],
      sourceLocation: sourceLocation)
    return reference
  }

  @Test(arguments: VendorWorld.all)
  func everyFormIsTheSame(world: VendorWorld) throws {
    try withWorkplace { place in
      try world.write(to: place)
      for form in Self.forms {
        let run = try compare(VendorWorld.evaluate + form, in: place)
        #expect(!run.output.isEmpty)
      }
      let counts = try place.run(VendorWorld.evaluate + ["--format", "counts"])
      #expect(counts.lines.count == world.messages.count)
      #expect(counts.lines.contains { $0.contains(#""recipients":0,"counts":{}"#) })
      #expect(counts.lines.contains { !$0.contains(#""recipients":0"#) })
    }
  }

  @Test(arguments: VendorWorld.all)
  func chosenMessagesAreTheSame(world: VendorWorld) throws {
    try withWorkplace { place in
      try world.write(to: place)
      let chosen = VendorWorld.evaluate + ["--format", "counts", "--message"]
      let run = try compare(chosen + ["m5", "m,4", "m1"], in: place)
      #expect(
        run.lines.map { $0.prefix { $0 != "," } }
          == ["m1", "m", "m5", "m1"].map {
            $0 == "m" ? #"{"message":"m"# : #"{"message":"\#($0)""#
          })
      try compare(chosen + ["m5", "none"], in: place, status: 1)
    }
  }

  @Test(arguments: VendorWorld.all)
  func badLinesAreSkippedAlike(world: VendorWorld) throws {
    try withWorkplace { place in
      try world.write(to: place)
      let bad = ["nonsense", #"{"id":"x","conversation":"g1"}"#, "", #"{"id":"#]
      try place.write(
        world.messages.enumerated().flatMap { [$1, bad[$0 % bad.count]] }, as: "all.ndjson")
      for form in Self.forms {
        let run = try compare(
          VendorWorld.evaluate + form + ["--skip-invalid"], in: place, status: 1)
        let clean = try place.run(VendorWorld.evaluate + form + ["--skip-invalid", "-o", "out"])
        #expect(run.output == (try place.read("out")))
        #expect(clean.errorLines.count == run.errorLines.count)
        #expect(run.errorLines.contains("all.ndjson:2: the line is not JSON"))
        #expect(
          run.errorLines.contains { $0.hasPrefix("push-fanout: bad lines left out: ") })
      }
    }
  }

  @Test func realMessagesAreTheSame() throws {
    let data = Repository.root.appending(path: "data")
    let file = { (kind: String) in
      data.appending(path: "fcc-2016-03-03.\(kind).csv.gz").path
    }
    try withWorkplace { place in
      let run = try compare(
        [
          "evaluate", "--users", file("users"), "--members", file("members"), "--messages",
          file("messages"), "--format", "csv",
        ], in: place)
      #expect(run.lines.count == 99_276)
    }
  }

  /// More messages than are decided at a time, to several conversations and back and forth in time.
  @Test func orderIsKeptBeyondABatch() throws {
    try withWorkplace { place in
      try place.write(
        SmallWorld.settings
          + (0..<40).map {
            #"{"kind":"member","conversation":"c\#($0 % 5)","user":"v\#($0)"}"#
          }, as: "world.ndjson")
      let ids = (0..<9000).map { "m\($0)" }
      try place.write(
        ids.enumerated().map { place, id in
          let at = 1_717_401_600_000 + place * 7_919_000 % 90_000_000
          return #"{"id":"\#(id)","conversation":"\#(place % 3 == 0 ? "g1" : "c\(place % 7)")","#
            + #""sender":"v\#(place % 40)","at":\#(at)}"#
        }, as: "messages.ndjson")
      try compare(SmallWorld.evaluate + ["--format", "csv"], in: place)
      let counts = try compare(SmallWorld.evaluate + ["--format", "counts"], in: place)
      #expect(
        zip(counts.lines, ids).allSatisfy { $0.hasPrefix(#"{"message":"\#($1)","#) })
      #expect(counts.lines.count == ids.count)
    }
  }

  /// A group whose rows are put together in several pieces, also in one batch with small ones.
  @Test func aLargeGroupIsTheSame() throws {
    try withWorkplace { place in
      // In the second group the first who gets a push stands in a later piece, in the third nobody
      // gets one.
      let groups = [("g1", ["", "mention", "none"]), ("g2", ["none"]), ("g3", ["none"])]
      try place.write(
        ["conversation,user,level"]
          + groups.flatMap { group, levels in
            (0..<40_000).map { "\(group),\"u,\($0)\",\(levels[$0 % levels.count])" }
          } + ["g2,\"u,36000\",", "g4,x,"], as: "members.csv")
      try place.write(
        ["id,conversation,at,sender,mentions"]
          + (0..<8).map {
            "m\($0),g\($0 % 4 + 1),1717401600000,\"u,\($0)\",\"u,16384;u,\($0 + 1)\""
          },
        as: "m.csv")
      for form in ["csv", "pushlist"] {
        let run = try compare(
          ["evaluate", "--members", "members.csv", "--messages", "m.csv", "--format", form],
          in: place)
        #expect(run.lines.count == (form == "csv" ? 1 + 6 * 39_999 + 2 : 8))
      }
    }
  }
}
