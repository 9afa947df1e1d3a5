internal import PushFanout
internal import PushFiles
internal import PushModel

/// Adds up what messages came to, in the order of time. A replay does it on a thread of its own.
///
/// - Memory: that of the result: some 100 bytes an hour and a conversation, 32 a minute up to a
///   limit.
struct ReplayTally {
  private struct Conversation {
    var messages = 0
    var decisions = 0
    var pushes = 0
    var first: Int64 = 0
    var last: Int64 = 0
    /// The most recipients that a message had.
    var largest = 0
  }

  private let rules: RuleSet
  private let week: WeekClock
  private let hold: Bool
  private var progress = ReplayProgress()
  private var conversations: [Conversation] = []
  private var columns = OutcomeColumns()
  private var totals = OutcomeRows(rowCount: 1)
  private var byConversation = OutcomeRows()
  private var byHour = OutcomeRows()
  private var byWeekHour = OutcomeRows(rowCount: 168)
  private var hours = TimeSeries(step: 3_600_000)
  private var weekHours = [[Int]](repeating: [0, 0, 0], count: 168)
  private var weekHour = 0
  private var minutes: MinuteSeries
  private var sizes: [SizeClass] = [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000].map {
    SizeClass(from: $0)
  }
  private var seconds = PeakFinder(unit: "second", step: 1000)
  private var minutePeaks = PeakFinder(unit: "minute", step: 60_000)
  private var localHours = [Int](repeating: 0, count: 24)
  private var held: HoldTally
  /// nil if people are not counted.
  private var people: PeopleTally?
  /// How many people and senders are listed; 0 for none.
  private let userLimit: Int
  private var senders = SenderTally()
  private var limit: RateLimitTally?
  private var follow: FollowTally?
  private var first: Int64?

  /// The clock of the result's time zone.
  var clock: WeekClock { week }

  init(_ app: AppSettings, _ options: ReplayOptions, threads: Int) throws(FanoutError) {
    rules = app.rules
    week = try WeekClock(options.timeZone ?? app.timeZone)
    hold = options.holds
    minutes = MinuteSeries(limit: options.minuteLimit)
    held = HoldTally(limit: options.minuteLimit)
    people = options.countsPeople ? PeopleTally(hasTwoSides: false, threads: threads) : nil
    userLimit = options.countsPeople ? options.userLimit : 0
    limit = options.rateLimit.map { RateLimitTally(perSecond: $0) }
    if Follower(options) != nil {
      follow = FollowTally(
        user: options.followedUser, conversation: options.followedConversation)
    }
  }

  // MARK: Adding

  /// Adds the parts of a batch.
  mutating func add(_ decided: DecidedBatch) -> TalliedBatch {
    let (batch, parts) = (decided.batch, decided.parts)
    var rows: [UInt8] = []
    // Where each message's numbers are.
    var positions = [(part: Int, position: Int)](repeating: (0, 0), count: batch.messages.count)
    for (part, indices) in batch.parts.enumerated() {
      for (position, index) in indices.enumerated() { positions[index] = (part, position) }
    }
    for (index, (part, position)) in positions.enumerated() {
      let at = batch.messages[index].at.milliseconds
      let before = progress
      add(at, Int(batch.conversationIndices[index]), parts[part], position)
      if userLimit > 0 {
        senders.add(
          batch.messages[index].sender, decisions: progress.decisions - before.decisions,
          pushes: progress.pushes - before.pushes)
      }
      guard hold else { continue }
      held.add(at: at, parts[part].held, parts[part].held.ends.stretch(position))
      if !parts[part].heldRowEnds.isEmpty {
        rows += parts[part].heldRows[parts[part].heldRowEnds.stretch(position)]
      }
    }
    for part in parts {
      for hour in 0..<24 { localHours[hour] += part.localHours[hour] }
      people?.add(part.people, from: part.thread)
    }
    people?.add(decided.lastDays)
    addFollowed(parts)
    if hold {
      for part in parts { held.add(part.released) }
      if let last = batch.messages.last { held.close(before: last.at.milliseconds) }
    }
    return TalliedBatch(progress: progress, heldRows: rows)
  }

