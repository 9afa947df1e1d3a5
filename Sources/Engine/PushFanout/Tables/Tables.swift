internal import PushModel
internal import QuietTime

/// All settings in packed form: one version of them.
///
/// A copy is a version of its own that shares all pages with the original. An object, as a struct of
/// this size would be copied for each function that is called with it.
///
/// SAFETY: ``TableWriter`` changes its own copy, under the lock of the engine's writer. Those of
/// versions are not changed, and are read by any thread.
@safe final class Tables: @unchecked Sendable {
  @safe @exclusivity(unchecked) var app: AppSettings
  @safe @exclusivity(unchecked) var rules: RuleTables
  /// Incremented by every change of the app's settings.
  @safe @exclusivity(unchecked) var appRevision: UInt32

  @safe @exclusivity(unchecked) var userIDs: IDTable
  @safe @exclusivity(unchecked) var packedUsers: PagedTable<PackedUser>
  /// The index of each user's schedule; 0 is the empty one.
  @safe @exclusivity(unchecked) var schedules: PagedTable<UInt32>
  @safe @exclusivity(unchecked) var scheduleTable: ScheduleTable
  /// The users whose schedule needs a zone that the system does not have, ascending.
  @safe @exclusivity(unchecked) var unknownZoneUsers: [UInt32]
  /// The quiet hours of ``scheduleTable``, date by date.
  @safe @exclusivity(unchecked) var calendar: QuietCalendar {
    didSet { calendarID = calendar.id }
  }
  /// The id of ``calendar``, which counts no reference.
  @safe @exclusivity(unchecked) private(set) var calendarID: Int
  /// The ends of app durations, in milliseconds, by user.
  @safe @exclusivity(unchecked) var userMutes: PagedMap
  @safe @exclusivity(unchecked) var devices: DeviceTable
  @safe @exclusivity(unchecked) var deviceNames: IDTable

  @safe @exclusivity(unchecked) var conversationIDs: IDTable
  @safe @exclusivity(unchecked) var conversations: PagedTable<ConversationRow>
  @safe @exclusivity(unchecked) var memberUsers: PagedTable<UInt32>
  @safe @exclusivity(unchecked) var packedMembers: PagedTable<UInt8>
  /// The stored key of each member (``StoredKeys``); empty until ``TableWriter`` has computed
  /// them.
  @safe @exclusivity(unchecked) var memberKeys: PagedTable<UInt32>
  /// The members' mutes, starts and channel levels, as of when the tables were built.
  @safe @exclusivity(unchecked) var overrides: PagedTable<OverrideRecord>
  /// What was set later, by conversation and user: the ends of mutes, the starts of memberships,
  /// and the indices of sets of channel levels.
  @safe @exclusivity(unchecked) var memberMutes: PagedMap
  @safe @exclusivity(unchecked) var memberSinces: PagedMap
  @safe @exclusivity(unchecked) var memberChannels: PagedMap
  @safe @exclusivity(unchecked) var channelSets: ChannelSets
  /// The pages of another engine that these tables share (`Fanout.fork()`); nil for none.
  @safe @exclusivity(unchecked) var base: SharedPages?

  /// Tables that `visitor` makes from other ones.
  ///
  /// Every copy, and every operation on all tables, goes through this initializer: one that a table
  /// is missing from does not compile.
  init<Visitor: TableVisitor & ~Copyable>(
    _ other: Tables?, app: AppSettings, unknownZones: UnknownZones, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    self.app = app
    rules = other?.rules ?? RuleTables.shared(app)
    appRevision = other?.appRevision ?? 0
    scheduleTable = other?.scheduleTable ?? ScheduleTable(app: app, unknownZones: unknownZones)
    unknownZoneUsers = other?.unknownZoneUsers ?? []
    calendar = other?.calendar ?? QuietCalendar()
    calendarID = calendar.id
    channelSets = other?.channelSets ?? ChannelSets()
    base = other?.base
    // In the order of the sections of a snapshot.
    userIDs = try visitor.visit(other?.userIDs, folds: true, .users)
    deviceNames = try visitor.visit(other?.deviceNames, folds: false, .deviceNames)
    conversationIDs = try visitor.visit(other?.conversationIDs, folds: false, .conversations)
    packedUsers = try visitor.visit(other?.packedUsers, .packedUsers)
    schedules = try visitor.visit(other?.schedules, .schedules)
    userMutes = try visitor.visit(other?.userMutes, .userMutes)
    devices = try DeviceTable(other?.devices, &visitor)
    conversations = try visitor.visit(other?.conversations, .conversations)
    memberUsers = try visitor.visit(other?.memberUsers, .memberUsers)
    packedMembers = try visitor.visit(other?.packedMembers, .packedMembers)
    memberMutes = try visitor.visit(other?.memberMutes, .memberMutes)
    memberSinces = try visitor.visit(other?.memberSinces, .memberSinces)
    memberChannels = try visitor.visit(other?.memberChannels, .memberChannels)
    overrides = try visitor.visit(other?.overrides, .overrides)
    memberKeys = try visitor.visit(other?.memberKeys, .memberKeys)
  }

  convenience init(app: AppSettings, unknownZones: UnknownZones = .fail) {
    var copying = CopyTables()
    self.init(nil, app: app, unknownZones: unknownZones, &copying)
  }

  /// A copy of other tables.
  convenience init(copying other: Tables) {
    var copying = CopyTables()
    self.init(other, &copying)
  }

  convenience init<Visitor: TableVisitor & ~Copyable>(
    _ other: Tables, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try self.init(other, app: other.app, unknownZones: .fail, &visitor)
  }

