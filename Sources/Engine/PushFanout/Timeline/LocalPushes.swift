internal import PushModel
internal import PushSupport
internal import QuietTime
internal import Synchronization

/// Counts pushes by the hour of the recipient's local day.
///
/// Members of a conversation who get a push of a class of message are counted by zone once for an
/// interval without transitions; a message then adds a number for each zone.
struct LocalPushes {
  /// The local hour of a zone, and the half-open interval of seconds in which it holds.
  private struct Clock {
    let table: ZoneTable
    var from: Int64 = 0
    var until: Int64 = 0
    var hour = 0

    mutating func hour(at second: Int64) -> Int {
      if from <= second, second < until { return hour }
      let local = table.localSecond(at: second)
      hour = Int(local / 3600)
      from = second
      until = min(
        second + 3600 - local % 3600, table.nextTransition(after: second) ?? Int64.max)
      return hour
    }
  }

  private var clocks: [Clock] = []
  private var clockIndices: [String: Int] = [:]
  /// The clock of each schedule of ``version``'s table.
  private var clockOfSchedule: [Int] = []
  private var appRevision: UInt32 = 0
  /// By clock, all zero between messages.
  private var sums: [Int] = []

  /// Adds the pushes of a decided message to the hour that each recipient's clock shows.
  ///
  /// - Parameter conversation: the message's, exact at its instant; nil for an answer from the
  ///   tables.
  /// - Complexity: O(zones + corrections); after a transition or a change O(distinct words), or
  ///   O(members) for a conversation without runs. O(members) for an answer from the tables, which
  ///   mostly are few, and for a message with a device filter.
  mutating func add(
    _ result: borrowing FanoutResult, _ conversation: CachedConversation?, _ quiet: ScheduleLevels,
    _ version: EngineVersion, to hours: inout [Int]
  ) {
    prepare(version.tables)
    let second = result.instant / 1000
    let codes = unsafe result.codes
    // A message with a filter has codes of its own.
    if let conversation, result.filter == nil {
      for (zone, count) in zones(result, conversation, quiet) {
        hours[clocks[zone].hour(at: second)] += count
      }
    } else if let states = unsafe result.memberStates() {
      for rank in 0..<result.memberCount {
        let count = Int(unsafe codes[Int(states[rank])] & 1)
        add(count, ofMember: rank, result, version, second, to: &hours)
      }
    }
    if result.sender >= 0 {
      let count = -Int(unsafe codes[Int(result.senderState)] & 1)
      add(count, ofMember: result.sender, result, version, second, to: &hours)
    }
    for index in 0..<(unsafe result.corrections.count) {
      let correction = unsafe result.corrections[index]
      let count = Int(correction.code & 1) - Int(unsafe codes[Int(correction.state)] & 1)
      add(count, ofMember: Int(correction.rank), result, version, second, to: &hours)
    }
  }

  private mutating func add(
    _ count: Int, ofMember rank: Int, _ result: borrowing FanoutResult, _ version: EngineVersion,
    _ second: Int64, to hours: inout [Int]
  ) {
    guard count != 0 else { return }
    let user = result.member(at: rank).rawValue
    let zone = clockOfSchedule[Int(version.tables.schedules[Int(user)])]
    hours[clocks[zone].hour(at: second)] += count
  }

  /// Finds the clocks of schedules that are new.
  private mutating func prepare(_ tables: Tables) {
    if appRevision != tables.appRevision {
      // The app's zone may be another.
      appRevision = tables.appRevision
      clockOfSchedule = []
    }
    while clockOfSchedule.count < tables.scheduleTable.count {
      let settings = tables.scheduleTable[UInt32(clockOfSchedule.count)]
      let name = settings.timeZone ?? settings.quietHours?.timeZone ?? tables.app.timeZone
      clockOfSchedule.append(clock(named: [name, tables.app.timeZone, "Etc/UTC"]))
    }
  }

  /// - Parameter names: zones, of which the first counts that the system has.
  private mutating func clock(named names: [String]) -> Int {
    if let known = clockIndices[names[0]] { return known }
    guard let table = names.lazy.compactMap({ try? ZoneTable(named: $0) }).first else {
      preconditionFailure("no zone \(names[0])")
    }
    clockIndices[names[0]] = clocks.count
    clocks.append(Clock(table: table))
    sums.append(0)
    return clocks.count - 1
  }

  private mutating func zones(
    _ result: borrowing FanoutResult, _ conversation: CachedConversation, _ quiet: ScheduleLevels
  ) -> [(zone: Int, count: Int)] {
    // The codes of a class of message are a table that lives as long as the conversation's rules.
    let codes = unsafe result.codes
    let key = UInt(bitPattern: codes)
    let revision = conversation.revision.load(ordering: .relaxed)
    let known = conversation.changing.withLock { $0.localPushes[key] }
    if let known, known.revision == revision, known.calendar == quiet.calendar,
      known.from == quiet.from
    {
      return known.zones
    }
    let levels = quiet.levels
    let stateByBase = unsafe conversation.stateByBase
    let runs = conversation.changing.withLock { changing in
      conversation.makeWordRuns(&changing)
      return changing.wordRuns
    }
    if runs.isMade {
      runs.forEach { word, count in
        let push = unsafe codes[Int(word.state(levels, stateByBase))] & 1
        sums[clockOfSchedule[word.schedule]] += Int(count) * Int(push)
      }
    } else {
      for rank in 0..<conversation.count {
        let word = conversation.word(rank)
        let push = unsafe codes[Int(word.state(levels, stateByBase))] & 1
        sums[clockOfSchedule[word.schedule]] += Int(push)
      }
    }
    var zones: [(zone: Int, count: Int)] = []
    for zone in sums.indices where sums[zone] != 0 {
      zones.append((zone, sums[zone]))
      sums[zone] = 0
    }
    let made = ZonePushes(
      revision: revision, calendar: quiet.calendar, from: quiet.from, zones: zones)
    conversation.changing.withLock { $0.localPushes[key] = made }
    return zones
  }
}

extension FanoutTimeline {
  /// Adds the pushes of the message decided last to 24 numbers, by the hour of the recipient's
  /// local day at the message's instant.
  ///
  /// The zone is the user's; without one that of the user's quiet hours, and else the app's.
  ///
  /// - Complexity: O(zones + mentions); after a transition or a change O(distinct settings of the
  ///   members), at most O(members).
  package func addPushes(byLocalHour hours: inout [Int]) {
    precondition(hours.count == 24, "a day has 24 hours")
    guard result.pushCount > 0, let quiet = result.storage.quiet else { return }
    let conversation = result.storage.isFromTables ? nil : exactConversation()
    localPushes.add(result, conversation, quiet, engineVersion, to: &hours)
  }
}
