internal import PushReplay
internal import PushRules

/// Looks for what cannot be in a result: every sum that a page shows is right, and fits a number.
///
/// - Complexity: O(the numbers of the result).
struct ResultCheck {
  /// No count and no instant is greater; sums of them that were checked cannot overflow.
  static let maximum = Int(Instant.maximumMilliseconds)

  let result: ReplayResult

  static func check(_ result: ReplayResult) throws(ReportProblem) {
    let check = ResultCheck(result: result)
    try check.checkTotals()
    try check.checkSeries()
    try check.checkWeek()
    try check.checkConversations()
    try check.checkSizes()
    try check.checkPeaks()
    if let cost = result.cost { try check.check(cost) }
    if let hold = result.hold { try check.check(hold) }
  }

  private func checkTotals() throws(ReportProblem) {
    guard result.pushFanoutReplay == ReplayResult.format else {
      throw ReportProblem(
        place: "pushFanoutReplay",
        reason: "the format is \(result.pushFanoutReplay), and only \(ReplayResult.format) is known"
      )
    }
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
        place: "pushes",
        reason: "\(result.pushes) do not agree with the outcomes, which have "
          + "\(pushed.reduce(0, +))")
    }
    switch (result.first, result.last) {
    case (nil, nil) where result.messages == 0: break
    case (let first?, let last?) where result.messages > 0:
      try checkInstant(first, "first")
      try checkInstant(last, "last")
      guard first <= last else {
        throw ReportProblem(place: "last", reason: "is before the first message")
      }
    default:
      throw ReportProblem(
        place: "first",
        reason: "first and last belong to messages, of which there are "
          + "\(result.messages)")
    }
  }

  // MARK: Along time

  private func checkSeries() throws(ReportProblem) {
    try check(result.hours, "hours", step: 3_600_000)
    try checkSums(
      result.hours.messages, result.hours.decisions, result.hours.pushes, "hours")
    for (index, column) in (result.hours.outcomes ?? []).enumerated() {
      try checkSum(column, is: result.outcomes[index].count, "hours.outcomes[\(index)]")
    }
    if let minutes = result.minutes {
      try check(minutes, "minutes", step: 60_000)
      try checkSums(minutes.messages, minutes.decisions, minutes.pushes, "minutes")
    }
    try check(result.peakDay, "peakDay", step: 60_000)
    if let first = result.peakDay.at.first, let last = result.peakDay.at.last,
      first / CivilTime.dayMilliseconds != last / CivilTime.dayMilliseconds
    {
      throw ReportProblem(place: "peakDay.at", reason: "is more than a day")
    }
  }

  private func check(
    _ series: TimeSeries, _ place: String, step: Int64
  ) throws(ReportProblem) {
    var columns = [
      ("messages", series.messages), ("decisions", series.decisions), ("pushes", series.pushes),
    ]
    if let outcomes = series.outcomes {
      try checkLength(outcomes.count, result.outcomes.count, "\(place).outcomes")
      columns += outcomes.enumerated().map { ("outcomes[\($0.offset)]", $0.element) }
    }
    try check(series.at, series.step, columns, place, step: step)
    guard let first = series.at.first, let last = series.at.last else { return }
    guard let from = result.first, let to = result.last, first / step >= from / step,
      last / step <= to / step
    else {
      throw ReportProblem(place: "\(place).at", reason: "is outside of first and last")
    }
  }

  private func check(
    _ instants: [Int64], _ found: Int64, _ columns: [(String, [Int])], _ place: String, step: Int64
  ) throws(ReportProblem) {
    guard found == step else {
      throw ReportProblem(place: "\(place).step", reason: "is \(found), not \(step)")
    }
    var previous: Int64 = -1
    for (row, at) in instants.enumerated() {
      try checkInstant(at, "\(place).at[\(row)]")
      guard at > previous, at % step == 0 else {
        throw ReportProblem(
          place: "\(place).at[\(row)]",
          reason: "steps begin at multiples of \(step), each after the one before")
      }
      previous = at
    }
    for (name, column) in columns {
      try checkLength(column.count, instants.count, "\(place).\(name)")
      for (row, count) in column.enumerated() {
        try checkCount(count, "\(place).\(name)[\(row)]")
      }
    }
  }

  // MARK: Tables

  private func checkWeek() throws(ReportProblem) {
    try checkLength(result.week.count, 168, "week")
    for (row, hour) in result.week.enumerated() {
      guard hour.weekday == row / 24 + 1, hour.hour == row % 24 else {
        throw ReportProblem(
          place: "week[\(row)]",
          reason: "is weekday \(hour.weekday), hour \(hour.hour), not \(row / 24 + 1), \(row % 24)")
      }
      try checkRow(hour.outcomes, hour.decisions, hour.pushes, "week[\(row)]")
    }
    try checkSums(
      result.week.map(\.messages), result.week.map(\.decisions), result.week.map(\.pushes), "week")
  }

  private func checkConversations() throws(ReportProblem) {
    for (row, total) in result.conversationTable.enumerated() {
      let place = "conversationTable[\(row)]"
      try checkCount(total.members, "\(place).members")
      try checkInstant(total.first, "\(place).first")
      try checkInstant(total.last, "\(place).last")
      try checkRow(total.outcomes, total.decisions, total.pushes, place)
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
        throw ReportProblem(place: "sizes[\(row)].from", reason: "is not above the one before")
      }
      previous = size.from
    }
    try checkSums(
      result.sizes.map(\.messages), result.sizes.map(\.decisions), result.sizes.map(\.pushes),
      "sizes")
  }

  private func checkPeaks() throws(ReportProblem) {
    for (row, peak) in result.peaks.enumerated() {
      let place = "peaks[\(row)]"
      try checkInstant(peak.at, "\(place).at")
      for (name, count, limit) in [
        ("messages", peak.messages, result.messages),
        ("decisions", peak.decisions, result.decisions), ("pushes", peak.pushes, result.pushes),
        ("share", peak.share, Self.maximum),
      ] {
        try checkCount(count, "\(place).\(name)")
        guard count <= limit else {
          throw ReportProblem(
            place: "\(place).\(name)", reason: "\(count) is more than all, \(limit)")
        }
      }
      if let seconds = peak.decidingSeconds {
        try checkSeconds(seconds, "\(place).decidingSeconds")
      }
    }
  }

  private func check(_ cost: ReplayCost) throws(ReportProblem) {
    try checkSeconds(cost.seconds, "cost.seconds")
    try checkSeconds(cost.decidingSeconds, "cost.decidingSeconds")
    try checkSeconds(cost.decisionsPerSecond, "cost.decisionsPerSecond")
    if let seconds = cost.loadingSeconds { try checkSeconds(seconds, "cost.loadingSeconds") }
    if let seconds = cost.cpuSeconds { try checkSeconds(seconds, "cost.cpuSeconds") }
    try checkCount(cost.threads, "cost.threads")
  }

  private func check(_ hold: HoldResult) throws(ReportProblem) {
    try checkCount(hold.held, "hold.held")
    try checkCount(hold.never, "hold.never")
    try checkSum(hold.outcomes.map(\.held), is: hold.held, "hold.outcomes.held")
    try checkSum(hold.outcomes.map(\.never), is: hold.never, "hold.outcomes.never")
    try check(hold.hours, "hold.hours", step: 3_600_000)
    if let minutes = hold.minutes { try check(minutes, "hold.minutes", step: 60_000) }
    try check(hold.peakDay, "hold.peakDay", step: 60_000)
    for (peak, name) in [(hold.releasePeak, "releasePeak"), (hold.waitingPeak, "waitingPeak")] {
      guard let peak else { continue }
      try checkInstant(peak.at, "hold.\(name).at")
      try checkCount(peak.count, "hold.\(name).count")
    }
    let day = hold.peakDay.at
    if let first = day.first, let last = day.last,
      first / CivilTime.dayMilliseconds != last / CivilTime.dayMilliseconds
    {
      throw ReportProblem(place: "hold.peakDay.at", reason: "is more than a day")
    }
  }

  private func check(
    _ series: HoldSeries, _ place: String, step: Int64
  ) throws(ReportProblem) {
    try check(
      series.at, series.step,
      [("held", series.held), ("released", series.released), ("waiting", series.waiting)], place,
      step: step)
  }

  // MARK: Numbers

  private func checkRow(
    _ outcomes: [Int], _ decisions: Int, _ pushes: Int, _ place: String
  ) throws(ReportProblem) {
    try checkLength(outcomes.count, result.outcomes.count, "\(place).outcomes")
    try checkCount(decisions, "\(place).decisions")
    try checkCount(pushes, "\(place).pushes")
    try checkSum(outcomes, is: decisions, "\(place).outcomes")
    guard pushes <= decisions else {
      throw ReportProblem(place: "\(place).pushes", reason: "are more than the decisions")
    }
  }

  private func checkSums(
    _ messages: [Int], _ decisions: [Int], _ pushes: [Int], _ place: String
  ) throws(ReportProblem) {
    try checkSum(messages, is: result.messages, "\(place).messages")
    try checkSum(decisions, is: result.decisions, "\(place).decisions")
    try checkSum(pushes, is: result.pushes, "\(place).pushes")
  }

  private func checkSum(
    _ counts: [Int], is total: Int, _ place: String
  ) throws(ReportProblem) {
    var sum = 0
    for count in counts {
      try checkCount(count, place)
      sum += count
      // Before it can overflow.
      guard sum <= Self.maximum else { break }
    }
    guard sum == total else {
      throw ReportProblem(
        place: place, reason: "they add up to \(sum), and the total is \(total)")
    }
  }

  private func checkLength(_ found: Int, _ wanted: Int, _ place: String) throws(ReportProblem) {
    guard found == wanted else {
      throw ReportProblem(place: place, reason: "has \(found) entries where \(wanted) belong")
    }
  }

  private func checkCount(_ count: Int, _ place: String) throws(ReportProblem) {
    guard (0...Self.maximum).contains(count) else {
      throw ReportProblem(place: place, reason: "\(count) is not 0...\(Self.maximum)")
    }
  }

  private func checkInstant(_ at: Int64, _ place: String) throws(ReportProblem) {
    guard (0...Instant.maximumMilliseconds).contains(at) else {
      throw ReportProblem(place: place, reason: "\(at) is no instant")
    }
  }

  private func checkSeconds(_ seconds: Double, _ place: String) throws(ReportProblem) {
    guard seconds.isFinite, seconds >= 0 else {
      throw ReportProblem(place: place, reason: "\(seconds) is no duration")
    }
  }
}
