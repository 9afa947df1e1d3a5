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

  func check(_ people: PeopleResult) throws(ReportProblem) {
    try check(people.pushes, personDays: people.personDays, "people.pushes")
    try checkPeople(people.people, people.personDays)
    try checkSum(people.neverReasons.map(\.people), is: people.neverReached, "people.neverReasons")
    guard people.neverReached <= people.people else {
      throw ReportProblem(field: "people.neverReached", reason: "are more than all people")
    }
  }

  func check(_ people: ComparedPeople, fewer: Int, more: Int) throws(ReportProblem) {
    try check(people.a, personDays: people.personDays, "people.a")
    try check(people.b, personDays: people.personDays, "people.b")
    try checkPeople(people.people, people.personDays)
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

  private func checkPeople(_ people: Int, _ personDays: Int) throws(ReportProblem) {
    try checkCount(people, "people.people")
    guard people <= personDays, people > 0 || personDays == 0 else {
      throw ReportProblem(
        field: "people.people", reason: "\(people) people cannot have \(personDays) person-days")
    }
  }
}