  private mutating func addFollowed(_ parts: [DecidedPart]) {
    guard follow != nil else { return }
    for followed in parts.flatMap(\.followed).sorted(by: { $0.index < $1.index }) {
      follow?.add(followed.message, followed.counts)
    }
  }

  private mutating func add(
    _ at: Int64, _ index: Int, _ decided: DecidedPart, _ position: Int
  ) {
    while conversations.count <= index {
      conversations.append(Conversation())
      byConversation.addRow()
    }
    let range = decided.counts.ends.stretch(position)
    let spent = decided.nanoseconds.isEmpty ? 0 : UInt64(decided.nanoseconds[position])
    beginHour(at)
    minutes.begin(at)
    var decisions = 0
    var pushes = 0
    for entry in range {
      let count = Int(decided.counts.values[entry])
      let code = decided.counts.codes[entry]
      let column = columns.column(of: code)
      decisions += count
      pushes += count * Int(code & 1)
      totals.add(count, row: 0, column: column)
      byConversation.add(count, row: index, column: column)
      byHour.add(count, row: byHour.rowCount - 1, column: column)
      byWeekHour.add(count, row: weekHour, column: column)
      minutes.add(count, column: column)
    }
    let last = hours.at.count - 1
    hours.messages[last] += 1
    hours.decisions[last] += decisions
    hours.pushes[last] += pushes
    weekHours[weekHour][0] += 1
    weekHours[weekHour][1] += decisions
    weekHours[weekHour][2] += pushes
    minutes.add(decisions: decisions, pushes: pushes)
    limit?.add(at, pushes: pushes)
    seconds.add(at: at, index, decisions: decisions, pushes: pushes, nanoseconds: spent)
    minutePeaks.add(at: at, index, decisions: decisions, pushes: pushes, nanoseconds: spent)
    add(at, index, decisions, pushes)
    progress.messages += 1
    progress.decisions += decisions
    progress.pushes += pushes
    progress.at = at
  }

  private mutating func add(_ at: Int64, _ index: Int, _ decisions: Int, _ pushes: Int) {
    if first == nil { first = at }
    if conversations[index].messages == 0 { conversations[index].first = at }
    conversations[index].messages += 1
    conversations[index].decisions += decisions
    conversations[index].pushes += pushes
    conversations[index].last = at
    conversations[index].largest = max(conversations[index].largest, decisions)
    let size = Self.size(decisions)
    sizes[size].messages += 1
    sizes[size].decisions += decisions
    sizes[size].pushes += pushes
  }

  /// The class of a number of recipients.
  private static func size(_ recipients: Int) -> Int {
    var size = 0
    var from = 1
    while recipients >= from, size < 7 {
      size += 1
      from *= 10
    }
    return size
  }

  /// Begins a row where another hour begins, and finds the hour of the week, which may change
  /// within an hour of UTC.
  private mutating func beginHour(_ at: Int64) {
    if at / 3_600_000 * 3_600_000 != hours.at.last {
      hours.at.append(at / 3_600_000 * 3_600_000)
      hours.messages.append(0)
      hours.decisions.append(0)
      hours.pushes.append(0)
      byHour.addRow()
    }
    guard minutes.current != at / 60_000 else { return }
    weekHour = week.hourOfWeek(at)
  }

  // MARK: The result

