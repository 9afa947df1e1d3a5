internal import CPushKernels
internal import PushModel
public import QuietTime
internal import PushSupport
internal import Synchronization

extension Fanout {
  /// Opens an engine from a snapshot. The file is mapped into memory and used in place; updates
  /// copy the pages that they change.
  ///
  /// Snapshots are untrusted input: the whole file is read once, every checksum is verified, and
  /// every index is bounds-checked before use, so that a malicious file can cause wrong decisions
  /// but no memory errors. The caller applies the changes since ``snapshot``. As after building,
  /// no conversation is cached; ``warmUp(_:at:)`` prepares them.
  ///
  /// The file may be replaced or removed while the engine exists, but not modified in place.
  ///
  /// - Parameters:
  ///   - path: the snapshot's file.
  ///   - identity: the identity that the snapshot must have.
  ///   - threads: the number of threads that this and later calls may use; nil for the number of
  ///     cores.
  ///   - unknownZones: what is done with time zones that the system does not have.
  /// - Throws: ``SnapshotError``. Rebuild the engine from its records then.
  /// - Complexity: O(users + memberships), at the speed of memory, or of the disk for pages that
  ///   are not cached.
  public convenience init(
    snapshot path: String, identity: SnapshotIdentity, threads: Int? = nil,
    unknownZones: UnknownZones = .fail
  ) throws(SnapshotError) {
    try self.init(
      snapshot: path, identity: identity, threads: threads, acceptsOtherTimeZoneData: false,
      unknownZones: unknownZones)
  }

  /// Opens a snapshot that may have been written with another version of the time-zone data: where
  /// there are no records to rebuild the engine from. It holds names of zones, and nothing of their
  /// data.
  package convenience init(
    snapshot path: String, identity: SnapshotIdentity, threads: Int?,
    acceptsOtherTimeZoneData: Bool, unknownZones: UnknownZones = .fail
  ) throws(SnapshotError) {
    let mapping = try Mapping(path: path)
    let header = try SnapshotHeader(of: mapping, path: path)
    guard header.identity == identity else {
      throw SnapshotError(path: path, problem: .otherIdentity(header.identity))
    }
    let reading = SnapshotReading(
      mapping: mapping, header: header, threads: max(1, threads ?? Self.coreCount),
      acceptsOtherTimeZoneData: acceptsOtherTimeZoneData, unknownZones: unknownZones)
    let writer: TableWriter
    do throws(SnapshotError.Problem) {
      writer = try reading.writer()
    } catch {
      throw SnapshotError(path: path, problem: error)
    }
    self.init(writer, threads: threads, snapshot: header.info)
  }
}

/// Reads tables from a mapped snapshot.
struct SnapshotReading {
  let mapping: Mapping
  let header: SnapshotHeader
  let threads: Int
  let acceptsOtherTimeZoneData: Bool
  let unknownZones: UnknownZones

  func section(_ part: SnapshotPart) -> SnapshotSection { header.sections[Int(part.rawValue) - 1] }

  func count(_ part: SnapshotPart) -> Int { section(part).elementCount }

  func writer() throws(SnapshotError.Problem) -> TableWriter {
    let settings = try settings()
    try checkCounts()
    let bounds = SnapshotBounds(
      users: count(.packedUsers), schedules: settings.schedules.count, devices: count(.devices),
      names: count(.nameEntries), conversations: count(.conversations),
      userPolicies: settings.policies.users.count, memberPolicies: settings.policies.members.count,
      listedNames: count(.nameLists), holders: count(.nameHolders),
      userCharacters: count(.userCharacters),
      nameCharacters: count(.nameCharacters), conversationCharacters: count(.conversationCharacters)
    )
    let used = try checkBlocks(bounds)
    let store = PageStore()
    let empty = Tables(app: settings.app, unknownZones: unknownZones)
    try read(settings, into: empty)
    var reading = ReadTables(reading: self, seeds: settings.seeds[...], used: used, store: store)
    let tables = try Tables(empty, &reading)
    try check(tables)
    let writer = TableWriter(tables, store)
    writer.replaced = ReplacedValues(opened: tables)
    let states = tables.stateTables(.group).ruleSet.openStates
    guard states?.number(settings.openClasses) ?? settings.openClasses.isEmpty else {
      throw .malformed(section: "settings", "members' classes")
    }
    // Unless a program with the same rules wrote the keys.
    if settings.rulesMark != tables.keysMark || !tables.hasKeys {
      writer.fillKeys(threads: threads)
    }
    return writer
  }

  // MARK: Values

  private func settings() throws(SnapshotError.Problem) -> SnapshotSettings {
    let section = section(.settings)
    let sums = (0..<section.blockCount).map { sum(section.block($0)) }
    guard SnapshotSection.sum(sums) == section.checksum else {
      throw .wrongChecksum(section: "settings")
    }
    let bytes = unsafe Array(mapping.bytes(section.offset..<section.offset + section.byteCount))
    do throws(Malformed) {
      return try SnapshotSettings(bytes)
    } catch {
      throw .malformed(section: "settings", error.what)
    }
  }

