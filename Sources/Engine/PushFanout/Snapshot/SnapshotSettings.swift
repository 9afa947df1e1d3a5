internal import PushModel
internal import PushSupport
internal import QuietTime

/// The section of a snapshot that is decoded into values rather than mapped.
struct SnapshotSettings {
  var app = AppSettings()
  var schedules: [QuietSettings] = []
  var policies = Policies.initial
  /// The secret seeds of the hash tables of users', devices' and conversations' ids.
  var seeds: [UInt64] = []
  /// ``Tables/keysMark``, by which members' keys were computed.
  var rulesMark: UInt64 = 0
  /// Of the time-zone data that the engine used; nil if it is not known, as in a snapshot that was
  /// written before it was kept.
  var zoneVersion: String?
  /// ``OpenStates/numberedClasses``: the bases of members' keys by open rules.
  var openClasses: [OpenMemberClass] = []

  init() {}

  init(_ tables: borrowing Tables) {
    app = tables.app
    schedules = (0..<UInt32(tables.scheduleTable.count)).map { tables.scheduleTable[$0] }
    policies = tables.policies
    seeds = tables.idTables.map(\.slots.seed)
    rulesMark = tables.keysMark
    zoneVersion = try? ZoneDatabase.system.get().version
    openClasses = tables.stateTables(.group).ruleSet.openStates?.numberedClasses ?? []
  }

  var bytes: [UInt8] {
    var sink = ByteSink()
    var copy = self
    // Writing does not throw.
    do throws(Malformed) { try copy.code(&sink) } catch { preconditionFailure(error.what) }
    var version = zoneVersion ?? ""
    sink.code(&version)
    if !openClasses.isEmpty {
      do throws(Malformed) { try copy.codeClasses(&sink) } catch { preconditionFailure(error.what) }
    }
    return sink.bytes
  }

  init(_ bytes: [UInt8]) throws(Malformed) {
    var source = ByteSource(bytes)
    seeds = [0, 0, 0]
    try code(&source)
    if source.remaining > 0 {
      var version = ""
      try source.code(&version)
      zoneVersion = version.isEmpty ? nil : version
    }
    if source.remaining > 0 { try codeClasses(&source) }
    guard source.remaining == 0 else { throw Malformed("trailing bytes") }
    // A program may have set what a file may not say.
    for option in RuleSet.allCases.flatMap(\.options)
    where !option.set(option.text(in: app), in: &app) {
      throw Malformed("the option \(option.name)")
    }
    if schedules.isEmpty { throw Malformed("the empty schedule is missing") }
  }

  private mutating func codeClasses(_ coder: inout some ByteCoder) throws(Malformed) {
    try coder.code(&openClasses, atLeast: 4, .online) { (value, coder) throws(Malformed) in
      var bits = value.bits
      try coder.code(&bits)
      guard let found = OpenMemberClass(stored: bits) else { throw Malformed("a member's class") }
      value = found
    }
  }

  /// All but the version of the time-zone data and what follows it.
  private mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    for index in seeds.indices { try coder.code(&seeds[index]) }
    try app.code(&coder)
    var quiet = QuietSettings(quietHours: app.quietHours)
    try quiet.code(&coder)
    app.quietHours = quiet.quietHours
    try coder.code(&schedules, atLeast: 2, QuietSettings()) { (schedule, coder) throws(Malformed) in
      try schedule.code(&coder)
    }
    try policies.code(&coder)
    try coder.code(&rulesMark)
  }
}

extension AppSettings {
  /// All but the quiet hours.
  fileprivate mutating func code(_ coder: inout some ByteCoder) throws(Malformed) {
    try coder.code(&rules)
    try coder.code(&timeZone)
    try coder.code(&devicePolicy)
    try coder.code(&advancedPush)
    try coder.code(&level)
    try coder.code(&messageNotification)
    // Those of other rule sets too. The order of the lists is that of the bytes.
    for option in RuleSet.allCases.flatMap(\.options) { try coder.code(option, in: &self) }
  }
}

extension ByteCoder {
  fileprivate mutating func code(
    _ option: AppOption, in app: inout AppSettings
  ) throws(Malformed) {
    switch option.value {
    case .choice(let allowed, let get, let set):
      var index = allowed.firstIndex(of: get(app)) ?? 0
      try code(&index, below: allowed.count)
      _ = set(&app, allowed[index])
    case .flag(let path): try code(&app[keyPath: path])
    case .seconds(let path, _): try code(&app[keyPath: path])
    }
  }
}
