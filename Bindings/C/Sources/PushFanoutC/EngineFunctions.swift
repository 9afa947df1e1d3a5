// swift-format-ignore-file: AlwaysUseLowerCamelCase
public import CPushFanoutABI
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService
internal import QuietTime

// MARK: Opening

@c @implementation
public func pf_open_bytes(
  _ settings: UnsafeRawPointer?, _ size: Int, _ options: UnsafePointer<pf_options>?,
  _ engine: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe opening(options, engine, error) { threads in
    try unsafe EngineObject.open(
      bytes: bytes(settings, size, "settings are"), threads: threads, Watch(of: options))
  }
}

@c @implementation
public func pf_open_files(
  _ settings: UnsafePointer<UnsafePointer<CChar>?>?, _ settingsCount: Int,
  _ users: UnsafePointer<UnsafePointer<CChar>?>?, _ usersCount: Int,
  _ members: UnsafePointer<UnsafePointer<CChar>?>?, _ membersCount: Int,
  _ options: UnsafePointer<pf_options>?, _ engine: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText
) -> Int32 {
  func list(_ paths: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) throws -> [String] {
    try (0..<count).map { index in
      let path = try unsafe text(paths?[index], "a path")
      // Standard input is the host's.
      guard path != "-" else { throw CallError("a path is \"-\"; name a file") }
      return path
    }
  }
  return unsafe opening(options, engine, error) { threads in
    let paths = SettingsPaths(
      settings: try unsafe list(settings, settingsCount), users: try unsafe list(users, usersCount),
      members: try unsafe list(members, membersCount))
    return try unsafe EngineObject.open(paths: paths, threads: threads, Watch(of: options))
  }
}

@c @implementation
public func pf_open_snapshot(
  _ path: UnsafePointer<CChar>?, _ high: UInt64, _ low: UInt64,
  _ options: UnsafePointer<pf_options>?, _ engine: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe opening(options, engine, error) { threads in
    try unsafe EngineObject.open(
      snapshot: text(path, "the path"), SnapshotIdentity(high: high, low: low), threads: threads)
  }
}

@c @implementation
public func pf_open_arrow(
  _ settings: UnsafeRawPointer?, _ size: Int, _ users: UnsafeMutablePointer<ArrowArrayStream>?,
  _ members: UnsafeMutablePointer<ArrowArrayStream>?, _ options: UnsafePointer<pf_options>?,
  _ engine: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  defer {
    unsafe users?.pointee.release?(users)
    unsafe members?.pointee.release?(members)
  }
  return unsafe opening(options, engine, error) { threads in
    try unsafe EngineObject.open(
      settings: bytes(settings, size, "settings are"),
      users: users == nil ? nil : ArrowStream(users, of: .users),
      members: members == nil ? nil : ArrowStream(members, of: .members), threads: threads,
      Watch(of: options))
  }
}

@c @implementation
func pf_swift_reopen(
  _ engine: OpaquePointer?, _ reopened: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let reopened = try unsafe result(reopened)
    guard let reopen = unsafe EngineObject.of(engine).reopen else {
      throw CallError(
        "the settings of the engine came from bytes or streams and cannot be opened again; "
          + "open it from files or a snapshot, or use one thread")
    }
    unsafe reopened.pointee = try reopen(pf_lost_threads() != 0).handle()
  }
}

@c @implementation
func pf_swift_release(_ object: UnsafeMutableRawPointer?) {
  guard let object = unsafe object else { return }
  unsafe Unmanaged<AnyObject>.fromOpaque(object).release()
}

// MARK: The engine

@c @implementation
func pf_swift_write_snapshot(
  _ engine: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ high: UInt64, _ low: UInt64,
  _ sequence: UInt64, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    try unsafe EngineObject.of(engine).engine.writeSnapshot(
      to: text(path, "the path"), identity: SnapshotIdentity(high: high, low: low),
      sequence: sequence)
  }
}

@c @implementation
func pf_swift_unknown_zone_users(
  _ engine: OpaquePointer?, _ users: UnsafeMutablePointer<pf_ids>?,
  _ zones: UnsafeMutablePointer<pf_ids>?, _ error: ErrorText
) -> Int32 {
  var ids = IDCollector()
  var names = IDCollector()
  unsafe EngineObject.of(engine).engine.currentVersion.forEachUnknownZoneUser { user in
    ids.append(user.id.text)
    names.append(user.timeZone)
  }
  if let users = unsafe users { unsafe users.pointee = ids.finish() }
  if let zones = unsafe zones { unsafe zones.pointee = names.finish() }
  return PF_OK
}

