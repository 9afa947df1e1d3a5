import Foundation
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: whoever opens a store to read finds it whole, whatever others do with it at that moment.
@Suite(.serialized) struct ConcurrentOpeningTests {
  private static func problem(_ body: () throws -> [StoreProblem]) -> String? {
    do {
      let problems = try body()
      return problems.isEmpty ? nil : "\(problems)"
    } catch { return "\(error)" }
  }

  /// Openings beside a process that opens, makes the file grow, and closes.
  @Test func openingsBesideAWriterThatComesAndGoes() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let writer = try StoreWriter(["cycle", path, "0", "0", "1000000"], in: folder)
      defer { writer.kill() }
      try writer.wait(for: "cycle 0")
      var problems: [String] = []
      for opening in 0..<1200 {
        let problem = Self.problem {
          let reader = try StoreReader(path)
          defer { try? reader.close() }
          return opening % 10 == 0 ? try reader.check() : []
        }
        if let problem { problems.append(problem) }
        // Between two readers the writer can empty its log.
        Thread.sleep(forTimeInterval: Double(opening % 8) / 1000)
      }
      #expect(problems == [])
      #expect(writer.process.isRunning)
      // The writer did go on meanwhile.
      #expect(writer.lines.count > 5)
    }
  }

  /// After a crash the first of several readers recovers the log, and the others wait.
  @Test func openingsAfterAWriterWasKilled() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let seed = TestSupport.seed(1)
      var random = SeededGenerator(seed: seed)
      var found: Set<String> = []
      for _ in 0..<25 {
        let writer = try StoreWriter(["cycle", path, "0", "0", "1000000"], in: folder)
        try writer.wait(for: "cycle 0")
        Thread.sleep(forTimeInterval: Double.random(in: 0...0.05, using: &random))
        writer.kill()
        let readers = try (0..<4).map { _ in
          try StoreWriter(["look", path, "0", "0", "3"], in: folder)
        }
        for reader in readers {
          _ = try reader.finish()
          found.formUnion(reader.lines)
        }
      }
      #expect(found == ["looked"], "PUSH_SEED=\(seed)")
    }
  }
}
