internal import Glibc
internal import PushModel
internal import PushSupport
internal import Synchronization

/// One writer at a time: the temporary name is the same for the whole process.
private let writing = Lock<Void>(())

extension Fanout {
  /// Writes one version of the settings to a file, from which ``init(snapshot:identity:threads:)``
  /// opens an engine without rebuilding it.
  ///
  /// Other threads may decide and update meanwhile. The file gets its name only when it is complete
  /// and synchronized; until then it is named `path.tmp-` and the process id. It is readable by its
  /// owner only, as it contains the seeds of the hash tables.
  ///
  /// - Parameters:
  ///   - path: the path of a regular file, which is replaced, or of no file.
  ///   - identity: the identity of the store, required when the snapshot is opened.
  ///   - sequence: called once with the ``version`` that is written; returns its sequence number. A
  ///     caller that updates meanwhile keeps the sequence numbers of its versions.
  /// - Throws: ``SnapshotError``; no file is left behind.
  /// - Complexity: O(users + memberships).
  public func writeSnapshot(
    to path: String, identity: SnapshotIdentity, sequence: (_ version: UInt64) -> UInt64
  ) throws(SnapshotError) {
    let version = currentVersion
    try version.writeSnapshot(to: path, identity: identity, sequence: sequence(version.number))
  }

  /// The name of a snapshot while it is being written. A process that ends early may leave such a
  /// file.
  public static func temporaryName(ofSnapshot path: String) -> String {
    TemporaryName(ofSnapshot: path).path
  }

  /// Writes the current version of the settings to a file.
  ///
  /// - Parameters:
  ///   - path: the snapshot's file, which is replaced.
  ///   - identity: what opening the snapshot asks for.
  ///   - sequence: the sequence number of the settings. No other thread may update meanwhile, or
  ///     the number may belong to other settings.
  public func writeSnapshot(
    to path: String, identity: SnapshotIdentity, sequence: UInt64
  ) throws(SnapshotError) {
    try writeSnapshot(to: path, identity: identity, sequence: { _ in sequence })
  }
}

extension TemporaryName {
  init(ofSnapshot path: String) { self.init(beside: path, ending: "tmp-\(getpid())") }
}

extension FanoutVersion {
  /// Writes this version, current or not.
  package func writeSnapshot(
    to path: String, identity: SnapshotIdentity, sequence: UInt64
  ) throws(SnapshotError) {
    try writing.withLock { (_) throws(SnapshotError) in
      var file = try SnapshotFile(path: path)
      try engineVersion.tables.write(to: &file)
      try file.finish(identity, sequence)
    }
  }
}

extension Tables {
  func write(to file: inout SnapshotFile) throws(SnapshotError) {
    // First, as it may number members' classes, which are among the settings.
    if devices.toldUsers > 0 { file.replaced = ReplacedElements(self) }
    file.begin(.settings)
    try file.append(SnapshotSettings(self).bytes[...])
    try file.end(elementCount: 1)
    try forEachTable(&file)
  }
}

/// What is written in place of elements, by their indices, as presence is not kept.
struct ReplacedElements {
  fileprivate var deviceLists: [Int: UInt32] = [:]
  fileprivate var devices: [Int: DeviceRecord] = [:]
  fileprivate var memberKeys: [Int: UInt32] = [:]

  /// - Complexity: O(users + memberships).
  fileprivate init(_ tables: Tables) {
    let lists = tables.devices.lists
    for user in 0..<UInt32(tables.userCount) {
      guard let first = lists.first(of: user) else { continue }
      switch lists.toldPresence(of: user) {
      case .asSet: break
      case .ofListed:
        for (offset, record) in (lists.asSet(user) ?? []).enumerated() {
          devices[first + offset] = record
        }
      case .ofDefault:
        deviceLists[Int(user)] = DeviceLists.defaultDevice
        devices[first] = .default
      }
    }
    if deviceLists.isEmpty || !tables.hasKeys { return }
    let keys = StoredKeys(tables, isForSettings: true)
    for index in 0..<tables.conversations.count {
      let row = tables.conversations[index]
      for slot in row.range where deviceLists[Int(tables.memberUsers[slot])] != nil {
        memberKeys[slot] = keys.key(slot, row).bits
      }
    }
  }

  fileprivate func elements<Element>(of part: SnapshotPart) -> [Int: Element] {
    let found: Any =
      switch part {
      case .deviceLists: deviceLists
      case .devices: devices
      case .memberKeys: memberKeys
      default: [Int: Element]()
      }
    return found as? [Int: Element] ?? [:]
  }
}

