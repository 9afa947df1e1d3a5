internal import PushModel

/// Adds up what is held and released, minute by minute.
///
/// What is released later is kept by day until time has passed it.
struct HoldTally {
  private static let day: Int64 = 1440

  private let limit: Int
  private var totals = [Int](repeating: 0, count: Outcome.codeCount)
  /// By day and minute, in minutes since the epoch.
  private var held: [Int64: [Int64: Int]] = [:]
  private var released: [Int64: [Int64: Int]] = [:]
  /// Days before this one are added up.
  private var closed: Int64 = 0

  private var waiting = 0
  private var hours = HoldSeries(step: 3_600_000)
  private var minutes: HoldSeries? = HoldSeries(step: 60_000)
  private var peakDay = HoldSeries(step: 60_000)
  /// The day before the peak's, the peak's, and the day after it.
  private var peakDays = HoldSeries(step: 60_000)
  private var previousDay = HoldSeries(step: 60_000)
  private var releasePeak: HoldPeak?
  private var waitingPeak: HoldPeak?

  init(limit: Int) { self.limit = limit }

  mutating func add(at: Int64, _ counts: MessageCounts, _ range: Range<Int>) {
    var sum = 0
    for entry in range {
      totals[Int(counts.codes[entry])] += Int(counts.values[entry])
      sum += Int(counts.values[entry])
    }
    guard sum > 0 else { return }
    let minute = at / 60_000
    held[minute / Self.day, default: [:]][minute, default: 0] += sum
  }

  mutating func add(_ released: [Int64: Int]) {
    for (minute, count) in released where count != 0 {
      self.released[minute / Self.day, default: [:]][minute, default: 0] += count
    }
  }

  /// Adds up the days before that of an instant, in which nothing more can happen.
  mutating func close(before at: Int64) { close(beforeDay: at / 60_000 / Self.day) }

  private mutating func close(beforeDay limit: Int64) {
    guard limit > closed else { return }
    closed = limit
    let days = Set(held.keys).union(released.keys).filter { $0 < limit }.sorted()
    for day in days {
      let held = held.removeValue(forKey: day) ?? [:]
      let released = released.removeValue(forKey: day) ?? [:]
      close(held, released)
    }
  }

  private mutating func close(_ held: [Int64: Int], _ released: [Int64: Int]) {
    var day = HoldSeries(step: 60_000)
    var isPeak = false
    for minute in Set(held.keys).union(released.keys).sorted() {
      let (came, went) = (held[minute] ?? 0, released[minute] ?? 0)
      waiting += came - went
      day.append(minute * 60_000, came, went, waiting)
      hours.add(minute / 60 * 3_600_000, came, went, waiting)
      if went > releasePeak?.count ?? 0 {
        releasePeak = HoldPeak(at: minute * 60_000, count: went)
        isPeak = true
      }
      if waiting > waitingPeak?.count ?? 0 {
        waitingPeak = HoldPeak(at: minute * 60_000, count: waiting)
      }
    }
    if isPeak {
      peakDay = day
      peakDays = previousDay
      peakDays.append(day)
    } else if let peak = releasePeak, let at = day.at.first,
      at / 86_400_000 == peak.at / 86_400_000 + 1
    {
      peakDays.append(day)
    }
    previousDay = day
    if let count = minutes?.at.count {
      if count + day.at.count > limit { minutes = nil } else { minutes?.append(day) }
    }
  }

  /// - Parameters:
  ///   - outcomes: those that occurred.
  ///   - counts: how often each did.
  mutating func finish(_ outcomes: [Outcome], _ counts: [Int]) -> HoldResult {
    close(beforeDay: .max)
    var result = HoldResult()
    for (outcome, count) in zip(outcomes, counts) where outcome.action == .suppress {
      let held = totals[Int(outcome.code)]
      result.held += held
      result.never += count - held
      result.outcomes.append(
        HoldOutcome(
          reason: outcome.reason.name, scope: outcome.scope?.name, held: held, never: count - held))
    }
    result.hours = hours
    result.minutes = minutes
    result.peakDay = peakDay
    result.aroundPeak = releasePeak.map { peakDays.within(18 * 3_600_000, of: $0.at) }
    result.releasePeak = releasePeak
    result.waitingPeak = waitingPeak
    return result
  }
}

extension HoldSeries {
  /// The rows from a time before an instant to the same time after it.
  fileprivate func within(_ milliseconds: Int64, of instant: Int64) -> HoldSeries {
    var result = HoldSeries(step: step)
    for row in at.indices
    where at[row] >= instant - milliseconds && at[row] < instant + milliseconds {
      result.append(at[row], held[row], released[row], waiting[row])
    }
    return result
  }

  fileprivate mutating func append(_ at: Int64, _ held: Int, _ released: Int, _ waiting: Int) {
    self.at.append(at)
    self.held.append(held)
    self.released.append(released)
    self.waiting.append(waiting)
  }

  fileprivate mutating func append(_ other: HoldSeries) {
    at += other.at
    held += other.held
    released += other.released
    waiting += other.waiting
  }

  /// Adds to the last row, or begins one.
  fileprivate mutating func add(_ at: Int64, _ held: Int, _ released: Int, _ waiting: Int) {
    guard let last = self.at.indices.last, self.at[last] == at else {
      return append(at, held, released, waiting)
    }
    self.held[last] += held
    self.released[last] += released
    self.waiting[last] = waiting
  }
}
