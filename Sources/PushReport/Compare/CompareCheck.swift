internal import PushReplay
internal import PushRules

/// Looks for what cannot be in a comparison: every sum that a page shows is right, and fits a number.
///
/// - Complexity: O(the numbers of the result).
struct CompareCheck {
  let result: CompareResult

  static func check(_ result: CompareResult) throws(ReportProblem) {
    let check = CompareCheck(result: result)
    try check.checkTotals()
    try check.checkSeries()
    try check.checkTables()
  }

  private func checkTotals() throws(ReportProblem) {
    guard result.pushFanoutCompare == CompareResult.format else {
      throw ReportProblem(
        place: "pushFanoutCompare",
        reason:
          "the format is \(result.pushFanoutCompare), and only \(CompareResult.format) is known"
      )
    }
    try checkCounts(
      [
        result.messages, result.conversations, result.changed, result.gained, result.lost,
        result.a.users, result.b.users, result.users.more, result.users.fewer, result.users.asMany,
      ], "the totals")
    try checkSum(result.outcomes.map(\.a), is: result.a.decisions, "outcomes, a")
    try checkSum(result.outcomes.map(\.b), is: result.b.decisions, "outcomes, b")
    let pushes = result.outcomes.filter { $0.action == Action.push.name }
    try checkSum(pushes.map(\.a), is: result.a.pushes, "outcomes that push, a")
    try checkSum(pushes.map(\.b), is: result.b.pushes, "outcomes that push, b")
    try checkSum(result.changes.map(\.count), is: result.changed, "changes")
    guard result.b.pushes - result.a.pushes == result.gained - result.lost else {
      throw ReportProblem(place: "gained", reason: "does not agree with lost and the pushes")
    }
    for (name, at) in [("first", result.first), ("last", result.last)] {
      guard (at == nil) == (result.messages == 0),
        (0...Instant.maximumMilliseconds).contains(at ?? 0)
      else { throw ReportProblem(place: name, reason: "is no instant of a message") }
    }
    if let cost = result.cost {
      let numbers = [cost.seconds, cost.decisionsPerSecond]
      guard numbers.allSatisfy({ $0.isFinite && $0 >= 0 }) else {
        throw ReportProblem(place: "cost", reason: "a number that cannot be")
      }
    }
  }

  private func checkSeries() throws(ReportProblem) {
    let hours = result.hours
    guard hours.step == 3_600_000 else {
      throw ReportProblem(place: "hours.step", reason: "is \(hours.step), not 3600000")
    }
    for (row, at) in hours.at.enumerated() {
      let isAscending = row == 0 || hours.at[row - 1] < at
      guard isAscending, at % hours.step == 0, at / hours.step >= (result.first ?? 0) / hours.step,
        at / hours.step <= (result.last ?? 0) / hours.step
      else { throw ReportProblem(place: "hours.at[\(row)]", reason: "cannot be there") }
    }
    for (name, column, total) in [
      ("messages", hours.messages, result.messages), ("a", hours.a, result.a.pushes),
      ("b", hours.b, result.b.pushes), ("gained", hours.gained, result.gained),
      ("lost", hours.lost, result.lost),
    ] {
      guard column.count == hours.at.count else {
        throw ReportProblem(
          place: "hours.\(name)",
          reason: "has \(column.count) entries where \(hours.at.count) belong")
      }
      try checkSum(column, is: total, "hours.\(name)")
    }
  }

  private func checkTables() throws(ReportProblem) {
    guard result.week.count == 168 else {
      throw ReportProblem(place: "week", reason: "has \(result.week.count) rows, not 168")
    }
    for (row, hour) in result.week.enumerated()
    where hour.weekday != row / 24 + 1 || hour.hour != row % 24 {
      throw ReportProblem(place: "week[\(row)]", reason: "is of another hour")
    }
    try checkSum(result.week.map(\.a), is: result.a.pushes, "week, a")
    try checkSum(result.week.map(\.b), is: result.b.pushes, "week, b")
    let rooms = result.conversationTable
    try checkSum(rooms.map(\.messages), is: result.messages, "conversationTable.messages")
    try checkSum(rooms.map(\.a), is: result.a.pushes, "conversationTable.a")
    try checkSum(rooms.map(\.b), is: result.b.pushes, "conversationTable.b")
    try checkCounts(rooms.flatMap { [$0.decisions, $0.gained, $0.lost] }, "conversationTable")
    for user in result.users.gainers + result.users.losers {
      try checkCounts([user.gained, user.lost], "users")
    }
  }

  private func checkCounts(_ counts: [Int], _ place: String) throws(ReportProblem) {
    for count in counts where !(0...ResultCheck.maximum).contains(count) {
      throw ReportProblem(place: place, reason: "\(count) is not 0...\(ResultCheck.maximum)")
    }
  }

  private func checkSum(_ counts: [Int], is total: Int, _ place: String) throws(ReportProblem) {
    try checkCounts(counts, place)
    var sum = 0
    for count in counts where sum <= ResultCheck.maximum { sum += count }
    guard sum == total else {
      throw ReportProblem(
        place: place, reason: "they add up to \(sum), and the total is \(total)")
    }
  }
}
