/// The devices of users, in consecutive records.
///
/// Those of which heartbeats told are as heartbeats say, and behind them are the records as set
/// (``DeviceRecord/toldPresence``). A freed run is reused for a user with as many devices.
struct DeviceTable {
  private(set) var lists: DeviceLists
  /// By number of records, the first free run's start plus one; 0 for none.
  /// ``DeviceRecord/nextFree`` links free runs. The first, of no records, has ``unusedCount``, as each
  /// version copies all.
  private var freeRuns: InlineArray<16, UInt32>
  /// The number of users of whose devices heartbeats told.
  private(set) var toldUsers: Int
  /// The number of records that no user has.
  private(set) var unusedCount: Int {
    get { Int(freeRuns[0]) }
    set { freeRuns[0] = UInt32(clamping: newValue) }
  }

  init<Visitor: TableVisitor & ~Copyable>(
    _ other: DeviceTable?, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    lists = DeviceLists(
      lists: try visitor.visit(other?.lists.lists, .deviceLists),
      records: try visitor.visit(other?.lists.records, .devices))
    freeRuns = other?.freeRuns ?? InlineArray(repeating: 0)
    toldUsers = other?.toldUsers ?? 0
  }

  var recordCount: Int { lists.records.count }

  var isTerminated: Bool { recordCount == 0 || lists.records[recordCount - 1].isLast }

  mutating func grow(to userCount: Int, _ store: PageStore) {
    if lists.lists.count > 0 { lists.lists.grow(to: userCount, repeating: 0, store) }
  }

  mutating func reset(_ user: UInt32, _ store: PageStore) {
    guard lists.hasOwn(user) else { return }
    noteTold(user, as: .asSet)
    freeRun(of: user, store)
    lists.lists.set(Int(user), DeviceLists.defaultDevice, store)
  }

  /// - Parameters:
  ///   - records: the last has ``DeviceRecord/isLast``, and so has the last of those as set, if they
  ///     follow.
  ///   - limit: the number of records must stay below it.
  /// - Returns: false for too many records.
  mutating func set(
    _ records: [DeviceRecord], of user: UInt32, userCount: Int, limit: Int, _ store: PageStore
  ) -> Bool {
    if lists.lists.count == 0 {
      lists.lists.grow(to: userCount, repeating: DeviceLists.defaultDevice, store)
    }
    noteTold(user, as: records.first?.toldPresence)
    if records.isEmpty {
      freeRun(of: user, store)
      lists.lists.set(Int(user), DeviceLists.noDevice, store)
      return true
    }
    if let first = lists.first(of: user), lists.count(of: user) == records.count {
      write(records, at: first, store)
      return true
    }
    freeRun(of: user, store)
    guard let first = room(for: records, limit: limit, store) else { return false }
    lists.lists.set(Int(user), DeviceLists.list(first: first), store)
    return true
  }

  private mutating func noteTold(_ user: UInt32, as presence: DeviceRecord.Presence?) {
    if lists.toldPresence(of: user) != .asSet { toldUsers -= 1 }
    if let presence, presence != .asSet { toldUsers += 1 }
  }

  private mutating func room(
    for records: [DeviceRecord], limit: Int, _ store: PageStore
  ) -> Int? {
    let size = records.count
    if size < freeRuns.count, freeRuns[size] > 0 {
      let first = Int(freeRuns[size]) - 1
      freeRuns[size] = lists.records[first].nextFree
      unusedCount -= size
      write(records, at: first, store)
      return first
    }
    let first = recordCount
    guard first + size < limit else { return nil }
    for record in records { lists.records.append(record, store) }
    return first
  }

  private mutating func write(_ records: [DeviceRecord], at first: Int, _ store: PageStore) {
    for (offset, record) in records.enumerated() {
      lists.records.set(first + offset, record, store)
    }
  }

  private mutating func freeRun(of user: UInt32, _ store: PageStore) {
    let size = lists.count(of: user)
    unusedCount += size
    guard let first = lists.first(of: user), size < freeRuns.count else { return }
    var record = lists.records[first]
    record.nextFree = freeRuns[size]
    record.toldPresence = .asSet
    lists.records.set(first, record, store)
    freeRuns[size] = UInt32(first + 1)
  }

