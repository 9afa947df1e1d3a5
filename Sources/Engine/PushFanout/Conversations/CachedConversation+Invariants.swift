internal import PushModel
internal import Synchronization

extension CachedConversation {
  /// Stops the process unless the words examined are what a version's tables give at the instant of
  /// the words, events ascend, and runs and tallies count the words.
  ///
  /// - Precondition: the lock is held, and the words are brought up to the version.
  /// - Complexity: O(members) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(
    _ version: EngineVersion, _ changing: borrowing Changing, _ scope: InvariantScope
  ) {
    let resolver = MemberResolver(version)
    // Words of a snapshot are not computed again: its checksums are what is verified.
    let isBuilt = version.tables.userIDs.mapping == nil
    for rank in scope.indices(below: isBuilt ? count : 0) {
      let expected = resolver.word(rank, target, at: changing.now)
      precondition(
        word(rank) == expected,
        "CachedConversation: member \(rank) has \(word(rank)), not \(expected)")
    }
    precondition(
      changing.eventCount <= changing.events.count,
      "CachedConversation: \(changing.eventCount) of \(changing.events.count) events past")
    for index in scope.indices(below: changing.events.count) {
      let event = changing.events[index]
      precondition(
        index == 0 || changing.events[index - 1].precedes(event),
        "CachedConversation: event \(index) precedes the one before")
      precondition(
        (event.at <= changing.now) == (index < changing.eventCount),
        "CachedConversation: event \(index) is on the wrong side of \(changing.now)")
    }
    precondition(
      changing.eventRanks.isEmpty || changing.eventRanks.count == changing.events.count,
      "CachedConversation: \(changing.eventRanks.count) ranks of \(changing.events.count) events")
    if case .all = scope { checkCounts(changing) }
  }

  private func check(_ known: WordRuns, _ words: [MemberWord]) {
    if !known.isMade { return }
    var runs = WordRuns()
    runs.make(words.map(\.bits))
    for (bits, number) in zip(known.words, known.counts) where number > 0 {
      let index = runs.words.firstIndex(of: bits)
      precondition(
        index.map { runs.counts[$0] } == number,
        "CachedConversation: \(number) members have the word \(bits)")
    }
  }

  private func checkCounts(_ changing: borrowing Changing) {
    let words = (0..<count).map { word($0) }
    if changing.patternRuns.runs.isMade {
      check(changing.patternRuns.runs, words.compactMap { changing.patternRuns.word($0) })
    }
    if isSmall { return }
    for slot in 0..<Self.tallyCount {
      guard let quiet = changing.tallied[slot] else { continue }
      var numbers = [UInt32](repeating: 0, count: 256)
      unsafe numbers.withUnsafeMutableBufferPointer { (numbers) -> Void in
        guard let start = numbers.baseAddress else { return }
        unsafe countWords(quiet.phases, into: start)
      }
      for state in 0..<stateCount {
        let number = unsafe tallies[slot * stateCount + state].load(ordering: .relaxed)
        precondition(
          number == numbers[state],
          "CachedConversation: \(number) members in state \(state), not \(numbers[state])")
      }
    }
  }
}
