internal import PushReplay

/// What pushes cost, and when they are more than a provider takes.
struct CostFigures {
  /// One side, or the only one, and its pushes.
  struct Side {
    let name: String
    let pushes: Int
    let limit: RateLimitResult?
  }

  let sides: [Side]
  let price: PushPrice?
  /// The first and the last message.
  let span: ClosedRange<Int64>

  /// The section; nil if neither a price nor a limit is known.
  var section: Section? {
    var tables: [Table] = []
    if let price { tables.append(costs(price)) }
    if sides.contains(where: { ($0.limit?.secondsOver ?? 0) > 0 }) { tables.append(limits) }
    guard price != nil || sides.contains(where: { $0.limit != nil }) else { return nil }
    return Section(
      name: "price", heading: "Costs and the provider's limit", note: note,
      charts: [], tables: tables)
  }

  /// What a month costs, in a sentence; nil without a price.
  var sentence: String? {
    guard let price, !sides.isEmpty else { return nil }
    let months = sides.map { price.text(Double($0.pushes) * 30 / Double(days)) }
    return
      "At \(price.text(1e6)) a million pushes that is \(months.joined(separator: " \u{2192} ")) "
      + "a month."
  }

  /// UTC days, the first and the last one counted whole.
  private var days: Int {
    let day = CivilTime.dayMilliseconds
    return Int(span.upperBound / day - span.lowerBound / day) + 1
  }

  private var note: String {
    var text = ""
    if price != nil {
      text =
        "A day is the mean of \(Figures.count(days, "day")), "
        + "\(CivilTime(span.lowerBound).date) to \(CivilTime(span.upperBound).date) UTC, the first "
        + "and the last one counted whole; a month is 30 of them. "
    }
    for side in sides {
      guard let limit = side.limit else { continue }
      text += (side.name.isEmpty ? "" : "\(side.name): ") + Self.words(limit) + " "
    }
    return text
  }

  private static func words(_ limit: RateLimitResult) -> String {
    let rate = "The limit of \(Figures.exact(limit.perSecond)) a second"
    guard let worst = limit.worst, let longest = limit.longest else {
      let isReached = limit.most == limit.perSecond
      return "<strong>\(rate) is never \(isReached ? "exceeded" : "reached")</strong>; the busiest "
        + "second has \(Figures.exact(limit.most))."
    }
    return
      "<strong>\(rate) is exceeded in \(Figures.count(limit.secondsOver, "second"))</strong>; "
      + "at worst \(Figures.short(worst.waiting)) pushes wait, at \(time(worst.at)); the longest "
      + "backlog lasts \(Figures.seconds(Double(longest.seconds))), from \(time(longest.from))."
  }

  private static func time(_ at: Int64) -> String {
    let time = CivilTime(at)
    return "\(time.date) \(time.timeWithSeconds)"
  }

  private func costs(_ price: PushPrice) -> Table {
    let rows: [(String, Double)] = [
      ("The whole time", 1), ("A day", 1 / Double(days)), ("A month of 30 days", 30 / Double(days)),
    ]
    return Table(
      columns: [("Period", .text)]
        + sides.flatMap { side in
          let name = side.name.isEmpty ? "" : " in \(side.name)"
          return [("Pushes\(name)", Table.Kind.number), ("Cost\(name)", Table.Kind.number)]
        },
      rows: rows.map { name, factor in
        [Table.Cell(name)]
          + sides.flatMap { side in
            let pushes = Double(side.pushes) * factor
            return [
              Table.Cell(Figures.whole(pushes)),
              Table.Cell(price.text(pushes), value: "\(price.amount(pushes))"),
            ]
          }
      }, becomesCards: true, caption: "Costs at \(price.text(1e6)) a million pushes", file: "costs")
  }

  private var limits: Table {
    let count = { (count: Int) in Table.Cell(count) }
    let duration = { (seconds: Int) in
      Table.Cell(Figures.seconds(Double(seconds)), value: "\(seconds)")
    }
    let none = Table.Cell("none", value: "")
    let instant = { (at: Int64?) in
      at.map { Table.Cell(Self.time($0)) } ?? Table.Cell("\u{2013}", value: "")
    }
    let rows: [(String, (RateLimitResult) -> Table.Cell)] = [
      ("Pushes a second that are taken", { count($0.perSecond) }),
      ("Most pushes in a second", { count($0.most) }),
      ("Seconds with more pushes", { count($0.secondsOver) }),
      ("Minutes with such a second", { count($0.minutesOver) }),
      ("Pushes sent later than they came", { count($0.delayed) }),
      ("Backlogs", { count($0.backlogs) }),
      ("Time with a backlog", { duration($0.backlogSeconds) }),
      ("The longest backlog", { $0.longest.map { duration($0.seconds) } ?? none }),
      ("It begins, UTC", { instant($0.longest?.from) }),
      ("Most pushes that wait", { $0.worst.map { count($0.waiting) } ?? none }),
      ("At the end of the second, UTC", { instant($0.worst?.at) }),
    ]
    let sides = sides.compactMap { side in
      side.limit.flatMap { $0.secondsOver > 0 ? (side.name, $0) : nil }
    }
    return Table(
      columns: [("Measure", .text)]
        + sides.map { ($0.0.isEmpty ? "Figure" : "In \($0.0)", Table.Kind.number) },
      rows: rows.map { name, value in
        [Table.Cell(name)] + sides.map { value($0.1) }
      }, becomesCards: true,
      caption: "The provider's limit: what comes first is sent first, the rest waits",
      file: "provider-limit")
  }
}

extension ReplayReport {
  /// nil without messages.
  var costs: CostFigures? {
    guard let first = result.first, let last = result.last else { return nil }
    return CostFigures(
      sides: [CostFigures.Side(name: "", pushes: result.pushes, limit: result.rateLimit)],
      price: frame.price, span: first...last)
  }

  var price: Section? { costs?.section }
}

extension CompareReport {
  /// nil without messages.
  var costs: CostFigures? {
    guard let first = result.first, let last = result.last else { return nil }
    return CostFigures(
      sides: [
        CostFigures.Side(name: "A", pushes: result.a.pushes, limit: result.a.rateLimit),
        CostFigures.Side(name: "B", pushes: result.b.pushes, limit: result.b.rateLimit),
      ], price: frame.price, span: first...last)
  }

  var price: Section? { costs?.section }
}
