internal import Glibc
internal import PushModel
internal import Synchronization

/// The result of checking a part of a section.
struct SnapshotFinding: Sendable {
  var isWrong = false
  /// The number of slots in use.
  var used = 0

  mutating func merge(_ other: SnapshotFinding) {
    isWrong = isWrong || other.isWrong
    used += other.used
  }
}

/// The counts that indices in rows must stay below, and the checks of rows against them.
///
/// Each check is a branch-free loop over integers that accumulates violations and tests once at the
/// end.
struct SnapshotBounds {
  var users: Int
  var schedules: Int
  var devices: Int
  var names: Int
  var conversations: Int
  var userPolicies: Int
  var memberPolicies: Int
  /// The indices in ``Tables/nameLists``, and its holders.
  var listedNames: Int
  var holders: Int
  /// The bytes of the characters of ids that are not short.
  var userCharacters: Int
  var nameCharacters: Int
  var conversationCharacters: Int

  /// The offsets of flags in rows.
  private let hasToken = MemoryLayout<DeviceRecord>.offset(of: \.hasToken) ?? 0
  private let isLast = MemoryLayout<DeviceRecord>.offset(of: \.isLast) ?? 0
  private let hasOverrides = MemoryLayout<ConversationRow>.offset(of: \.hasOverrides) ?? 0

  /// Counts of cases: `allCases` would allocate an array each time.
  private let deviceKinds = UInt8(Device.Kind.byOrdinal.count)
  private let deviceStates = UInt8(Device.State.byOrdinal.count)
  private let conversationKinds = UInt8(ConversationKind.allCases.count)

  private static let latest = UInt64(Instant.maximumMilliseconds)

  init(
    users: Int, schedules: Int, devices: Int, names: Int, conversations: Int,
    userPolicies: Int, memberPolicies: Int, listedNames: Int, holders: Int,
    userCharacters: Int, nameCharacters: Int, conversationCharacters: Int
  ) {
    self.users = users
    self.schedules = schedules
    self.devices = devices
    self.names = names
    self.conversations = conversations
    self.userPolicies = userPolicies
    self.memberPolicies = memberPolicies
    self.listedNames = listedNames
    self.holders = holders
    self.userCharacters = userCharacters
    self.nameCharacters = nameCharacters
    self.conversationCharacters = conversationCharacters
  }

  /// Checks a page with its header.
  func check(
    _ part: SnapshotPart, page: UnsafeRawPointer, count: Int
  ) -> SnapshotFinding {
    let start = unsafe page + PageStore.headerSize
    var finding = SnapshotFinding()
    switch part {
    case .userEntries: finding.isWrong = unsafe !Self.areIDs(start, count, userCharacters)
    case .nameEntries: finding.isWrong = unsafe !Self.areIDs(start, count, nameCharacters)
    case .conversationEntries:
      finding.isWrong = unsafe !Self.areIDs(start, count, conversationCharacters)
    case .packedUsers:
      let policies = UInt32(userPolicies)
      finding.isWrong = unsafe Self.any(start, count) { (user: PackedUser) in
        user.invalidLevels(below: policies)
      }
    case .schedules: finding.isWrong = unsafe Self.any(start, count, notBelow: schedules)
    case .deviceLists:
      finding.isWrong = unsafe Self.any(start, count, notBelow: DeviceLists.limit(records: devices))
    case .memberUsers: finding.isWrong = unsafe Self.any(start, count, notBelow: users)
    case .memberKeys:
      let limit = UInt32(min(schedules, MemberKey.scheduleCapacity) - 1)
      finding.isWrong = unsafe Self.any(start, count) { (key: MemberKey) -> UInt32 in
        key.schedule > limit ? 1 : 0
      }
    case .packedMembers:
      let last = UInt8(min(memberPolicies - 1, Int(PackedMember.levelMask)))
      finding.isWrong = unsafe Self.any(start, count) { (member: PackedMember) in
        member.level > last ? 1 as UInt8 : 0
      }
    case .devices:
      let size = MemoryLayout<DeviceRecord>.stride
      for index in 0..<count where unsafe !isDevice(start + index * size) { finding.isWrong = true }
    case .conversations:
      let size = MemoryLayout<ConversationRow>.stride
      for index in 0..<count where unsafe !isConversation(start + index * size) {
        finding.isWrong = true
      }
    case .overrides:
      let records = unsafe start.assumingMemoryBound(to: OverrideRecord.self)
      for index in 0..<count where unsafe !isOverride(records[index]) { finding.isWrong = true }
    case .userMutes:
      unsafe finding.merge(Self.check(map: start, count, keys: users, upTo: Self.latest))
    case .memberMutes, .memberSinces:
      unsafe finding.merge(Self.check(map: start, count, upTo: Self.latest))
    case .memberPolicies:
      unsafe finding.merge(Self.check(map: start, count, upTo: UInt64(memberPolicies) - 1))
    case .nameListStarts:
      unsafe finding.merge(Self.check(map: start, count, keys: users, upTo: UInt64(listedNames)))
    case .lastNameHolders:
      unsafe finding.merge(
        Self.check(
          map: start, count, keys: names, mask: UInt64(UInt32.max), upTo: UInt64(holders)))
    case .nameHolders:
      let users = UInt32(users)
      finding.isWrong = unsafe Self.any(start, count) { (holder: NameLists.Holder) -> UInt8 in
        holder.user >= users ? 1 : 0
      }
    case .settings, .userCharacters, .nameCharacters, .conversationCharacters, .nameLists: break
    case .userSlots, .userFolded, .nameSlots, .conversationSlots: break
    }
    if unsafe page.load(as: UInt64.self) != PageStore.mapped { finding.isWrong = true }
    return finding
  }