extension SnapshotFile: TableVisitor {
  mutating func visit(_ ids: IDTable, _ parts: IDParts) throws(SnapshotError) -> IDTable {
    try ids.write(parts, to: &self)
    return ids
  }

  mutating func visit(_ map: PagedMap, _ part: SnapshotPart) throws(SnapshotError) -> PagedMap {
    try map.slots.write(part, to: &self)
    return map
  }

  mutating func visit<Element>(
    _ table: PagedTable<Element>, _ part: SnapshotPart
  ) throws(SnapshotError) -> PagedTable<Element> {
    try table.write(part, to: &self, replaced: replaced?.elements(of: part) ?? [:])
    return table
  }
}

extension PagedTable {
  func write(
    _ part: SnapshotPart, to file: inout SnapshotFile, replaced: [Int: Element] = [:]
  ) throws(SnapshotError) {
    file.begin(part)
    let pages = Set(replaced.keys.map { $0 / Self.pageSize })
    var page = 0
    try unsafe forEachPage { (elements) throws(SnapshotError) in
      defer { page += 1 }
      guard pages.contains(page) else { return try unsafe file.append(page: elements) }
      let first = page * Self.pageSize
      let count = elements.count / MemoryLayout<Element>.stride
      try file.append(page: (first..<first + count).map { replaced[$0] ?? self[$0] }[...])
    }
    try file.end(elementCount: count)
  }
}

extension IDTable {
  /// Writes ids: the characters of those that are not short, one after the other, the entries, which
  /// say where these are, and the slots.
  fileprivate func write(
    _ parts: IDParts, to file: inout SnapshotFile
  ) throws(SnapshotError) {
    file.begin(parts.characters)
    var byteCount = 0
    for index in 0..<(hasLong ? count : 0) where !self.entries[index].isShort {
      let id = unsafe self.characters(UInt32(index))
      try unsafe file.append(id)
      byteCount += id.count
    }
    try file.end(elementCount: byteCount)
    file.begin(parts.entries)
    var (page, offset): ([IDEntry], UInt) = ([], 0)
    for first in stride(from: 0, to: count, by: PagedTable<IDEntry>.pageSize) {
      page.removeAll(keepingCapacity: true)
      for index in first..<min(first + PagedTable<IDEntry>.pageSize, count) {
        var entry = self.entries[index]
        if !entry.isShort {
          entry = IDEntry(offset: offset, count: entry.long.count)
          offset += UInt(entry.long.count)
        }
        page.append(entry)
      }
      try file.append(page: page[...])
    }
    try file.end(elementCount: count)
    try slots.write(parts.slots, below: count, to: &file)
    if let part = parts.folded, let folded {
      try folded.write(part, below: count, to: &file)
    }
  }
}

extension IDSlots {
  /// Writes the slots of a version. Slots filled by later versions are written as empty, as they
  /// were when this version's ids were added, so that each id is still found.
  fileprivate func write(
    _ part: SnapshotPart, below count: Int, to file: inout SnapshotFile
  ) throws(SnapshotError) {
    file.begin(part)
    if capacity > 0 { try file.appendZeros(PageStore.headerSize) }
    var some: [UInt64] = []
    for first in stride(from: 0, to: capacity, by: 512) {
      some.removeAll(keepingCapacity: true)
      for position in first..<min(first + 512, capacity) {
        let slot = load(position)
        some.append(slot != 0 && Self.index(slot) < count ? slot : 0)
      }
      try file.append(some[...])
    }
    try file.end(elementCount: capacity)
  }
}

extension SnapshotFile {
  /// Appends a page behind a header with the generation ``PageStore/mapped``.
  mutating func append(page elements: UnsafeRawBufferPointer) throws(SnapshotError) {
    try appendZeros(PageStore.headerSize)
    try unsafe append(elements)
    try appendPadding()
  }

  mutating func append<Element: BitwiseCopyable>(
    page elements: ArraySlice<Element>
  ) throws(SnapshotError) {
    try appendZeros(PageStore.headerSize)
    try append(elements)
    try appendPadding()
  }

  /// Appends elements as bytes in native order.
  mutating func append<Element: BitwiseCopyable>(
    _ elements: ArraySlice<Element>
  ) throws(SnapshotError) {
    let result = unsafe elements.withUnsafeBytes { (bytes) -> Result<Void, SnapshotError> in
      do throws(SnapshotError) { return .success(try unsafe append(bytes)) } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
