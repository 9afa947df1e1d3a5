internal import PushRules
internal import QuietTime

/// The section of a snapshot that is decoded into values rather than mapped.
struct SnapshotSettings {
  var app = AppSettings()
  var schedules: [Schedule] = []
  var channelSets: [[Identifier: NotificationLevel]] = []
  /// The secret seeds of the hash tables of users', devices' and conversations' ids.
  var seeds: [UInt64] = []

  init() {}

  init(_ tables: Tables) {
    app = tables.app
    schedules = (0..<UInt32(tables.scheduleTable.count)).map { tables.scheduleTable[$0] }
    channelSets = (0..<UInt32(tables.channelSets.count)).map { tables.channelSets[$0] }
    seeds = [tables.userIDs, tables.deviceNames, tables.conversationIDs].map(\.slots.seed)
  }

  var bytes: [UInt8] {
    var sink = ByteSink()
    for seed in seeds { sink.put(seed) }
    var app = app
    // Encoding does not throw.
    do { try app.code(&sink) } catch { preconditionFailure(error.what) }
    sink.put(UInt32(schedules.count))
    for schedule in schedules { Self.put(schedule, &sink) }
    sink.put(UInt32(channelSets.count))
    for set in channelSets {
      sink.put(UInt32(set.count))
      for (channel, level) in set.sorted(by: { $0.key.text < $1.key.text }) {
        sink.put(channel.text)
        sink.put(level.rawValue)
      }
    }
    return sink.bytes
  }

  init(_ bytes: [UInt8]) throws(Malformed) {
    var source = ByteSource(bytes)
    for _ in 0..<3 { seeds.append(try source.number(UInt64.self)) }
    try app.code(&source)
    for _ in 0..<(try source.count(atLeast: 2)) { schedules.append(try Self.schedule(&source)) }
    for _ in 0..<(try source.count(atLeast: 4)) {
      var set: [Identifier: NotificationLevel] = [:]
      for _ in 0..<(try source.count(atLeast: 5)) {
        let channel = Identifier(try source.text())
        guard set.updateValue(try Self.level(&source), forKey: channel) == nil else {
          throw Malformed("duplicate channel")
        }
      }
      channelSets.append(set)
    }
    guard source.remaining == 0 else { throw Malformed("trailing bytes") }
    guard !schedules.isEmpty, !channelSets.isEmpty else {
      throw Malformed("the empty schedule or set of channel levels is missing")
    }
  }

  // MARK: Schedules

  private static func put(_ schedule: Schedule, _ sink: inout ByteSink) {
    switch schedule.quietHours {
    case nil: sink.put(0 as UInt8)
    case .interval(let interval):
      sink.put(1 as UInt8)
      sink.put(interval.startMinute)
      sink.put(interval.endMinute)
    case .span(let span):
      sink.put(2 as UInt8)
      sink.put(span.startSecond)
      sink.put(span.spanMinutes)
      sink.put(span.level.rawValue)
      put(zone: span.timeZone, &sink)
    }
    put(zone: schedule.timeZone, &sink)
  }

  private static func schedule(_ source: inout ByteSource) throws(Malformed) -> Schedule {
    let quietHours: QuietHours?
    do {
      switch try source.number(UInt8.self) {
      case 0: quietHours = nil
      case 1:
        let (start, end) = (try source.number(Int32.self), try source.number(Int32.self))
        quietHours = .interval(
          try QuietInterval(
            startHour: Int(start) / 60, startMinute: Int(start) % 60, endHour: Int(end) / 60,
            endMinute: Int(end) % 60))
      case 2:
        let (start, span) = (try source.number(Int32.self), try source.number(Int32.self))
        let (minute, second) = (Int(start) / 60, Int(start) % 60)
        quietHours = .span(
          try QuietSpan(
            hour: minute / 60, minute: minute % 60, second: second, spanMinutes: Int(span),
            level: try level(&source), timeZone: try zone(&source)))
      default: throw Malformed("unknown kind of quiet hours")
      }
    } catch let error as Malformed {
      throw error
    } catch {
      throw Malformed("invalid quiet hours")
    }
    return Schedule(quietHours: quietHours, timeZone: try zone(&source))
  }

  private static func level(_ source: inout ByteSource) throws(Malformed) -> NotificationLevel {
    guard let level = NotificationLevel(rawValue: try source.number(UInt8.self)) else {
      throw Malformed("invalid level")
    }
    return level
  }

  private static func put(zone: String?, _ sink: inout ByteSink) {
    sink.put(zone == nil ? 0 : 1 as UInt8)
    if let zone { sink.put(zone) }
  }

  private static func zone(_ source: inout ByteSource) throws(Malformed) -> String? {
    var hasZone = false
    try source.code(&hasZone)
    return hasZone ? try source.text() : nil
  }
}

extension AppSettings {
  /// Seconds that are representable in milliseconds.
  private static let seconds = 0...Instant.maximumMilliseconds

  /// Encodes or decodes all fields.
  mutating func code(_ coder: inout some ValueCoder) throws(Malformed) {
    try coder.code(&rules)
    try coder.code(&timeZone)
    try coder.code(&devicePolicy)
    try coder.code(&advancedPush)
    try coder.code(&level)
    try coder.code(&messageNotification)
    try coder.code(&easemob.zeroZeroMeans)
    try coder.code(&easemob.intervalEnd)
    try coder.code(&easemob.forceScope)
    try coder.code(&easemob.flagConflict)
    try coder.code(&easemob.atListAllInArray)
    try coder.code(&easemob.atListStringAsID)
    try coder.code(&easemob.atListIDCase)
    try coder.code(&easemob.atListLegacyAPNsExt)
    try coder.code(&easemob.mentionBypassesDND)
    try coder.code(&easemob.singleChatMentionOnly)
    try coder.code(&easemob.pushTransparent)
    try coder.code(&easemob.threadScope)
    try coder.code(&easemob.expireSeconds, in: Self.seconds)
    try coder.code(&rongcloud.singleMentionLevels)
    try coder.code(&rongcloud.quietZero)
    try coder.code(&rongcloud.ultraConversationLevel)
    try coder.code(&rongcloud.boundary)
    try coder.code(&rongcloud.span1439)
    try coder.code(&rongcloud.mentionBypassesQuiet)
    try coder.code(&rongcloud.backgroundGraceSeconds, in: Self.seconds)
  }
}
