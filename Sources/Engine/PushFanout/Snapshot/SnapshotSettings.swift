internal import PushModel
internal import QuietTime

/// The section of a snapshot that is decoded into values rather than mapped.
struct SnapshotSettings {
  var app = AppSettings()
  var schedules: [QuietSettings] = []
  var channelSets: [[Identifier: NotificationLevel]] = []
  /// The secret seeds of the hash tables of users', devices' and conversations' ids.
  var seeds: [UInt64] = []
  /// ``RuleTables/mark``, by which members' keys were computed.
  var rulesMark: UInt64 = 0
  /// Of the time-zone data that the engine used; nil in a snapshot that was written before it was
  /// kept.
  var zoneVersion: String?

  init() {}

  init(_ tables: borrowing Tables) {
    app = tables.app
    schedules = (0..<UInt32(tables.scheduleTable.count)).map { tables.scheduleTable[$0] }
    channelSets = (0..<UInt32(tables.channelSets.count)).map { tables.channelSets[$0] }
    seeds = tables.idTables.map(\.slots.seed)
    rulesMark = tables.rules.mark
    zoneVersion = try? ZoneDatabase.system.get().version
  }

  var bytes: [UInt8] {
    var sink = ByteSink()
    for seed in seeds { sink.put(seed) }
    var app = app
    // Encoding does not throw.
    do { try app.code(&sink) } catch { preconditionFailure(error.what) }
    sink.put(UInt32(schedules.count))
    for schedule in schedules { sink.append { schedule.write(to: &$0) } }
    sink.put(UInt32(channelSets.count))
    for set in channelSets {
      sink.put(UInt32(set.count))
      for (channel, level) in set.sorted(by: { $0.key.text < $1.key.text }) {
        sink.put(channel.text)
        sink.put(level.vendorCode)
      }
    }
    sink.put(rulesMark)
    if let zoneVersion { sink.put(zoneVersion) }
    return sink.bytes
  }

  init(_ bytes: [UInt8]) throws(Malformed) {
    var source = ByteSource(bytes)
    for _ in 0..<3 { seeds.append(try source.number(UInt64.self)) }
    try app.code(&source)
    for _ in 0..<(try source.count(atLeast: 2)) {
      schedules.append(
        try source.read { (bytes) throws(QuietSettings.Malformed) in
          try QuietSettings(readingFrom: &bytes)
        })
    }
    for _ in 0..<(try source.count(atLeast: 4)) {
      var set: [Identifier: NotificationLevel] = [:]
      for _ in 0..<(try source.count(atLeast: 5)) {
        let channel = Identifier(try source.text())
        var level = NotificationLevel.unset
        try source.code(&level)
        guard set.updateValue(level, forKey: channel) == nil else {
          throw Malformed("duplicate channel")
        }
      }
      channelSets.append(set)
    }
    rulesMark = try source.number(UInt64.self)
    if source.remaining > 0 { zoneVersion = try source.text() }
    guard source.remaining == 0 else { throw Malformed("trailing bytes") }
    guard !schedules.isEmpty, !channelSets.isEmpty else {
      throw Malformed("the empty schedule or set of channel levels is missing")
    }
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
