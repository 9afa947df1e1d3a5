internal import PushReplay

/// The checks of a provider's limit, and of what is followed.
extension ResultChecks {
  func check(_ limit: RateLimitResult, pushes: Int, _ field: String) throws(ReportProblem) {
    for (name, count) in [
      ("perSecond", limit.perSecond), ("secondsOver", limit.secondsOver),
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
    guard (limit.longest != nil) == isOver, (limit.worst != nil) == isOver,
      (limit.backlogs > 0) == isOver
    else {
      throw ReportProblem(
        field: "\(field).longest",
        reason: "a backlog belongs to seconds over the limit, of which there are "
          + "\(limit.secondsOver)")
    }
    for (name, backlog) in [("longest", limit.longest), ("worst", limit.worst)] {
      guard let backlog else { continue }
      try checkInstant(backlog.from, "\(field).\(name).from")
      try checkInstant(backlog.at, "\(field).\(name).at")
      try checkCount(backlog.waiting, "\(field).\(name).waiting")
      guard backlog.from <= backlog.at, (1...limit.backlogSeconds).contains(backlog.seconds) else {
        throw ReportProblem(
          field: "\(field).\(name)", reason: "is not within the time with a backlog")
      }
    }
  }

  func check(_ follow: FollowResult) throws(ReportProblem) {
    guard follow.messages.count <= min(follow.count, FollowResult.limit) else {
      throw ReportProblem(
        field: "follow.messages",
        reason: "are \(follow.messages.count), of \(follow.count), and at most "
          + "\(FollowResult.limit) are listed")
    }
    try checkCount(follow.count, "follow.count")
    for (row, message) in follow.messages.enumerated() {
      let field = "follow.messages[\(row)]"
      try checkInstant(message.at, "\(field).at")
      guard row == 0 || follow.messages[row - 1].at <= message.at,
        message.at >= result.first ?? .max, message.at <= result.last ?? .min
      else {
        throw ReportProblem(
          field: "\(field).at", reason: "is out of order, or outside of first and last")
      }
      try checkCount(message.recipients ?? 0, "\(field).recipients")
      try checkCount(message.pushes ?? 0, "\(field).pushes")
      guard message.pushes ?? 0 <= message.recipients ?? 0 else {
        throw ReportProblem(field: "\(field).pushes", reason: "are more than the recipients")
      }
    }
  }
}
