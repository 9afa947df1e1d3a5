internal import PushModel
internal import PushReplay

/// The checks that are the same for every kind of result.
protocol ResultChecks {
  associatedtype Result: ResultFrame
  var result: Result { get }
}

extension ResultChecks {
  /// No count and no instant is greater; sums of them that were checked cannot overflow.
  static var maximum: Int { Int(Instant.maximumMilliseconds) }

  // MARK: The frame

  func checkFormat() throws(ReportProblem) {
    guard result.formatVersion == Result.format else {
      throw ReportProblem(
        field: Result.formatField,
        reason: "the format is \(result.formatVersion), and only \(Result.format) is known")
    }
    try ReportProblem.check(timeZone: result.timeZone)
  }

  /// Checks ``ResultFrame/first`` and ``ResultFrame/last``.
  func checkSpan() throws(ReportProblem) {
    switch (result.first, result.last) {
    case (nil, nil) where result.messages == 0: break
    case (let first?, let last?) where result.messages > 0:
      try checkInstant(first, "first")
      try checkInstant(last, "last")
      guard first <= last else {
        throw ReportProblem(field: "last", reason: "is before the first message")
      }
    default:
      throw ReportProblem(
        field: "first",
        reason: "first and last belong to messages, of which there are "
          + "\(result.messages)")
    }
  }

  /// Where there are messages there is time, and all of it is that from the first message to the last.
  func checkDays<Hour: CoveredHour>(
    _ week: [Hour], _ messages: (Hour) -> Int
  ) throws(ReportProblem) {
    let seconds = Double((result.last ?? 0) - (result.first ?? 0)) / 1000
    let most = (seconds + 2 * 3600) / 3600
    for (row, hour) in week.enumerated() {
      guard hour.days.isFinite, (0...most).contains(hour.days), hour.days > 0 || messages(hour) == 0
      else {
        throw ReportProblem(
          field: "week[\(row)].days",
          reason: "is \(hour.days), and the hour has "
            + Figures.count(messages(hour), "message"))
      }
    }
    let sum = week.reduce(0) { $0 + $1.days }
    guard result.messages == 0 ? sum == 0 : sum >= seconds / 3600 - 0.001 && sum <= most else {
      throw ReportProblem(
        field: "week.days",
        reason: "add up to \(sum) hours, and first and last are "
          + "\(seconds / 3600) hours apart")
    }
  }

  func checkCost() throws(ReportProblem) {
    guard let cost = result.cost else { return }
    try checkSeconds(cost.seconds, "cost.seconds")
    try checkSeconds(cost.decidingSeconds, "cost.decidingSeconds")
    try checkSeconds(cost.decisionsPerSecond, "cost.decisionsPerSecond")
    if let seconds = cost.loadingSeconds { try checkSeconds(seconds, "cost.loadingSeconds") }
    if let seconds = cost.cpuSeconds { try checkSeconds(seconds, "cost.cpuSeconds") }
    try checkCount(cost.threads, "cost.threads")
  }

  // The names of fields are made only for a problem: there are as many as numbers.

  // MARK: Numbers

  func checkSum(
    _ counts: some Sequence<Int>, is total: Int, _ field: @autoclosure () -> String
  ) throws(ReportProblem) {
    let sum = try sum(counts, field())
    guard sum == total, sum <= Self.maximum else {
      throw ReportProblem(
        field: field(), reason: "they add up to \(sum), and the total is \(total)")
    }
  }

  func checkSum(
    _ counts: some Sequence<Int>, isAtMost total: Int, _ field: @autoclosure () -> String
  ) throws(ReportProblem) {
    let sum = try sum(counts, field())
    guard sum <= total else {
      throw ReportProblem(
        field: field(), reason: "they add up to \(sum), and there are \(total) in all")
    }
  }

  /// The sum, or what is above the maximum before it can overflow.
  private func sum(
    _ counts: some Sequence<Int>, _ field: @autoclosure () -> String
  ) throws(ReportProblem) -> Int {
    var sum = 0
    for count in counts where sum <= Self.maximum {
      try checkCount(count, field())
      sum += count
    }
    return sum
  }

  func checkLength(
    _ found: Int, _ wanted: Int, _ field: @autoclosure () -> String
  ) throws(ReportProblem) {
    guard found == wanted else {
      throw ReportProblem(field: field(), reason: "has \(found) entries where \(wanted) belong")
    }
  }

  func checkCount(_ count: Int, _ field: @autoclosure () -> String) throws(ReportProblem) {
    guard (0...Self.maximum).contains(count) else {
      throw ReportProblem(field: field(), reason: "\(count) is not 0...\(Self.maximum)")
    }
  }

  func checkInstant(_ at: Int64, _ field: @autoclosure () -> String) throws(ReportProblem) {
    guard (0...Instant.maximumMilliseconds).contains(at) else {
      throw ReportProblem(field: field(), reason: "\(at) is not an instant")
    }
  }

  func checkSeconds(_ seconds: Double, _ field: @autoclosure () -> String) throws(ReportProblem) {
    guard seconds.isFinite, seconds >= 0 else {
      throw ReportProblem(field: field(), reason: "\(seconds) is not a duration")
    }
  }
}
