internal import PushModel
internal import QuietTime

/// A version of all settings, in packed form.
///
/// A copy is a new version that shares all pages. It is a class, as calls would copy a struct of
/// this size.
///
/// SAFETY: ``TableWriter`` changes its own copy, under the engine's writer lock. Versions never
/// change, and any thread reads them.
@safe final class Tables: @unchecked Sendable {
  @safe @exclusivity(unchecked) var app: AppSettings
  @safe @exclusivity(unchecked) var rules: RuleTables
  /// Counts changes of ``app``.
  @safe @exclusivity(unchecked) var appRevision: UInt32

  @safe @exclusivity(unchecked) var userIDs: IDTable
  @safe @exclusivity(unchecked) var packedUsers: PagedTable<PackedUser>
  /// By user, the index in ``scheduleTable``; 0 is the empty one.
  @safe @exclusivity(unchecked) var schedules: PagedTable<UInt32>
  @safe @exclusivity(unchecked) var scheduleTable: ScheduleTable
  /// Users with a zone that the system lacks, ascending.
  @safe @exclusivity(unchecked) var unknownZoneUsers: [UInt32]
  /// The quiet hours of ``scheduleTable``, by date.
  @safe @exclusivity(unchecked) var calendar: QuietCalendar {
    didSet { calendarID = calendar.id }
  }
  /// The calendar's id, read without counting references.
  @safe @exclusivity(unchecked) private(set) var calendarID: Int
  /// By user, the end of the app duration in milliseconds.
  @safe @exclusivity(unchecked) var userMutes: PagedMap
  @safe @exclusivity(unchecked) var devices: DeviceTable
  /// Of devices, and those of ``nameLists``.
  @safe @exclusivity(unchecked) var names: IDTable
  /// Shared with other versions, until ``ownRare()``.
  @safe @exclusivity(unchecked) private(set) var rare: RareTables

  @safe @exclusivity(unchecked) var conversationIDs: IDTable
  @safe @exclusivity(unchecked) var conversations: PagedTable<ConversationRow>
  @safe @exclusivity(unchecked) var memberUsers: PagedTable<UInt32>
  @safe @exclusivity(unchecked) var packedMembers: PagedTable<UInt8>
  /// The key of each member (``StoredKeys``); empty until computed.
  @safe @exclusivity(unchecked) var memberKeys: PagedTable<UInt32>
  /// The members' mutes, starts and policies as built.
  @safe @exclusivity(unchecked) var overrides: PagedTable<OverrideRecord>
  /// Values set after the build, by ``key(_:_:)``; policies are indices in ``Policies/members``.
  @safe @exclusivity(unchecked) var memberMutes: PagedMap
  @safe @exclusivity(unchecked) var memberSinces: PagedMap
  @safe @exclusivity(unchecked) var memberPolicies: PagedMap
  /// The pages of another engine that these tables share (`Fanout.fork()`).
  @safe @exclusivity(unchecked) var base: SharedPages?

  /// Every operation on all tables uses it, so that none can forget one.
  init<Visitor: TableVisitor & ~Copyable>(
    _ other: Tables?, app: AppSettings, unknownZones: UnknownZones, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    self.app = app
    rules = other?.rules ?? RuleTables.shared(app)
    appRevision = other?.appRevision ?? 0
    scheduleTable = other?.scheduleTable ?? ScheduleTable(app: app, unknownZones: unknownZones)
    unknownZoneUsers = other?.unknownZoneUsers ?? []
    calendar = other?.calendar ?? QuietCalendar(rules)
    calendarID = calendar.id
    base = other?.base
    // The order is that of a snapshot's sections.
    userIDs = try visitor.visit(other?.userIDs, folds: true, .users)
    names = try visitor.visit(other?.names, folds: false, .names)
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
    memberPolicies = try visitor.visit(other?.memberPolicies, .memberPolicies)
    overrides = try visitor.visit(other?.overrides, .overrides)
    memberKeys = try visitor.visit(other?.memberKeys, .memberKeys)
    rare = try visitor.visit(other?.rare)
  }

  convenience init(app: AppSettings, unknownZones: UnknownZones = .fail) {
    var copying = CopyTables()
    self.init(nil, app: app, unknownZones: unknownZones, &copying)
  }

  convenience init(copying other: Tables) {
    var copying = CopyTables()
    self.init(other, &copying)
  }

  convenience init<Visitor: TableVisitor & ~Copyable>(
    _ other: Tables, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    try self.init(other, app: other.app, unknownZones: .fail, &visitor)
  }

  func forEachTable<Visitor: TableVisitor & ~Copyable>(
    _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    _ = try Tables(self, &visitor)
  }

  var idTables: [IDTable] {
    var list = ListIDTables()
    forEachTable(&list)
    return list.tables
  }

  @inline(__always)
  var policies: Policies { rare.policies }
  @inline(__always)
  var nameLists: NameLists { rare.nameLists }

  /// For a change.
  func ownRare() -> RareTables {
    if !isKnownUniquelyReferenced(&rare) {
      var copying = CopyTables()
      rare = RareTables(rare, &copying)
    }
    return rare
  }

