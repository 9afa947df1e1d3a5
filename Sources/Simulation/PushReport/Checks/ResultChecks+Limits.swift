internal import PushReplay

/// The check of a provider's limit.
extension ResultChecks {
  func check(_ limit: RateLimitResult, pushes: Int, _ field: String) throws(ReportProblem) {
    for (name, count) in [
      ("perSecond", limit.perSecond), ("most", limit.most), ("secondsOver", limit.secondsOver),
      ("minutesOver", limit.minutesOver), ("delayed", limit.delayed),
      ("backlogs", limit.backlogs), ("backlogSeconds", limit.backlogSeconds),
    ] { try checkCount(count, "\(field).\(name)") }
    guard limit.minutesOver <= limit.secondsOver, limit.delayed <= pushes else {
      throw ReportProblem(
        field: field,
        reason: "has more minutes than seconds over the limit, or delays more pushes "
          + "than there are")
    }
    let isOver = limit.secondsOver > 0
    guard (limit.most > limit.perSecond) == isOver, limit.most <= pushes else {
      throw ReportProblem(
        field: "\(field).most",
        reason: "is \(limit.most), which does not agree with \(limit.secondsOver) seconds over "
          + "\(limit.perSecond), or with \(pushes) pushes")
    }
    guard (limit.longest != nil) == isOver, (limit.worst != nil) == isOver,
      (limit.backlogs > 0) == isOver
    else {
      throw ReportProblem(
        field: "\(field).longest",
        reason: "a backlog belongs to seconds over the limit, of which there are "
          + "\(limit.secondsOver)")
    }
    try checkBacklog(limit.longest, of: limit, "\(field).longest")
    try checkBacklog(limit.worst, of: limit, "\(field).worst")
  }

  /// Not in a loop of two: swiftc 6.3 unrolls it, and writes other code each time.
  private func checkBacklog(
    _ backlog: Backlog?, of limit: RateLimitResult, _ field: String
  ) throws(ReportProblem) {
    guard let backlog else { return }
    try checkInstant(backlog.from, "\(field).from")
    try checkInstant(backlog.at, "\(field).at")
    try checkCount(backlog.waiting, "\(field).waiting")
    guard backlog.from <= backlog.at, (1...limit.backlogSeconds).contains(backlog.seconds) else {
      throw ReportProblem(field: field, reason: "is not within the time with a backlog")
    }
  }
}
