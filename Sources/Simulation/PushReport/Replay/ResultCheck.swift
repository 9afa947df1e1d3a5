internal import PushReplay
internal import PushModel

/// Looks for what cannot be in a result: every sum that a page shows is right, and fits a number.
///
/// - Complexity: O(the numbers of the result).
struct ResultCheck: ResultChecks {
  let result: ReplayResult

  static func check(_ result: ReplayResult) throws(ReportProblem) {
    let check = ResultCheck(result: result)
    try check.checkTotals()
    try check.checkSeries()
    try check.checkWeek()
    try check.checkConversations()
    try check.checkSizes()
    try check.checkPeaks()
    try check.checkCost()
    if let people = result.people { try check.check(people, hours: result.hours.at) }
    if let top = result.top { try check.check(top, in: result) }
    if let limit = result.rateLimit {
      try check.check(limit, pushes: result.pushes, "rateLimit")
    }
    if let follow = result.follow { try check.check(follow) }
    if let hold = result.hold { try check.check(hold) }
  }

  private func checkTotals() throws(ReportProblem) {
    try checkFormat()
    let counts = [
      ("users", result.users), ("conversations", result.conversations),
      ("messages", result.messages), ("decisions", result.decisions), ("pushes", result.pushes),
      ("joins", result.joins), ("presenceRows", result.presenceRows),
      ("settingsChanges", result.settingsChanges), ("skippedLines", result.skippedLines),
    ]
    for (name, count) in counts { try checkCount(count, name) }
    try checkSum(result.outcomes.map(\.count), is: result.decisions, "outcomes")
    let pushed = result.outcomes.filter { $0.action == Action.push.name }.map(\.count)
    guard pushed.reduce(0, +) == result.pushes else {
      throw ReportProblem(
        field: "pushes",
        reason: "\(result.pushes) do not agree with the outcomes, which have "
          + "\(pushed.reduce(0, +))")
    }
    try checkSpan()
  }

  // MARK: Along time

  private func checkSeries() throws(ReportProblem) {
    try check(result.hours, "hours", step: 3_600_000)
    try checkSums(
      result.hours.messages, result.hours.decisions, result.hours.pushes, "hours")
    try checkOutcomes(result.hours, "hours")
    if let minutes = result.minutes {
      try check(minutes, "minutes", step: 60_000)
      try checkSums(minutes.messages, minutes.decisions, minutes.pushes, "minutes")
      try checkOutcomes(minutes, "minutes")
    }
    try check(result.peakDay, "peakDay", step: 60_000)
    try checkPeakDay()
    if let first = result.peakDay.at.first, let last = result.peakDay.at.last,
      first / CivilTime.dayMilliseconds != last / CivilTime.dayMilliseconds
    {
      throw ReportProblem(field: "peakDay.at", reason: "is more than a day")
    }
  }

  private func checkOutcomes(_ series: TimeSeries, _ field: String) throws(ReportProblem) {
    for (index, column) in (series.outcomes ?? []).enumerated() {
      try checkSum(column, is: result.outcomes[index].count, "\(field).outcomes[\(index)]")
    }
  }

  /// The day's minutes are among all of them, if those are there.
  private func checkPeakDay() throws(ReportProblem) {
    let day = result.peakDay
    for (name, column, total) in [
      ("messages", day.messages, result.messages), ("decisions", day.decisions, result.decisions),
      ("pushes", day.pushes, result.pushes),
    ] { try checkSum(column, isAtMost: total, "peakDay.\(name)") }
    for (index, column) in (day.outcomes ?? []).enumerated() {
      try checkSum(column, isAtMost: result.outcomes[index].count, "peakDay.outcomes[\(index)]")
    }
    guard let minutes = result.minutes, let first = day.at.first else { return }
    let rows = minutes.at.indices.filter {
      minutes.at[$0] / CivilTime.dayMilliseconds == first / CivilTime.dayMilliseconds
    }
    for (name, column, all) in [
      ("messages", day.messages, minutes.messages),
      ("decisions", day.decisions, minutes.decisions), ("pushes", day.pushes, minutes.pushes),
    ] where column != rows.map({ all[$0] }) {
      throw ReportProblem(field: "peakDay.\(name)", reason: "are not those of the minutes")
    }
  }

  /// - Parameter outcomes: those that the series has columns of; nil for the result's.
  func check(
    _ series: TimeSeries, _ field: String, step: Int64, outcomes totals: [OutcomeTotal]? = nil
  ) throws(ReportProblem) {
    var columns = [
      ("messages", series.messages), ("decisions", series.decisions), ("pushes", series.pushes),
    ]
    if let outcomes = series.outcomes {
      try checkLength(
        outcomes.count, (totals ?? result.outcomes).count, "\(field).outcomes")
      columns += outcomes.enumerated().map { ("outcomes[\($0.offset)]", $0.element) }
    }
    try check(series.at, series.step, columns, field, step: step)
    for row in series.at.indices {
      guard series.pushes[row] <= series.decisions[row] else {
        throw ReportProblem(
          field: "\(field).pushes[\(row)]", reason: "are more than the decisions")
      }
      guard let outcomes = series.outcomes else { continue }
      try checkSum(
        outcomes.lazy.map { $0[row] }, is: series.decisions[row], "\(field).outcomes, row \(row)")
    }
    guard let first = series.at.first, let last = series.at.last else { return }
    guard let from = result.first, let to = result.last, first / step >= from / step,
      last / step <= to / step
    else {
      throw ReportProblem(field: "\(field).at", reason: "is outside of first and last")
    }
  }

