import Foundation
import TestSupport
import Testing

/// Goal: a folder of arrays that does not come to its end leaves nothing, and what has the name
/// already stays as it is.
@Suite struct NumPyFailureTests {
  private static let inputs = ["messages.ndjson", "world.ndjson"]
  private static let evaluate = SmallWorld.evaluate + ["--format", "npy", "--output"]

  @Test func whatIsThereIsRefusedAndStays() throws {
    try withWorkplace { place in
      try place.shell("mkdir folder; echo a >folder/codes.npy; echo b >file; ln -s none link")
      let before = place.names()
      for name in ["folder", "folder/", "file", "link", "/dev/null"] {
        let run = try place.run(Self.evaluate + [name])
        let shown = name == "folder/" ? "folder" : name
        #expect(
          run.errors
            == "push-fanout: cannot write \(shown): there is something of that name; name another\n"
        )
        #expect(run.status == 1)
      }
      let missing = try place.run(Self.evaluate + ["none/out"])
      #expect(
        missing.errors == "push-fanout: cannot write none/out: No such file or directory\n")
      #expect(missing.status == 1)
      #expect(place.names() == before)
      #expect(try place.shell("cat folder/* file; ls folder").lines == ["a", "b", "codes.npy"])
    }
  }

  /// The bad line stands behind more messages than are decided at a time.
  @Test(arguments: ["npy", "ndjson", "csv", "pushlist", "counts"], [1, 9000])
  func aBadLineLeavesNothing(format: String, count: Int) throws {
    try withWorkplace { place in
      try place.write(
        Array(repeating: SmallWorld.messages[0], count: count) + [
          "nonsense", SmallWorld.messages[1],
        ],
        as: "messages.ndjson")
      for threads in ["1", "7"] {
        let run = try place.run(
          SmallWorld.evaluate + ["--format", format, "--threads", threads, "--output", "out"])
        #expect(run.errors == "messages.ndjson:\(count + 1): the line is not JSON\n")
        #expect(run.status == 1)
        #expect(place.names() == Self.inputs)
      }
    }
  }

  /// What stands on standard output before a bad line does not depend on the number of threads.
  @Test(arguments: ["ndjson", "csv", "pushlist", "counts"])
  func rowsBeforeABadLineAreTheSame(format: String) throws {
    try withWorkplace { place in
      try place.write(
        Array(repeating: SmallWorld.messages[0], count: 20_000) + ["nonsense"],
        as: "messages.ndjson")
      let runs = try ["1", "2", "7"].map {
        try place.run(SmallWorld.evaluate + ["--format", format, "--threads", $0])
      }
      #expect(runs.map(\.status) == [1, 1, 1])
      #expect(runs[0].lines.count > 5000)
      #expect(runs.map { $0.output == runs[0].output } == [true, true, true])
    }
  }

  @Test func aMessageThatIsMissingLeavesNothing() throws {
    try withWorkplace { place in
      let run = try place.run(Self.evaluate + ["out", "--message", "m1", "m7"])
      #expect(run.errors == "push-fanout: no message in messages.ndjson has the id \"m7\"\n")
      #expect(run.status == 1)
      #expect(place.names() == Self.inputs)
    }
  }

  @Test func tooFewOpenFilesLeaveNothing() throws {
    try withWorkplace { place in
      try place.shell(
        """
        for count in $(seq 6 20); do
          (ulimit -n $count; "$0" evaluate --settings world.ndjson --messages messages.ndjson \
        --format npy --output out 2>/dev/null; rm -rf out)
        done
        """)
      #expect(place.names() == Self.inputs)
    }
  }

  /// Interrupts a run once a file in its folder is as large as that.
  private func interrupt(
    _ arguments: [String], _ place: Workplace, when isTime: ([String: Int]) -> Bool
  ) throws -> (run: Run, isInterrupted: Bool) {
    var isInterrupted = false
    let run = try place.run(arguments) { process in
      isInterrupted = waits(while: { process.isRunning }) {
        guard let folder = place.names().first(where: { $0.hasPrefix("out.") }) else {
          return false
        }
        let files = FileManager.default
        let names = (try? files.contentsOfDirectory(atPath: place.path(folder))) ?? []
        let sizes = names.map { name -> (String, Int) in
          let size = try? files.attributesOfItem(atPath: "\(place.path(folder))/\(name)")[.size]
          return (name, size as? Int ?? 0)
        }
        return isTime(Dictionary(sizes) { first, _ in first })
      }
      _ = try? place.shell("kill -INT \(process.processIdentifier)")
    }
    return (run, isInterrupted)
  }

  @Test func anInterruptedRunLeavesNothing() throws {
    try withWorkplace { place in
      try SmallWorld.writeLarge(to: place)
      let (run, isInterrupted) = try interrupt(Self.evaluate + ["out"], place) { sizes in
        sizes.contains { $0.key.hasPrefix("codes.npy") && $0.value > 128 }
      }
      #expect(isInterrupted)
      #expect(
        run.errorLines == ["push-fanout: interrupted; no output was written"])
      #expect(run.status == 1)
      #expect(place.names() == Self.inputs)
    }
  }

  /// The folder is interrupted while its last files are written, or about when it gets its name: it
  /// is there with all files, or not at all, and what is printed is true.
  @Test func anInterruptionAtTheEndLeavesNothingOrAll() throws {
    try withWorkplace { place in
      let arguments = ["evaluate", "--members", "m.csv", "--messages", "messages.ndjson"]
      var found: Set<String> = []
      // A short moment; once it is missed there is a longer one.
      for count in [50_000, 100_000, 200_000, 400_000, 800_000] {
        try place.write(["conversation,user"] + (0..<count).map { "g1,u\($0)" }, as: "m.csv")
        for last in ["users.csv", "metadata.json", "users.csv", "metadata.json"] {
          let (run, _) = try interrupt(arguments + ["--format", "npy", "--output", "out"], place) {
            $0.contains { $0.key.hasPrefix(last) && $0.value > 0 || $0.key == "metadata.json" }
          }
          // The line of the totals may come before it, or after it.
          let interrupted = run.errorLines.first { $0.hasPrefix("push-fanout: interrupted") }
          let message = run.status == 1 ? interrupted ?? "" : "complete"
          found.insert(message)
          let isThere = place.names().contains("out")
          #expect(isThere == (message != "push-fanout: interrupted; no output was written"))
          // What was removed meanwhile is no error of the thread that writes it.
          #expect(!run.errorLines.contains { $0.contains("cannot write") })
          #expect(place.names() == (["m.csv"] + Self.inputs + (isThere ? ["out"] : [])).sorted())
          if isThere {
            #expect(try place.shell("ls out").lines == NumPyDecisions.files)
            try place.shell("rm -r out")
          }
        }
        if found.contains("push-fanout: interrupted; no output was written") { break }
      }
      #expect(found.contains("push-fanout: interrupted; no output was written"))
      #expect(
        found.isSubset(of: [
          "push-fanout: interrupted; no output was written", "complete",
          "push-fanout: interrupted; out is complete",
        ]))
    }
  }
}
