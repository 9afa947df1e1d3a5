/// What a snapshot consists of, in this order.
enum SnapshotPart: UInt32, CaseIterable {
  case settings = 1
  case userCharacters, userAddresses, userSlots, userFolded
  case nameCharacters, nameAddresses, nameSlots
  case conversationCharacters, conversationAddresses, conversationSlots
  case packedUsers, schedules, userMutes, deviceLists, devices
  case conversations, memberUsers, packedMembers, memberMutes, memberSinces, memberChannels

  /// Pages in which the elements of a part stand: their size with the header, and how many elements
  /// each has. nil for parts without pages.
  var paging: (byteCount: Int, elementCount: Int)? {
    switch self {
    case .settings, .userCharacters, .nameCharacters, .conversationCharacters: nil
    case .userSlots, .userFolded, .nameSlots, .conversationSlots: nil
    case .userAddresses, .nameAddresses, .conversationAddresses: Self.paging(of: UInt.self)
    case .packedUsers: Self.paging(of: PackedUser.self)
    case .schedules, .deviceLists, .memberUsers: Self.paging(of: UInt32.self)
    case .packedMembers: Self.paging(of: UInt8.self)
    case .devices: Self.paging(of: DeviceRecord.self)
    case .conversations: Self.paging(of: ConversationRow.self)
    case .userMutes, .memberMutes, .memberSinces, .memberChannels:
      Self.paging(of: PagedMap.Slot.self)
    }
  }

  private static func paging<Element: BitwiseCopyable>(
    of _: Element.Type
  ) -> (byteCount: Int, elementCount: Int) {
    (PagedTable<Element>.storedPageSize, PagedTable<Element>.pageSize)
  }

  /// How many bytes are summed at once: whole pages, and few enough to stay in a core's cache until
  /// they are looked at.
  var blockSize: Int { paging.map { $0.byteCount * 256 } ?? 1 << 18 }

  /// Whether so many bytes can hold so many elements. Both are far from overflowing.
  func canHold(_ elementCount: Int, in byteCount: Int) -> Bool {
    if let paging {
      let pages = (elementCount + paging.elementCount - 1) / paging.elementCount
      return byteCount == pages * paging.byteCount
    }
    switch self {
    case .settings: return elementCount == 1
    case .userCharacters, .nameCharacters, .conversationCharacters:
      return elementCount == 0
        ? byteCount == 0
        : byteCount >= StoredIDs.front + elementCount * StoredIDs.leastSize + StoredIDs.back
    default:
      return byteCount == (elementCount == 0 ? 0 : PageStore.headerSize + elementCount * 8)
    }
  }

  static let alignment = 4096

  static func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
}

/// How the characters of ids are laid out in a file: as in an ``IDArena``, in the order of places.
enum StoredIDs {
  /// Unused bytes before the first id, as 0 is no distance that a slot can have.
  static let front = 16
  /// Unused bytes behind the last: what is taken for an id anywhere before them ends in them.
  static let back = 264
  /// What an id takes beside its characters.
  static let leastSize = 5
}

/// Where a part of a snapshot is.
struct SnapshotSection {
  var part: SnapshotPart
  var offset: Int
  /// Without the zeros up to the next section.
  var byteCount: Int
  var elementCount: Int
  /// The sum of the sums of all blocks, the zeros behind the section included.
  var checksum: UInt64

  /// The bytes that are summed.
  var range: Range<Int> { offset..<offset + SnapshotPart.aligned(byteCount) }
  var blockCount: Int { (range.count + part.blockSize - 1) / part.blockSize }

  func block(_ index: Int) -> Range<Int> {
    let start = offset + index * part.blockSize
    return start..<min(start + part.blockSize, range.upperBound)
  }

  static func sum(_ blocks: [UInt64]) -> UInt64 {
    var sink = ByteSink()
    for block in blocks { sink.put(block) }
    return PushFanout.checksum(sink.bytes)
  }
}

/// The first 4,096 bytes of a snapshot.
struct SnapshotHeader {
  static let byteCount = 4096
  private static let magic = UInt64(littleEndian: 0x0A1A_544F_4853_5550)  // "PUSHOT", 1A, 0A
  /// Of the file as such, and of what is in its sections.
  static let formatVersion: UInt32 = 1
  static let layoutVersion: UInt32 = 1

  var identity: SnapshotIdentity
  var sequence: UInt64
  var fileSize: Int
  /// One for each part, in their order.
  var sections: [SnapshotSection]

  var info: SnapshotInfo {
    SnapshotInfo(identity: identity, sequence: sequence, byteCount: fileSize)
  }

  /// Lowest byte first, or last.
  private static var byteOrder: UInt8 { 1 == UInt16(1).littleEndian ? 1 : 2 }