  func check(
    _ instants: [Int64], _ found: Int64, _ columns: [(String, [Int])], _ field: String, step: Int64
  ) throws(ReportProblem) {
    guard found == step else {
      throw ReportProblem(field: "\(field).step", reason: "is \(found), not \(step)")
    }
    var previous: Int64 = -1
    for (row, at) in instants.enumerated() {
      try checkInstant(at, "\(field).at[\(row)]")
      guard at > previous, at % step == 0 else {
        throw ReportProblem(
          field: "\(field).at[\(row)]",
          reason: "steps begin at multiples of \(step), each after the one before")
      }
      previous = at
    }
    for (name, column) in columns {
      try checkLength(column.count, instants.count, "\(field).\(name)")
      for (row, count) in column.enumerated() {
        try checkCount(count, "\(field).\(name)[\(row)]")
      }
    }
  }

  // MARK: Tables

  private func checkWeek() throws(ReportProblem) {
    try checkLength(result.week.count, 168, "week")
    for (row, hour) in result.week.enumerated() {
      guard hour.weekday == row / 24 + 1, hour.hour == row % 24 else {
        throw ReportProblem(
          field: "week[\(row)]",
          reason: "is weekday \(hour.weekday), hour \(hour.hour), not \(row / 24 + 1), \(row % 24)")
      }
      try checkRow(hour.outcomes, hour.decisions, hour.pushes, "week[\(row)]")
    }
    try checkDays(result.week) { $0.messages }
    if let hours = result.pushesByLocalHour {
      try checkLength(hours.count, 24, "pushesByLocalHour")
      try checkSum(hours, is: result.pushes, "pushesByLocalHour")
    }
    try checkSums(
      result.week.map(\.messages), result.week.map(\.decisions), result.week.map(\.pushes), "week")
  }

  private func checkConversations() throws(ReportProblem) {
    for (row, total) in result.conversationTable.enumerated() {
      let field = "conversationTable[\(row)]"
      try checkCount(total.members, "\(field).members")
      try checkInstant(total.first, "\(field).first")
      try checkInstant(total.last, "\(field).last")
      guard total.first <= total.last, total.first >= result.first ?? .max,
        total.last <= result.last ?? .min
      else {
        throw ReportProblem(field: "\(field).first", reason: "and last are outside of the replay")
      }
      try checkRow(total.outcomes, total.decisions, total.pushes, field)
    }
    let table = result.conversationTable
    try checkLength(table.count, result.conversations, "conversationTable")
    try checkSums(
      table.map(\.messages), table.map(\.decisions), table.map(\.pushes), "conversationTable")
  }

  private func checkSizes() throws(ReportProblem) {
    var previous = -1
    for (row, size) in result.sizes.enumerated() {
      try checkCount(size.from, "sizes[\(row)].from")
      try checkCount(size.conversations, "sizes[\(row)].conversations")
      guard size.from > previous else {
        throw ReportProblem(field: "sizes[\(row)].from", reason: "is not above the one before")
      }
      try checkCount(size.pushes, "sizes[\(row)].pushes")
      guard size.pushes <= size.decisions else {
        throw ReportProblem(field: "sizes[\(row)].pushes", reason: "are more than the decisions")
      }
      previous = size.from
    }
    try checkSums(
      result.sizes.map(\.messages), result.sizes.map(\.decisions), result.sizes.map(\.pushes),
      "sizes")
    try checkSum(
      result.sizes.map(\.conversations), is: result.conversations, "sizes.conversations")
  }

  private func checkPeaks() throws(ReportProblem) {
    for (row, peak) in result.peaks.enumerated() {
      let field = "peaks[\(row)]"
      try checkInstant(peak.at, "\(field).at")
      for (name, count, limit) in [
        ("messages", peak.messages, result.messages),
        ("decisions", peak.decisions, result.decisions), ("pushes", peak.pushes, result.pushes),
        (
          "share", peak.share,
          peak.by == "messages"
            ? peak.messages : peak.by == "pushes" ? peak.pushes : peak.decisions
        ),
      ] {
        try checkCount(count, "\(field).\(name)")
        guard count <= limit else {
          throw ReportProblem(
            field: "\(field).\(name)", reason: "\(count) is more than all, \(limit)")
        }
      }
      guard peak.pushes <= peak.decisions else {
        throw ReportProblem(field: "\(field).pushes", reason: "are more than the decisions")
      }
      if let seconds = peak.decidingSeconds {
        try checkSeconds(seconds, "\(field).decidingSeconds")
      }
    }
  }

  // MARK: Numbers

  private func checkRow(
    _ outcomes: [Int], _ decisions: Int, _ pushes: Int, _ field: String
  ) throws(ReportProblem) {
    try checkLength(outcomes.count, result.outcomes.count, "\(field).outcomes")
    try checkCount(decisions, "\(field).decisions")
    try checkCount(pushes, "\(field).pushes")
    try checkSum(outcomes, is: decisions, "\(field).outcomes")
    guard pushes <= decisions else {
      throw ReportProblem(field: "\(field).pushes", reason: "are more than the decisions")
    }
  }

  private func checkSums(
    _ messages: [Int], _ decisions: [Int], _ pushes: [Int], _ field: String
  ) throws(ReportProblem) {
    try checkSum(messages, is: result.messages, "\(field).messages")
    try checkSum(decisions, is: result.decisions, "\(field).decisions")
    try checkSum(pushes, is: result.pushes, "\(field).pushes")
  }
}