  /// Calls the visitor with each table.
  func forEachTable<Visitor: TableVisitor & ~Copyable>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    _ = try Tables(self, &visitor)
  }

  /// The tables of ids.
  var idTables: [IDTable] {
    var list = ListIDTables()
    forEachTable(&list)
    return list.tables
  }

  static func key(_ conversation: UInt32, _ user: UInt32) -> UInt64 {
    UInt64(conversation) << 32 | UInt64(user)
  }

  /// Frees the memory. Called with the last version.
  func free() {
    var freeing = FreeTables(
      mapped: userIDs.mapped, shared: base?.generation ?? PageStore.mapped)
    forEachTable(&freeing)
  }

  /// The rules of a kind of conversation. Valid as long as the tables' rules are not replaced.
  @inline(__always)
  func stateTables(_ kind: ConversationKind) -> StateTables {
    // All threads that decide share the rules, so no reference is counted.
    unsafe Unmanaged.passUnretained(rules)._withUnsafeGuaranteedRef { $0.tables(kind) }
  }

  /// The codes of a message that has the same outcome for all recipients.
  @inline(__always)
  func codes(ofAll outcome: Outcome) -> UnsafePointer<UInt8> {
    unsafe Unmanaged.passUnretained(rules)._withUnsafeGuaranteedRef {
      unsafe $0.codes(ofAll: outcome)
    }
  }

  /// Whether ``memberKeys`` are kept.
  @inline(__always)
  var hasKeys: Bool { memberKeys.count == memberUsers.count }

  // MARK: Users

  var userCount: Int { packedUsers.count }

  /// A user's settings.
  func user(_ user: UInt32) -> UserSettings {
    var settings = userExceptDevices(user)
    settings.devices = listedDevices(of: user)
    return settings
  }

  func userExceptDevices(_ user: UInt32) -> UserSettings {
    let packed = packedUsers[Int(user)]
    return packed.settings(
      scheduleTable[schedules[Int(user)]], mutedUntil: mute(of: user, packed))
  }

  /// The devices that are listed for a user; nil for one who has `Device.default`.
  func listedDevices(of user: UInt32) -> [Device]? {
    guard hasOwnDevices(user) else { return nil }
    var devices: [Device] = []
    let reader = deviceReader
    reader.forEachDevice(of: user) { devices.append(reader.device($0)) }
    return devices
  }

  /// The end of a user's app duration, 0 for none.
  @inline(__always)
  func mute(of user: UInt32, _ packed: PackedUser) -> Int64 {
    packed.hasMute ? userMutes[UInt64(user)] ?? 0 : 0
  }

  /// Whether the user's devices are listed; otherwise the user has `Device.default`.
  @inline(__always)
  func hasOwnDevices(_ user: UInt32) -> Bool { devices.lists.hasOwn(user) }

  /// The devices of users, without references.
  var deviceReader: DeviceReader { DeviceReader(self) }

  /// Calls `body` with each listed device, in order.
  func forEachDevice(of user: UInt32, _ body: (DeviceRecord) -> Void) {
    devices.lists.forEach(of: user, body)
  }

  /// Calls `body` with each device that says how a user can be reached: those listed, or the
  /// default one, and that of the user's presence.
  func forEachDevice(
    of user: UInt32, _ presence: UserPresence, _ body: (DeviceRecord) -> Void
  ) {
    if hasOwnDevices(user) { forEachDevice(of: user, body) } else { body(.default) }
    if let device = presence.device { body(device) }
  }

  // MARK: Conversations and members

  func conversation(_ index: UInt32) -> ConversationSettings {
    let row = conversations[Int(index)]
    return ConversationSettings(
      kind: ConversationKind(ordinal: Int(row.kind)),
      parent: row.parent == 0 ? nil : conversationIDs[row.parent - 1],
      level: NotificationLevel(rawValue: row.level) ?? .unset, channels: channelSets[row.channels])
  }

  /// The number of members that a conversation's messages go to.
  @inline(__always)
  func memberCount(_ index: UInt32) -> Int {
    let row = conversations[Int(index)]
    let isThread = ConversationKind(ordinal: Int(row.kind)) == .thread && row.parent != 0
    return Int(isThread ? conversations[Int(row.parent - 1)].count : row.count)
  }

  /// The rank of a user among a conversation's members; nil if the user is not one.
  ///
  /// - Complexity: O(log members).
  @inline(__always)
  func rank(of user: UInt32, in row: ConversationRow) -> Int? {
    memberUsers.rank(of: user, in: row.range, below: userCount)
  }

  /// About where a user stands among the members of a conversation, from 0 to 1.
  @inline(__always)
  func position(of user: UInt32) -> Double {
    min(Double(user) / Double(max(userCount, 1)), 1).nextDown.magnitude
  }

  /// The number of members before a user.
  @inline(__always)
  func insertionRank(of user: UInt32, in row: ConversationRow) -> Int {
    memberUsers.insertionRank(of: user, in: row.range, below: userCount)
  }

  /// A user's membership record in a conversation; nil for none.
  func member(_ user: UInt32, of conversation: UInt32) -> MemberSettings? {
    let row = conversations[Int(conversation)]
    guard let rank = rank(of: user, in: row) else { return nil }
    return member(record(at: Int(row.start) + rank, conversation, row))
  }

  func member(_ record: MemberRecord) -> MemberSettings {
    MemberSettings(
      level: NotificationLevel(rawValue: record.packed.level) ?? .unset,
      mutedUntil: Instant(milliseconds: record.mutedUntil),
      since: Instant(milliseconds: record.since), channels: channelSets[record.channels])
  }
}

/// Pages of a version of another engine.
struct SharedPages {
  /// The version, which keeps them.
  let owner: any AnyObject & Sendable
  /// The newest update that made one.
  let generation: UInt64
}
