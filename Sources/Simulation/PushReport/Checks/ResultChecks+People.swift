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

  func check(_ top: TopPushes, in result: ReplayResult) throws(ReportProblem) {
    try checkCount(top.limit, "top.limit")
    guard max(top.people.count, top.senders.count) <= top.limit else {
      throw ReportProblem(field: "top", reason: "lists more than \(top.limit)")
    }
    try checkSum(top.people.map(\.pushes), isAtMost: result.pushes, "top.people.pushes")
    let days = result.people?.mostDays ?? 0
    for (row, person) in top.people.enumerated() {
      let field = "top.people[\(row)]"
      try checkCount(person.share, "\(field).share")
      try checkCount(person.days, "\(field).days")
      guard person.share <= person.pushes, person.days <= min(person.pushes, days) else {
        throw ReportProblem(field: field, reason: "has a share or days that its pushes cannot have")
      }
    }
    for (name, counts, total) in [
      ("messages", top.senders.map(\.messages), result.messages),
      ("decisions", top.senders.map(\.decisions), result.decisions),
      ("pushes", top.senders.map(\.pushes), result.pushes),
    ] { try checkSum(counts, isAtMost: total, "top.senders.\(name)") }
    for (name, counts) in [
      ("people", top.people.map(\.pushes)), ("senders", top.senders.map(\.pushes)),
    ] where zip(counts, counts.dropFirst()).contains(where: { $0 < $1 }) {
      throw ReportProblem(field: "top.\(name)", reason: "are not in order")
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
