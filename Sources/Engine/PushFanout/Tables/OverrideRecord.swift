internal import PushModel

/// One value of a member besides the level, as built.
///
/// A conversation's records are sorted by user and kind, and never change. Those of members who
/// left or have ``PackedMember/isChanged`` are not read.
struct OverrideRecord: BitwiseCopyable {
  /// The kind of the value.
  enum Kind: UInt32 {
    case since = 1
    case mute = 2
    case policy = 3
  }

  /// The kind's position in ``high``, above values of 62 bits.
  private static let kindShift: UInt32 = 30

  let user: UInt32
  private let low: UInt32
  private let high: UInt32

  init(_ kind: Kind, of user: UInt32, _ value: Int64) {
    self.user = user
    low = UInt32(truncatingIfNeeded: value)
    high = kind.rawValue << Self.kindShift | UInt32(truncatingIfNeeded: value >> 32)
  }

  private init() {
    user = .max
    (low, high) = (0, 0)
  }

  static let none = OverrideRecord()

  /// Milliseconds, or an index in ``Policies/members``.
  @inline(__always)
  var value: Int64 { Int64(high & (1 << Self.kindShift - 1)) << 32 | Int64(low) }

  /// A ``Kind``; 0 in ``none``.
  @inline(__always)
  var rawKind: UInt32 { high >> Self.kindShift }

  /// The order of records.
  var key: UInt64 { UInt64(user) << 2 | UInt64(rawKind) }

  var isPolicy: Bool { rawKind == Kind.policy.rawValue }

  @inline(__always)
  var isStart: Bool { rawKind == Kind.since.rawValue }
}

/// A membership as the tables store it.
struct MemberRecord {
  var packed: PackedMember
  /// Milliseconds; 0 for always.
  var since: Int64 = 0
  /// Milliseconds; 0 for none.
  var mutedUntil: Int64 = 0
  /// The index in ``Policies/members``.
  var policy: UInt32 = 0

  init(_ packed: PackedMember) { self.packed = packed }

  /// The records of a build, in their order.
  func overrides(of user: UInt32) -> [OverrideRecord] {
    var records: [OverrideRecord] = []
    if packed.hasSince { records.append(OverrideRecord(.since, of: user, since)) }
    if packed.hasMute { records.append(OverrideRecord(.mute, of: user, mutedUntil)) }
    if packed.hasPolicy { records.append(OverrideRecord(.policy, of: user, Int64(policy))) }
    return records
  }

  fileprivate mutating func take(_ record: OverrideRecord) {
    switch OverrideRecord.Kind(rawValue: record.rawKind) {
    case .since: if packed.hasSince { since = record.value }
    case .mute: if packed.hasMute { mutedUntil = record.value }
    case .policy:
      if packed.hasPolicy { policy = UInt32(truncatingIfNeeded: record.value) }
    case nil: break
    }
  }
}

extension Tables {
  /// - Complexity: O(log overrides); O(1) without overrides.
  func record(at slot: Int, _ conversation: UInt32, _ row: ConversationRow) -> MemberRecord {
    let packed = PackedMember(bits: packedMembers[slot])
    guard packed.hasOverrides else { return MemberRecord(packed) }
    let user = memberUsers[slot]
    if packed.isChanged { return changedRecord(packed, of: user, conversation) }
    var cursor = OverrideCursor(self, row, from: user)
    return cursor.record(packed, of: user)
  }

  func changedRecord(
    _ packed: PackedMember, of user: UInt32, _ conversation: UInt32
  ) -> MemberRecord {
    let key = Self.key(conversation, user)
    var record = MemberRecord(packed)
    if packed.hasSince { record.since = memberSinces[key] ?? 0 }
    if packed.hasMute { record.mutedUntil = memberMutes[key] ?? 0 }
    if packed.hasPolicy {
      record.policy = UInt32(truncatingIfNeeded: memberPolicies[key] ?? 0)
    }
    return record
  }

  /// Calls `body` with the memberships, by ascending user.
  ///
  /// - Complexity: O(members).
  func forEachMember<Failure: Error>(
    of conversation: UInt32,
    _ body: (_ user: UInt32, _ record: MemberRecord) throws(Failure) -> Void
  ) throws(Failure) {
    let row = conversations[Int(conversation)]
    var cursor = OverrideCursor(self, row)
    for slot in row.range {
      let user = memberUsers[slot]
      let packed = PackedMember(bits: packedMembers[slot])
      try body(
        user,
        packed.isChanged
          ? changedRecord(packed, of: user, conversation) : cursor.record(packed, of: user))
    }
  }
}

/// Reads a conversation's overrides forward, by ascending user.
///
/// SAFETY: used while a version of the tables is retained.
@safe struct OverrideCursor {
  private let table: PagedTable<OverrideRecord>
  /// The records behind the chunk.
  private var rest: Range<Int>
  /// The next record or ``OverrideRecord/none``, and the number left in the chunk.
  private var next: UnsafePointer<OverrideRecord>
  private var count: Int

  /// ``OverrideRecord/none``, never freed.
  // SAFETY: written once, by the initializer.
  nonisolated(unsafe) private static let end: UnsafePointer<OverrideRecord> = {
    let end = UnsafeMutablePointer<OverrideRecord>.allocate(capacity: 1)
    unsafe end.initialize(to: .none)
    return unsafe UnsafePointer(end)
  }()

  init(_ tables: borrowing Tables, _ row: ConversationRow, from user: UInt32 = 0) {
    table = tables.overrides
    var range = row.overrides
    if user > 0 {
      range = range.lowerBound + table.insertionRank(of: user, in: range)..<range.upperBound
    }
    rest = range
    unsafe next = Self.end
    count = 0
    readOn()
  }

  private mutating func readOn() {
    guard !rest.isEmpty else {
      unsafe next = Self.end
      count = 1
      return
    }
    let chunk = unsafe table.chunk(from: rest.lowerBound, limit: rest.count)
    guard let first = chunk.baseAddress else { return }
    unsafe next = first
    count = chunk.count
    rest.removeFirst(chunk.count)
  }

  /// ``OverrideRecord/none`` at the end.
  @inline(__always)
  var record: OverrideRecord { unsafe next.pointee }

  /// - Precondition: a step is 0, or 1 with a next record.
  @inline(__always)
  mutating func advance(by step: Int) {
    unsafe next += step
    count -= step
    if count == 0 { readOn() }
  }

  /// - Precondition: users ascend from call to call, and `packed` is not
  ///   ``PackedMember/isChanged``.
  mutating func record(_ packed: PackedMember, of user: UInt32) -> MemberRecord {
    var found = MemberRecord(packed)
    guard packed.hasOverrides else { return found }
    while record.user < user { advance(by: 1) }
    while record.user == user {
      found.take(record)
      advance(by: 1)
    }
    return found
  }
}

extension PagedTable where Element == OverrideRecord {
  fileprivate func insertionRank(of user: UInt32, in range: Range<Int>) -> Int {
    var low = 0
    var high = range.count
    while low < high {
      let middle = (low + high) / 2
      if self[range.lowerBound + middle].user < user { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
