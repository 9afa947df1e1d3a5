internal import PushReplay
internal import PushModel

extension ResultCheck {
  /// What is held and what never comes is what was suppressed; what is held is released.
  func check(_ hold: HoldResult) throws(ReportProblem) {
    try checkCount(hold.held, "hold.held")
    try checkCount(hold.never, "hold.never")
    try checkSum(hold.outcomes.map(\.held), is: hold.held, "hold.outcomes.held")
    try checkSum(hold.outcomes.map(\.never), is: hold.never, "hold.outcomes.never")
    let suppressed = result.outcomes.filter { $0.action == Action.suppress.name }
    try checkLength(hold.outcomes.count, suppressed.count, "hold.outcomes")
    for (row, (outcome, all)) in zip(hold.outcomes, suppressed).enumerated() {
      guard outcome.reason == all.reason, outcome.scope == all.scope else {
        throw ReportProblem(
          field: "hold.outcomes[\(row)]", reason: "is not the suppressed outcome of its row")
      }
      try checkSum(
        [outcome.held, outcome.never], is: all.count, "hold.outcomes[\(row)], held and never")
    }
    for end in hold.windowsEnd { try checkCount(end.users, "hold.windowsEnd.users") }
    try checkSeries(of: hold)
    try checkPeaks(of: hold)
    try checkAroundPeak(hold)
  }

  private func checkSeries(of hold: HoldResult) throws(ReportProblem) {
    var whole = [(hold.hours, "hold.hours", Int64(3_600_000))]
    if let minutes = hold.minutes { whole.append((minutes, "hold.minutes", 60_000)) }
    for (series, field, step) in whole {
      try check(series, field, step: step, before: 0)
      try checkSum(series.held, is: hold.held, "\(field).held")
      try checkSum(series.released, is: hold.held, "\(field).released")
    }
    let day = hold.peakDay
    try check(day, "hold.peakDay", step: 60_000, before: nil)
    try checkSum(day.held, isAtMost: hold.held, "hold.peakDay.held")
    try checkSum(day.released, isAtMost: hold.held, "hold.peakDay.released")
    guard let first = day.at.first, let last = day.at.last else { return }
    guard first / CivilTime.dayMilliseconds == last / CivilTime.dayMilliseconds else {
      throw ReportProblem(field: "hold.peakDay.at", reason: "is more than a day")
    }
    guard let minutes = hold.minutes else { return }
    let rows = minutes.at.indices.filter {
      minutes.at[$0] / CivilTime.dayMilliseconds == first / CivilTime.dayMilliseconds
    }
    for (name, column, all) in [
      ("held", day.held, minutes.held), ("released", day.released, minutes.released),
      ("waiting", day.waiting, minutes.waiting),
    ] where column != rows.map({ all[$0] }) {
      throw ReportProblem(field: "hold.peakDay.\(name)", reason: "are not those of the minutes")
    }
  }

  /// The greatest release is among the hours around it, which are among all minutes.
  private func checkAroundPeak(_ hold: HoldResult) throws(ReportProblem) {
    guard let around = hold.aroundPeak else { return }
    try check(around, "hold.aroundPeak", step: 60_000, before: nil)
    try checkSum(around.held, isAtMost: hold.held, "hold.aroundPeak.held")
    try checkSum(around.released, isAtMost: hold.held, "hold.aroundPeak.released")
    let peak = hold.releasePeak
    guard let row = around.at.firstIndex(where: { $0 == peak?.at }),
      around.released[row] == peak?.count
    else {
      throw ReportProblem(field: "hold.aroundPeak", reason: "has not the greatest release")
    }
    guard let minutes = hold.minutes, let first = around.at.first, let last = around.at.last else {
      return
    }
    let rows = minutes.at.indices.filter { (first...last).contains(minutes.at[$0]) }
    guard around.at == rows.map({ minutes.at[$0] }),
      around.released == rows.map({ minutes.released[$0] }),
      around.waiting == rows.map({ minutes.waiting[$0] })
    else {
      throw ReportProblem(field: "hold.aroundPeak", reason: "is not that of the minutes")
    }
  }

  private func checkPeaks(of hold: HoldResult) throws(ReportProblem) {
    for (name, peak, counts) in [
      ("releasePeak", hold.releasePeak, hold.minutes?.released ?? hold.peakDay.released),
      ("waitingPeak", hold.waitingPeak, hold.minutes?.waiting),
    ] {
      if let peak {
        try checkInstant(peak.at, "hold.\(name).at")
        try checkCount(peak.count, "hold.\(name).count")
      }
      guard let most = counts.map({ $0.max() ?? 0 }) ?? peak?.count else { continue }
      guard most == peak?.count ?? 0, most <= hold.held else {
        throw ReportProblem(
          field: "hold.\(name).count", reason: "is \(peak?.count ?? 0), and the most is \(most)")
      }
    }
  }

  /// - Parameter before: what waits before the first row; nil if anything may.
  private func check(
    _ series: HoldSeries, _ field: String, step: Int64, before: Int?
  ) throws(ReportProblem) {
    try check(
      series.at, series.step,
      [("held", series.held), ("released", series.released), ("waiting", series.waiting)], field,
      step: step)
    guard !series.at.isEmpty else { return }
    var waiting = before ?? series.waiting[0] - series.held[0] + series.released[0]
    try checkCount(waiting, "\(field).waiting[0], before it")
    for row in series.at.indices {
      waiting += series.held[row] - series.released[row]
      guard waiting == series.waiting[row] else {
        throw ReportProblem(
          field: "\(field).waiting[\(row)]",
          reason: "is \(series.waiting[row]), and what is held less what is released is \(waiting)")
      }
    }
  }
}