  /// Whether `wrong` is other than 0 for any element.
  @inline(__always)
  private static func any<Element: BitwiseCopyable, Number: FixedWidthInteger>(
    _ start: UnsafeRawPointer, _ count: Int, _ wrong: (Element) -> Number
  ) -> Bool {
    let elements = unsafe start.assumingMemoryBound(to: Element.self)
    var bits: Number = 0
    for index in 0..<count { bits |= wrong(unsafe elements[index]) }
    return bits != 0
  }

  private static func any(_ start: UnsafeRawPointer, _ count: Int, notBelow limit: Int) -> Bool {
    // A count is at most 2^32 - 2, so count + 2 is at most 2^32.
    let last = limit - 1
    guard last >= 0 else { return count > 0 }
    let most = UInt32(min(last, Int(UInt32.max)))
    return unsafe any(start, count) { (index: UInt32) -> UInt32 in index > most ? 1 : 0 }
  }

  /// - Parameter keys: the highest key there may be; keys are indices plus one.
  private static func check(
    map start: UnsafeRawPointer, _ count: Int, keys: Int = .max, mask: UInt64 = .max,
    upTo last: UInt64
  ) -> SnapshotFinding {
    let slots = unsafe start.assumingMemoryBound(to: PagedMap.Slot.self)
    var finding = SnapshotFinding()
    for index in 0..<count {
      let slot = unsafe slots[index]
      finding.used += slot.key == 0 ? 0 : 1
      // A negative number is a large unsigned one.
      let value = UInt64(bitPattern: slot.value) & mask
      if slot.key > UInt64(keys) || slot.key != 0 && value > last { finding.isWrong = true }
    }
    return finding
  }

  static func check(slots: UnsafeBufferPointer<UInt64>, below count: Int) -> SnapshotFinding {
    var used = 0
    var wrong: UInt64 = 0
    for position in 0..<slots.count {
      let slot = unsafe slots[position]
      let isUsed: UInt64 = slot == 0 ? 0 : 1
      used &+= Int(isUsed)
      wrong |= isUsed & (IDSlots.index(slot) >= count ? 1 : 0)
    }
    return SnapshotFinding(isWrong: wrong != 0, used: used)
  }

  /// Checks ids, of which those that are not short have their characters within a section.
  private static func areIDs(_ start: UnsafeRawPointer, _ count: Int, _ byteCount: Int) -> Bool {
    let entries = unsafe start.assumingMemoryBound(to: IDEntry.self)
    for index in 0..<count {
      let entry = unsafe entries[index]
      if entry.isShort {
        guard entry.words.isValid else { return false }
      } else {
        let (offset, length) = entry.long
        guard length <= byteCount, offset <= UInt(byteCount - length) else { return false }
      }
    }
    return true
  }

