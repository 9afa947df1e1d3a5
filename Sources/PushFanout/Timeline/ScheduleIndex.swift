/// The members of a conversation by schedule.
struct ScheduleIndex {
  private var starts: [UInt32]
  private var ranks: [UInt32]
  /// Members whose schedule was changed since, by the new one. The old one still lists them, which
  /// does no harm: whoever is listed is only looked at.
  private var added: [UInt32: [UInt32]] = [:]
  private(set) var extraCount = 0

  /// - Precondition: schedules are below `scheduleCount`.
  init(_ schedules: UnsafePointer<UInt32>, count: Int, scheduleCount: Int) {
    starts = [UInt32](repeating: 0, count: scheduleCount + 1)
    ranks = [UInt32](repeating: 0, count: count)
    for rank in 0..<count { starts[Int(unsafe schedules[rank]) + 1] += 1 }
    for index in 1...scheduleCount { starts[index] += starts[index - 1] }
    var next = starts
    for rank in 0..<count {
      let schedule = unsafe Int(schedules[rank])
      ranks[Int(next[schedule])] = UInt32(rank)
      next[schedule] += 1
    }
  }

  /// Calls `body` with the ranks in the order of schedules, and where those of each begin.
  func withRanks(
    _ body: (UnsafeBufferPointer<UInt32>, UnsafeBufferPointer<UInt32>) -> Void
  ) {
    unsafe ranks.withUnsafeBufferPointer { (ranks) -> Void in
      unsafe starts.withUnsafeBufferPointer { unsafe body(ranks, $0) }
    }
  }

  func extra(of schedule: UInt32) -> [UInt32]? { added.isEmpty ? nil : added[schedule] }

  mutating func add(_ rank: UInt32, to schedule: UInt32) {
    added[schedule, default: []].append(rank)
    extraCount += 1
  }
}
