package import PushFanout
package import PushModel
package import PushReference

/// What one recipient of a message gets, by the outcome's code.
package struct Row: Equatable, CustomStringConvertible {
  package var user: UInt32
  package var code: UInt8
  package var devices: [Identifier]

  package init(_ user: UserIndex, _ decision: Decision) {
    self.init(user, decision.outcome, decision.devices)
  }

  package init(_ user: UserIndex, _ outcome: Outcome, _ devices: [Identifier]) {
    self.user = user.rawValue
    code = outcome.code
    self.devices = devices
  }

  package var outcome: Outcome? { Outcome(code: code) }

  package var description: String {
    "\(user): \(outcome.map { "\($0)" } ?? "code \(code)") \(devices)"
  }
}

extension ReferenceEvaluator {
  /// What the recipients of a message get, in the order of users.
  package mutating func rows(_ message: Message) -> [Row] {
    var rows: [Row] = []
    decide(message) { rows.append(Row($0, $1)) }
    return rows
  }
}

extension FanoutResult {
  /// What the recipients get, in the order of users.
  package var rows: [Row] {
    var rows: [Row] = []
    forEachRecipient { rows.append(Row($0, $1, devices(of: $0))) }
    return rows
  }

  package var writtenCodes: [UInt8] {
    var bytes = [UInt8](repeating: 0xFF, count: memberCount)
    var span = bytes.mutableSpan
    writeCodes(into: &span)
    return bytes
  }

  /// Where this is not what is expected, in whatever way it is asked; nil when it is.
  package func disagreement(with expected: [Row]) -> String? {
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
package final class Collected<Value: Sendable>: Sendable {
  private let slots: Locked<[[Value]]>

  package init(count: Int) { slots = Locked([[Value]](repeating: [], count: count)) }

  package func set(_ place: Int, _ value: Value) { slots.withLock { $0[place].append(value) } }
  package var values: [[Value]] { slots.withLock { $0 } }
}
