internal import QuietTime

extension UserClasses {
  /// Stops the process unless the classes examined are what the tables give at ``from``.
  ///
  /// - Complexity: O(users) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ tables: Tables, _ scope: InvariantScope, generation: UInt64) {
    log.checkInvariants(scope, generation: generation)
    // Nothing has been computed yet.
    guard until > 0 else { return }
    precondition(from < until, "UserClasses: valid from \(from) until \(until)")
    precondition(
      quiet.count == tables.scheduleTable.count,
      "UserClasses: \(quiet.count) schedules of \(tables.scheduleTable.count)")
    for kind in 0..<8 where hasClasses(kind) {
      precondition(
        byKind[kind].count == tables.userCount,
        "UserClasses: \(byKind[kind].count) users of \(tables.userCount)")
      byKind[kind].checkInvariants(scope, generation: generation)
      // Users of a snapshot may share device records, so that one's update changes another.
      guard tables.userIDs.mapping == nil else { continue }
      for user in scope.indices(below: tables.userCount) {
        let bits = quiet[Int(tables.schedules[user])]
        let expected = tables.userClass(of: UInt32(user), kind: kind, quiet: bits, at: from)
        precondition(
          byKind[kind][user] == expected.bits,
          "UserClasses: user \(user) has class \(byKind[kind][user]), not \(expected.bits)")
      }
    }
  }
}
