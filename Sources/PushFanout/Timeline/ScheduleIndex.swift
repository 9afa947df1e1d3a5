/// The ranks of a conversation's members, grouped by schedule.
struct ScheduleIndex {
  private var starts: [UInt32]
  private var ranks: [UInt32]
  /// Members whose schedule changed since, by the new schedule. The old schedule still lists them,
  /// which only costs a check.
  private var added: [UInt32: [UInt32]] = [:]
  private(set) var extraCount = 0

  /// - Precondition: every schedule is below `scheduleCount`.
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

  /// Calls `body` with the ranks in the order of schedules, and the start of each schedule's ranks.
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
