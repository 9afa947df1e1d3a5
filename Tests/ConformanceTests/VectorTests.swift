import Foundation
import PushFanout
import PushReference
import PushModel
import PushService
import TestSupport
import Testing

/// Goal: every conformance case is answered as it says, in action, reason, scope and devices, for all
/// recipients and for one.
///
/// `vectors.ndjson` holds a world, a message and what its only recipient gets, one case a line.
@Suite struct VectorTests {
  @Test func thereAreAllCases() throws { #expect(try ConformanceVector.all().count == 96) }

  @Test func theReferenceAgrees() throws {
    #expect(
      try ConformanceVector.all().flatMap { try $0.problems { ReferenceEvaluator($0) } } == [])
  }

  @Test func theEngineAgrees() throws {
    let problems = try ConformanceVector.all().flatMap {
      try $0.problems { try Fanout($0, threads: 1) }
    }
    #expect(problems == [])
  }

  /// As `push-fanout test` reads them.
  @Test func theCasesAreExpectationsThatHold() throws {
    let files = ["vectors", "open-vectors", "open-cases"].map {
      Repository.root.appending(path: "Tests/ConformanceTests/\($0).ndjson").path
    }
    let results = try ExpectationCheck.results(of: files)
    #expect(files.map { file in results.count { $0.file == file } } == [96, 60, 521])
    #expect(results.filter { !$0.holds }.map(\.description) == [])
  }

  /// The reference's explanations, and those of a service of an engine, end as the case says.
  @Test func explanationsEndInTheAnswer() throws {
    for vector in try ConformanceVector.all() {
      let settings = vector.settings
      var reference = ReferenceEvaluator(settings)
      let service = try FanoutService(Fanout(settings, threads: 1))
      let users = (0..<UInt32(settings.userCount)).map { settings.id(of: UserIndex($0)) }
      let explained = users.map { reference.explain(vector.message, for: $0) }
      #expect(explained.compactMap(\.decision?.outcome.key) == [vector.expected], "\(vector.id)")
      for (user, expected) in zip(users, explained) {
        let found = service.explain(vector.message, for: user)
        #expect(found.steps == expected.steps, "\(vector.id), \(user)")
        #expect(found.decision == expected.decision, "\(vector.id), \(user)")
      }
    }
  }
}
