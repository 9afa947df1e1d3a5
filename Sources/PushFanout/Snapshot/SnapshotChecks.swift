internal import Glibc
internal import PushRules
internal import Synchronization

/// What was found in a stretch of a section.
struct SnapshotFinding: Sendable {
  var isWrong = false
  /// Slots in use.
  var used = 0

  mutating func merge(_ other: SnapshotFinding) {
    isWrong = isWrong || other.isWrong
    used += other.used
  }
}

/// How many there are of what rows point to, and whether rows keep to it.
///
/// Each check is a loop over plain numbers that collects what is wrong and asks once at the end.
struct SnapshotBounds {
  var users: Int
  var schedules: Int
  var devices: Int
  var names: Int
  var conversations: Int
  var channelSets: Int

  /// Where flags are in rows: looked up once.
  private let hasToken = MemoryLayout<DeviceRecord>.offset(of: \.hasToken) ?? 0
  private let isLast = MemoryLayout<DeviceRecord>.offset(of: \.isLast) ?? 0
  private let hasSpecials = MemoryLayout<ConversationRow>.offset(of: \.hasSpecials) ?? 0

  /// How many there are, which an enumeration does not say without making a list.
  private let deviceKinds = UInt8(Device.Kind.byPlace.count)
  private let deviceStates = UInt8(Device.State.byPlace.count)
  private let conversationKinds = UInt8(ConversationKind.allCases.count)
  private let levels = UInt8(NotificationLevel.allCases.count)

  private static let latest = UInt64(Instant.maximumMilliseconds)

  init(
    users: Int, schedules: Int, devices: Int, names: Int, conversations: Int, channelSets: Int
  ) {
    self.users = users
    self.schedules = schedules
    self.devices = devices
    self.names = names
    self.conversations = conversations
    self.channelSets = channelSets
  }

  /// Looks at a page with its header.
  func check(
    _ part: SnapshotPart, page: UnsafeRawPointer, count: Int
  ) -> SnapshotFinding {
    let start = unsafe page + PageStore.headerSize
    var finding = SnapshotFinding()
    switch part {
    case .words:
      // Levels of three bits, of which 6 and 7 are none.
      finding.isWrong = unsafe Self.any(start, count, UInt32.self) {
        $0 >> 2 & $0 >> 1 & 0o111_111_111
      }
    case .schedules: finding.isWrong = unsafe Self.any(start, count, notBelow: schedules)
    case .deviceLists: finding.isWrong = unsafe Self.any(start, count, notBelow: devices + 2)
    case .memberUsers: finding.isWrong = unsafe Self.any(start, count, notBelow: users)
    case .memberBytes:
      finding.isWrong = unsafe Self.any(start, count, UInt8.self) {
        $0 & 0x88 | $0 >> 2 & $0 >> 1 & 1
      }
    case .devices:
      let size = MemoryLayout<DeviceRecord>.stride
      for place in 0..<count where unsafe !isDevice(start + place * size) { finding.isWrong = true }
    case .conversations:
      let size = MemoryLayout<ConversationRow>.stride
      for place in 0..<count where unsafe !isConversation(start + place * size) {
        finding.isWrong = true
      }
    case .userMutes, .memberMutes, .memberSinces:
      unsafe finding.merge(Self.check(map: start, count, upTo: Self.latest))
    case .memberChannels:
      unsafe finding.merge(Self.check(map: start, count, upTo: UInt64(channelSets) - 1))
    default: break
    }
    if unsafe page.load(as: UInt64.self) != PageStore.mapped { finding.isWrong = true }
    return finding
  }

  @inline(__always)
  private static func any<Number: FixedWidthInteger>(
    _ start: UnsafeRawPointer, _ count: Int, _: Number.Type, _ wrong: (Number) -> Number
  ) -> Bool {
    let numbers = unsafe start.assumingMemoryBound(to: Number.self)
    var bits: Number = 0
    for place in 0..<count { bits |= wrong(unsafe numbers[place]) }
    return bits != 0
  }

  private static func any(_ start: UnsafeRawPointer, _ count: Int, notBelow limit: Int) -> Bool {
    // A count is at most 2^32 - 2, and with two more at most 2^32.
    let last = limit - 1
    guard last >= 0 else { return count > 0 }
    let most = UInt32(min(last, Int(UInt32.max)))
    return unsafe any(start, count, UInt32.self) { $0 > most ? 1 : 0 }
  }

  private static func check(
    map start: UnsafeRawPointer, _ count: Int, upTo last: UInt64
  ) -> SnapshotFinding {
    let slots = unsafe start.assumingMemoryBound(to: PagedMap.Slot.self)
    var finding = SnapshotFinding()
    for place in 0..<count {
      let slot = unsafe slots[place]
      finding.used += slot.key == 0 ? 0 : 1
      // A negative number is a large one.
      if slot.key != 0, UInt64(bitPattern: slot.value) > last { finding.isWrong = true }
    }
    return finding
  }

