internal import PushReplay
internal import PushModel

/// Looks for what cannot be in a comparison: every sum that a page shows is right, and fits a
/// number.
///
/// - Complexity: O(the numbers of the result).
struct CompareCheck: ResultChecks {
  let result: CompareResult

  static func check(_ result: CompareResult) throws(ReportProblem) {
    let check = CompareCheck(result: result)
    try check.checkTotals()
    try check.checkSeries()
    try check.checkTables()
    try check.checkMentions()
    if let hours = result.pushesByLocalHour {
      for (name, hours, pushes) in [
        ("a", hours.a, result.a.pushes), ("b", hours.b, result.b.pushes),
      ] {
        try check.checkLength(hours.count, 24, "pushesByLocalHour.\(name)")
        try check.checkSum(hours, is: pushes, "pushesByLocalHour.\(name)")
      }
    }
    if let people = result.people {
      try check.check(
        people, hours: result.hours.at, fewer: result.users.fewer, more: result.users.more)
      try check.checkSum(
        [result.users.fewer, result.users.more, result.users.asMany], isAtMost: people.people,
        "users, of all people")
    }
  }

  private func checkTotals() throws(ReportProblem) {
    try checkFormat()
    try checkCounts(
      [
        result.messages, result.conversations, result.changed, result.gained, result.lost,
        result.a.users, result.b.users, result.a.decisions, result.b.decisions, result.a.pushes,
        result.b.pushes, result.users.more, result.users.fewer, result.users.asMany,
      ], "the totals")
    try checkSum(result.outcomes.map(\.a), is: result.a.decisions, "outcomes, a")
    try checkSum(result.outcomes.map(\.b), is: result.b.decisions, "outcomes, b")
    let pushes = result.outcomes.filter { $0.action == Action.push.name }
    try checkSum(pushes.map(\.a), is: result.a.pushes, "outcomes that push, a")
    try checkSum(pushes.map(\.b), is: result.b.pushes, "outcomes that push, b")
    try checkSum(result.changes.map(\.count), is: result.changed, "changes")
    guard result.changed <= result.a.decisions + result.b.decisions else {
      throw ReportProblem(field: "changed", reason: "is more than the decisions")
    }
    let moves = result.changes.map { change in
      (from: Self.isPush(change.from), to: Self.isPush(change.to), count: change.count)
    }
    try checkSum(
      moves.filter { !$0.from && $0.to }.map(\.count), is: result.gained, "changes to pushes")
    try checkSum(
      moves.filter { $0.from && !$0.to }.map(\.count), is: result.lost, "changes from pushes")
    guard result.b.pushes - result.a.pushes == result.gained - result.lost else {
      throw ReportProblem(field: "gained", reason: "does not agree with lost and the pushes")
    }
    for (name, side) in [("a", result.a), ("b", result.b)] {
      if let limit = side.rateLimit {
        try check(limit, pushes: side.pushes, "\(name).rateLimit")
      }
      let reach = side.reach
      if reach.isEmpty { continue }
      try checkLength(reach.count, side.what.count, "\(name).reach")
      try checkCounts(reach.flatMap { [$0.users, $0.rooms, $0.members] }, "\(name).reach")
      if reach.contains(where: { $0.unmet != nil && $0.users + $0.members > 0 }) {
        throw ReportProblem(
          field: "\(name).reach", reason: "has settings changed by what nothing meets")
      }
    }
    try checkSum(
      [result.mentionsLost, result.everyoneMentionsLost], isAtMost: result.lost,
      "mentionsLost and everyoneMentionsLost")
    for (name, count) in CompareReport.lostClasses(result) {
      try checkSum([count], isAtMost: result.lost, "classesLost.\(name)")
    }
    try checkSpan()
    try checkCost()
  }

  /// Whether an outcome, by its key, is a push.
  private static func isPush(_ key: String?) -> Bool {
    key?.split(separator: "/").first.map(String.init) == Action.push.name
  }

  private func checkSeries() throws(ReportProblem) {
    let hours = result.hours
    guard hours.step == 3_600_000 else {
      throw ReportProblem(field: "hours.step", reason: "is \(hours.step), not 3600000")
    }
    for (row, at) in hours.at.enumerated() {
      let isAscending = row == 0 || hours.at[row - 1] < at
      guard isAscending, at % hours.step == 0, at / hours.step >= (result.first ?? 0) / hours.step,
        at / hours.step <= (result.last ?? 0) / hours.step
      else { throw ReportProblem(field: "hours.at[\(row)]", reason: "cannot be there") }
    }
    for (name, column, total) in [
      ("messages", hours.messages, result.messages), ("a", hours.a, result.a.pushes),
      ("b", hours.b, result.b.pushes), ("gained", hours.gained, result.gained),
      ("lost", hours.lost, result.lost),
    ] {
      try checkLength(column.count, hours.at.count, "hours.\(name)")
      try checkSum(column, is: total, "hours.\(name)")
    }
    for row in hours.at.indices {
      try checkPushes(
        hours.a[row], hours.b[row], hours.gained[row], hours.lost[row], "hours, row \(row)")
    }
  }

