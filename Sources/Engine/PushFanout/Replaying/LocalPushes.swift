internal import PushModel
internal import PushSupport
internal import QuietTime
internal import Synchronization

/// Counts pushes by the recipient's local hour.
struct LocalPushes {
  /// A zone's local hour, and the half-open interval of seconds in which it holds.
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
  /// By schedule of ``version``.
  private var clockOfSchedule: [Int] = []
  private var appRevision: UInt32 = 0

  /// - Parameter zones: pushed members by zone; nil for an answer from the tables or a device
  ///   filter.
  /// - Complexity: O(zones + corrections), or O(members).
  mutating func add(
    _ result: borrowing FanoutResult, _ zones: ZonePushes?, _ version: EngineVersion,
    to hours: inout [Int]
  ) {
    prepare(version.tables)
    let second = result.instant / 1000
    let codes = unsafe result.codes
    if let zones {
      for (zone, count) in zones.counts.enumerated() where count != 0 {
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

  func zone(ofSchedule index: Int) -> Int { clockOfSchedule[index] }

  mutating func prepare(_ tables: Tables) {
    if appRevision != tables.appRevision {
      // The app's zone may have changed.
      appRevision = tables.appRevision
      clockOfSchedule = []
    }
    while clockOfSchedule.count < tables.scheduleTable.count {
      let settings = tables.scheduleTable[UInt32(clockOfSchedule.count)]
      let name = settings.timeZone ?? settings.quietHours?.timeZone ?? tables.app.timeZone
      clockOfSchedule.append(clock(named: [name, tables.app.timeZone, "Etc/UTC"]))
    }
  }

  /// The first zone that the system has is used.
  private mutating func clock(named names: [String]) -> Int {
    if let known = clockIndices[names[0]] { return known }
    guard let table = names.lazy.compactMap({ try? ZoneTable(named: $0) }).first else {
      preconditionFailure("no zone \(names[0])")
    }
    clockIndices[names[0]] = clocks.count
    clocks.append(Clock(table: table))
    return clocks.count - 1
  }
}

extension FanoutTimeline {
  /// Adds the last message's pushes to 24 numbers, by local hour.
  ///
  /// The zone is the user's, else that of the user's quiet hours, else the app's.
  ///
  /// - Complexity: O(zones + mentions + schedules of the members + members that changed since the
  ///   conversation's last message); O(members) the first time.
  package func addPushes(byLocalHour hours: inout [Int]) {
    precondition(hours.count == 24, "a day has 24 hours")
    guard result.pushCount > 0, let quiet = result.storage.quiet else { return }
    var zones: ZonePushes?
    if !result.storage.isFromTables, result.filter == nil, let conversation = exactConversation() {
      let codes = unsafe result.codes
      let (members, counting) = followed(conversation, quiet)
      zones = unsafe members.zones(codes, counting)
    }
    localPushes.add(result, zones, engineVersion, to: &hours)
  }
}
