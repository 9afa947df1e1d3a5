/// The minutes with messages, as they come in the order of time: all of them up to a limit, and
/// those of the UTC day of the minute with most pushes.
struct MinuteSeries {
  private let limit: Int
  /// nil once there were too many.
  private(set) var all: TimeSeries? = TimeSeries(step: 60_000)
  private(set) var peakDay = TimeSeries(step: 60_000)
  private var day = TimeSeries(step: 60_000)
  /// Counts by outcome of the same minutes.
  private(set) var allRows = OutcomeRows()
  private(set) var peakRows = OutcomeRows()
  private var dayRows = OutcomeRows()
  private var most = -1

  init(limit: Int) { self.limit = limit }

  /// The number of the last minute; nil before the first.
  var current: Int64? { day.at.last.map { $0 / 60_000 } }

  /// Begins the minute of an instant, if it is another than the last one's.
  mutating func begin(_ at: Int64) {
    let minute = at / 60_000 * 60_000
    if minute == day.at.last { return }
    if let last = day.at.last, last / 86_400_000 != minute / 86_400_000 { close() }
    day.at.append(minute)
    day.messages.append(0)
    day.decisions.append(0)
    day.pushes.append(0)
    dayRows.addRow()
  }

  /// Adds an outcome to the current minute.
  mutating func add(_ count: Int, column: Int) {
    dayRows.add(count, row: dayRows.rowCount - 1, column: column)
  }

  /// Adds a message to the minute that was begun.
  mutating func add(decisions: Int, pushes: Int) {
    let last = day.at.count - 1
    day.messages[last] += 1
    day.decisions[last] += decisions
    day.pushes[last] += pushes
  }

  /// Ends the day.
  mutating func close() {
    let peak = day.pushes.max() ?? -1
    if peak > most {
      most = peak
      peakDay = day
      peakRows = dayRows
    }
    if let count = all?.at.count {
      if count + day.at.count > limit {
        all = nil
        allRows = OutcomeRows()
      } else {
        all?.at += day.at
        all?.messages += day.messages
        all?.decisions += day.decisions
        all?.pushes += day.pushes
        allRows.append(dayRows)
      }
    }
    day = TimeSeries(step: 60_000)
    dayRows = OutcomeRows()
  }
}
