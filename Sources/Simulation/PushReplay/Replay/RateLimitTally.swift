/// Compares the pushes of each second with a limit, as messages come in the order of time.
struct RateLimitTally {
  private let limit: Int
  private var result: RateLimitResult
  /// The second that pushes are added to, and how many there are; -1 before the first.
  private var second: Int64 = -1
  private var pushes = 0
  /// What waits at the end of the second before.
  private var waiting = 0
  private var backlog: Backlog?
  private var lastMinuteOver: Int64 = -1

  /// - Precondition: the limit is at least 1.
  init(perSecond limit: Int) {
    self.limit = limit
    result = RateLimitResult(perSecond: limit)
  }

  /// Adds the pushes of a message at an instant in milliseconds.
  mutating func add(_ at: Int64, pushes: Int) {
    if at / 1000 != second {
      close(before: at / 1000)
      second = at / 1000
    }
    self.pushes += pushes
  }

  /// Ends the second, and lets what waits be sent until another one begins.
  private mutating func close(before next: Int64) {
    guard second >= 0 else { return }
    result.most = max(result.most, pushes)
    if pushes > limit {
      result.secondsOver += 1
      if second / 60 != lastMinuteOver {
        lastMinuteOver = second / 60
        result.minutesOver += 1
      }
    }
    let left = max(0, waiting + pushes - limit)
    result.delayed += min(pushes, left)
    waiting = left
    pushes = 0
    guard waiting > 0 else {
      endBacklog()
      return
    }
    var current = backlog ?? Backlog(from: second * 1000, seconds: 0, waiting: 0, at: 0)
    current.seconds += 1
    if waiting > current.waiting { (current.waiting, current.at) = (waiting, second * 1000) }
    backlog = current
    // At the end of the next seconds, in which nothing arrives.
    let idle = Int(min(next - second - 1, Int64(waiting / limit + 1)))
    let full = min(idle, (waiting - 1) / limit)
    backlog?.seconds += full
    waiting = max(0, waiting - idle * limit)
    if waiting == 0 { endBacklog() }
  }

  private mutating func endBacklog() {
    guard let backlog else { return }
    result.backlogs += 1
    result.backlogSeconds += backlog.seconds
    if backlog.seconds > result.longest?.seconds ?? 0 { result.longest = backlog }
    if backlog.waiting > result.worst?.waiting ?? 0 { result.worst = backlog }
    self.backlog = nil
  }

  mutating func finish() -> RateLimitResult {
    close(before: .max)
    second = -1
    return result
  }
}
