internal import PushReplay

extension ResultCheck {
  /// What is listed is part of what is counted, in the order of time.
  func check(_ follow: FollowResult) throws(ReportProblem) {
    guard follow.messages.count <= min(follow.count, FollowResult.limit) else {
      throw ReportProblem(
        field: "follow.messages",
        reason: "are \(follow.messages.count), of \(follow.count), and at most "
          + "\(FollowResult.limit) are listed")
    }
    try checkCount(follow.count, "follow.count")
    try checkSum(
      follow.outcomes.map(\.count), isAtMost: result.decisions, "follow.outcomes")
    try check(follow.hours, "follow.hours", step: 3_600_000, outcomes: follow.outcomes)
    try checkSum(follow.hours.messages, is: follow.count, "follow.hours.messages")
    for (index, outcome) in follow.outcomes.enumerated() {
      try checkSum(
        follow.hours.outcomes?[index] ?? [], is: outcome.count, "follow.hours.outcomes[\(index)]")
    }
    guard follow.user == nil || follow.decisions == follow.count else {
      throw ReportProblem(
        field: "follow.outcomes",
        reason: "are \(follow.decisions), and there are \(follow.count) messages")
    }
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
