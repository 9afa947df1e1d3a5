import PushReplay
import PushModel

/// Where a replay's result is not what a naive replay sums up to.
struct ReplayComparison {
  let naive: NaiveReplay
  let result: ReplayResult
  let zone: String
  private(set) var differences: [String] = []
  private let keys: [String]

  init(_ naive: NaiveReplay, _ result: ReplayResult, zone: String) {
    self.naive = naive
    self.result = result
    self.zone = zone
    keys = result.outcomes.map { outcome in
      [outcome.action, outcome.reason, outcome.scope].compactMap { $0 }.joined(separator: "/")
    }
    compareTotals()
    compareTimes()
    compareGroups()
    comparePeaks()
    if result.hold != nil { compareHold() }
  }

  private mutating func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
    if found != wanted { differences.append("\(what): \(found), not \(wanted)".prefix(600) + "") }
  }

  private func outcomes(_ counts: [Int]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: zip(keys, counts)).filter { $0.value > 0 }
  }

  private mutating func compareTotals() {
    let all = naive.sums { _ in 0 }[0] ?? NaiveSums()
    expect(
      [result.messages, result.decisions, result.pushes],
      [all.messages, all.decisions, all.pushes], "totals")
    expect(outcomes(result.outcomes.map(\.count)), all.outcomes, "outcomes")
    expect(keys, keys.sorted(), "the order of outcomes")
    expect(result.first, naive.messages.first?.message.at.milliseconds, "first")
    expect(result.joins, naive.joins(), "joins")
    expect(result.last, naive.messages.last?.message.at.milliseconds, "last")
  }

  private mutating func compareTimes() {
    let hours = naive.sums { $0.message.at.milliseconds / 3_600_000 * 3_600_000 }
    compare(result.hours, hours, "hours")
    let minutes = naive.sums { $0.message.at.milliseconds / 60_000 * 60_000 }
    if let series = result.minutes { compare(series, minutes, "minutes") }
    let peak = minutes.max { ($0.value.pushes, $1.key) < ($1.value.pushes, $0.key) }?.key ?? 0
    let day = minutes.filter { $0.key / 86_400_000 == peak / 86_400_000 }
    compare(result.peakDay, day, "the peak day")
    let week = naive.sums(by: NaiveReplay.weekHour(zone))
    if let hours = result.pushesByLocalHour {
      expect(
        hours, (0..<24).map { hour in naive.messages.reduce(0) { $0 + $1.localHours[hour] } },
        "pushes by the recipient's hour")
    }
    expect(result.week.count, 168, "hours of the week")
    for row in result.week {
      let sums = week[[row.weekday, row.hour]] ?? NaiveSums()
      expect(
        NaiveSums(
          messages: row.messages, decisions: row.decisions, pushes: row.pushes,
          outcomes: outcomes(row.outcomes)), sums, "weekday \(row.weekday), hour \(row.hour)")
    }
  }

  private mutating func compare(_ series: TimeSeries, _ sums: [Int64: NaiveSums], _ what: String) {
    expect(series.at, sums.keys.sorted(), "\(what), instants")
    guard series.at == sums.keys.sorted() else { return }
    expect(series.messages, series.at.map { sums[$0]!.messages }, "\(what), messages")
    expect(series.decisions, series.at.map { sums[$0]!.decisions }, "\(what), decisions")
    expect(series.pushes, series.at.map { sums[$0]!.pushes }, "\(what), pushes")
    guard let columns = series.outcomes else { return }
    for (place, key) in keys.enumerated() {
      expect(columns[place], series.at.map { sums[$0]!.outcomes[key] ?? 0 }, "\(what), \(key)")
    }
  }

  private mutating func compareGroups() {
    let conversations = naive.sums { $0.message.conversation.text }
    expect(
      Set(result.conversationTable.map(\.id)), Set(conversations.keys), "conversations")
    for row in result.conversationTable {
      expect(
        NaiveSums(
          messages: row.messages, decisions: row.decisions, pushes: row.pushes,
          outcomes: outcomes(row.outcomes)), conversations[row.id] ?? NaiveSums(), row.id)
    }
    let order = result.conversationTable.map(\.decisions)
    expect(order, order.sorted(by: >), "the order of conversations")
    let sizes = naive.sums { one in
      one.decisions == 0
        ? 0
        : String(repeating: "0", count: "\(one.decisions)".count - 1)
          .reduce(1) { size, _ in size * 10 }
    }
    expect(result.sizes.map(\.from), sizes.keys.sorted(), "sizes")
    for size in result.sizes {
      let sums = sizes[size.from] ?? NaiveSums()
      expect(
        [size.messages, size.decisions, size.pushes],
        [sums.messages, sums.decisions, sums.pushes], "size \(size.from)")
    }
    expect(result.sizes.reduce(0) { $0 + $1.conversations }, conversations.count, "sizes' rooms")
  }

  private mutating func comparePeaks() {
    expect(result.peaks.count, 6, "peaks")
    for peak in result.peaks {
      let step: Int64 = peak.unit == "second" ? 1000 : 60_000
      let by: (NaiveSums) -> Int = { sums in
        peak.by == "messages" ? sums.messages : peak.by == "pushes" ? sums.pushes : sums.decisions
      }
      let steps = naive.sums { $0.message.at.milliseconds / step * step }
      let best = steps.max { (by($0.value), $1.key) < (by($1.value), $0.key) }
      expect(peak.at, best?.key, "the \(peak.unit) by \(peak.by)")
      expect(
        [peak.messages, peak.decisions, peak.pushes],
        best.map { [$0.value.messages, $0.value.decisions, $0.value.pushes] } ?? [],
        "the \(peak.unit) by \(peak.by)")
      let inStep = naive.sums { one in
        one.message.at.milliseconds / step * step == peak.at ? one.message.conversation.text : ""
      }
      expect(by(inStep[peak.conversation] ?? NaiveSums()), peak.share, "the peak's share")
      let most = inStep.filter { $0.key != "" }.map { by($0.value) }.max()
      expect(peak.share, most ?? -1, "the peak's conversation")
    }
  }

  private mutating func compareHold() {
    guard let hold = result.hold else { return }
    var held: [String: Int] = [:]
    for one in naive.messages { held.merge(one.held, uniquingKeysWith: +) }
    let rows = hold.outcomes.map { row in
      ("none/" + [row.reason, row.scope].compactMap { $0 }.joined(separator: "/"), row)
    }
    let all = naive.sums { _ in 0 }[0] ?? NaiveSums()
    expect(
      Set(rows.map(\.0)), Set(all.outcomes.keys.filter { $0.hasPrefix("none/") }), "suppressed")
    for (key, row) in rows {
      expect(row.held, held[key] ?? 0, "held, \(key)")
      expect(row.held + row.never, all.outcomes[key] ?? 0, "held and never, \(key)")
    }
    expect(hold.held, held.values.reduce(0, +), "held")
    let waiting = naive.waiting
    guard let series = hold.minutes else { return expect(true, false, "minutes of holding") }
    let found = series.at.indices.map { place in
      [
        series.at[place], Int64(series.held[place]), Int64(series.released[place]),
        Int64(series.waiting[place]),
      ]
    }
    expect(found, waiting, "waiting")
    expect(waiting.last?[3] ?? 0, 0, "what waits at the end")
    let release = waiting.max { ($0[2], $1[0]) < ($1[2], $0[0]) }
    if let peak = hold.releasePeak {
      let day: Int64 = 18 * 3_600_000
      let rows = naive.waiting.filter { $0[0] >= peak.at - day && $0[0] < peak.at + day }
      let around = hold.aroundPeak ?? HoldSeries(step: 0)
      let found = around.at.indices.map { row in
        [around.at[row], Int64(around.held[row]), Int64(around.released[row])]
          + [Int64(around.waiting[row])]
      }
      expect(found, rows, "the hours around the release's peak")
    }
    expect(hold.releasePeak?.at, release?[0], "the release's peak")
    expect(hold.releasePeak?.count, release.map { Int($0[2]) }, "the release's peak")
    let most = waiting.max { ($0[3], $1[0]) < ($1[3], $0[0]) }
    expect(hold.waitingPeak?.at, most?[0], "the waiting's peak")
    expect(hold.waitingPeak?.count, most.map { Int($0[3]) }, "the waiting's peak")
    expect(hold.hours.held.reduce(0, +), hold.held, "held by hour")
    expect(hold.hours.released.reduce(0, +), hold.held, "released by hour")
  }
}