  private func read(
    _ settings: SnapshotSettings, into tables: Tables
  ) throws(SnapshotError.Problem) {
    let (indices, version): ([UInt32], String)
    do throws(ZoneDataError) {
      version = try ZoneDatabase.system.get().version
      try tables.scheduleTable.setApp(settings.app)
      indices = try settings.schedules.map { (schedule) throws(ZoneDataError) in
        try tables.scheduleTable.insert(schedule)
      }
    } catch {
      throw SnapshotError.Problem(error)
    }
    if let found = settings.zoneVersion, found != version, !acceptsOtherTimeZoneData {
      throw .otherTimeZoneData(found: found, expected: version)
    }
    guard indices.elementsEqual(0..<UInt32(indices.count)) else {
      throw .malformed(section: "settings", "duplicate schedule")
    }
    tables.ownRare().policies = settings.policies
  }

  // MARK: Tables

  fileprivate func table<Element: BitwiseCopyable>(
    _ part: SnapshotPart, _ store: PageStore
  ) -> PagedTable<Element> {
    let section = section(part)
    return unsafe PagedTable(
      mapped: mapping.pointer(section.offset), count: section.elementCount, store)
  }

  fileprivate func map(
    _ part: SnapshotPart, _ used: [SnapshotPart: Int], _ store: PageStore
  ) throws(SnapshotError.Problem) -> PagedMap {
    let count = used[part] ?? 0
    guard PagedMap.isPossible(count, slots: self.count(part)) else {
      throw .malformed(section: "\(part)", "\(count) of \(self.count(part)) slots in use")
    }
    return PagedMap(table(part, store), count: count)
  }

  fileprivate func ids(
    _ parts: IDParts, _ seed: UInt64, _ used: [SnapshotPart: Int], _ store: PageStore
  ) throws(SnapshotError.Problem) -> IDTable {
    let section = section(parts.characters)
    let exact = try slots(parts.slots, seed, used)
    let count = count(parts.entries)
    guard exact.used == count else {
      throw .malformed(
        section: "\(parts.slots)", "\(exact.used) slots in use for \(count) ids")
    }
    let arena = IDArena(
      mapping, base: mapping.addresses.lowerBound + UInt(section.offset),
      byteCount: section.byteCount)
    return IDTable(
      arena, table(parts.entries, store), exact,
      folded: try parts.folded.map { (part) throws(SnapshotError.Problem) in
        try self.slots(part, seed, used)
      })
  }

  private func slots(
    _ part: SnapshotPart, _ seed: UInt64, _ used: [SnapshotPart: Int]
  ) throws(SnapshotError.Problem) -> IDSlots {
    let section = section(part)
    guard section.elementCount > 0 else { return IDSlots(seed: seed) }
    let used = used[part] ?? 0
    guard IDSlots.isPossible(used, capacity: section.elementCount) else {
      throw .malformed(section: "\(part)", "\(used) of \(section.elementCount) slots in use")
    }
    // Slots are filled in place, while older versions are read too.
    guard mapping.makeWritable(section.range) else { throw .cannotOpen(SystemError.last.message) }
    return unsafe IDSlots(
      seed: seed, mapped: mapping.pointer(section.offset),
      capacity: section.elementCount, used: used)
  }

  // MARK: Checks

  /// Checks the relations between counts.
  private func checkCounts() throws(SnapshotError.Problem) {
    let equal: [(SnapshotPart, SnapshotPart)] = [
      (.packedUsers, .userEntries), (.schedules, .userEntries),
      (.conversations, .conversationEntries), (.packedMembers, .memberUsers),
    ]
    for (part, other) in equal where count(part) != count(other) {
      throw .malformed(section: "\(part)", "\(count(part)) elements, expected \(count(other))")
    }
    if count(.deviceLists) != 0, count(.deviceLists) != count(.packedUsers) {
      throw .malformed(
        section: "deviceLists", "\(count(.deviceLists)) elements, expected \(count(.packedUsers))")
    }
    if count(.memberKeys) != 0, count(.memberKeys) != count(.memberUsers) {
      throw .malformed(
        section: "memberKeys", "\(count(.memberKeys)) elements, expected \(count(.memberUsers))")
    }
    let indexed: [SnapshotPart] = [
      .userEntries, .nameEntries, .conversationEntries, .devices, .memberUsers, .overrides,
    ]
    for part in indexed where count(part) >= Int(UInt32.max) {
      throw .malformed(section: "\(part)", "too many elements")
    }
  }

