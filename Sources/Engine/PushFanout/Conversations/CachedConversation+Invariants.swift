internal import PushModel
internal import Synchronization

extension CachedConversation {
  /// - Precondition: the lock is held, and the keys have caught up with the version.
  /// - Complexity: O(members) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(
    _ version: EngineVersion, _ guarded: borrowing Guarded, _ scope: InvariantScope
  ) {
    let resolver = MemberResolver(version)
    // Checksums verify a snapshot's keys.
    let isBuilt = version.tables.userIDs.mapping == nil
    for rank in scope.indices(below: isBuilt ? count : 0) {
      let expected = resolver.key(rank, target, at: guarded.events.now)
      precondition(
        key(rank) == expected,
        "CachedConversation: member \(rank) has \(key(rank)), not \(expected)")
    }
    guarded.events.checkInvariants(scope)
    guarded.changes.checkInvariants(scope)
    if case .all = scope { guarded.tallies.checkInvariants(self) }
  }
}

extension Tallies {
  /// - Complexity: O(members).
  fileprivate func checkInvariants(_ conversation: CachedConversation) {
    let keys = (0..<conversation.count).map { conversation.key($0) }
    if runs.runs.isMade { check(runs.runs, keys.compactMap { runs.key($0) }) }
    for (slot, quiet) in intervals.enumerated() {
      guard let quiet else { continue }
      var numbers = [UInt32](repeating: 0, count: 256)
      unsafe numbers.withUnsafeMutableBufferPointer { (numbers) -> Void in
        guard let start = numbers.baseAddress else { return }
        unsafe conversation.countKeys(quiet.phases, into: start)
      }
      for state in 0..<conversation.stateCount {
        let number = unsafe conversation.tallies[slot * conversation.stateCapacity + state]
          .load(ordering: .relaxed)
        precondition(
          number == numbers[state],
          "Tallies: \(number) members in state \(state), not \(numbers[state])")
      }
    }
  }

  private func check(_ known: KeyRuns, _ keys: [MemberKey]) {
    var runs = KeyRuns()
    runs.make(keys.map(\.bits))
    for (bits, number) in zip(known.keys, known.counts) where number > 0 {
      let index = runs.keys.firstIndex(of: bits)
      precondition(
        index.map { runs.counts[$0] } == number, "Tallies: \(number) members have the key \(bits)")
    }
  }
}