  /// - Parameters:
  ///   - ids: those of the conversations, by their indices.
  ///   - counters: those of the threads.
  mutating func finish(
    _ fanout: Fanout, _ ids: IdentifierTable, _ joins: JoinTally, _ counters: [PeopleCounter]
  ) -> (result: ReplayResult, people: PeopleTally?) {
    var result = ReplayResult(rules: rules.rawValue, timeZone: week.name)
    result.users = fanout.userCount
    result.messages = progress.messages
    result.decisions = progress.decisions
    result.pushes = progress.pushes
    var covered = [Int64](repeating: 0, count: 168)
    if let first {
      covered = week.seconds(from: first, to: progress.at)
      result.first = first
      result.last = progress.at
      result.joins = joins.count(
        in: Instant(milliseconds: first)...Instant(milliseconds: progress.at), fanout)
    }
    let order = columns.sorted
    result.outcomes = order.map { outcome, column in
      OutcomeTotal(
        action: outcome.action.name, reason: outcome.reason.name, scope: outcome.scope?.name,
        count: totals.value(row: 0, column: column))
    }
    result.hours = hours
    result.hours.outcomes = order.map { byHour.column($0.column) }
    minutes.close()
    result.minutes = minutes.all
    result.minutes?.outcomes = order.map { minutes.allRows.column($0.column) }
    result.peakDay = minutes.peakDay
    result.peakDay.outcomes = order.map { minutes.peakRows.column($0.column) }
    result.week = weekHours.indices.map { index in
      var row = WeekHour(weekday: index / 24 + 1, hour: index % 24)
      row.days = Double(covered[index]) / 3600
      (row.messages, row.decisions, row.pushes) =
        (weekHours[index][0], weekHours[index][1], weekHours[index][2])
      row.outcomes = order.map { byWeekHour.value(row: index, column: $0.column) }
      return row
    }
    if people != nil { result.pushesByLocalHour = localHours }
    addConversations(to: &result, fanout, ids, order.map(\.column))
    let id = { (index: Int) in ids[UInt32(index)].text }
    result.peaks = seconds.finish(id: id) + minutePeaks.finish(id: id)
    if hold { result.hold = held.finish(order.map(\.outcome), result.outcomes.map(\.count)) }
    result.follow = follow?.finish()
    if let peak = result.hold?.releasePeak {
      result.hold?.windowsEnd = WindowEnd.ends(
        in: peak.at, fanout.currentVersion, app: fanout.app)
    }
    result.rateLimit = limit?.finish()
    people?.finish()
    result.people = people?.people(counters.map(\.suppressed))
    if userLimit > 0, let people {
      result.top = TopPushes(limit: userLimit)
      result.top?.people = people.most(
        userLimit, counters.map(\.pushesByRoom), id: { fanout.id(of: UserIndex($0)) },
        room: { ids[$0] })
      result.top?.senders = senders.most(userLimit)
    }
    return (result, people)
  }

  private mutating func addConversations(
    to result: inout ReplayResult, _ fanout: Fanout, _ ids: IdentifierTable, _ columns: [Int]
  ) {
    for (index, conversation) in conversations.enumerated() where conversation.messages > 0 {
      let id = ids[UInt32(index)]
      var row = ConversationTotal(
        id: id.text, members: fanout.memberCount(of: id), messages: conversation.messages,
        decisions: conversation.decisions, pushes: conversation.pushes, first: conversation.first,
        last: conversation.last)
      row.outcomes = columns.map { byConversation.value(row: index, column: $0) }
      result.conversationTable.append(row)
      sizes[Self.size(conversation.largest)].conversations += 1
    }
    result.conversationTable.sort {
      $0.decisions != $1.decisions
        ? $0.decisions > $1.decisions
        : Array($0.id.utf8).lexicographicallyPrecedes(Array($1.id.utf8))
    }
    result.conversations = result.conversationTable.count
    result.sizes = sizes.filter { $0.messages > 0 }
  }
}

/// A batch, and what the workers made of it.
struct DecidedBatch: Sendable {
  let batch: MessageBatch
  let parts: [DecidedPart]
  /// When a result is asked for, the days of people that have not ended.
  var lastDays: [PeopleCounter.Day] = []
}

/// What is reported when a batch was added up.
struct TalliedBatch: Sendable {
  /// Everything up to the batch.
  let progress: ReplayProgress
  /// The rows of the held, in the order of messages.
  let heldRows: [UInt8]
}

extension [Int] {
  /// The range up to the end at a position.
  fileprivate func stretch(_ position: Int) -> Range<Int> {
    (position == 0 ? 0 : self[position - 1])..<self[position]
  }
}
