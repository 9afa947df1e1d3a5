internal import PushSupport

/// The location of a section in a snapshot.
struct SnapshotSection {
  var part: SnapshotPart
  var offset: Int
  /// The size without the padding up to the next section.
  var byteCount: Int
  var elementCount: Int
  /// The checksum of the checksums of all blocks, padding included.
  var checksum: UInt64

  /// The bytes covered by the checksum.
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
  /// The versions of the file format, and of the tables in its sections.
  static let formatVersion: UInt32 = 1
  static let layoutVersion: UInt32 = 6

  var identity: SnapshotIdentity
  var sequence: UInt64
  var fileSize: Int
  /// All sections, in order.
  var sections: [SnapshotSection]

  var info: SnapshotInfo {
    SnapshotInfo(identity: identity, sequence: sequence, byteCount: fileSize)
  }

  /// 1 for little-endian, 2 for big-endian.
  private static var byteOrder: UInt8 { 1 == UInt16(1).littleEndian ? 1 : 2 }

  /// A hash of the offsets of rows' fields, so that a snapshot is not read by a program with
  /// another layout.
  static var layoutMark: UInt32 {
    typealias Row = ConversationRow
    typealias Record = DeviceRecord
    let offsets: [Int?] = [
      MemoryLayout<Row>.offset(of: \.start), MemoryLayout<Row>.offset(of: \.count),
      MemoryLayout<Row>.offset(of: \.capacity), MemoryLayout<Row>.offset(of: \.parent),
      MemoryLayout<Row>.offset(of: \.channels), MemoryLayout<Row>.offset(of: \.revision),
      MemoryLayout<Row>.offset(of: \.startsUntil), MemoryLayout<Row>.offset(of: \.kind),
      MemoryLayout<Row>.offset(of: \.level), MemoryLayout<Row>.offset(of: \.hasOverrides),
      MemoryLayout<Row>.offset(of: \.overrideStart), MemoryLayout<Row>.offset(of: \.overrideCount),
      MemoryLayout<Record>.offset(of: \.id), MemoryLayout<Record>.offset(of: \.notifier),
      MemoryLayout<Record>.offset(of: \.seen), MemoryLayout<Record>.offset(of: \.kind),
      MemoryLayout<Record>.offset(of: \.state), MemoryLayout<Record>.offset(of: \.hasToken),
      MemoryLayout<Record>.offset(of: \.isLast),
      MemoryLayout<PagedMap.Slot>.offset(of: \.key),
      MemoryLayout<PagedMap.Slot>.offset(of: \.value),
      MemoryLayout<OverrideRecord>.offset(of: \.user), MemoryLayout<OverrideRecord>.stride,
      MemoryLayout<NameLists.Holder>.offset(of: \.before),
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

  /// Reads and verifies the header: the sections are contiguous and fill the file.
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
    // The header's bytes are always complete.
    func next<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
      do { return try source.number(type) } catch { preconditionFailure(error.what) }
    }
    guard next() == magic else { throw .notASnapshot }
    // Checked before the checksum, which another version may compute differently.
    let format = next(UInt32.self)
    guard format == formatVersion else {
      throw .otherVersion("format \(format), expected \(formatVersion)")
    }
    var sums = ByteSource(Array(bytes.suffix(8)))
    guard let sum = try? sums.number(UInt64.self), sum == checksum(Array(bytes.dropLast(8))) else {
      throw .wrongChecksum(section: "header")
    }
    let layout = next(UInt32.self)
    guard layout == layoutVersion else {
      throw .otherVersion("tables \(layout), expected \(layoutVersion)")
    }
    guard next() == layoutMark else { throw .otherVersion("the layout of rows differs") }
    guard next() == byteOrder, next(UInt8.self) == UInt8(UInt.bitWidth) else {
      throw .otherVersion("the byte order or word size differs")
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
      else { throw .malformed(section: "\(part)", "invalid offset or size") }
      let section = SnapshotSection(
        part: part, offset: end, byteCount: Int(numbers[2]), elementCount: Int(numbers[3]),
        checksum: numbers[4])
      end = section.range.upperBound
      guard end <= fileSize else { throw .malformed(section: "\(part)", "invalid size") }
      header.sections.append(section)
    }
    guard end == fileSize else { throw .malformed(section: "header", "trailing bytes") }
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