  /// Flags are checked as bytes first: a `Bool` with a value other than 0 and 1 is undefined
  /// behavior.
  private func isDevice(_ start: UnsafeRawPointer) -> Bool {
    guard unsafe Self.isFlag(start + hasToken), unsafe Self.isFlag(start + isLast) else {
      return false
    }
    let record = unsafe start.load(as: DeviceRecord.self)
    return record.id < names && record.notifier <= names && record.seen >= -1
      && record.seen <= Instant.maximumMilliseconds
      && record.kind < deviceKinds && record.state < deviceStates && record.toldPresence == .asSet
  }

  private func isConversation(_ start: UnsafeRawPointer) -> Bool {
    guard unsafe Self.isFlag(start + hasOverrides) else { return false }
    let row = unsafe start.load(as: ConversationRow.self)
    return row.kind < conversationKinds && NotificationLevel(rawValue: row.level) != nil
      && row.parent <= conversations && row.channels < memberPolicies && row.count <= row.capacity
  }

  private func isOverride(_ record: OverrideRecord) -> Bool {
    let value = UInt64(bitPattern: record.value)
    return switch OverrideRecord.Kind(rawValue: record.rawKind) {
    case .since, .mute: record.user < users && value <= Self.latest
    case .policy: record.user < users && value < memberPolicies
    case nil: false
    }
  }

  private static func isFlag(_ byte: UnsafeRawPointer) -> Bool {
    unsafe byte.load(as: UInt8.self) < 2
  }
}

/// The slots of members or of their overrides that conversations have claimed.
///
/// SAFETY: mutated by atomic operations only.
@safe final class SlotSet: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init(count: Int) {
    // Zeroed memory is a valid array of atomic integers.
    guard let memory = unsafe calloc(count / 64 + 1, 8) else {
      preconditionFailure("out of memory")
    }
    unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: count / 64 + 1)
  }

  deinit { unsafe free(words) }

  /// Claims slots.
  ///
  /// - Returns: false if one of them was already claimed.
  func insert(_ range: Range<Int>) -> Bool {
    var slot = range.lowerBound
    var wasIn: UInt64 = 0
    while slot < range.upperBound {
      let count = min(64 - slot % 64, range.upperBound - slot)
      let ones: UInt64 = count == 64 ? .max : (1 << UInt64(count)) - 1
      let mask = ones << UInt64(slot % 64)
      let before = unsafe words[slot / 64].bitwiseOr(mask, ordering: .relaxed).oldValue
      wasIn |= before & mask
      slot += count
    }
    return wasIn == 0
  }
}

extension Tables {
  /// Whether conversations have disjoint slots of members and of overrides, both ascend, and
  /// overrides are flagged.
  func areRight(conversations range: Range<Int>, _ slots: SlotSet, _ records: SlotSet) -> Bool {
    var isRight = true
    for conversation in range {
      let row = conversations[conversation]
      let start = Int(row.start)
      guard start + Int(row.capacity) <= memberUsers.count else { return false }
      isRight = isRight && slots.insert(start..<start + Int(row.capacity))
      isRight = isRight && isAscending(row.range)
      isRight = isRight && (row.hasOverrides || !hasOverrides(row.range))
      guard row.overrides.upperBound <= overrides.count else { return false }
      isRight = isRight && records.insert(row.overrides)
      isRight = isRight && doesAscend(overrides: row.overrides)
    }
    return isRight
  }

  private func isAscending(_ range: Range<Int>) -> Bool {
    var last: UInt32?
    var wrong: UInt32 = 0
    unsafe memberUsers.forEachChunk(range) { (_, users) -> Void in
      if let last, unsafe users[0] <= last { wrong = 1 }
      for index in 0..<users.count &- 1 {
        wrong |= unsafe users[index &+ 1] <= users[index] ? 1 : 0
      }
      last = unsafe users[users.count &- 1]
    }
    return wrong == 0
  }

  private func doesAscend(overrides range: Range<Int>) -> Bool {
    var isAscending = true
    var last: UInt64?
    overrides.forEachChunkElement(range) { _, record in
      if let last, record.key <= last { isAscending = false }
      last = record.key
    }
    return isAscending
  }

  private func hasOverrides(_ range: Range<Int>) -> Bool {
    var bits: UInt8 = 0
    unsafe packedMembers.forEachChunk(range) { (_, bytes) -> Void in
      for index in 0..<bytes.count { bits |= unsafe bytes[index] }
    }
    return PackedMember(bits: bits).hasOverrides
  }
}
