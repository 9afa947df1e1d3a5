/// Finds the busiest step of a length, by messages, decisions and pushes, as messages come in the
/// order of time.
struct PeakFinder {
  /// Counts of messages, decisions and pushes.
  typealias Sums = InlineArray<3, Int>

  private let unit: String
  private let step: Int64
  private var current: Int64 = -1
  private var sums: Sums = [0, 0, 0]
  private var nanoseconds: UInt64 = 0
  /// For each of the three the conversation with most in the step, and how much.
  private var leaders: InlineArray<3, (index: Int, count: Int)> = InlineArray(repeating: (0, 0))
  /// By conversation: the step its sums are of, and the sums.
  private var conversations: [(step: Int64, sums: Sums)] = []
  private var most: Sums = [0, 0, 0]
  private var best: [(peak: Peak, index: Int)?] = [nil, nil, nil]

  private static let names = ["messages", "decisions", "pushes"]

  init(unit: String, step: Int64) {
    self.unit = unit
    self.step = step
  }

  mutating func add(
    at: Int64, _ index: Int, decisions: Int, pushes: Int, nanoseconds: UInt64
  ) {
    let now = at / step
    if now != current {
      close()
      current = now
    }
    while index >= conversations.count { conversations.append((-1, [0, 0, 0])) }
    if conversations[index].step != now { conversations[index] = (now, [0, 0, 0]) }
    let added: Sums = [1, decisions, pushes]
    for by in 0..<3 {
      sums[by] += added[by]
      conversations[index].sums[by] += added[by]
      if conversations[index].sums[by] > leaders[by].count {
        leaders[by] = (index, conversations[index].sums[by])
      }
    }
    self.nanoseconds += nanoseconds
  }

  /// Ends the step.
  private mutating func close() {
    if current >= 0 {
      for by in 0..<3 where sums[by] > most[by] {
        most[by] = sums[by]
        var peak = Peak(
          unit: unit, by: Self.names[by], at: current * step, messages: sums[0],
          decisions: sums[1], pushes: sums[2], conversation: "", share: leaders[by].count)
        peak.decidingSeconds = nanoseconds > 0 ? Double(nanoseconds) / 1e9 : nil
        best[by] = (peak, leaders[by].index)
      }
    }
    sums = [0, 0, 0]
    leaders = InlineArray(repeating: (0, 0))
    nanoseconds = 0
  }

  /// The peaks, of those that there are.
  mutating func finish(id: (Int) -> String) -> [Peak] {
    close()
    current = -1
    return best.compactMap { best in
      guard let (peak, index) = best else { return nil }
      var named = peak
      named.conversation = id(index)
      return named
    }
  }
}
