/// A step of time in UTC: a part of a day, days, weeks that begin on Monday, or calendar months.
struct TimeStep: Equatable {
  enum Length: Equatable {
    case milliseconds(Int64)
    case weeks(Int64)
    case months(Int64)
  }

  let length: Length
  /// With an article, like `a day`, to stand behind "per".
  let name: String

  /// From the shortest to the longest.
  static let all: [TimeStep] = {
    let minute: Int64 = 60_000
    let hour = 60 * minute
    var steps = [TimeStep(.milliseconds(minute), "minute")]
    steps += [5, 10, 15, 30].map { TimeStep(.milliseconds($0 * minute), "\($0) minutes") }
    steps.append(TimeStep(.milliseconds(hour), "hour"))
    steps += [2, 3, 6, 12].map { TimeStep(.milliseconds($0 * hour), "\($0) hours") }
    steps.append(TimeStep(.milliseconds(24 * hour), "day"))
    steps.append(TimeStep(.weeks(1), "week"))
    steps.append(TimeStep(.weeks(2), "2 weeks"))
    steps.append(TimeStep(.months(1), "month"))
    steps += [2, 3, 6].map { TimeStep(.months($0), "\($0) months") }
    steps.append(TimeStep(.months(12), "year"))
    steps += [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].map {
      TimeStep(.months($0 * 12), "\($0) years")
    }
    return steps
  }()

  private init(_ length: Length, _ name: String) {
    self.length = length
    self.name = name
  }

  /// The last beginning of a step at or before an instant.
  func floor(_ at: Int64) -> Int64 {
    switch length {
    case .milliseconds(let step): return at / step * step
    case .weeks(let count):
      // 1970-01-05 was a Monday.
      let monday = 4 * CivilTime.dayMilliseconds
      let step = count * 7 * CivilTime.dayMilliseconds
      return at < monday ? monday - step : (at - monday) / step * step + monday
    case .months(let count):
      let time = CivilTime(at)
      let months = (time.year * 12 + time.month - 1) / count * count
      return CivilTime.month(months / 12, months % 12 + 1)
    }
  }

  /// The beginning of the step after the one that begins at an instant.
  func next(_ start: Int64) -> Int64 {
    switch length {
    case .milliseconds(let step): return start + step
    case .weeks(let count): return start + count * 7 * CivilTime.dayMilliseconds
    case .months(let count):
      // A step may begin before 1970, so the month is asked of a day inside of it.
      let time = CivilTime(max(0, start))
      let months = (time.year * 12 + time.month - 1) / count * count + count
      return CivilTime.month(months / 12, months % 12 + 1)
    }
  }

  /// Where steps begin and end that hold a range: one more than there are steps.
  ///
  /// - Returns: nil when there are more steps than a limit.
  func edges(_ range: ClosedRange<Int64>, limit: Int) -> [Int64]? {
    var edges = [floor(range.lowerBound)]
    while edges[edges.count - 1] <= range.upperBound {
      guard edges.count <= limit else { return nil }
      edges.append(next(edges[edges.count - 1]))
    }
    return edges
  }

  /// When a step begins, for a table.
  func text(_ start: Int64) -> String {
    let time = CivilTime(max(0, start))
    switch length {
    case .milliseconds(let step):
      return step < CivilTime.dayMilliseconds ? "\(time.date) \(time.time)" : time.date
    case .weeks: return time.date
    case .months(let count):
      return count < 12 ? "\(time.monthName) \(time.year)" : "\(time.year)"
    }
  }
}

/// Counts along time in steps so long that there are few of them.
struct TimeBins {
  /// No chart has more columns than this.
  static let limit = 400

  let step: TimeStep
  /// One more than there are bins.
  let edges: [Int64]

  var count: Int { edges.count - 1 }

  /// The shortest steps of a range of time that are no more than ``limit``.
  ///
  /// - Parameter least: milliseconds; steps are no shorter.
  init(_ range: ClosedRange<Int64>, least: Int64) {
    for step in TimeStep.all {
      if case .milliseconds(let length) = step.length, length < least { continue }
      if let edges = step.edges(range, limit: Self.limit) {
        self.step = step
        self.edges = edges
        return
      }
    }
    preconditionFailure("instants reach no further than 400 steps of 5,000 years")
  }

  /// Adds up a column of a series whose rows begin at ascending instants within the range.
  func sums(_ column: [Int], at instants: [Int64]) -> [Int] {
    var sums = [Int](repeating: 0, count: count)
    var bin = 0
    for (at, value) in zip(instants, column) {
      while bin < count - 1, at >= edges[bin + 1] { bin += 1 }
      sums[bin] += value
    }
    return sums
  }
}

/// Where a time axis has its marks, and what stands there.
struct TimeTicks {
  /// A mark, with a line below it where a day or a year begins.
  struct Tick {
    let at: Int64
    let text: String
    let context: String?
  }

  let ticks: [Tick]

  /// Marks of a range, no more than a limit.
  init(_ range: ClosedRange<Int64>, limit: Int) {
    var found: (step: TimeStep, starts: [Int64])?
    for step in TimeStep.all where step.isRound {
      guard let edges = step.edges(range, limit: limit + 1) else { continue }
      found = (step, edges.filter { range.contains($0) })
      break
    }
    var previous: CivilTime?
    var starts = found?.starts ?? []
    // An axis says where it begins; marks that would lie on that are left out.
    let span = range.upperBound - range.lowerBound
    if let step = found?.step, step.length != .months(12) {
      starts.removeAll { $0 - range.lowerBound < span / Int64(limit + 1) }
      starts.insert(range.lowerBound, at: 0)
    }
    ticks = starts.map { at in
      let time = CivilTime(at)
      defer { previous = time }
      switch found!.step.length {
      case .milliseconds(let step) where step < CivilTime.dayMilliseconds:
        let isNew = previous?.date != time.date
        return Tick(
          at: at, text: time.time, context: isNew ? "\(time.dayAndMonth) \(time.year)" : nil)
      case .months(let count) where count >= 12:
        return Tick(at: at, text: "\(time.year)", context: nil)
      case .months:
        return Tick(
          at: at, text: time.monthName, context: previous?.year != time.year ? "\(time.year)" : nil)
      default:
        return Tick(
          at: at, text: time.dayAndMonth,
          context: previous?.year != time.year ? "\(time.year)" : nil)
      }
    }
  }
}

extension TimeStep {
  /// Whether marks of an axis may be so far apart.
  fileprivate var isRound: Bool { length != .weeks(2) && length != .months(2) }
}
