import PushFanout
import PushReference
import PushModel
import TestSupport

/// What one recipient of a message gets, by the outcome's code.
struct Row: Equatable, CustomStringConvertible {
  var user: UInt32
  var code: UInt8
  var devices: [Identifier]

  init(_ user: UserIndex, _ decision: Decision) {
    self.init(user, decision.outcome, decision.devices)
  }

  init(_ user: UserIndex, _ outcome: Outcome, _ devices: [Identifier]) {
    self.user = user.rawValue
    code = outcome.code
    self.devices = devices
  }

  var outcome: Outcome? { Outcome(code: code) }

  var description: String {
    "\(user): \(outcome.map { "\($0)" } ?? "code \(code)") \(devices)"
  }
}

/// Where two long arrays differ first, nil when they are equal. An expectation that compares them
/// itself looks for the shortest list of edits when it fails, which takes minutes.
func firstDifference<Value: Equatable>(_ found: [Value], _ expected: [Value]) -> String? {
  guard found != expected else { return nil }
  let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
  guard let place else { return "\(found.count) instead of \(expected.count)" }
  return "at \(place): \(found[place]) instead of \(expected[place])"
}

extension ReferenceEvaluator {
  /// What the recipients of a message get, in the order of users.
  mutating func rows(_ message: Message) -> [Row] {
    var rows: [Row] = []
    decide(message) { rows.append(Row($0, $1)) }
    return rows
  }
}

extension FanoutResult {
  /// What the recipients get, in the order of users.
  var rows: [Row] {
    var rows: [Row] = []
    forEachRecipient { rows.append(Row($0, $1, devices(of: $0))) }
    return rows
  }

  var writtenCodes: [UInt8] {
    var bytes = [UInt8](repeating: 0xFF, count: memberCount)
    var span = bytes.mutableSpan
    writeCodes(into: &span)
    return bytes
  }

  /// Where this is not what is expected, in whatever way it is asked; nil when it is.
  func disagreement(with expected: [Row]) -> String? {
    disagreement(ofRows: expected) ?? disagreement(ofCounts: expected)
      ?? disagreement(ofPushes: expected) ?? disagreement(ofMembers: expected)
  }

  private func disagreement(ofRows expected: [Row]) -> String? {
    firstDifference(rows, expected).map { "recipients " + $0 }
  }

  private func disagreement(ofCounts expected: [Row]) -> String? {
    var tally = [Int](repeating: 0, count: Outcome.codeCount)
    for row in expected { tally[Int(row.code)] += 1 }
    let counts = self.counts
    let pushes = expected.count { $0.outcome?.action == .push }
    let found = (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }
    if let place = firstDifference(found, tally) { return "counts " + place }
    let nonZero = counts.nonZero.map { "\($0.outcome) \($0.count)" }
    let wanted = Outcome.coded.filter { tally[Int($0.code)] > 0 }
      .map { "\($0.outcome) \(tally[Int($0.code)])" }
    if let place = firstDifference(nonZero, wanted) { return "nonZero " + place }
    let byReason = Reason.allCases.map { counts[$0] }
    let wantedByReason = Reason.allCases.map { reason in
      expected.count { $0.outcome?.reason == reason }
    }
    if let place = firstDifference(byReason, wantedByReason) { return "by reason " + place }
    return firstDifference(
      [counts.pushCount, pushCount, counts.recipientCount, recipientCount],
      [pushes, pushes, expected.count, expected.count]
    ).map { "numbers " + $0 }
  }

  private func disagreement(ofPushes expected: [Row]) -> String? {
    let pushes = expected.filter { $0.outcome?.action == .push }.map { UserIndex($0.user) }
    if let place = firstDifference(Array(self.pushes), pushes) { return "pushes " + place }
    return firstDifference(Array(self.pushes.ids), pushes.map { id(of: $0) })
      .map { "ids of pushes " + $0 }
  }

  private func disagreement(ofMembers expected: [Row]) -> String? {
    var codes: [UserIndex: UInt8] = [:]
    for row in expected { codes[UserIndex(row.user)] = row.code }
    let members = (0..<memberCount).map { member(at: $0) }
    let wanted = members.map { codes[$0] ?? 0 }
    if let place = firstDifference(writtenCodes, wanted) { return "codes " + place }
    let byIndex = members.map { outcome(of: $0)?.code ?? 0 }
    if let place = firstDifference(byIndex, wanted) { return "outcome(of:) " + place }
    let byID = members.map { outcome(of: id(of: $0))?.code ?? 0 }
    return firstDifference(byID, wanted).map { "outcome(of:) of an id " + $0 }
  }
}

/// What several threads put in places of their own, each place any number of times.
final class Collected<Value: Sendable>: Sendable {
  private let slots: Locked<[[Value]]>

  init(count: Int) { slots = Locked([[Value]](repeating: [], count: count)) }

  func set(_ place: Int, _ value: Value) { slots.withLock { $0[place].append(value) } }
  var values: [[Value]] { slots.withLock { $0 } }
}
