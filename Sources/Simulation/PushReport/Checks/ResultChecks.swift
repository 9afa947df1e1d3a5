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