  /// Counts the records that no user has, of a table that was read from a snapshot.
  ///
  /// - Parameter body: called with each record that a user has.
  /// - Complexity: O(users + devices).
  mutating func countUnused(_ body: (DeviceRecord) -> Void) {
    var used = 0
    for user in 0..<UInt32(lists.lists.count) {
      lists.forEach(of: user) { device in
        used += 1
        body(device)
      }
    }
    unusedCount = recordCount - used
  }

  mutating func removeAll(_ store: PageStore) {
    lists.lists.removeAll(store)
    lists.records.removeAll(store)
    freeRuns = InlineArray(repeating: 0)
    toldUsers = 0
  }

  func checkLists(userCount: Int) {
    let count = lists.lists.count
    precondition(
      count == 0 || count == userCount, "DeviceTable: \(count) lists, \(userCount) users")
  }

  func checkInvariants(of user: UInt32, nameCount: Int) {
    guard let first = lists.first(of: user) else { return }
    precondition(first < recordCount, "DeviceTable: user \(user) has no such list")
    lists.forEach(of: user) {
      precondition(
        $0.id < nameCount && $0.notifier <= nameCount,
        "DeviceTable: a device of user \(user) has no such id")
    }
    precondition(
      lists.asSet(user)?.last?.isLast ?? true, "DeviceTable: devices of user \(user) do not end")
  }
}

/// The lists of ``DeviceTable``, for readers.
struct DeviceLists {
  /// By user, one of the following values; empty while no user lists devices.
  fileprivate(set) var lists = PagedTable<UInt32>()
  fileprivate(set) var records = PagedTable<DeviceRecord>()

  static let defaultDevice: UInt32 = 0
  fileprivate static let noDevice: UInt32 = 1
  fileprivate static func list(first: Int) -> UInt32 { UInt32(first + 2) }
  /// The bound of ``lists``' elements.
  static func limit(records: Int) -> Int { records + 2 }

  init() {}

  fileprivate init(lists: PagedTable<UInt32>, records: PagedTable<DeviceRecord>) {
    self.lists = lists
    self.records = records
  }

  /// Whether devices are listed; otherwise the user has `Device.default`.
  @inline(__always)
  func hasOwn(_ user: UInt32) -> Bool {
    lists.count > 0 && lists[Int(user)] != Self.defaultDevice
  }

  @inline(__always)
  func first(of user: UInt32) -> Int? {
    guard lists.count > 0, lists[Int(user)] > Self.noDevice else { return nil }
    return Int(lists[Int(user)]) - 2
  }

  /// The length of a user's run.
  fileprivate func count(of user: UInt32) -> Int {
    var count = 0
    forEach(of: user) { _ in count += 1 }
    return toldPresence(of: user) == .ofListed ? 2 * count : count
  }

  /// Of what a user's records tell.
  func toldPresence(of user: UInt32) -> DeviceRecord.Presence {
    first(of: user).flatMap { records[$0].toldPresence } ?? .asSet
  }

  /// A user's records, with those as set behind others; nil for one who lists none, and of whom none
  /// told.
  func run(of user: UInt32) -> [DeviceRecord]? {
    guard hasOwn(user) else { return nil }
    return first(of: user).map { first in (0..<count(of: user)).map { records[first + $0] } } ?? []
  }

  /// A user's devices as heartbeats say; nil for one who lists none, and of whom none told.
  func asTold(_ user: UInt32) -> [DeviceRecord]? {
    guard hasOwn(user) else { return nil }
    var devices: [DeviceRecord] = []
    forEach(of: user) { devices.append($0) }
    return devices
  }

  /// A user's devices as set; nil for `Device.default`.
  func asSet(_ user: UInt32) -> [DeviceRecord]? {
    guard let told = asTold(user) else { return nil }
    switch toldPresence(of: user) {
    case .asSet: return told
    case .ofDefault: return nil
    case .ofListed:
      let first = (first(of: user) ?? 0) + told.count
      return (first..<first + told.count).map { records[$0] }
    }
  }

  @inline(__always)
  func forEach<Failure: Error>(
    of user: UInt32, _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    guard var index = first(of: user) else { return }
    while true {
      let record = records[index]
      try body(record)
      if record.isLast { return }
      index += 1
    }
  }

  @inline(__always)
  func prefetch(_ user: UInt32) { if lists.count > 0 { lists.prefetchAmongMany(Int(user)) } }

  @inline(__always)
  func prefetchRecords(_ user: UInt32) {
    if let first = first(of: user) { records.prefetch(first) }
  }
}
