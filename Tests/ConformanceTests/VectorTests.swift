import PushFanout
import PushReference
import PushModel
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
}