  /// Verifies the checksums of all blocks, and checks each element while it is in the cache.
  ///
  /// - Returns: the number of slots in use.
  private func checkBlocks(
    _ bounds: SnapshotBounds
  ) throws(SnapshotError.Problem) -> [SnapshotPart: Int] {
    let sections = header.sections.filter { $0.part != .settings }
    let blocks = sections.indices.flatMap { section in
      (0..<sections[section].blockCount).map { (section: section, index: $0) }
    }
    var sums = sections.map { [UInt64](repeating: 0, count: $0.blockCount) }
    var found = [SnapshotFinding](repeating: SnapshotFinding(), count: sections.count)
    let results = inParallel(blocks.count) { number in
      let (section, index) = (sections[blocks[number].section], blocks[number].index)
      return (sum(section.block(index)), check(section, block: index, bounds))
    }
    for (block, (sum, finding)) in zip(blocks, results) {
      sums[block.section][block.index] = sum
      found[block.section].merge(finding)
    }
    for (index, section) in sections.enumerated()
    where SnapshotSection.sum(sums[index]) != section.checksum {
      throw .wrongChecksum(section: "\(section.part)")
    }
    for (index, section) in sections.enumerated() where found[index].isWrong {
      throw .malformed(section: "\(section.part)", "value out of range")
    }
    return Dictionary(
      uniqueKeysWithValues: sections.indices.map { (sections[$0].part, found[$0].used) })
  }

  private func sum(_ range: Range<Int>) -> UInt64 {
    let bytes = unsafe mapping.bytes(range)
    return unsafe pk_checksum(
      bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
  }

  private func check(
    _ section: SnapshotSection, block: Int, _ bounds: SnapshotBounds
  ) -> SnapshotFinding {
    let range = section.block(block)
    guard let paging = section.part.paging else {
      return checkSlots(section, range)
    }
    var finding = SnapshotFinding()
    let firstPage = (range.lowerBound - section.offset) / paging.byteCount
    var index = firstPage * paging.elementCount
    var offset = range.lowerBound
    while index < section.elementCount, offset + paging.byteCount <= range.upperBound {
      let count = min(paging.elementCount, section.elementCount - index)
      unsafe finding.merge(
        bounds.check(section.part, page: UnsafeRawPointer(mapping.pointer(offset)), count: count))
      index += paging.elementCount
      offset += paging.byteCount
    }
    return finding
  }

  /// Checks that slots have indices of ids.
  private func checkSlots(_ section: SnapshotSection, _ range: Range<Int>) -> SnapshotFinding {
    let entries: SnapshotPart
    switch section.part {
    case .userSlots, .userFolded: entries = .userEntries
    case .nameSlots: entries = .nameEntries
    case .conversationSlots: entries = .conversationEntries
    default: return SnapshotFinding()
    }
    let start = max(range.lowerBound, section.offset + PageStore.headerSize)
    let stop = min(range.upperBound, section.offset + section.byteCount)
    guard start < stop else { return SnapshotFinding() }
    var finding = SnapshotFinding()
    if range.lowerBound == section.offset {
      finding.isWrong = unsafe mapping.bytes(section.offset..<start).contains { $0 != 0 }
    }
    let slots = unsafe mapping.bytes(start..<stop).assumingMemoryBound(to: UInt64.self)
    unsafe finding.merge(SnapshotBounds.check(slots: slots, below: count(entries)))
    return finding
  }

  /// Checks relations between elements: devices, and the members of conversations.
  private func check(_ tables: Tables) throws(SnapshotError.Problem) {
    let shared = Shared(tables)
    guard tables.devices.isTerminated else {
      throw .malformed(section: "devices", "unterminated device list")
    }
    let slots = SlotSet(count: tables.memberUsers.count)
    let records = SlotSet(count: tables.overrides.count)
    try inPieces(tables.conversations.count, of: 1 << 13, .conversations) {
      shared.value.areRight(conversations: $0, slots, records)
    }
    let (lists, names) = (Shared(tables.nameLists), tables.names.count)
    try inPieces(tables.nameLists.starts.slots.count, of: 1 << 16, .nameLists) {
      lists.value.areRight(slots: $0, nameCount: names)
    }
    try inPieces(tables.nameLists.holders.count, of: 1 << 16, .nameHolders) {
      lists.value.areRight(holders: $0)
    }
  }

  private func inPieces(
    _ count: Int, of size: Int, _ part: SnapshotPart, _ isRight: @Sendable (Range<Int>) -> Bool
  ) throws(SnapshotError.Problem) {
    let results = inParallel((count + size - 1) / size) { piece in
      isRight(piece * size..<min((piece + 1) * size, count))
    }
    guard !results.contains(false) else {
      throw .malformed(section: "\(part)", "inconsistent elements")
    }
  }

  /// The results of pieces of work, in order.
  private func inParallel<Result: Sendable>(
    _ count: Int, _ work: @Sendable (Int) -> Result
  ) -> [Result] {
    Parallel.map(count, threads: count < 4 ? 1 : threads, work)
  }

  /// SAFETY: the tables are not mutated while a snapshot is being opened.
  private struct Shared<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
}

private struct ReadTables: TableVisitor {
  let reading: SnapshotReading
  var seeds: ArraySlice<UInt64>
  let used: [SnapshotPart: Int]
  let store: PageStore

  mutating func visit(
    _ ids: IDTable, _ parts: IDParts
  ) throws(SnapshotError.Problem) -> IDTable {
    try reading.ids(parts, seeds.removeFirst(), used, store)
  }

  func visit(_ map: PagedMap, _ part: SnapshotPart) throws(SnapshotError.Problem) -> PagedMap {
    try reading.map(part, used, store)
  }

  func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) throws(SnapshotError.Problem) -> PagedTable<Element> {
    reading.table(part, store)
  }
}
