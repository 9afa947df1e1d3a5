internal import PushModel
internal import QuietTime

/// The section of a snapshot that is decoded into values rather than mapped.
struct SnapshotSettings {
  var app = AppSettings()
  var schedules: [QuietSettings] = []
  var policies = Policies.initial
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
    policies = tables.policies
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
    sink.append { QuietSettings(quietHours: app.quietHours).write(to: &$0) }
    sink.put(UInt32(schedules.count))
    for schedule in schedules { sink.append { schedule.write(to: &$0) } }
    sink.put(policies)
    sink.put(rulesMark)
    if let zoneVersion { sink.put(zoneVersion) }
    return sink.bytes
  }

  init(_ bytes: [UInt8]) throws(Malformed) {
    var source = ByteSource(bytes)
    for _ in 0..<3 { seeds.append(try source.number(UInt64.self)) }
    try app.code(&source)
    if let option = app.refusedOption { throw Malformed("the option \(option)") }
    app.quietHours = try source.quietSettings().quietHours
    for _ in 0..<(try source.count(atLeast: 2)) {
      schedules.append(try source.quietSettings())
    }
    policies = try source.policies()
    rulesMark = try source.number(UInt64.self)
    if source.remaining > 0 { zoneVersion = try source.text() }
    guard source.remaining == 0 else { throw Malformed("trailing bytes") }
    if schedules.isEmpty { throw Malformed("the empty schedule is missing") }
  }
}

extension AppSettings {
  /// An option whose value a file may not say.
  fileprivate var refusedOption: String? {
    var copy = self
    return optionTexts.first { !copy.setOption($0.name, to: $0.value) }?.name
  }

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
    try coder.code(&open.threadPlain)
    try coder.code(&open.expireSeconds, in: Self.seconds)
    try coder.code(&open.presenceSeconds, in: Self.seconds)
  }
}

extension ByteSink {
  fileprivate mutating func put(_ flag: Bool) { put(flag ? 1 : 0 as UInt8) }

  /// Writes those that not all tables have.
  fileprivate mutating func put(_ policies: Policies) {
    put(policies.hasOpen)
    put(UInt32(policies.users.count))
    for policy in policies.users.values {
      put(policy.level.rawValue)
      put(policy.mutedAllow.rawValue)
      put(policy.allowForce)
    }
    put(UInt32(policies.members.count))
    for policy in policies.members.values {
      put(policy.traits.level.rawValue)
      put(policy.traits.isImportant)
      put(policy.traits.isFollowing.map { $0 ? 1 : 0 } ?? 2 as UInt8)
      put(UInt32(policy.roles.count))
      for role in policy.roles { put(role.text) }
      put(UInt32(policy.channels.count))
      for (channel, level) in policy.channels.sorted(by: { $0.key.text < $1.key.text }) {
        put(channel.text)
        put(level.rawValue)
      }
    }
  }
}

extension ByteSource {
  fileprivate mutating func quietSettings() throws(Malformed) -> QuietSettings {
    try read { (bytes) throws(QuietSettings.Malformed) in try QuietSettings(readingFrom: &bytes) }
  }

  fileprivate mutating func flag() throws(Malformed) -> Bool {
    var flag = false
    try code(&flag)
    return flag
  }

  fileprivate mutating func level() throws(Malformed) -> NotificationLevel {
    guard let level = NotificationLevel(rawValue: try number(UInt16.self)) else {
      throw Malformed("invalid level")
    }
    return level
  }

  fileprivate mutating func policies() throws(Malformed) -> Policies {
    var policies = Policies.initial
    policies.hasOpen = try flag()
    for index in 0..<UInt32(try count(atLeast: 5)) {
      let level = try level()
      let allowed = MessageClasses(rawValue: try number(UInt16.self))
      guard MessageClasses.all.isSuperset(of: allowed) else { throw Malformed("invalid classes") }
      let policy = UserPolicy(level: level, mutedAllow: allowed, allowForce: try flag())
      guard policies.insert(policy) == index else { throw Malformed("wrong user's policy") }
    }
    for index in 0..<UInt32(try count(atLeast: 12)) {
      guard policies.insert(try memberPolicy()) == index else {
        throw Malformed("wrong member's policy")
      }
    }
    return policies
  }

  private mutating func memberPolicy() throws(Malformed) -> MemberPolicy {
    var policy = MemberPolicy()
    policy.traits.level = try level()
    policy.traits.isImportant = try flag()
    let follows = try number(UInt8.self)
    guard follows < 3 else { throw Malformed("invalid flag") }
    policy.traits.isFollowing = follows == 2 ? nil : follows == 1
    for _ in 0..<(try count(atLeast: 4)) { policy.roles.append(Identifier(try text())) }
    for _ in 0..<(try count(atLeast: 6)) {
      let channel = Identifier(try text())
      guard policy.channels.updateValue(try level(), forKey: channel) == nil else {
        throw Malformed("duplicate channel")
      }
    }
    return policy
  }
}
