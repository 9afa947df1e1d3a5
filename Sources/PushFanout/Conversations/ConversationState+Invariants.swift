extension ConversationState {
  /// Stops the process unless the states examined are states of the rules, events ascend, and the
  /// summaries that exist count them right.
  ///
  /// - Complexity: O(members) for ``InvariantScope/all``, O(1) for a sample.
  func checkInvariants(_ rules: StateRules, _ scope: InvariantScope) {
    precondition(
      validity.from < validity.until,
      "ConversationState: valid from \(validity.from) until \(validity.until)")
    for rank in scope.indices(below: count) {
      let state = unsafe bytes[rank]
      precondition(
        state < rules.stateCount, "ConversationState: member \(rank) is in no state \(state)")
    }
    for index in scope.indices(below: overrides.count) {
      precondition(
        overrides[index].rank < count,
        "ConversationState: overrides of member \(overrides[index].rank) of \(count)")
    }
    precondition(
      eventCount <= events.count, "ConversationState: \(eventCount) of \(events.count) events past")
    for index in scope.indices(below: events.count) {
      precondition(
        index == 0 || events[index - 1].at <= events[index].at,
        "ConversationState: event \(index) precedes the one before")
    }
    if case .all = scope { checkSummaries(rules) }
  }

  private func checkSummaries(_ rules: StateRules) {
    let states = unsafe UnsafeBufferPointer(start: bytes, count: count)
    if let histogram = AtomicLazy.load(histogram, as: Histogram.self) {
      let expected = unsafe Histogram(states)
      for state in 0..<256 {
        precondition(
          histogram.counts[state] == expected.counts[state],
          "ConversationState: \(histogram.counts[state]) members in state \(state)")
      }
    }
    for slot in 0..<16 {
      guard let bitmap = AtomicLazy.load(bitmaps[slot], as: Bitmap.self) else { continue }
      let expected = unsafe Bitmap(
        bitmap.messageClass, states, codes: rules.codes(bitmap.messageClass))
      for word in 0..<bitmap.wordCount {
        precondition(
          unsafe bitmap.words[word] == expected.words[word],
          "ConversationState: word \(word) of message class \(bitmap.messageClass)")
      }
    }
  }
}