  static func check(
    slots: UnsafeBufferPointer<UInt64>, from first: UInt64, to last: Int
  ) -> SnapshotFinding {
    let range = last < Int(first) ? 0 : UInt64(last) - first
    var used = 0
    var wrong: UInt64 = last < Int(first) ? 1 : 0
    for place in 0..<slots.count {
      let slot = unsafe slots[place]
      let isUsed: UInt64 = slot == 0 ? 0 : 1
      used &+= Int(isUsed)
      wrong |= isUsed & (slot & 0xFFFF_FFFF_FFFF &- first > range ? 1 : 0)
    }
    return SnapshotFinding(isWrong: used > 0 && wrong != 0, used: used)
  }

  /// Flags are looked at as bytes first: a `Bool` of another value than 0 and 1 is none.
  private func isDevice(_ start: UnsafeRawPointer) -> Bool {
    guard unsafe Self.isFlag(start + hasToken), unsafe Self.isFlag(start + isLast) else {
      return false
    }
    let record = unsafe start.load(as: DeviceRecord.self)
    return record.id < names && record.notifier <= names && record.backgroundSince >= -1
      && record.backgroundSince <= Instant.maximumMilliseconds
      && record.kind < deviceKinds && record.state < deviceStates
  }

  private func isConversation(_ start: UnsafeRawPointer) -> Bool {
    guard unsafe Self.isFlag(start + hasSpecials) else { return false }
    let row = unsafe start.load(as: ConversationRow.self)
    return row.kind < conversationKinds && row.level < levels && row.parent <= conversations
      && row.channels < channelSets && row.count <= row.capacity
  }

  private static func isFlag(_ byte: UnsafeRawPointer) -> Bool {
    unsafe byte.load(as: UInt8.self) < 2
  }
}

/// Places of members that belong to some conversation.
///
/// SAFETY: changed by atomic instructions only.
@safe final class PlaceSet: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  init(count: Int) {
    // Zeros from the system, which an atomic number may be.
    guard let memory = unsafe calloc(count / 64 + 1, 8) else {
      preconditionFailure("out of memory")
    }
    unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: count / 64 + 1)
  }

  deinit { unsafe free(words) }

  /// Takes places in.
  ///
  /// - Returns: false when one of them was in already.
  func insert(_ range: Range<Int>) -> Bool {
    var place = range.lowerBound
    var wasIn: UInt64 = 0
    while place < range.upperBound {
      let count = min(64 - place % 64, range.upperBound - place)
      let ones: UInt64 = count == 64 ? .max : (1 << UInt64(count)) - 1
      let mask = ones << UInt64(place % 64)
      let before = unsafe words[place / 64].bitwiseOr(mask, ordering: .relaxed).oldValue
      wasIn |= before & mask
      place += count
    }
    return wasIn == 0
  }
}

extension Tables {
  /// Whether members stand in places of their own, each above the one before, and what is kept
  /// beside is said of the conversation.
  func areRight(conversations range: Range<Int>, _ places: PlaceSet) -> Bool {
    var isRight = true
    for place in range {
      let row = conversations[place]
      let start = Int(row.start)
      guard start + Int(row.capacity) <= memberUsers.count else { return false }
      isRight = isRight && places.insert(start..<start + Int(row.capacity))
      isRight = isRight && isAscending(row.range)
      isRight = isRight && (row.hasSpecials || !hasSpecials(row.range))
    }
    return isRight
  }

  private func isAscending(_ range: Range<Int>) -> Bool {
    var last: UInt32?
    var wrong: UInt32 = 0
    unsafe memberUsers.forEachStretch(range) { (_, users) -> Void in
      if let last, unsafe users[0] <= last { wrong = 1 }
      for place in 0..<users.count &- 1 {
        wrong |= unsafe users[place &+ 1] <= users[place] ? 1 : 0
      }
      last = unsafe users[users.count &- 1]
    }
    return wrong == 0
  }

  private func hasSpecials(_ range: Range<Int>) -> Bool {
    var bits: UInt8 = 0
    unsafe memberBytes.forEachStretch(range) { (_, bytes) -> Void in
      for place in 0..<bytes.count { bits |= unsafe bytes[place] }
    }
    return MemberByte(bits: bits).isSpecial
  }
}

extension IDTable {
  /// Whether the ids of a stretch of places stand one behind the other where they should, each
  /// behind its place and its length.
  ///
  /// - Parameter byteCount: of the section that they are in.
  func hasIDs(_ range: Range<Int>, in byteCount: Int) -> Bool {
    let end = UInt(byteCount - StoredIDs.back)
    guard range.lowerBound > 0 || addresses[0] == UInt(StoredIDs.front) else { return false }
    var isRight = true
    for place in range {
      let offset = addresses[place]
      let next = place + 1 == count ? end : addresses[place + 1]
      guard next <= end, offset < next, next - offset >= UInt(StoredIDs.leastSize) else {
        return false
      }
      // Where one begins is known from the table, so that ids need not wait for each other.
      let address = base.address(at: UInt64(offset))
      let id = unsafe base.characters(at: address)
      let size = UInt(id.count < 255 ? 5 : 9) + UInt(id.count)
      isRight =
        isRight && size == next - offset
        && IDArena.place(at: address) == UInt32(place)
    }
    return isRight
  }
}