@c @implementation
func pf_swift_get_info(
  _ engine: OpaquePointer?, _ info: UnsafeMutablePointer<pf_info>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    guard let info = unsafe info, unsafe info.pointee.struct_size >= MemoryLayout<pf_info>.stride
    else { throw CallError("struct_size of info is not that of pf_info") }
    let object = unsafe EngineObject.of(engine)
    let version = object.engine.currentVersion
    unsafe info.pointee = pf_info(
      struct_size: MemoryLayout<pf_info>.stride, epoch: version.epoch, sequence: version.number,
      user_count: UInt64(version.userCount), threads: Int32(object.engine.threads),
      rules: RuleSet.allCases.firstIndex(of: object.rules).map { Int32($0) } ?? -1,
      snapshot_sequence: object.engine.snapshot?.sequence ?? 0)
  }
}

@c @implementation
func pf_swift_get_memory(
  _ engine: OpaquePointer?, _ memory: UnsafeMutablePointer<pf_memory>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    guard
      let memory = unsafe memory,
      unsafe memory.pointee.struct_size >= MemoryLayout<pf_memory>.stride
    else { throw CallError("struct_size of memory is not that of pf_memory") }
    let report = unsafe EngineObject.of(engine).engine.memoryReport()
    unsafe memory.pointee = pf_memory(
      struct_size: MemoryLayout<pf_memory>.stride, users: UInt64(report.users),
      user_extras: UInt64(report.userExtras), conversations: UInt64(report.conversations),
      memberships: UInt64(report.memberships), membership_extras: UInt64(report.membershipExtras),
      ids: UInt64(report.ids), id_characters: UInt64(report.idCharacters),
      states: UInt64(report.states), mapped: UInt64(report.mapped),
      user_count: UInt64(report.userCount), conversation_count: UInt64(report.conversationCount),
      membership_count: UInt64(report.membershipCount))
  }
}

@c @implementation
func pf_swift_members(
  _ engine: OpaquePointer?, _ conversation: UnsafePointer<CChar>?, _ size: Int,
  _ stamp: UnsafeMutablePointer<pf_stamp>?, _ ids: UnsafeMutablePointer<pf_ids>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let ids = try unsafe result(ids)
    let conversation = try unsafe identifier(conversation, size, "conversation")
    let result = unsafe EngineObject.of(engine).engine.decide(
      Message(id: "", conversation: conversation, at: .zero))
    var list = IDCollector(capacity: result.memberCount)
    result.forEachMember { _, id in list.append(id) }
    unsafe stamp?.pointee = pf_stamp(result)
    unsafe ids.pointee = list.finish()
  }
}

// MARK: Changes

@c @implementation
func pf_swift_set_presence(
  _ engine: OpaquePointer?, _ heartbeats: UnsafeRawPointer?, _ size: Int,
  _ applied: UnsafeMutablePointer<UInt64>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let heartbeats = try unsafe bytes(heartbeats, size, "heartbeats are")
    let service = unsafe EngineObject.of(engine).service
    let (count, refused) =
      isBlank(heartbeats) ? (0, []) : try service.setPresence(ndjson: heartbeats)
    unsafe applied?.pointee = UInt64(count)
    if let first = refused.first {
      throw CallError(
        refused.map { "\($0)" }.joined(separator: "\n"), status: status(of: first.problem))
    }
  }
}

@c @implementation
func pf_swift_update(
  _ engine: OpaquePointer?, _ changes: UnsafeRawPointer?, _ size: Int, _ now: Int64,
  _ records: UnsafeMutablePointer<UInt64>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let changes = try unsafe bytes(changes, size, "changes are")
    let now = try instant(now, "now")
    let count =
      isBlank(changes)
      ? 0 : try unsafe EngineObject.of(engine).service.change(ndjson: changes, at: now)
    unsafe records?.pointee = UInt64(count)
  }
}

@c @implementation
func pf_swift_remove_member(
  _ engine: OpaquePointer?, _ user: UnsafePointer<CChar>?, _ userSize: Int,
  _ conversation: UnsafePointer<CChar>?, _ conversationSize: Int, _ now: Int64, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let service = unsafe EngineObject.of(engine).service
    var batch = SettingsBatch(FanoutSettings(app: service.app))
    batch.removedMembers = [
      SettingsBatch.Member(
        try unsafe identifier(user, userSize, "user"),
        of: try unsafe identifier(conversation, conversationSize, "conversation"))
    ]
    try service.change(batch, at: instant(now, "now"))
  }
}

@c @implementation
func pf_swift_advance(_ engine: OpaquePointer?, _ at: Int64, _ error: ErrorText) -> Int32 {
  unsafe answering(error) {
    try unsafe EngineObject.of(engine).engine.advance(to: instant(at, "at"))
  }
}

@c @implementation
func pf_swift_warm_up(
  _ engine: OpaquePointer?, _ conversation: UnsafePointer<CChar>?, _ size: Int,
  _ at: Int64, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    try unsafe EngineObject.of(engine).engine.warmUp(
      [identifier(conversation, size, "conversation")], at: instant(at, "at"))
  }
}

// MARK: Questions