  /// A number that is another when a row's fields lie otherwise, so that no snapshot is read by a
  /// program whose compiler or author has moved them.
  static var layoutMark: UInt32 {
    typealias Row = ConversationRow
    typealias Record = DeviceRecord
    let offsets: [Int?] = [
      MemoryLayout<Row>.offset(of: \.start), MemoryLayout<Row>.offset(of: \.count),
      MemoryLayout<Row>.offset(of: \.capacity), MemoryLayout<Row>.offset(of: \.parent),
      MemoryLayout<Row>.offset(of: \.channels), MemoryLayout<Row>.offset(of: \.revision),
      MemoryLayout<Row>.offset(of: \.overrideRevision), MemoryLayout<Row>.offset(of: \.kind),
      MemoryLayout<Row>.offset(of: \.level), MemoryLayout<Row>.offset(of: \.hasOverrides),
      MemoryLayout<Record>.offset(of: \.id), MemoryLayout<Record>.offset(of: \.notifier),
      MemoryLayout<Record>.offset(of: \.backgroundSince), MemoryLayout<Record>.offset(of: \.kind),
      MemoryLayout<Record>.offset(of: \.state), MemoryLayout<Record>.offset(of: \.hasToken),
      MemoryLayout<Record>.offset(of: \.isLast),
      MemoryLayout<PagedMap.Slot>.offset(of: \.key),
      MemoryLayout<PagedMap.Slot>.offset(of: \.value),
    ]
    var mark: UInt32 = 2_166_136_261
    for number in offsets.map({ $0 ?? -1 }) + SnapshotPart.allCases.map({ $0.blockSize }) {
      mark = (mark ^ UInt32(truncatingIfNeeded: number)) &* 16_777_619
    }
    return mark
  }

  var bytes: [UInt8] {
    var sink = ByteSink()
    sink.put(Self.magic)
    sink.put(Self.formatVersion)
    sink.put(Self.layoutVersion)
    sink.put(Self.layoutMark)
    sink.put(Self.byteOrder)
    sink.put(UInt8(UInt.bitWidth))
    sink.put(UInt16(sections.count))
    sink.put(identity.high)
    sink.put(identity.low)
    sink.put(sequence)
    sink.put(UInt64(fileSize))
    for section in sections {
      sink.put(UInt64(section.part.rawValue))
      sink.put(UInt64(section.offset))
      sink.put(UInt64(section.byteCount))
      sink.put(UInt64(section.elementCount))
      sink.put(section.checksum)
    }
    sink.fill(to: Self.byteCount - 8)
    sink.put(checksum(sink.bytes))
    return sink.bytes
  }

  /// The header of a file whose size is right, with sections that fill it one behind the other.
  init(of mapping: Mapping, path: String) throws(SnapshotError) {
    do throws(SnapshotError.Problem) {
      self = try Self.read(unsafe Array(mapping.bytes(0..<Self.byteCount)), of: mapping.byteCount)
    } catch {
      throw SnapshotError(path: path, problem: error)
    }
  }

  private static func read(
    _ bytes: [UInt8], of fileSize: Int
  ) throws(SnapshotError.Problem) -> SnapshotHeader {
    var source = ByteSource(bytes)
    // There are always so many bytes.
    func next<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
      do { return try source.number(type) } catch { preconditionFailure(error.what) }
    }
    guard next() == magic else { throw .notASnapshot }
    // Before the checksum, which another version may have made in another way.
    let format = next(UInt32.self)
    guard format == formatVersion else {
      throw .otherVersion("format \(format) instead of \(formatVersion)")
    }
    var sums = ByteSource(Array(bytes.suffix(8)))
    guard let sum = try? sums.number(UInt64.self), sum == checksum(Array(bytes.dropLast(8))) else {
      throw .wrongChecksum(section: "header")
    }
    let layout = next(UInt32.self)
    guard layout == layoutVersion else {
      throw .otherVersion("tables \(layout) instead of \(layoutVersion)")
    }
    guard next() == layoutMark else { throw .otherVersion("rows are laid out otherwise") }
    guard next() == byteOrder, next(UInt8.self) == UInt8(UInt.bitWidth) else {
      throw .otherVersion("of a machine of another kind")
    }
    let sectionCount = Int(next(UInt16.self))
    guard sectionCount == SnapshotPart.allCases.count else {
      throw .malformed(section: "header", "\(sectionCount) sections")
    }
    let identity = SnapshotIdentity(high: next(), low: next())
    let sequence: UInt64 = next()
    let expectedSize: UInt64 = next()
    guard expectedSize == UInt64(fileSize) else {
      throw .wrongSize(found: fileSize, expected: expectedSize)
    }
    var header = SnapshotHeader(
      identity: identity, sequence: sequence, fileSize: fileSize, sections: [])
    var end = byteCount
    for part in SnapshotPart.allCases {
      let numbers = (0..<5).map { _ in next(UInt64.self) }
      guard numbers[0] == UInt64(part.rawValue), numbers[1] == UInt64(end),
        numbers[2] <= UInt64(fileSize - end), numbers[3] <= UInt64(fileSize),
        part.canHold(Int(numbers[3]), in: Int(numbers[2]))
      else { throw .malformed(section: "\(part)", "its place or its size") }
      let section = SnapshotSection(
        part: part, offset: end, byteCount: Int(numbers[2]), elementCount: Int(numbers[3]),
        checksum: numbers[4])
      end = section.range.upperBound
      guard end <= fileSize else { throw .malformed(section: "\(part)", "its size") }
      header.sections.append(section)
    }
    guard end == fileSize else { throw .malformed(section: "header", "something follows the end") }
    return header
  }

  init(
    identity: SnapshotIdentity, sequence: UInt64, fileSize: Int, sections: [SnapshotSection]
  ) {
    self.identity = identity
    self.sequence = sequence
    self.fileSize = fileSize
    self.sections = sections
  }
}
