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
  /// For each user 0: the default device, 1: no device, otherwise the index of the first record
  /// plus 2. Empty while no user has listed devices.
  @safe @exclusivity(unchecked) var deviceLists: PagedTable<UInt32>
  @safe @exclusivity(unchecked) var devices: PagedTable<DeviceRecord>
  /// For each number of records, the first of a run that no user has any more, plus one; 0 for
  /// none. A run's first record has the next run of that number instead of an instant.
  @safe @exclusivity(unchecked) var freeDevices: InlineArray<16, UInt32>
  @safe @exclusivity(unchecked) var deviceNames: IDTable

  @safe @exclusivity(unchecked) var conversationIDs: IDTable
  @safe @exclusivity(unchecked) var conversations: PagedTable<ConversationRow>
  @safe @exclusivity(unchecked) var memberUsers: PagedTable<UInt32>
  @safe @exclusivity(unchecked) var packedMembers: PagedTable<UInt8>
  /// The lasting word of each member (``LastingWords``); empty until ``TableWriter`` has computed
  /// them.
  @safe @exclusivity(unchecked) var memberWords: PagedTable<UInt32>
  /// What the members of each conversation have beside the level, since the tables were built.
  @safe @exclusivity(unchecked) var overrides: PagedTable<OverrideRecord>
  /// What was set later, by conversation and user: the ends of mutes, the starts of memberships,
  /// and the indices of sets of channel levels.
  @safe @exclusivity(unchecked) var memberMutes: PagedMap
  @safe @exclusivity(unchecked) var memberSinces: PagedMap
  @safe @exclusivity(unchecked) var memberChannels: PagedMap
  @safe @exclusivity(unchecked) var channelSets: ChannelSets
  /// The version of another engine whose pages these tables share (`Fanout.fork()`); nil for none.
  @safe @exclusivity(unchecked) var base: EngineVersion?

  init(app: AppSettings, unknownZones: UnknownZones = .fail) {
    self.app = app
    rules = RuleTables.shared(app)
    appRevision = 0
    scheduleTable = ScheduleTable(app: app, unknownZones: unknownZones)
    unknownZoneUsers = []
    calendar = QuietCalendar()
    calendarID = calendar.id
    userIDs = IDTable(folds: true)
    packedUsers = PagedTable()
    schedules = PagedTable()
    userMutes = PagedMap()
    deviceLists = PagedTable()
    devices = PagedTable()
    freeDevices = InlineArray(repeating: 0)
    deviceNames = IDTable(folds: false)
    conversationIDs = IDTable(folds: false)
    conversations = PagedTable()
    memberUsers = PagedTable()
    packedMembers = PagedTable()
    memberWords = PagedTable()
    overrides = PagedTable()
    memberMutes = PagedMap()
    memberSinces = PagedMap()
    memberChannels = PagedMap()
    channelSets = ChannelSets()
  }

  /// A copy of other tables.
  init(copying other: Tables) {
    app = other.app
    rules = other.rules
    appRevision = other.appRevision
    userIDs = other.userIDs
    packedUsers = other.packedUsers
    schedules = other.schedules
    scheduleTable = other.scheduleTable
    unknownZoneUsers = other.unknownZoneUsers
    calendar = other.calendar
    calendarID = other.calendarID
    userMutes = other.userMutes
    deviceLists = other.deviceLists
    devices = other.devices
    freeDevices = other.freeDevices
    deviceNames = other.deviceNames
    conversationIDs = other.conversationIDs
    conversations = other.conversations
    memberUsers = other.memberUsers
    packedMembers = other.packedMembers
    memberWords = other.memberWords
    overrides = other.overrides
    memberMutes = other.memberMutes
    memberSinces = other.memberSinces
    memberChannels = other.memberChannels
    channelSets = other.channelSets
    base = other.base
  }

  static func key(_ conversation: UInt32, _ user: UInt32) -> UInt64 {
    UInt64(conversation) << 32 | UInt64(user)
  }

  /// Frees the memory. Called with the last version.
  func free() {
    let (mapped, shared) = (userIDs.mapped, base?.generation ?? PageStore.mapped)
    userIDs.free(except: mapped, madeAfter: shared)
    packedUsers.free(except: mapped, madeAfter: shared)
    schedules.free(except: mapped, madeAfter: shared)
    userMutes.free(except: mapped, madeAfter: shared)
    deviceLists.free(except: mapped, madeAfter: shared)
    devices.free(except: mapped, madeAfter: shared)
    deviceNames.free(except: mapped, madeAfter: shared)
    conversationIDs.free(except: mapped, madeAfter: shared)
    conversations.free(except: mapped, madeAfter: shared)
    memberUsers.free(except: mapped, madeAfter: shared)
    packedMembers.free(except: mapped, madeAfter: shared)
    memberWords.free(except: mapped, madeAfter: shared)
    overrides.free(except: mapped, madeAfter: shared)
    memberMutes.free(except: mapped, madeAfter: shared)
    memberSinces.free(except: mapped, madeAfter: shared)
    memberChannels.free(except: mapped, madeAfter: shared)
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

  /// Whether ``memberWords`` are kept.
  @inline(__always)
  var hasWords: Bool { memberWords.count == memberUsers.count }

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
  func hasOwnDevices(_ user: UInt32) -> Bool {
    deviceLists.count > 0 && deviceLists[Int(user)] != 0
  }

  /// The devices of users, without references.
  var deviceReader: DeviceReader { DeviceReader(self) }

  /// Calls `body` with each listed device, in order.
  func forEachDevice(of user: UInt32, _ body: (DeviceRecord) -> Void) {
    if hasOwnDevices(user) { devices.forEachDevice(inList: deviceLists[Int(user)], body) }
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

extension PagedTable where Element == DeviceRecord {
  /// Calls `body` with each record of an element of ``Tables/deviceLists``, in order.
  @inline(__always)
  func forEachDevice<Failure: Error>(
    inList list: UInt32, _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    guard list >= 2 else { return }
    var index = Int(list) - 2
    while true {
      let record = self[index]
      try body(record)
      if record.isLast { return }
      index += 1
    }
  }
}

extension PagedTable where Element == UInt32 {
  /// The rank of a value in a range of ascending ones below `bound`; nil if it is not among them.
  @inline(__always)
  func rank(of value: UInt32, in range: Range<Int>, below bound: Int) -> Int? {
    let rank = insertionRank(of: value, in: range, below: bound)
    guard rank < range.count, self[range.lowerBound + rank] == value else { return nil }
    return rank
  }

  /// The number of values below one in a range of ascending ones, all of them below `bound`.
  ///
  /// In a long range the search begins where the value stands if the values are spread evenly, as
  /// the members of a large conversation mostly are among all users, so that few cache lines are
  /// read.
  ///
  /// - Complexity: O(log values).
  func insertionRank(of value: UInt32, in range: Range<Int>, below bound: Int) -> Int {
    let start = range.lowerBound
    var low = 0
    var high = range.count
    if high > 64 { (low, high) = bracket(of: value, in: range, below: bound) }
    while low < high {
      let middle = (low + high) / 2
      if self[start + middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The rank, at least `rank`, of the first value not below one in a range of ascending ones.
  ///
  /// - Precondition: there is such a value.
  /// - Complexity: O(log of the ranks passed).
  func rank(ofFirstNotBelow value: UInt32, from rank: Int, in range: Range<Int>) -> Int {
    var (low, high, step) = (rank, rank, 1)
    while high < range.count, self[range.lowerBound + high] < value {
      low = high + 1
      high = min(range.count, high + step)
      step *= 2
    }
    while low < high {
      let middle = (low + high) / 2
      if self[range.lowerBound + middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Bounds of a value's rank, which are near each other if the values are spread evenly.
  private func bracket(
    of value: UInt32, in range: Range<Int>, below bound: Int
  ) -> (low: Int, high: Int) {
    let start = range.lowerBound
    var (low, high) = (0, range.count)
    var (lowValue, highValue) = (0, max(bound, Int(value) + 1))
    var isBelow = true
    // Twice: the second time the values between the first guess and an end are known to be fewer.
    for _ in 0..<2 where low < high {
      let share = (Int(value) - lowValue) * (high - low) / (highValue - lowValue)
      let guess = low + min(share, high - low - 1)
      prefetch(start + guess)
      let found = self[start + guess]
      isBelow = found < value
      if isBelow {
        (low, lowValue) = (guess + 1, Int(found) + 1)
      } else {
        (high, highValue) = (guess, Int(found) + 1)
      }
    }
    var step = 16
    while high - low > step {
      if isBelow {
        if self[start + low + step] >= value { return (low, low + step) }
        low += step + 1
      } else {
        if self[start + high - step] < value { return (high - step + 1, high) }
        high -= step
      }
      step *= 4
    }
    return (low, high)
  }
}