  private func checkTables() throws(ReportProblem) {
    guard result.week.count == 168 else {
      throw ReportProblem(field: "week", reason: "has \(result.week.count) rows, not 168")
    }
    for (row, hour) in result.week.enumerated()
    where hour.weekday != row / 24 + 1 || hour.hour != row % 24 {
      throw ReportProblem(field: "week[\(row)]", reason: "is of another hour")
    }
    try checkDays(result.week) { $0.messages }
    try checkSum(result.week.map(\.messages), is: result.messages, "week, messages")
    try checkSum(result.week.map(\.a), is: result.a.pushes, "week, a")
    try checkSum(result.week.map(\.b), is: result.b.pushes, "week, b")
    let rooms = result.conversationTable
    guard rooms.count == result.conversations else {
      throw ReportProblem(
        field: "conversationTable",
        reason: "has \(rooms.count) rows where \(result.conversations) belong")
    }
    try checkSum(rooms.map(\.messages), is: result.messages, "conversationTable.messages")
    try checkSum(rooms.map(\.a), is: result.a.pushes, "conversationTable.a")
    try checkSum(rooms.map(\.b), is: result.b.pushes, "conversationTable.b")
    try checkSum(rooms.map(\.gained), is: result.gained, "conversationTable.gained")
    try checkSum(rooms.map(\.lost), is: result.lost, "conversationTable.lost")
    try checkCounts(rooms.map(\.decisions), "conversationTable.decisions")
    try checkCounts(rooms.map(\.members), "conversationTable.members")
    for (row, room) in rooms.enumerated() {
      try checkPushes(room.a, room.b, room.gained, room.lost, "conversationTable[\(row)]")
      guard max(room.a, room.b) <= room.decisions else {
        throw ReportProblem(
          field: "conversationTable[\(row)]", reason: "has more pushes than decisions")
      }
    }
    try checkUsers()
  }

  /// Those who are named are some of those who are counted, and what they gain and lose is part of
  /// all.
  private func checkUsers() throws(ReportProblem) {
    let users = result.users
    for (name, list, count, sign) in [
      ("gainers", users.gainers, users.more, 1), ("losers", users.losers, users.fewer, -1),
    ] {
      guard list.count <= count else {
        throw ReportProblem(
          field: "users.\(name)", reason: "are \(list.count), and there are \(count) of them")
      }
      for (row, user) in list.enumerated() {
        try checkCounts([user.gained, user.lost], "users.\(name)")
        guard (user.gained - user.lost) * sign > 0 else {
          throw ReportProblem(field: "users.\(name)[\(row)]", reason: "is none of them")
        }
      }
    }
    for (name, steps, count, total) in [
      ("gains", users.gains, users.more, result.gained),
      ("losses", users.losses, users.fewer, result.lost),
    ] {
      try checkCounts(steps.flatMap { [$0.pushes, $0.users] }, "users.\(name)")
      guard steps.allSatisfy({ $0.pushes > 0 && $0.users > 0 && $0.examples.count <= $0.users }),
        zip(steps, steps.dropFirst()).allSatisfy({ $0.pushes > $1.pushes })
      else { throw ReportProblem(field: "users.\(name)", reason: "are not in order") }
      try checkSum(steps.map(\.users), isAtMost: count, "users.\(name), users")
      let pushes = steps.map { $0.pushes.multipliedReportingOverflow(by: $0.users) }
      try checkSum(
        pushes.map { $0.overflow ? .max : $0.partialValue }, isAtMost: total,
        "users.\(name), pushes")
    }
    let named = users.gainers + users.losers
    try checkSum(named.map(\.gained), isAtMost: result.gained, "users, gained")
    try checkSum(named.map(\.lost), isAtMost: result.lost, "users, lost")
    let moved = result.gained + result.lost
    guard users.more + users.fewer + users.asMany <= moved else {
      throw ReportProblem(field: "users", reason: "are more than pushes gained and lost")
    }
  }

  private func checkMentions() throws(ReportProblem) {
    let (users, losers) = (result.users.lostMentions ?? 0, result.users.mentionLosers ?? [])
    try checkSum([users], isAtMost: result.mentionsLost, "users.lostMentions")
    try checkSum(
      losers.map(\.mentions), isAtMost: result.mentionsLost, "users.mentionLosers, mentions")
    guard Set(losers.map(\.id)).count <= users else {
      throw ReportProblem(
        field: "users.mentionLosers", reason: "are more users than \(users)")
    }
  }

  /// What is gained and lost makes the pushes of B of those of A.
  private func checkPushes(
    _ a: Int, _ b: Int, _ gained: Int, _ lost: Int, _ field: String
  ) throws(ReportProblem) {
    guard b - a == gained - lost, gained <= b, lost <= a else {
      throw ReportProblem(
        field: field,
        reason: "\(gained) gained and \(lost) lost do not make \(b) pushes of \(a)")
    }
  }

  private func checkCounts(_ counts: [Int], _ field: String) throws(ReportProblem) {
    for count in counts { try checkCount(count, field) }
  }
}