  static func key(_ conversation: UInt32, _ user: UInt32) -> UInt64 {
    UInt64(conversation) << 32 | UInt64(user)
  }

  /// Frees the memory; for the last version.
  func free() {
    var freeing = FreeTables(
      mapped: userIDs.mapped, shared: base?.generation ?? PageStore.mapped)
    forEachTable(&freeing)
  }

  /// The rules of a kind, valid until ``rules`` is replaced.
  @inline(__always)
  func stateTables(_ kind: ConversationKind) -> StateTables {
    // Counting references to the shared rules would make threads contend.
    unsafe Unmanaged.passUnretained(rules)._withUnsafeGuaranteedRef { $0.tables(kind) }
  }

  @inline(__always)
  func codes(ofAll outcome: Outcome) -> UnsafePointer<UInt8> {
    unsafe Unmanaged.passUnretained(rules)._withUnsafeGuaranteedRef {
      unsafe $0.codes(ofAll: outcome)
    }
  }

  @inline(__always)
  var hasKeys: Bool { memberKeys.count == memberUsers.count }

  // MARK: Users

  var userCount: Int { packedUsers.count }

  /// - Parameter asTold: whether devices are as heartbeats say, not as set.
  func user(_ user: UInt32, asTold: Bool = false) -> UserSettings {
    var settings = userExceptDevices(user)
    if hasOwnDevices(user) {
      let reader = deviceReader
      let devices = asTold ? self.devices.lists.asTold(user) : self.devices.lists.asSet(user)
      settings.devices = devices?.map(reader.device)
    }
    if !nameLists.isEmpty { addNames(to: &settings, of: user) }
    return settings
  }

  func userExceptDevices(_ user: UInt32) -> UserSettings {
    let packed = packedUsers[Int(user)]
    return settings(packed, scheduleTable[schedules[Int(user)]], mutedUntil: mute(of: user, packed))
  }

  /// In milliseconds; 0 for none.
  @inline(__always)
  func mute(of user: UInt32, _ packed: PackedUser) -> Int64 {
    packed.hasMute ? userMutes[UInt64(user)] ?? 0 : 0
  }

  @inline(__always)
  func hasOwnDevices(_ user: UInt32) -> Bool { devices.lists.hasOwn(user) }

  var deviceReader: DeviceReader { DeviceReader(self) }

  func forEachDevice(of user: UInt32, _ body: (DeviceRecord) -> Void) {
    devices.lists.forEach(of: user, body)
  }

  /// Calls `body` with the listed devices or the default, and with presence's.
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
      level: row.notificationLevel, channels: policies.channels(row.channels))
  }

  /// The number of members that a message goes to; a thread's are its parent's.
  @inline(__always)
  func memberCount(_ index: UInt32) -> Int {
    let row = conversations[Int(index)]
    let isThread = ConversationKind(ordinal: Int(row.kind)) == .thread && row.parent != 0
    return Int(isThread ? conversations[Int(row.parent - 1)].count : row.count)
  }

  /// A user's rank among the members, if any, in O(log members).
  @inline(__always)
  func rank(of user: UInt32, in row: ConversationRow) -> Int? {
    memberUsers.rank(of: user, in: row.range, below: userCount)
  }

  /// Prefetches where ``rank(of:in:)`` begins.
  @inline(__always)
  func prefetchRank(of user: UInt32, in row: ConversationRow) {
    memberUsers.prefetchAmongMany(Int(row.start) + Int(row.count) * Int(user) / max(userCount, 1))
  }

  /// About where a user ranks among members, in 0..<1.
  @inline(__always)
  func position(of user: UInt32) -> Double {
    min(Double(user) / Double(max(userCount, 1)), 1).nextDown.magnitude
  }

  @inline(__always)
  func insertionRank(of user: UInt32, in row: ConversationRow) -> Int {
    memberUsers.insertionRank(of: user, in: row.range, below: userCount)
  }

  func member(_ user: UInt32, of conversation: UInt32) -> MemberSettings? {
    let row = conversations[Int(conversation)]
    guard let rank = rank(of: user, in: row) else { return nil }
    return member(record(at: Int(row.start) + rank, conversation, row))
  }
}

/// What few settings need. A class, as every version of ``Tables`` has one word for it.
///
/// SAFETY: as ``Tables``: changed while one writer's tables alone have it.
@safe final class RareTables: @unchecked Sendable {
  @safe @exclusivity(unchecked) var policies: Policies
  /// Keywords and senders, by open rules.
  @safe @exclusivity(unchecked) var nameLists: NameLists

  /// Those of empty tables.
  static let initial: RareTables = {
    var copying = CopyTables()
    return RareTables(nil, &copying)
  }()

  init<Visitor: TableVisitor & ~Copyable>(
    _ other: RareTables?, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    policies = other?.policies ?? .initial
    nameLists = try NameLists(other?.nameLists, &visitor)
  }
}

/// Pages of another engine's version.
struct SharedPages {
  /// The version, which keeps them alive.
  let owner: any AnyObject & Sendable
  /// The newest update that made one of them.
  let generation: UInt64
}
