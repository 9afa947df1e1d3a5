internal import PushReplay

/// The checks of what people get.
extension ResultChecks {
  func check(_ pushes: DailyPushes, personDays: Int, _ field: String) throws(ReportProblem) {
    try checkLength(pushes.classes.count, DailyPushes.classes.count, "\(field).classes")
    try checkSum(pushes.classes, is: personDays, "\(field).classes")
    let ascending = [0, pushes.median, pushes.p90, pushes.p99, pushes.most, Self.maximum]
    guard zip(ascending, ascending.dropFirst()).allSatisfy({ $0 <= $1 }) else {
      throw ReportProblem(
        field: field, reason: "the median, p90, p99 and the most are not in this order")
    }
  }

  /// - Parameter hours: when the hours of UTC with messages begin.
  func check(_ people: PeopleResult, hours: [Int64]) throws(ReportProblem) {
    try check(people.pushes, personDays: people.personDays, "people.pushes")
    try checkPeople(people.people, people.personDays, people.mostDays, hours)
    try checkSum(people.neverReasons.map(\.people), is: people.neverReached, "people.neverReasons")
    guard people.neverReached <= people.people else {
      throw ReportProblem(field: "people.neverReached", reason: "are more than all people")
    }
  }

  /// - Parameter hours: when the hours of UTC with messages begin.
  func check(
    _ people: ComparedPeople, hours: [Int64], fewer: Int, more: Int
  ) throws(ReportProblem) {
    try check(people.a, personDays: people.personDays, "people.a")
    try check(people.b, personDays: people.personDays, "people.b")
    try checkPeople(people.people, people.personDays, people.mostDays, hours)
    try checkLength(people.flow.count, DailyPushes.classes.count, "people.flow")
    for (row, counts) in people.flow.enumerated() {
      try checkLength(counts.count, DailyPushes.classes.count, "people.flow[\(row)]")
      try checkSum(counts, is: people.a.classes[row], "people.flow[\(row)]")
    }
    for column in DailyPushes.classes.indices {
      try checkSum(
        people.flow.map { $0[column] }, is: people.b.classes[column],
        "people.flow, column \(column)")
    }
    try checkSum(
      [people.noneAnyMore, people.firstTime, people.never], isAtMost: people.people,
      "people, by what they get")
    guard people.noneAnyMore <= fewer, people.firstTime <= more else {
      throw ReportProblem(
        field: "people.noneAnyMore",
        reason: "and firstTime are more than the users with fewer and with more pushes")
    }
  }

  private func checkPeople(
    _ people: Int, _ personDays: Int, _ mostDays: Int, _ hours: [Int64]
  ) throws(ReportProblem) {
    try checkCount(people, "people.people")
    try checkCount(mostDays, "people.mostDays")
    let days = result.dayCount(ofHours: hours) ?? 0
    guard mostDays <= days else {
      throw ReportProblem(
        field: "people.mostDays", reason: "is \(mostDays), and \(days) days had messages")
    }
    let (most, overflows) = people.multipliedReportingOverflow(by: mostDays)
    guard overflows || personDays <= most, mostDays <= personDays else {
      throw ReportProblem(
        field: "people.personDays",
        reason: "\(people) people with at most \(mostDays) days cannot have "
          + "\(personDays) person-days")
    }
    guard people <= personDays, people > 0 || personDays == 0 else {
      throw ReportProblem(
        field: "people.people", reason: "\(people) people cannot have \(personDays) person-days")
    }
  }
}