@c @implementation
func pf_swift_explain(
  _ engine: OpaquePointer?, _ messages: UnsafeRawPointer?, _ size: Int,
  _ user: UnsafePointer<CChar>?, _ userSize: Int, _ content: Int32,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ jsonSize: UnsafeMutablePointer<Int>?, _ stamp: UnsafeMutablePointer<pf_stamp>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let json = try unsafe result(json)
    let answer = try unsafe EngineObject.of(engine).service.explain(
      ndjson: bytes(messages, size, "messages are"), for: identifier(user, userSize, "user"),
      content: content != 0, noting: { unsafe stamp?.pointee = pf_stamp($0) })
    unsafe json.pointee = copy(answer)
    unsafe jsonSize?.pointee = answer.count
  }
}

@c @implementation
func pf_swift_next_change(
  _ engine: OpaquePointer?, _ user: UnsafePointer<CChar>?, _ userSize: Int,
  _ conversation: UnsafePointer<CChar>?, _ conversationSize: Int,
  _ channel: UnsafePointer<CChar>?, _ channelSize: Int, _ after: Int64,
  _ change: UnsafeMutablePointer<pf_change>?, _ stamp: UnsafeMutablePointer<pf_stamp>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let change = try unsafe result(change)
    let version = unsafe EngineObject.of(engine).engine.currentVersion
    let answer = try unsafe version.plainAnswer(
      for: identifier(user, userSize, "user"),
      in: identifier(conversation, conversationSize, "conversation"),
      channel: identifier(channel, channelSize, "channel"), after: instant(after, "after"))
    let before = answer.before?.outcome.code ?? 0
    unsafe change.pointee = pf_change(
      at: answer.changesAt?.milliseconds ?? -1, before: before,
      after: answer.changesAt == nil ? before : answer.after?.outcome.code ?? 0)
    unsafe stamp?.pointee = pf_stamp(version)
  }
}

@c @implementation
func pf_swift_evaluate(
  _ engine: OpaquePointer?, _ messages: UnsafeRawPointer?, _ size: Int,
  _ format: UnsafePointer<CChar>?, _ devices: Int32,
  _ output: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ outputSize: UnsafeMutablePointer<Int>?, _ stamp: UnsafeMutablePointer<pf_stamp>?,
  _ error: ErrorText
) -> Int32 {
  unsafe pf_swift_evaluate_watched(
    engine, messages, size, format, devices, nil, output, outputSize, stamp, error)
}

@c @implementation
func pf_swift_evaluate_watched(
  _ engine: OpaquePointer?, _ messages: UnsafeRawPointer?, _ size: Int,
  _ format: UnsafePointer<CChar>?, _ devices: Int32, _ watch: UnsafePointer<pf_watch>?,
  _ output: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ outputSize: UnsafeMutablePointer<Int>?, _ stamp: UnsafeMutablePointer<pf_stamp>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe result(output)
    let name = try unsafe text(format, "the format")
    guard let format = DecisionFormat(rawValue: name), !format.isFolder else {
      let names = DecisionFormat.allCases.filter { !$0.isFolder }.map(\.rawValue)
      throw CallError("there is no format \"\(name)\"; it must be one of \(names)")
    }
    let object = unsafe EngineObject.of(engine)
    let version = object.engine.currentVersion
    let messages = try unsafe bytes(messages, size, "messages are")
    var watch = unsafe Watch(watch)
    try watch.askNow(0)
    let bytes = try object.service.decide(
      ndjson: messages, as: format, showsDevices: devices != 0, on: version,
      isEmpty: isBlank(messages)
    ) { try watch.ask($0) }
    unsafe stamp?.pointee = pf_stamp(version)
    unsafe output.pointee = copy(bytes)
    unsafe outputSize?.pointee = bytes.count
  }
}

// MARK: Outcomes

@c @implementation
public func pf_outcome_registry_version() -> UInt32 { UInt32(Outcome.registryVersion) }

/// The words of each code; never freed.
// SAFETY: made once, and read only.
private nonisolated(unsafe) let outcomeNames:
  [UInt8: (
    action: UnsafePointer<CChar>, reason: UnsafePointer<CChar>, scope: UnsafePointer<CChar>?
  )] = {
    func name(_ text: String) -> UnsafePointer<CChar> { unsafe UnsafePointer(copy(text.utf8)) }
    return unsafe Dictionary(
      uniqueKeysWithValues: Outcome.coded.map { code, outcome in
        unsafe (
          code,
          (
            action: name(outcome.action.name), reason: name(outcome.reason.name),
            scope: outcome.scope.map { unsafe name($0.name) }
          )
        )
      })
  }()

@c @implementation
public func pf_outcome(
  _ code: UInt8, _ action: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ reason: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ scope: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
  guard let names = unsafe outcomeNames[code] else { return PF_NOT_FOUND }
  unsafe action?.pointee = names.action
  unsafe reason?.pointee = names.reason
  unsafe scope?.pointee = names.scope
  return PF_OK
}
